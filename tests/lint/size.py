"""Files have at most 600 lines and functions at most 60, counted from signature to closing brace."""

import re

import tree

FILE_LINES = 600
FUNCTION_LINES = 60
NAME = re.compile(r"(\w+)\s*\(")
EXCEPTIONS = tree.exceptions("tests/lint/size_exceptions.tsv", "what")


def functions_of(text):
    """(name, first line, number of lines); a function's braces stand alone in column 0."""
    lines = tree.bare(text).split("\n")
    first = 0
    for number, line in enumerate(lines):
        if line == "{":
            first = number
            while first > 0 and lines[first - 1].strip() and not lines[first - 1].endswith((";", "}")):
                first -= 1
        elif line == "}" and first > 0:
            name = NAME.search(" ".join(lines[first:number]))
            yield name.group(1) if name else "?", first + 1, number - first + 1
            first = 0


def complaints_of(path):
    text = tree.read(path)
    lines = text.count("\n")
    if lines > FILE_LINES and path not in EXCEPTIONS:
        yield f"{path}:1: {lines} lines; at most {FILE_LINES}"
    for name, first, length in functions_of(text):
        if length > FUNCTION_LINES and f"{path}:{name}" not in EXCEPTIONS:
            yield f"{path}:{first}: {name} has {length} lines; at most {FUNCTION_LINES}"


tree.finish([complaint for path in tree.all_code() for complaint in complaints_of(path)])
