"""Writes down what programs can use of the products that need no trait, a line for each declaration, and compares it with `.ci/interface`.

The arguments are the directory of what `swift build` made of everything, and perhaps --record. The compiler's symbol graphs say what is public; a
line has the place of a declaration, how it is declared, and for types what they conform to.
"""

import concurrent.futures
import glob
import json
import os
import platform
import re
import sys
import tempfile

from symbol_graphs import extract

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

# The products that need no trait.
MODULES = ["Esker", "EskerLog", "EskerTools", "EskerUI", "EskerRemote", "EskerCBOR"]

# What the compiler gives all types by itself says nothing.
SILENT = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}


def lines(module, products):
    """The lines of a module: its own types and what it adds to those of others."""
    with tempfile.TemporaryDirectory(prefix="esker-interface.") as directory:
        extract(module, products, directory)
        found = set()
        for path in glob.glob(f"{directory}/*.symbols.json"):
            with open(path, encoding="utf-8") as file:
                graph = json.load(file)
            of = os.path.basename(path).removesuffix(".symbols.json").partition("@")[2]
            names = {}
            for symbol in graph["symbols"]:
                if any(part.startswith("_") for part in symbol["pathComponents"]):
                    continue
                place = ".".join(([of] if of else []) + symbol["pathComponents"])
                names[symbol["identifier"]["precise"]] = place
                declared = "".join(part["spelling"] for part in symbol["declarationFragments"])
                declared = re.sub(r"\s+", " ", declared).strip()
                availability = symbol.get("availability", [])
                deprecated = any(item.get("isUnconditionallyDeprecated") or "deprecated" in item for item in availability)
                found.add(f"{place} | {'deprecated ' if deprecated else ''}{declared}")
            for relation in graph["relationships"]:
                other = relation.get("targetFallback") or names.get(relation["target"], "")
                name = other.rpartition(".")[2]
                if relation["kind"] != "conformsTo" or relation["source"] not in names or name in SILENT or name.startswith("_"):
                    continue
                where = ", ".join(f"{part['lhs']} {part['kind']} {part['rhs']}" for part in relation.get("swiftConstraints", []))
                found.add(f"{names[relation['source']]} | : {other or relation['target']}{' where ' + where if where else ''}")
        return sorted(found)


def main():
    if sys.argv[2:] not in ([], ["--record"]):
        sys.exit("usage: .ci/interface-check [--record]")
    products, record = sys.argv[1], sys.argv[2:] == ["--record"]
    if platform.system() != "Linux":
        sys.exit("the interface is recorded on Linux, where there is no SwiftUI")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        interfaces = dict(zip(MODULES, pool.map(lambda module: lines(module, products), MODULES)))
    os.makedirs(".ci/interface", exist_ok=True)
    gone, new = [], []
    for module, now in interfaces.items():
        path = f".ci/interface/{module}.txt"
        before = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = file.read().splitlines()
        gone += [f"- {module}: {line}" for line in sorted(set(before) - set(now))]
        new += [f"+ {module}: {line}" for line in sorted(set(now) - set(before))]
        if record:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(now) + "\n")
    if gone or new:
        print("\n".join(gone + new) if not record or len(gone + new) < 200 else "recorded for the first time")
    count = sum(map(len, interfaces.values()))
    print(f"{count} declarations of {len(MODULES)} modules; {len(gone)} gone or changed, {len(new)} new or changed")
    if gone and not record:
        sys.exit("What is gone breaks programs that use it; CHANGELOG.md says when that may be. Then .ci/interface-check --record")
    if new and not record:
        sys.exit("What is new is to be recorded: .ci/interface-check --record")


main()
