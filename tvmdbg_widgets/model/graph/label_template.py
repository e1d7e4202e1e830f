"""Templates of box labels, ``"{op} #{id}"``; ``js/src/graph/color/template.ts`` fills them."""

from __future__ import annotations

import re

from tvmdbg_widgets.model.base.choice import meant

#: What may stand in braces.
FIELDS = (
    "op",
    "id",
    "name",
    "func",
    "kind",
    "shape",
    "dtype",
    "time",
    "share",
    "device",
    "storage",
    "layout",
    "bytes",
    "value",
)
_MOST = 400
_LINES = 2
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def checked_template(text: str) -> str:
    """Return a template that can be filled."""
    if len(text) > _MOST:
        raise ValueError(f"a label has at most {_MOST} characters, found {len(text):,}")
    lines = text.split("\n")
    if len(lines) > _LINES:
        raise ValueError(f"a box has room for {_LINES} lines, found {len(lines)}")
    for line in lines:
        for found in _PART.finditer(line):
            _check(found)
    return text


def _check(found: re.Match[str]) -> None:
    whole, name, at = found.group(), found.group(1), found.start()
    if name is None and whole not in ("{{", "}}"):
        raise ValueError(f"{whole!r} at {at} stands alone; write {whole * 2!r}")
    if name is not None and name not in FIELDS:
        known = [f"{{{field}}}" for field in FIELDS]
        raise ValueError(f"unknown field {whole} at {at}{meant(whole, known)}")
