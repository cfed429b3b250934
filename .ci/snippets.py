"""Compiles the Swift snippets of README.md, SECURITY.md and the DocC articles, as another module in Swift 6 mode.

The snippets of an article continue each other: they are the body of one function. What a reader is not shown stands in a
comment of HTML before a snippet, of which only these are known:

    <!-- snippet: with
    let store = try LogStore(at: "cities.esker")
    -->                             code that the snippet takes for granted
    <!-- snippet: anew -->          a new function begins, in which nothing of the one before is in sight; code may follow as above
    <!-- snippet: skip, REASON -->  not compiled

The argument is the directory of what `swift build` made of everything, the products with a trait included.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

# What an article's snippets have imported without saying so.
IMPORTS = {"Esker": ["Esker", "Foundation"], "EskerLog": ["EskerLog"], "EskerTools": ["EskerLog", "EskerTools"],
           "EskerRemote": ["Esker", "EskerRemote"]}

MARK = re.compile(r"<!-- snippet: (with|anew|skip, [^\n]+?)(?: -->|\n(.*?)^-->)", re.S | re.M)
BLOCK = re.compile(r"^```swift\n(.*?)^```$", re.S | re.M)


def read(path):
    """The source of an article, and how many snippets are compiled and skipped; None without any."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count("<!-- snippet") != len(MARK.findall(text)):
        sys.exit(f"{path}: a comment begins with “snippet” and is none that the check knows")
    parts = sorted([*MARK.finditer(text), *BLOCK.finditer(text)], key=lambda part: part.start())
    module = re.match(r"Sources/(\w+)/", path)
    imports = set(IMPORTS.get(module[1], [module[1]]) if module else [])
    functions, compiled, skipped, skip, waiting = [[]], 0, 0, False, False
    for part in parts:
        line = text.count("\n", 0, part.start()) + 2
        if part.re is MARK:
            kind, code = part[1], part[2] or ""
            waiting, skip = True, kind.startswith("skip")
            if kind == "anew":
                functions.append([])
            if skip:
                continue
        else:
            code = part[1]
            waiting = False
            if skip:
                skip, skipped = False, skipped + 1
                continue
            compiled += 1
        imports.update(re.findall(r"^import (\w+)$", code, re.M))
        code = re.sub(r"^import \w+$", "", code, flags=re.M)
        functions[-1] += [f'#sourceLocation(file: "{os.path.abspath(path)}", line: {line})', code.rstrip("\n")]
    if waiting:
        sys.exit(f"{path}: a comment for a snippet is not followed by one")
    if not compiled and not skipped:
        return None
    name = re.sub(r"\W", "_", path)
    source = [f"import {module}" for module in sorted(imports)]
    for number, lines in enumerate(functions):
        if not lines:
            continue
        source += [f"func {name}_{number}() async throws {{", *lines, "#sourceLocation()", "}"]
    return "\n".join(source) + "\n", compiled, skipped


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
        headers = [f"-I{path}" for path in glob.glob("Sources/C*/include")]
        # The C modules of the packages that Esker depends on: some bring a map of the module, for others the build has written one.
        headers += [f"-I{os.path.dirname(path)}" for path in glob.glob(f"{products}/../../checkouts/*/Sources/*/include/module.modulemap")]
        for path in glob.glob(f"{products}/C*.build/module.modulemap"):
            # Not what was built to run while building, and not Esker's own, which are found above.
            if not re.search(r"(-tool|/CEsker\w+)\.build/", path):
                headers += ["-Xcc", f"-fmodule-map-file={path}"]
        # Not only type checking: initialization and isolation are checked when code is generated.
        compile = ["swiftc", "-emit-sil", "-o", os.path.join(directory, "out"), "-module-name", "Snippets", "-swift-version", "6"]
        compile += ["-suppress-warnings", "-parse-as-library", "-wmo", f"-I{products}/Modules", *headers, *files]
        failed = subprocess.run(compile, stdin=subprocess.DEVNULL).returncode != 0
    compiled, skipped = (sum(article[part] for article in articles.values()) for part in (1, 2))
    if failed:
        sys.exit(1)
    print(f"{compiled} snippets of {len(articles)} articles compile; {skipped} are skipped, each with its reason")


main()
