"""The shortest script that still shows a difference: `fraglab shrink`, and fewer settings, which it
leaves as they are."""

import re
import subprocess
import tempfile


def shows(script, question):
    """Does the shell command end with 0 for the script, whose path is its $1?"""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(script)
        file.flush()
        return subprocess.run(["sh", "-c", question, "sh", file.name], capture_output=True).returncode == 0


def drop_settings(script, question):
    first = script.splitlines()[0]
    start, _, conf = first.partition(" conf=")
    pairs = re.findall(r"[^,\[]+(?:\[[^\]]*\])?", conf)
    for pair in list(pairs):
        rest = [other for other in pairs if other != pair]
        rewritten = f"{start} conf={','.join(rest)}" + script[len(first) :]
        if shows(rewritten, question):
            script, first, pairs = rewritten, rewritten.splitlines()[0], rest
    return script


def drop_operations(program, version, script, question):
    """As it was where fraglab does not take it, which may be the difference itself."""
    done = subprocess.run(
        [program, "shrink", "--quiet", "--torch", version, "--while", question, "-"],
        input=script,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    if done.returncode != 0:
        return script
    first, _, *rest = done.stdout.splitlines(keepends=True)  # the second says what was done
    return "".join([first, *rest])


def shrink(program, version, script, question):
    """`question` is a shell command: does the script at $1 still show what is looked for?"""
    while True:
        before = script
        script = drop_settings(script, question)
        script = drop_operations(program, version, script, question)
        if script == before:
            return script
