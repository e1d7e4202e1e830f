"""Opens hard inputs of every format, and uses some of those that open.

``python -m tests.make.fuzz --inputs 300000 --jobs 2`` prints every fault, what was done, and the
faults by kind: an exception that is no FormatError, a message nobody can read, a limit of CPU time
or of memory passed, a process that died. ``--keep FOLDER`` keeps the files of each fault, and
``--only 12345`` shows one again. The same seeds give the same inputs.

The seeds are the package's samples, tests/data, recordings and archives made of them, and the
folder that ``TVMDBG_CORPUS`` names. An input is a mutant of one, one with a size made another, or
made by hand: archives that unpack to far more, remote runs that went wrong, FlatBuffers and tensors
that name one thing many times.
"""

import argparse
import sys
from pathlib import Path

from tests.make.fuzz.running import again, fuzz


def main() -> int:
    """Run from the command line; exit status 1 where there are faults."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--inputs", type=int, default=300_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--only", type=int, default=None, metavar="NUMBER", help="show one again")
    parser.add_argument("--keep", type=Path, default=None, help="write the files of faults here")
    given = parser.parse_args()
    if given.only is not None:
        outcome = again(given.only, given.keep)
        print(*outcome.faults, sep="\n")
    else:
        outcome = fuzz(
            given.inputs, first=given.first, seconds=given.seconds, jobs=given.jobs, keep=given.keep
        )
    print(outcome)
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
