"""How large a file may be that is read whole into memory, and what work its bytes may cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tvmdbg_widgets.formats.registry import Format
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.ranges import one_of
from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.sources.byte_source import ByteSource

_MB, _GB = 1 << 20, 1 << 30

#: Bytes by part of a run. Parsed, a text takes three to ten times its size in memory; each limit
#: lies ten times or more above the largest real file of its kind, and below what ends a process.
LIMITS: Mapping[str, int] = {
    # 100,000 nodes are 40 MB; a model library's metadata is smaller.
    "graph": 1 * _GB,
    # Only the index of a tensor cache: 0.3 kB an array. Other parameters are never read whole.
    "params": 256 * _MB,
    # Chrome traces of whole trainings reach a few gigabytes.
    "trace": 8 * _GB,
    # 0.3 kB a node and run, among whatever else a log of days holds.
    "table": 1 * _GB,
    # 0.4 kB a call: two million calls.
    "report": 1 * _GB,
    # 20 bytes a repeat of a node: 100 million.
    "times": 2 * _GB,
    # Its issues and the IR text of all stages.
    "recording": 512 * _MB,
    # 100 bytes an event: 20 million.
    "etdump": 2 * _GB,
    # 1 kB a row, and 20 bytes a run of it.
    "inspector-text": 256 * _MB,
    # 10 kB a task of a network that was tuned.
    "dags": 256 * _MB,
    # A program of weights with inputs to test it on.
    "bundled": 4 * _GB,
}
#: How often the arrays of a file may name its bytes, and bytes that they may name in any file.
SHARES, FEW_BYTES = 16, _MB
#: Parts whose tensors are not parsed.
_OF_TENSORS = ("params", "etrecord", "program", "named-data")
#: Parts of which only headers are read at once.
_OF_HEADERS = (*_OF_TENSORS, "capture", "rpc-stream")
#: Parts that are read line by line.
_OF_LINES = ("tuning-records", "tuning-output")
_KINDS = {
    "cache": "params",
    "chrome": "trace",
    "ir": "recording",
    "library": "graph",
    "tuning-dags": "dags",
    "recorded-times": "times",
}


class WorkBudget:
    """Work that reading one file may take, tied to its bytes.

    Parts of a file may refer to the same bytes again and again, and claim sizes that they do not
    have: whatever a reader makes of them is counted here before it is made.
    """

    def __init__(self, most: int, file: str, what: str, hint: str | None = None) -> None:
        self.most = most
        self.spent = 0
        self._told = file, what, hint

    def spend(self, count: int, field: str | None = None, offset: int | None = None) -> None:
        """Count work at a field, or a byte, of the file."""
        self.spent += count
        if self.spent > self.most:
            file, what, hint = self._told
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
    """Return the budget of the bytes that the arrays of a file name, shared ones again each time.

    Writers name a byte once, or a few times, and whoever looks at arrays reads all that they name.
    """
    return WorkBudget(FEW_BYTES + SHARES * source.size, source.name, "bytes of arrays")


class Limits:
    """The limits of one call of ``open``."""

    def __init__(self, chosen: Mapping[str, Any] | None = None) -> None:
        chosen = {} if chosen is None else dict(chosen)
        for part, most in chosen.items():
            one_of("part limits", part, LIMITS)
            if isinstance(most, bool) or not isinstance(most, int) or most < 0:
                raise ValueError(f"limits: {part!r} must be a number of bytes, found {most!r}")
        self._bytes = {**LIMITS, **chosen}
        #: Unpacked bytes that are allowed whatever their ratio; 0 where nothing is chosen.
        self.unpacked = max(chosen.values(), default=0)

    def check(self, source: ByteSource, form: Format) -> None:
        """Raise FormatError where a file is larger than its kind, or its packed bytes, allow."""
        if form.part not in _OF_TENSORS:
            source.allowance().take_text(source.size, one_line(source.name))
        part = _KINDS.get(form.part, form.part)
        if form.part in (*_OF_HEADERS, *_OF_LINES) or source.size <= self._bytes[part]:
            return
        raise FormatError(
            f"this {form.what} is larger than is read into memory",
            file=one_line(source.name),
            expected=f"at most {counted(self._bytes[part], 'byte')}",
            found=counted(source.size, "byte"),
            hint=f"If it is what it should be, {raised(part, source.size)} reads it all the same.",
        )


def raised(part: str, size: int) -> str:
    """Return the call that lets a file of that size be read."""
    return f"open(…, limits={{{part!r}: {max(1, -(-size // _GB))} * 2**30}})"
