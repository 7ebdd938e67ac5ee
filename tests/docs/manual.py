"""manual.py FRAGLAB: the manual page says what --help says: commands, synopses, options by group."""

import re
import subprocess
import sys

sys.path.insert(0, "tests/lint")
import tree  # noqa: E402 (found through the line above)

MANUAL = "docs/fraglab.1"


def plain(line):
    """Text of a line of roff: macros, fonts and escaped dashes gone."""
    line = re.sub(r"^\.\w+ ?", "", line)
    return re.sub(r"\\f[BIRP]", "", line).replace("\\-", "-").strip()


def manual_sections():
    """{section: {subsection: tags}}, a tag being the line that follows .TP."""
    sections, current, wants_tag = {}, None, False
    for line in tree.read(MANUAL).split("\n"):
        if line.startswith(".SH"):
            current = sections.setdefault(plain(line), {})
            tags = current.setdefault("", [])
        elif line.startswith(".SS"):
            tags = current.setdefault(plain(line), [])
        elif wants_tag:
            tags.append(plain(line))
        wants_tag = line == ".TP"
    return sections


def help_of(program, *command):
    run = subprocess.run([program, *command, "--help"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{command} --help ends with {run.returncode}: {run.stderr}")
    return run.stdout


def options_of(text):
    """{heading: options} as --help shows them."""
    groups, options = {}, None
    for line in text.split("\n"):
        heading = re.fullmatch(r"(\w.*):", line)
        row = re.match(r" +(?:-\w, )?(--[\w-]+(?: [^ ]+)?)(?:  |$)", line)
        if heading:
            options = groups.setdefault(heading.group(1), [])
        elif row and options is not None:
            options.append(row.group(1))
    return groups


def complaints(program):
    manual = manual_sections()
    listed = re.findall(r"^  (\w+) +\S", help_of(program).split("Commands:")[1], re.MULTILINE)
    described = [synopsis for synopsis in manual["COMMANDS"] if synopsis]
    if listed != [synopsis.split()[0] for synopsis in described]:
        yield f"{MANUAL}: commands {described}, but --help lists {listed}"
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
    if f'"{version}"' not in tree.read(MANUAL).split("\n")[0]:
        yield f"{MANUAL}:1: not of this version, {version}"
    shown = {}
    for synopsis in described:
        text = help_of(program, synopsis.split()[0])
        if text.split("\n")[0] != "usage: fraglab " + synopsis:
            yield f"{MANUAL}: '{synopsis}', but --help says: {text.splitlines()[0]}"
        for heading, options in options_of(text).items():
            known = shown.setdefault(heading, [])
            known += [option for option in options if option not in known]
    documented = {heading: tags for heading, tags in manual["OPTIONS"].items() if heading}
    for heading in sorted(shown.keys() | documented.keys()):
        if shown.get(heading) != documented.get(heading):
            yield f"{MANUAL}: {heading}: {documented.get(heading)}, but --help shows {shown.get(heading)}"


tree.finish(list(complaints(sys.argv[1])))
