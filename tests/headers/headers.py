"""headers.py LANGUAGE [FLAG...] -- COMPILER...: each header compiles alone, without a warning.

As C11 the internal headers too; as C++ only the public ones.
"""

import glob
import subprocess
import sys

split = sys.argv.index("--")
language, flags, compiler = sys.argv[1], sys.argv[2:split], sys.argv[split + 1 :]
standard = "-std=c11" if language == "c" else "-std=c++11"
headers = sorted(glob.glob("include/fraglab/*.h"))
if language == "c":
    headers += sorted(glob.glob("src/**/*.h", recursive=True))

failed = 0
for header in headers:
    name = header.removeprefix("include/").removeprefix("src/")
    command = compiler + [
        standard, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", *flags,
        "-Iinclude", "-Isrc", "-x", language, "-",
    ]
    # Twice: the guard is tried too.
    text = f'#include "{name}"\n#include "{name}"\nextern int not_empty;\n'
    failed += subprocess.run(command, input=text, text=True).returncode != 0
sys.exit(failed > 0)
