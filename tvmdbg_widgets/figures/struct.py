"""Layouts of a struct side by side, as a figure and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.abi.layout_changes import LayoutChanges, layout_changes
from tvmdbg_widgets.figures.engine import draw_or_tell
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.struct_layout import Member, ScalarType, StructLayout

Values = Mapping[str, tuple[str, str]]

#: Bytes of a dump that are passed to the view; no struct here is longer.
_MOST_BYTES = 4096


def struct_figure(
    layouts: Sequence[tuple[str, StructLayout]],
    *,
    hexdump: bytes | None = None,
    values: Sequence[Values] | None = None,
    verdicts: Sequence[str] | None = None,
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw layouts of one struct; later ones with their differences from the first."""
    if not layouts:
        raise ValueError("no layout to draw")
    values = [{} for _ in layouts] if values is None else values
    verdicts = ["" for _ in layouts] if verdicts is None else verdicts
    first = layouts[0][1]
    paths = dict.fromkeys(path for _, layout in layouts for path in _colored(layout))
    colors = {path: at for at, path in enumerate(paths)}
    columns = [
        _LayoutColumn(
            one_line(label),
            layout,
            layout_changes(first, layout),
            {path: (one_line(text), one_line(why)) for path, (text, why) in fields.items()},
            one_line(verdict),
            colors,
        )
        for (label, layout), fields, verdict in zip(layouts, values, verdicts, strict=True)
    ]
    title = _title(columns)
    text = struct_text(
        [(column.label, column.layout) for column in columns],
        [column.changes for column in columns],
        hexdump,
        [column.values for column in columns],
        [column.verdict for column in columns],
    )
    data = {
        "title": title,
        "text": text,
        "layouts": [_described(column, columns[0], hexdump is not None) for column in columns],
    }
    dump = np.frombuffer((hexdump or b"")[:_MOST_BYTES], np.uint8)
    return draw_or_tell("struct", data, {"dump": dump}, {}, text=text, width=width, theme=theme)


class _LayoutColumn(NamedTuple):
    label: str
    layout: StructLayout
    changes: LayoutChanges
    values: Values
    verdict: str
    #: Colors of the paths of :func:`_colored`, the same in all layouts.
    colors: Mapping[str, int]


def _title(columns: Sequence[_LayoutColumn]) -> str:
    struct = columns[0].layout.name
    if len(columns) == 1:
        return f"{struct}, {columns[0].label}"
    *others, last = (column.label for column in columns)
    return f"{struct}, {', '.join(others)} and {last}"


def _described(column: _LayoutColumn, first: _LayoutColumn, has_dump: bool) -> dict[str, Any]:
    """Return a layout as ``js/src/engine/struct_grid.ts`` reads it."""
    layout, changes = column.layout, column.changes
    kind = "union" if layout.is_union else "struct"
    lines = changes.lines()
    if column is not first and not lines:
        lines = [f"every value lies where it does in {first.label}"]
    problems = [f"{path} is {text}: {why}" for path, (text, why) in column.values.items() if why]
    return {
        "label": column.label,
        "facts": f"{kind} of {counted(layout.size, 'byte')}, aligned to {layout.align}",
        "size": layout.size,
        "align": layout.align,
        "verdict": column.verdict,
        "sense": "" if not (has_dump and column.values) else "no" if problems else "yes",
        "against": first.label if column is not first else "",
        "changes": lines,
        "problems": problems,
        "sections": [_section(column, members) for members in _sections(layout)],
    }


def _sections(layout: StructLayout) -> Iterator[tuple[Member, ...]]:
    """Yield members that share rows of bytes: of a union, single members."""
    if layout.is_union:
        yield from ((member,) for member in layout.members)
    else:
        yield layout.members


def _section(column: _LayoutColumn, members: tuple[Member, ...]) -> dict[str, Any]:
    layout = column.layout
    end = max(member.end for member in members) if layout.is_union else layout.size
    section = _StructSection(column)
    for member in members:
        section.add(member)
    section.fill(end)
    return {"size": end, "parts": section.parts, "frames": section.frames}


