"""Sizes up to which files are read, and work that their bytes may cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.model.base.text import FormatError

if TYPE_CHECKING:  # the command line names the limits without numpy
    from tvmdbg_widgets.sources.byte_source import ByteSource

MB, GB = 1 << 20, 1 << 30
#: Bytes up to which files are read whole into memory, by the name of their limit in ``limits=``.
#: Parsed, a text takes three to ten times its size in memory; each limit lies ten times or more
#: above the largest real file of its kind, and below what ends a process.
LIMITS: Final[Mapping[str, int]] = {
    "graph": 1 * GB,  # 100,000 nodes are 40 MB; a model library's metadata is smaller
    "params": 256 * MB,  # the index of a tensor cache
    "trace": 8 * GB,  # Chrome traces of whole trainings reach a few gigabytes
    "table": 1 * GB,  # 0.3 kB per node and run, among the lines of a long log
    "report": 1 * GB,  # 0.4 kB per call: two million calls
    "times": 2 * GB,  # 20 bytes per repeat of a node: 100 million
    "recording": 512 * MB,  # issues of a recording, and IR text of all stages
    "etdump": 2 * GB,
    "bundled": 4 * GB,  # a program of weights with its test inputs
    "inspector-text": 256 * MB,  # 1 kB per row, and 20 bytes per run of it
    "dags": 256 * MB,
}

#: How often arrays may name the bytes of a file, and named bytes allowed in any file.
SHARES, FEW_BYTES = 16, 1 << 20


class WorkBudget:
    """Budget of work in reading one file, proportional to its bytes."""

    def __init__(self, most: int, file: str, what: str, hint: str | None = None) -> None:
        self.most = most
        self.spent = 0
        self._source_facts = file, what, hint

    def spend(self, count: int, field: str | None = None, offset: int | None = None) -> None:
        """Count work at a field, or a byte, of the file."""
        self.spent += count
        if self.spent > self.most:
            file, what, hint = self._source_facts
            raise FormatError(
                "its parts refer to the same things again and again",
                file=file,
                field=field,
                offset=offset,
                expected=f"at most {self.most:,} {what}",
                found="more",
                hint=hint or "The file is damaged, or made to exhaust memory: write it again.",
            )


def named_bytes(source: ByteSource) -> WorkBudget:
    """Return the budget of bytes that the arrays of a file name, counting shared bytes again."""
    return WorkBudget(FEW_BYTES + SHARES * source.size, source.name, "bytes of arrays")
