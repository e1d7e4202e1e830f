"""Layouts of a struct side by side, as a figure and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tvmdbg_widgets.analysis.abi.layout_changes import LayoutChanges, layout_changes
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.engine import draw_view
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.struct_layout import ScalarType, StructLayout

#: Text and fault of values, by path.
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
    colors: dict[str, int] = {}
    columns: list[_LayoutColumn] = []
    for (label, layout), fields, verdict in zip(layouts, values, verdicts, strict=True):
        shown = {path: (one_line(text), one_line(why)) for path, (text, why) in fields.items()}
        column = _LayoutColumn(
            one_line(label), layout, layout_changes(first, layout), shown, one_line(verdict), []
        )
        parts = [layout]
        if layout.is_union:  # whose members lie over each other
            parts = [replace(layout, members=(each,), size=each.end) for each in layout.members]
        for part in parts:
            column.sections.append(_section(column, replace(part, is_union=False), colors))
        columns.append(column)
    *others, last = (column.label for column in columns)
    title = f"{first.name}, {', '.join(others)}{' and ' if others else ''}{last}"
    text = _struct_text(columns, hexdump)
    told = [_told(column, columns[0], hexdump is not None) for column in columns]
    reply = Reply({"text": text, "layouts": told}, ((hexdump or b"")[:_MOST_BYTES],))
    return draw_view(
        "struct", title, {}, lambda _: reply, text=lambda: text, width=width, theme=theme
    )


class _LayoutColumn(NamedTuple):
    label: str
    layout: StructLayout
    changes: LayoutChanges
    values: Values
    verdict: str
    sections: list[dict[str, Any]]

    @property
    def problems(self) -> list[str]:
        return [f"{path} is {text}: {why}" for path, (text, why) in self.values.items() if why]


def _told(column: _LayoutColumn, first: _LayoutColumn, has_dump: bool) -> dict[str, Any]:
    """Return a layout as ``js/src/engine/struct_grid.ts`` reads it."""
    layout, problems = column.layout, column.problems
    kind, against, lines = "union" if layout.is_union else "struct", "", column.changes.lines()
    if column is not first:
        against = first.label
        lines = lines or [f"every value lies where it does in {against}"]
    return {
        "label": column.label,
        "facts": f"{kind} of {counted(layout.size, 'byte')}, aligned to {layout.align}",
        "size": layout.size,
        "align": layout.align,
        "verdict": column.verdict,
        "sense": "" if not (has_dump and column.values) else "no" if problems else "yes",
        "against": against,
        "changes": lines,
        "problems": problems,
        "sections": column.sections,
    }


def _section(column: _LayoutColumn, layout: StructLayout, colors: dict[str, int]) -> dict[str, Any]:
    """Return values and padding as parts, and nested structs as frames."""
    parts: list[dict[str, Any]] = []
    frames: list[dict[str, Any]] = []

    def add(struct: StructLayout, before: str, start: int) -> None:
        nested = any(isinstance(member.type, StructLayout) for member in struct.members)
        for member in struct.members:
            kind, path = member.type, f"{before}{member.name}"
            offset = start + member.offset
            place = {"name": member.name, "offset": offset, "size": member.size, "type": kind.name}
            if isinstance(kind, StructLayout):
                frames.append({**place, "depth": path.count(".")})
                add(kind, f"{path}.", offset)
                continue
            # The members of a struct without structs share a color.
            color = colors.setdefault(path if nested or not before else before, len(colors))
            value, problem = column.values.get(path, ("", ""))
            words = {"path": path, "short": _short(kind), "mark": column.changes.mark(path)}
            parts.append({**place, **words, "color": color, "value": value, "problem": problem})

    add(layout, "", 0)
    nothing = dict.fromkeys(("path", "short", "mark", "value", "problem"), "")
    for offset, size in layout.padding:
        place = {"name": "padding", "offset": offset, "size": size, "type": counted(size, "byte")}
        parts.append({**place, **nothing, "color": 0})
    return {"size": layout.size, "parts": parts, "frames": frames}


def _short(kind: ScalarType) -> str:
    """Return a type in the short form of layout declarations: ``"u16"``."""
    return "*" if kind.kind == "pointer" else f"{kind.kind[0]}{8 * kind.size}"


_PADDING = "(padding)"


def _struct_text(columns: Sequence[_LayoutColumn], hexdump: bytes | None) -> str:
    """Return a table of fields with offset, size and type per layout, then the differences."""
    sides = [_rows(column) for column in columns]
    paths = _in_order([list(side) for side in sides])
    names = (_PADDING if path.endswith(_PADDING) else path for path in paths)
    texts = [_aligned(["", "field", *names])]
    for (label, layout, *_), side in zip(columns, sides, strict=True):
        heads = ["offset", "size", "type", *(["hex", "value"] if hexdump is not None else []), ""]
        nothing = [""] * len(heads)
        rows = [_cells(side[path], hexdump) if path in side else nothing for path in paths]
        table = [
            _aligned(cells, right=at < 2) for at, cells in enumerate(zip(heads, *rows, strict=True))
        ]
        head = f"{label}: {layout.name}, {counted(layout.size, 'byte')}, aligned to {layout.align}"
        texts.append(_aligned([head, *map("  ".join, zip(*table, strict=True))]))
    lines = [" | ".join(line).rstrip() for line in zip(*texts, strict=True)]
    for column in columns:
        if differences := column.changes.lines():
            lines.append(f"{column.label} differs from {columns[0].label}:")
            lines += [f"  ≠ {line}" for line in differences]
        lines += [f"{column.label}: ✗ {problem}" for problem in column.problems]
        if column.verdict:
            lines.append(f"{column.label}: {column.verdict}")
    return "\n".join(lines)


def _rows(column: _LayoutColumn) -> dict[str, dict[str, Any]]:
    """Return the parts by path, in the order of their bytes; padding is named by what precedes."""
    parts = [part for section in column.sections for part in section["parts"]]
    if column.layout.is_union:
        return {part["path"]: part for part in parts if part["path"]}
    rows, after = {}, ""
    for part in sorted(parts, key=lambda part: part["offset"]):
        rows[part["path"] or f"{after}{_PADDING}"] = part
        after = part["path"]
    return rows


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


def _cells(part: Mapping[str, Any], hexdump: bytes | None) -> list[str]:
    offset, size = part["offset"], part["size"]
    cells = [str(offset), str(size), part["type"] if part["path"] else ""]
    marks = [f"≠ {part['mark']}"] if part["mark"] else []
    if hexdump is not None:
        cells += [hexdump[offset : offset + size].hex(" "), part["value"]]
        marks += ["✗"] if part["problem"] else []
    return [*cells, " ".join(marks)]


def _aligned(cells: Sequence[str], *, right: bool = False) -> list[str]:
    wide = max(map(len, cells))
    return [cell.rjust(wide) if right else cell.ljust(wide) for cell in cells]
