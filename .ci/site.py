"""Builds the documentation of all modules by DocC, and fails if DocC warns of anything, such as a link that leads nowhere.

The arguments are the directory of what `swift build` made of everything, and perhaps one for the site. Without a site only what DocC
says counts.
"""

import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from symbol_graphs import extract

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

# In the order in which the first page of the site has them, with those whose declarations their documentation refers to: `/Esker/StorageError`
# in that of EskerRemote. Most have a catalog; of the others the site has what stands in the source.
MODULES = {
    "Esker": [], "EskerLog": [], "EskerTools": [], "EskerCBOR": [], "EskerUI": [], "EskerRemote": ["Esker"], "EskerRedis": ["EskerRemote"],
    "EskerCrypto": [], "EskerMacros": [], "EskerProtobuf": [], "EskerSwiftLog": [], "EskerMetrics": [],
}

# A link to an article of another module, by the path of its file.
ELSEWHERE = re.compile(r"\]\(\.\./\.\./(\w+)/\1\.docc/(\w+)\.md(#[^)]*)?\)")


def copy_catalog(module, directory):
    """Copies a module's catalog, and leads its links to articles of other modules to their pages in the site."""
    catalog = f"{directory}/{module}.docc"
    shutil.copytree(f"Sources/{module}/{module}.docc", catalog)
    for path in glob.glob(f"{catalog}/**/*.md", recursive=True):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(ELSEWHERE.sub(lambda link: f"](/documentation/{link[1].lower()}/{link[2].lower()}{link[3] or ''})", text))
    return catalog


def convert(module, directory):
    """Makes a module's archive, and returns what DocC warns of, a line for each."""
    said = f"{directory}/{module}.json"
    catalog = [copy_catalog(module, directory)] if os.path.isdir(f"Sources/{module}/{module}.docc") else []
    command = ["docc", "convert", *catalog, "--additional-symbol-graph-dir", f"{directory}/{module}.graphs",
               "--fallback-display-name", module, "--fallback-bundle-identifier", module, "--fallback-default-module-kind", "Module",
               "--enable-experimental-external-link-support", "--output-path", f"{directory}/{module}.doccarchive", "--diagnostics-file", said]
    for referred in MODULES[module]:
        command += ["--dependency", f"{directory}/{referred}.doccarchive"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if not os.path.exists(said):
        sys.exit(f"{module}: {done.stdout}{done.stderr}")
    with open(said, encoding="utf-8") as file:
        found = [one for one in json.load(file)["diagnostics"] if one["severity"] in ("warning", "error")]
    if done.returncode != 0 and not found:
        sys.exit(f"{module}: {done.stdout}{done.stderr}")
    return [line(one, module, directory) for one in found]


def line(diagnostic, module, directory):
    """A warning as one line, with its place."""
    path = urllib.parse.unquote((diagnostic.get("source") or module).removeprefix("file://"))
    path = path.replace(f"{directory}/{module}.docc", f"Sources/{module}/{module}.docc").removeprefix(f"{os.getcwd()}/")
    start = (diagnostic.get("range") or {}).get("start") or {}
    place = ":".join([path, *(str(start[part]) for part in ("line", "column") if part in start)])
    texts = [diagnostic["summary"], *(solution["summary"] for solution in diagnostic.get("solutions", []))]
    return f"{place}: {' '.join('; '.join(texts).split())}"


def check_modules():
    """No catalog is forgotten."""
    catalogs = {os.path.basename(path).removesuffix(".docc") for path in glob.glob("Sources/*/*.docc")}
    if not catalogs <= set(MODULES):
        sys.exit(f".ci/site.py does not know {', '.join(sorted(catalogs - set(MODULES)))}")


def main():
    products, site = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    check_modules()
    if site and os.path.isdir(site) and os.listdir(site) and not os.path.isdir(f"{site}/documentation"):
        sys.exit(f"{site} has something else in it than a site")
    warnings = []
    with tempfile.TemporaryDirectory(prefix="esker-site.") as directory, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:

        def extract_graphs(module):
            os.mkdir(f"{directory}/{module}.graphs")
            # What a module adds to the types of another has pages too.
            extract(module, products, f"{directory}/{module}.graphs", "-emit-extension-block-symbols")

        list(pool.map(extract_graphs, MODULES))
        waiting = dict(MODULES)
        while waiting:
            ready = [module for module, referred in waiting.items() if not set(referred) & set(waiting)]
            for found in pool.map(lambda module: convert(module, directory), ready):
                warnings += found
            for module in ready:
                del waiting[module]
        if site and not warnings:
            shutil.rmtree(site, ignore_errors=True)
            archives = [f"{directory}/{module}.doccarchive" for module in MODULES]
            subprocess.run(["docc", "merge", *archives, "--synthesized-landing-page-name", "Esker", "--output-path", site],
                           stdin=subprocess.DEVNULL, check=True)
    if warnings:
        print("\n".join(warnings))
        sys.exit(f"warnings in the documentation: {len(warnings)}")
    print(f"the documentation of {len(MODULES)} modules has no warnings")


main()
