"""What both suites are built with: Esker's library for C, and what is known of checkouts."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class BuildError(Exception):
    pass


class SuiteError(Exception):
    """A suite did not do what it should, or printed what nobody expects."""


def run(command, **options):
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, **options)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(str(error)) from error


def output(command, **options):
    """What a run of a suite prints."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0 or "Caught exception" in result.stderr:
        raise SuiteError(f"{' '.join(command)}\nended with status {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def commit(checkout):
    """What is checked out, or that nobody knows."""
    command = ["git", "-C", checkout, "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"


def installed_esker(work):
    """Builds the library for C, and puts it where nobody else has it."""
    prefix = os.path.join(work, "esker")
    run([os.path.join(ROOT, "Tools/install"), "--c", "--prefix", prefix], cwd=ROOT)
    return prefix


def linked_esker(prefix):
    """What links a program with the Esker that is installed there."""
    library = os.path.join(prefix, "lib")
    return [f"-L{library}", "-lEskerC", f"-Wl,-rpath,{library}"]
