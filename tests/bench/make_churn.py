"""make_churn.py FILE OPERATIONS: a script without end or pattern, always the same.

Four thousand places, each emptied and filled at random: many sizes, many holes.
"""

import sys

PLACES = 4096
MASK = (1 << 64) - 1


def numbers():
    state = 88172645463325252
    while True:
        state ^= state << 13 & MASK
        state ^= state >> 7
        state ^= state << 17 & MASK
        yield state


def operations(count):
    places = [0] * PLACES
    random = numbers()
    next_id = 1
    for _ in range(count):
        place = next(random) % PLACES
        if places[place]:
            yield f"f {places[place]}\n"
            places[place] = 0
        else:
            octave = next(random) % 16
            size = (next(random) % 512 + 512) << octave
            places[place] = next_id
            yield f"a {next_id} {size} 0\n"
            next_id += 1


def main():
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.writelines(operations(int(sys.argv[2])))


if __name__ == "__main__":
    main()
