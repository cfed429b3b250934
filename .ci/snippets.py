"""Compiles the Swift snippets of README.md, SECURITY.md and the DocC articles, as another module in Swift 6 mode.

The snippets of an article continue each other: they are the body of one function. What a reader is not shown stands in a
comment of HTML before a snippet, of which only these are known:

    <!-- snippet: with
    let store = try LogStore(at: "cities.esker")
    -->                             code that the snippet takes for granted
    <!-- snippet: anew -->          a new function begins, in which nothing of the one before is in sight; code may follow as above
    <!-- snippet: of PATH -->       a part of that file, word for word, of a program that is built and run elsewhere
    <!-- snippet: skip, REASON -->  not compiled

The argument is the directory of what `swift build` made of everything, the products with a trait included.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import textwrap

from symbol_graphs import search_paths

# What an article's snippets have imported without saying so.
IMPORTS = {"Esker": ["Esker", "Foundation"], "EskerLog": ["EskerLog"], "EskerTools": ["EskerLog", "EskerTools"],
           "EskerRemote": ["Esker", "EskerRemote"]}

MARK = re.compile(r"<!-- snippet: (with|anew|of [^\n]+?|skip, [^\n]+?)(?: -->|\n(.*?)^-->)", re.S | re.M)
BLOCK = re.compile(r"^```swift\n(.*?)^```$", re.S | re.M)


def check_part(code, program, path, line):
    """Fails unless a snippet is a part of a program, whatever the indentation."""
    if not os.path.exists(program):
        sys.exit(f"{path}:{line}: there is no {program}")
    with open(program, encoding="utf-8") as file:
        whole = "\n" + file.read()
    if not any("\n" + textwrap.indent(code, " " * depth) in whole for depth in range(0, 12, 2)):
        sys.exit(f"{path}:{line}: the snippet is not in {program}")


def read(path):
    """The source of an article, and how many snippets are compiled, parts of programs, and skipped; None without any."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count("<!-- snippet") != len(MARK.findall(text)):
        sys.exit(f"{path}: a comment begins with “snippet” and is none that the check knows")
    parts = sorted([*MARK.finditer(text), *BLOCK.finditer(text)], key=lambda part: part.start())
    module = re.match(r"Sources/(\w+)/", path)
    imports = set(IMPORTS.get(module[1], [module[1]]) if module else [])
    functions, compiled, shown, skipped, skip, waiting, program = [[]], 0, 0, 0, False, False, None
    for part in parts:
        line = text.count("\n", 0, part.start()) + 2
        if part.re is MARK:
            kind, code = part[1], part[2] or ""
            waiting, skip = True, kind.startswith("skip")
            program = kind.removeprefix("of ") if kind.startswith("of ") else None
            if kind == "anew":
                functions.append([])
            if skip or program:
                continue
        else:
            code = part[1]
            waiting = False
            if skip:
                skip, skipped = False, skipped + 1
                continue
            if program:
                check_part(code, program, path, line)
                program, shown = None, shown + 1
                continue
            compiled += 1
        imports.update(re.findall(r"^import (\w+)$", code, re.M))
        code = re.sub(r"^import \w+$", "", code, flags=re.M)
        functions[-1] += [f'#sourceLocation(file: "{os.path.abspath(path)}", line: {line})', code.rstrip("\n")]
    if waiting:
        sys.exit(f"{path}: a comment for a snippet is not followed by one")
    if not compiled and not shown and not skipped:
        return None
    name = re.sub(r"\W", "_", path)
    source = [f"import {module}" for module in sorted(imports)]
    for number, lines in enumerate(functions):
        if not lines:
            continue
        source += [f"func {name}_{number}() async throws {{", *lines, "#sourceLocation()", "}"]
    return "\n".join(source) + "\n", compiled, shown, skipped


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    articles = {path: read(path) for path in ["README.md", "SECURITY.md", *sorted(glob.glob("Sources/*/*.docc/**/*.md", recursive=True))]}
    articles = {path: article for path, article in articles.items() if article}
    products = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="esker-snippets.") as directory:
        files = []
        for path, (source, *_) in articles.items():
            files.append(os.path.join(directory, re.sub(r"\W", "_", path) + ".swift"))
            with open(files[-1], "w", encoding="utf-8") as file:
                file.write(source)
        # Not only type checking: initialization and isolation are checked when code is generated.
        compile = ["swiftc", "-emit-sil", "-o", os.path.join(directory, "out"), "-module-name", "Snippets", "-swift-version", "6"]
        compile += ["-suppress-warnings", "-parse-as-library", "-wmo", *search_paths(products), *files]
        failed = subprocess.run(compile, stdin=subprocess.DEVNULL).returncode != 0
    compiled, shown, skipped = (sum(article[part] for article in articles.values()) for part in (1, 2, 3))
    if failed:
        sys.exit(1)
    print(f"{compiled} snippets of {len(articles)} articles compile, {shown} are parts of programs; {skipped} are skipped, each with its reason")


main()
