"""How long ``tvmdbg`` takes to say something, and what it does not import for that.

Promise: ``--version`` and ``--help`` without numpy, and each within 0.5 s CPU.
``python -m benchmarks.cli_time``
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import tvmdbg_widgets as tvmdbg
from benchmarks.measure import limit, machine, measure

PROMISE = 0.5
CALLS = {
    "--version": PROMISE,
    "--help": PROMISE,
    "check --help": PROMISE,
    f"summary {tvmdbg.samples.resnet20_cifar}": None,
    f"check {tvmdbg.samples.resnet20_cifar}": None,
}


def main() -> None:
    """Print the times, with compiled code kept as in an installed package."""
    machine()
    with tempfile.TemporaryDirectory() as cache:  # compiled code counts once, as in an installation
        os.environ["PYTHONPYCACHEPREFIX"] = cache
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        _measure()


def _measure() -> None:
    measure("python -c pass", lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), 9)
    for call, promise in CALLS.items():
        command = [sys.executable, "-m", "tvmdbg_widgets.cli", *call.split()]
        told = measure(
            f"tvmdbg {call.split()[0]}{' --help' * ('check --' in call)}",
            lambda command=command: subprocess.run(command, check=True, capture_output=True),
            9,
        )
        if promise is not None:
            limit(told, promise)


if __name__ == "__main__":
    main()
