"""The command line: ``tvmdbg``, one file per verb."""

from __future__ import annotations


def main() -> None:
    """Run ``tvmdbg`` with the arguments of this process; ends with an exit status.

    0: done. 1: there are findings. 2: it could not be done.
    """
    from tvmdbg_widgets.cli.app import run

    run()
