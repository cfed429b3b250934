"""Programs of suites: running them, and what is known of where they come from."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class SuiteError(Exception):
    """A suite did not do what it should, or printed what nobody expects."""


def output(command, **options):
    """What a run of a suite prints."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    except OSError as error:
        raise SuiteError(str(error)) from error
    if result.returncode != 0 or "Caught exception" in result.stderr:
        raise SuiteError(f"{' '.join(command)}\nended with status {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def commit(directory):
    """What is checked out there, or that nobody knows."""
    command = ["git", "-C", directory, "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"
