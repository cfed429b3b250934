"""What the compiler knows of a module's declarations, and how it finds what `swift build` made: for the checks that are written in Python.

`products` is the directory of what `swift build` made of everything, the products with a trait included.
"""

import glob
import json
import os
import re
import subprocess
import sys


def search_paths(products):
    """What the compiler is told to find the modules of this package and those that they import."""
    found = ["-I", f"{products}/Modules"]
    for path in glob.glob("Sources/C*/include") + [os.path.dirname(map) for map in glob.glob("Sources/C*/module.modulemap")]:
        found += ["-I", path]
    # The C modules of the packages that Esker depends on: some bring a map of the module, for others the build has written one.
    for path in glob.glob(f"{products}/../../checkouts/*/Sources/*/include/module.modulemap"):
        found += ["-I", os.path.dirname(path)]
    for path in glob.glob(f"{products}/C*.build/module.modulemap"):
        # Not what was built to run while building, and not Esker's own, which are found above.
        if not re.search(r"(-tool|/CEsker\w+)\.build/", path):
            found += ["-Xcc", f"-fmodule-map-file={path}"]
    return found


def extract(module, products, directory, *options):
    """Writes the symbol graphs of a module into a directory: of its own declarations, and of what it adds to other modules'."""
    target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["triple"]
    command = ["swift-symbolgraph-extract", "-module-name", module, "-target", target, "-minimum-access-level", "public",
               "-skip-synthesized-members", "-output-dir", directory, *options, *search_paths(products)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{module}: {done.stderr}")
