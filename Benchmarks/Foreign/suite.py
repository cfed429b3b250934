"""Builds YCSB-cpp with Esker, in a copy: the checkout stays as it is, and nothing of the suite is changed in the copy."""

import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ADAPTER = os.path.join(HERE, "ycsb-cpp")

HOW_TO_GET = """\
--ycsb DIR is missing: a checkout of YCSB-cpp, whose code is no part of this repository. To get one:

    git clone https://github.com/ls4154/YCSB-cpp && git -C YCSB-cpp submodule update --init
"""


class BuildError(Exception):
    pass


def run(command, **options):
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, **options)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(str(error)) from error


def commit(checkout):
    """What is checked out, or that nobody knows."""
    command = ["git", "-C", checkout, "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"


def check(checkout):
    for needed, why in [("core/ycsbc.cc", "is no checkout of YCSB-cpp"), ("HdrHistogram_c/CMakeLists.txt", "lacks its submodule")]:
        if not os.path.exists(os.path.join(checkout, needed)):
            raise BuildError(f"{checkout} {why}: there is no {needed}. `git submodule update --init` brings the submodule.")


def installed_esker(work):
    """Builds the library for C, and puts it where nobody else has it."""
    prefix = os.path.join(work, "esker")
    run([os.path.join(ROOT, "Tools/install"), "--c", "--prefix", prefix], cwd=ROOT)
    return prefix


def build(checkout, prefix, bindings, work):
    """The program of the suite, with these bindings, and with the Esker that is installed under `prefix`."""
    check(checkout)
    copy = os.path.join(work, "ycsb-cpp")
    library = os.path.join(prefix, "lib")
    environment = {
        **os.environ,
        # The suite's Makefile adds to what it finds here.
        "SOURCES": " ".join(f"esker/{name}" for name in sorted(os.listdir(ADAPTER)) if name.endswith(".cc")),
        "EXTRA_CXXFLAGS": f"-I{prefix}/include",
        "EXTRA_LDFLAGS": f"-L{library} -lEskerC -Wl,-rpath,{library}",
        **{f"BIND_{binding.name.upper()}": "1" for binding in bindings if binding.name != "esker"},
    }
    # Make looks at times alone: a copy that was built from something else is not for this.
    stamp = json.dumps([os.path.abspath(checkout), commit(checkout), sorted(environment[key] for key in environment if key.startswith("EXTRA_")),
                        sorted(binding.name for binding in bindings)])
    stamp_path = os.path.join(work, "ycsb-cpp.stamp")
    if not os.path.exists(stamp_path) or open(stamp_path, encoding="utf-8").read() != stamp:
        shutil.rmtree(copy, ignore_errors=True)
    if not os.path.exists(copy):
        shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git", "*.o", "*.d", "ycsb"))
    shutil.copytree(ADAPTER, os.path.join(copy, "esker"), dirs_exist_ok=True)
    with open(stamp_path, "w", encoding="utf-8") as file:
        file.write(stamp)
    run(["make", "-C", copy, f"-j{os.cpu_count() or 1}"], env=environment, stdout=subprocess.DEVNULL)
    return os.path.join(copy, "ycsb")
