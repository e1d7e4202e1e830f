"""Families of all readable formats, identified by content and never by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tvmdbg_widgets.formats.chrome.trace import KIND as CHROME_TRACE
from tvmdbg_widgets.formats.executorch.assemble import FAMILY as EXECUTORCH
from tvmdbg_widgets.formats.family import Family, Kind, Limits, Part, head, identify
from tvmdbg_widgets.formats.limits import LIMITS
from tvmdbg_widgets.formats.rpc.connection import FAMILY as RPC
from tvmdbg_widgets.formats.tuning.assemble import FAMILY as TUNING
from tvmdbg_widgets.formats.tvm.assemble import FAMILY as TVM
from tvmdbg_widgets.formats.writer import FAMILY as RECORDING
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Chrome traces of any program, which are joined as TVM's own are.
CHROME = Family("chrome", (CHROME_TRACE,), TVM.join)
#: Families by precedence: the first with a file joins all files.
FAMILIES = (EXECUTORCH, TVM, CHROME, RECORDING, RPC, TUNING)
#: Kinds in the order in which they are asked whether a file is theirs.
KINDS = sorted((kind for each in FAMILIES for kind in each.kinds), key=lambda kind: kind.rank)
#: Parts with texts that may be pasted with surroundings.
PASTED = frozenset(kind.part for kind in KINDS if kind.pasted)


def family_of(parts: Sequence[Part]) -> Family:
    """Return the family that joins these files."""
    # A debug buffer alone, which only its caller can tell, is of no kind.
    return next((f for f in FAMILIES if any(part.kind in f for part in parts)), EXECUTORCH)


def checked_limits(chosen: Mapping[str, Any] | None) -> Limits:
    """Return limits that a caller chose; ValueError where a name or a size makes no sense."""
    for name, most in (chosen or {}).items():
        one_of("part limits", name, LIMITS)
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ValueError(f"limits: {name!r} must be a number of bytes, found {most!r}")
    return Limits(dict(chosen or {}))


def tables_beside(source: ByteSource, kind: Kind) -> list[Kind]:
    """Return the other kind of table of times that a text with such a table may hold, too."""
    parts = ("table", "report")
    start = head(source) if kind.part in parts else b""
    others = (other for other in KINDS if other.part in parts and other.part != kind.part)
    return [other for other in others if start and other.sniff(start)][:1]


def suspect(source: ByteSource) -> Kind | None:
    """Return the kind whose broken file a source may be."""
    start = head(source).replace(b"\0", b"")
    opened = re.match(rb'\W*?[{"]', start)
    for pattern, part in ((rb'"traceEvents\\?"', "chrome"), (rb'"nodes\\?"', "graph")):
        if opened and re.compile(pattern).search(start, opened.end()):
            return kind_of(part)
    return None


def kind_for(part: str, source: ByteSource) -> Kind:
    """Return the kind that gives a part and knows the content, else the first that gives it."""
    also = {"trace": ("trace", "chrome"), "params": ("params", "cache")}.get(part, (part,))
    fitting = [kind for kind in KINDS if kind.part in also]
    return (identify(source, fitting) if len(fitting) > 1 else None) or kind_of(part)


def kind_of(part: str) -> Kind:
    """Return the first kind that gives a part of a run."""
    return next(kind for kind in KINDS if kind.part == part)
