"""Layouts of one struct beside each other as a table of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tvmdbg_widgets.analysis.abi.layout_changes import LayoutChanges
from tvmdbg_widgets.model.abi.struct_layout import StructLayout
from tvmdbg_widgets.model.base.numbers import counted

_PADDING = "(padding)"


class _StructTextRow(NamedTuple):
    offset: int
    size: int
    path: str
    type: str


def struct_text(
    layouts: Sequence[tuple[str, StructLayout]],
    changes: Sequence[LayoutChanges],
    hexdump: bytes | None,
    values: Sequence[Mapping[str, tuple[str, str]]],
    verdicts: Sequence[str],
) -> str:
    """Return a table of the values with offset, size and type in each layout, and what differs."""
    sides = [_rows(layout) for _, layout in layouts]
    paths = _in_order([[row.path for row in rows] for rows in sides])
    columns = [_aligned(["", "field", *(_shown(path) for path in paths)])]
    for (label, layout), rows, change, found in zip(layouts, sides, changes, values, strict=True):
        at = {row.path: row for row in rows}
        cells = [_cells(at.get(path), change, hexdump, found) for path in paths]
        heads = ["offset", "size", "type", *(["hex", "value"] if hexdump is not None else []), ""]
        table = [
            _aligned(column, right=k < 2)
            for k, column in enumerate(zip(heads, *cells, strict=True))
        ]
        lines = ["  ".join(line) for line in zip(*table, strict=True)]
        head = f"{label}: {layout.name}, {counted(layout.size, 'byte')}, aligned to {layout.align}"
        columns.append(_aligned([head, *lines]))
    found_lines = [" | ".join(line).rstrip() for line in zip(*columns, strict=True)]
    for (label, _), change, found, verdict in zip(layouts, changes, values, verdicts, strict=True):
        if differences := change.lines():
            found_lines.append(f"{label} differs from {layouts[0][0]}:")
            found_lines += [f"  ≠ {line}" for line in differences]
        found_lines += [
            f"{label}: ✗ {path} is {text}: {why}" for path, (text, why) in found.items() if why
        ]
        if verdict:
            found_lines.append(f"{label}: {verdict}")
    return "\n".join(found_lines)


def _rows(layout: StructLayout) -> list[_StructTextRow]:
    rows = [
        _StructTextRow(each.offset, each.type.size, each.path, each.type.name)
        for each in layout.leaves()
    ]
    gaps = [_StructTextRow(offset, size, "", "") for offset, size in layout.padding]
    if gaps:
        rows = sorted(rows + gaps)
    after = ""
    named = []
    for row in rows:
        path = row.path or f"{after}{_PADDING}"
        named.append(row._replace(path=path))
        after = row.path
    return named


def _in_order(sides: Sequence[Sequence[str]]) -> list[str]:
    """Return every path once; what only a later side has stands after what is before it there."""
    found = list(sides[0])
    for side in sides[1:]:
        last = -1
        for path in side:
            if path in found:
                last = found.index(path)
            else:
                last += 1
                found.insert(last, path)
    return found


def _shown(path: str) -> str:
    return _PADDING if path.endswith(_PADDING) else path


def _cells(
    row: _StructTextRow | None,
    change: LayoutChanges,
    hexdump: bytes | None,
    values: Mapping[str, tuple[str, str]],
) -> list[str]:
    has_dump = hexdump is not None
    if row is None:
        return [""] * (6 if has_dump else 4)
    cells = [str(row.offset), str(row.size), row.type]
    marks = [f"≠ {mark}"] if (mark := change.mark(row.path)) else []
    if hexdump is not None:
        text, why = values.get(row.path, ("", ""))
        cells += [hexdump[row.offset : row.offset + row.size].hex(" "), text]
        marks += ["✗"] if why else []
    return [*cells, " ".join(marks)]


def _aligned(cells: Sequence[str], *, right: bool = False) -> list[str]:
    wide = max(map(len, cells))
    return [cell.rjust(wide) if right else cell.ljust(wide) for cell in cells]