class _StructSection:
    """Values of members as parts, and nested structs as frames."""

    def __init__(self, column: _LayoutColumn) -> None:
        self.column = column
        self.parts: list[dict[str, Any]] = []
        self.frames: list[dict[str, Any]] = []

    def add(
        self, member: Member, before: str = "", start: int = 0, color: int | None = None
    ) -> None:
        """Add a member; of a struct, its members and a frame around them."""
        path, offset = f"{before}{member.name}", start + member.offset
        color = self.column.colors.get(path, color)
        place = {"name": member.name, "offset": offset, "size": member.size}
        if isinstance(member.type, StructLayout) and not member.type.is_union:
            self.frames.append({**place, "type": member.type.name, "depth": path.count(".")})
            for inner in member.type.members:
                self.add(inner, f"{path}.", offset, color)
            return
        text, problem = self.column.values.get(path, ("", ""))
        self.parts.append(
            {
                **place,
                "path": path,
                "type": member.type.name,
                "short": _short(member.type),
                "color": color or 0,
                "mark": self.column.changes.mark(path),
                "value": text,
                "problem": problem,
            }
        )

    def fill(self, end: int) -> None:
        """Add padding up to ``end`` as parts without a path."""
        at = 0
        for part in [*self.parts, {"offset": end, "size": 0}]:
            if part["offset"] > at:
                size = part["offset"] - at
                padding = {"name": "padding", "path": "", "type": counted(size, "byte")}
                nothing = {"short": "", "color": 0, "mark": "", "value": "", "problem": ""}
                self.parts.append({**padding, **nothing, "offset": at, "size": size})
            at = max(at, part["offset"] + part["size"])


def _colored(layout: StructLayout, before: str = "") -> Iterator[str]:
    """Yield paths with a color of their own: values, and structs without nested structs."""
    for member in layout.members:
        path = f"{before}{member.name}"
        kind = member.type
        if isinstance(kind, StructLayout) and any(
            isinstance(inner.type, StructLayout) for inner in kind.members
        ):
            yield from _colored(kind, f"{path}.")
        else:
            yield path


def _short(kind: ScalarType | StructLayout) -> str:
    """Return a type in the short form of layout declarations: ``"u16"``."""
    if isinstance(kind, StructLayout):
        return ""
    return {"int": f"i{8 * kind.size}", "uint": f"u{8 * kind.size}", "pointer": "*"}.get(
        kind.kind, f"f{8 * kind.size}"
    )


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
    """Return a table of fields with offset, size and type per layout, then the differences."""
    sides = [_rows(layout) for _, layout in layouts]
    paths = _in_order([[row.path for row in rows] for rows in sides])
    names = (_PADDING if path.endswith(_PADDING) else path for path in paths)
    columns = [_aligned(["", "field", *names])]
    for (label, layout), rows, change, fields in zip(layouts, sides, changes, values, strict=True):
        at = {row.path: row for row in rows}
        cells = [_cells(at.get(path), change, hexdump, fields) for path in paths]
        heads = ["offset", "size", "type", *(["hex", "value"] if hexdump is not None else []), ""]
        table = [
            _aligned(column, right=k < 2)
            for k, column in enumerate(zip(heads, *cells, strict=True))
        ]
        lines = ["  ".join(line) for line in zip(*table, strict=True)]
        head = f"{label}: {layout.name}, {counted(layout.size, 'byte')}, aligned to {layout.align}"
        columns.append(_aligned([head, *lines]))
    text_lines = [" | ".join(line).rstrip() for line in zip(*columns, strict=True)]
    for (label, _), change, fields, verdict in zip(layouts, changes, values, verdicts, strict=True):
        if differences := change.lines():
            text_lines.append(f"{label} differs from {layouts[0][0]}:")
            text_lines += [f"  ≠ {line}" for line in differences]
        text_lines += [
            f"{label}: ✗ {path} is {text}: {why}" for path, (text, why) in fields.items() if why
        ]
        if verdict:
            text_lines.append(f"{label}: {verdict}")
    return "\n".join(text_lines)


def _rows(layout: StructLayout) -> list[_StructTextRow]:
    rows = [
        _StructTextRow(leaf.offset, leaf.type.size, leaf.path, leaf.type.name)
        for leaf in layout.leaves()
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
    """Return the union of paths; paths of later sides follow their predecessor there."""
    paths = list(sides[0])
    for side in sides[1:]:
        last = -1
        for path in side:
            if path in paths:
                last = paths.index(path)
            else:
                last += 1
                paths.insert(last, path)
    return paths


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
