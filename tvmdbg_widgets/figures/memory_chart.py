"""Bytes live over the execution and the lives of entries as marks of an SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.memory.words import ELSEWHERE, offset_text
from tvmdbg_widgets.figures.memory_offsets import FAINT, held_elsewhere, in_place_order, spans
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.base.numbers import bytes_text, counted
from tvmdbg_widgets.model.graph.node_words import node_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.analysis.memory.plan import MemoryPlan
    from tvmdbg_widgets.figures.memory import MemoryOptions
    from tvmdbg_widgets.figures.theme import Paint

    Level = Callable[[int], float]

_GUTTER = 88.0
_AREA = 96.0
_BAND = 18.0
_HEAD = 18.0
_PITCH = 20.0
_AXIS = 18.0
_MOST_ROWS = 16
_TICK_APART = 32
#: Narrower lives are drawn together, as columns of this width.
_COLUMN = 3.0
_LABEL_FROM = 18
_SHORTENED_FROM = 80
#: Beyond so many boxes none says what it is, so that a figure stays small.
_TITLED = 300
#: Letters of a name; a file may hold names of any length.
_LONGEST = 200


def short(count: int) -> str:
    """Bytes without the exact count: ``"64.0 KiB"``."""
    return bytes_text(count).partition(" (")[0]


class Chart:
    """The bytes, the axis of nodes, and a row for each of the largest slots."""

    def __init__(self, panel: Panel, plan: MemoryPlan, options: MemoryOptions) -> None:
        self._marks, self._end = panel.marks, panel.width - MARGIN
        self._left = MARGIN + _GUTTER
        self._theme = panel.theme
        self._plan, self._options = plan, options
        steps = float(max(1, len(plan.order)))
        first, last = options.step_range or (0.0, steps)
        self._first, self._last = max(0.0, first), min(steps, last)
        if not self._first < self._last:
            self._first, self._last = 0.0, steps
        self._titled = True

    @staticmethod
    def rows_of(plan: MemoryPlan) -> list[int]:
        """Return the slots that have a row: the largest of the workspace, by size."""
        own = np.flatnonzero(~plan.slot_is_parameter)
        order = np.lexsort((own, -plan.slot_bytes[own]))
        return [int(slot) for slot in own[order][:_MOST_ROWS]]

    def draw(self, y: float) -> float:
        """Draw from ``y`` down; return the y below it."""
        y = self._axis(self._bytes(y))
        plan = self._plan
        rows = in_place_order(plan, self.rows_of(plan))
        lives = [self._lives(slot) for slot in rows]
        self._titled = sum(map(len, lives)) <= _TITLED
        for slot, own in zip(rows, lives, strict=True):
            y = self._row(slot, own, y)
        more = int((~plan.slot_is_parameter).sum()) - len(rows)
        if more > 0:
            y += LINE_HEIGHT
            said = f"{counted(more, 'smaller slot')} not drawn"
            self._marks.text(said, MARGIN, y - 4, fill=self._theme.muted)
        return self._legend(rows, y + 6)

    def _x(self, step: float) -> float:
        share = (step - self._first) / (self._last - self._first)
        return self._left + min(1.0, max(0.0, share)) * (self._end - self._left)

    def _bytes(self, top: float) -> float:
        plan, marks, theme = self._plan, self._marks, self._theme
        ground, room = top + _AREA, self._end - self._left
        span = max(1, plan.allocated)

        def level(count: int) -> float:
            return ground - count / span * (_AREA - _HEAD)

        self._levels(ground, level(plan.allocated))
        if len(plan.live):
            marks.path(
                self._area(level, ground),
                fill=theme.accent,
                fill_opacity="0.35",
                stroke=theme.accent,
            )
        y = level(plan.allocated)
        marks.path(
            f"M{number(self._left)} {number(y)}H{number(self._end)}",
            stroke=theme.text,
            stroke_dasharray="5 3",
        )
        said = f"allocated {short(plan.allocated)}"
        marks.text(said, self._end - width(said, SMALL) - 2, y - 5, fill=theme.muted)
        self._peak(level, ground)
        if self._options.parameters and plan.parameter_bytes:
            marks.rect(
                self._left, ground, room, _BAND, fill=theme.kind("parameter"), fill_opacity="0.3"
            )
            said = f"parameters {short(plan.parameter_bytes)}, allocated throughout (not to scale)"
            marks.text(fit(said, room - 8, SMALL), self._left + 4, ground + 13)
            ground += _BAND
        return ground

    def _levels(self, ground: float, top: float) -> None:
        """What the heights mean, at powers of two."""
        allocated = self._plan.allocated
        fits = max(1, int(_AREA // _TICK_APART))
        step = 2 ** math.ceil(math.log2(max(1, allocated / fits)))
        for count in range(0, allocated + 1, step):
            y = ground - count / max(1, allocated) * (ground - top)
            if count:
                line = f"M{number(self._left)} {number(y)}H{number(self._end)}"
                self._marks.path(line, stroke=self._theme.line, stroke_opacity="0.5")
            said = short(count)
            x = self._left - 6 - width(said, SMALL)
            self._marks.text(said, x, min(y + 4, ground), fill=self._theme.muted)

    def _area(self, level: Level, ground: float) -> str:
        """The steps of the live bytes; where they are narrower than a px, the most of each."""
        plan = self._plan
        begin, end = math.floor(self._first), min(len(plan.live), math.ceil(self._last))
        count = max(1, min(end - begin, int(self._end - self._left)))
        edges = np.linspace(begin, end, count + 1).astype(np.int64)
        most = np.maximum.reduceat(plan.live[:end], edges[:-1])
        kept = np.flatnonzero(np.r_[True, most[1:] != most[:-1]])
        points = [f"M{number(self._left)} {number(ground)}"]
        for at in kept.tolist():
            y = level(int(most[at]))
            points.append(f"H{number(self._x(float(edges[at])))}V{number(y)}")
        points.append(f"H{number(self._x(float(end)))}V{number(ground)}z")
        return "".join(points)

    def _peak(self, level: Level, ground: float) -> None:
        plan, theme = self._plan, self._theme
        if not plan.peak.nodes or not plan.peak.bytes:
            return
        steps = np.flatnonzero(plan.live == plan.peak.bytes)
        seen = steps[(steps + 1 > self._first) & (steps < self._last)]
        if not len(seen):
            return
        step = int(seen[0])
        left, right, y = self._x(step), self._x(step + 1), level(plan.peak.bytes)
        self._marks.rect(left, y - 1.5, max(2.0, right - left), 3, z=2, fill=theme.error)
        said = f"peak {short(plan.peak.bytes)} at #{plan.order[step]}"
        wide = width(said, SMALL)
        x = min(max(self._left + 4, (left + right - wide) / 2), self._end - wide - 4)
        top = y + 4 if y + 18 <= ground else y - 18
        look: dict[str, Any] = {"fill": theme.background, "fill_opacity": "0.9"}
        self._marks.rect(x - 3, top, wide + 6, 14, z=3, **look)
        self._marks.text(said, x, top + 11)

    def _axis(self, y: float) -> float:
        plan, muted = self._plan, self._theme.muted
        self._marks.path(f"M{MARGIN} {number(y)}H{number(self._end)}", stroke=self._theme.line)
        said = "slot" if plan.ranges is None else "offset"
        self._marks.text(said, MARGIN, y + 13, fill=muted)
        apart = width(f"#{plan.graph.num_nodes}", SMALL) + 16
        least = apart * (self._last - self._first) / (self._end - self._left)
        power = 10.0 ** math.floor(math.log10(max(1.0, least)))
        step = int(power * next((each for each in (1, 2, 5) if each * power >= least), 10))
        for at in range(math.ceil(self._first / step) * step, math.ceil(self._last), step):
            if at >= len(plan.order):
                break
            x, said = self._x(at), f"#{plan.order[at]}"
            self._marks.path(f"M{number(x)} {number(y)}v4", stroke=self._theme.line)
            if x + 2 + width(said, SMALL) <= self._end:
                self._marks.text(said, x + 2, y + 13, fill=muted)
        return y + _AXIS

    def _lives(self, slot: int) -> list[tuple[int, float, float]]:
        """Entries of a slot as (entry, left, right) in px; -1 for several in narrow columns."""
        plan = self._plan
        own = np.flatnonzero(plan.entry_slot == slot)
        seen = (plan.last[own] + 1 > self._first) & (plan.first[own] < self._last)
        own = own[seen]
        own = own[np.argsort(plan.first[own], kind="stable")]
        found: list[tuple[int, float, float]] = []
        begins = plan.first[own].tolist()
        ends = plan.last[own].tolist()
        for at, entry in enumerate(own.tolist()):
            until = ends[at] + 1
            if at + 1 < len(begins):
                until = max(begins[at] + 1, min(until, begins[at + 1]))
            left, right = self._x(begins[at]), self._x(until)
            if right - left >= _COLUMN:
                found.append((entry, left, right))
                continue
            left = self._left + (left - self._left) // _COLUMN * _COLUMN
            right = min(self._end, left + _COLUMN)
            if found and found[-1][0] < 0 and found[-1][2] >= left:
                found[-1] = (-1, found[-1][1], right)
            else:
                found.append((-1, left, right))
        return found

    def _row(self, slot: int, lives: list[tuple[int, float, float]], y: float) -> float:
        plan, marks, theme = self._plan, self._marks, self._theme
        high = _PITCH - 2
        marks.rect(self._left, y + 1, self._end - self._left, high, fill=theme.surface)
        place = offset_text(plan, slot)
        if place:
            marks.text(fit(place, _GUTTER - 8, SMALL), MARGIN, y + 14)
            held = spans(held_elsewhere(plan, slot), self._x, _COLUMN)
            path = "".join(_rect(left, y + 1, right - left, high) for left, right in held)
            marks.path(path, fill=theme.muted, fill_opacity=FAINT)
        else:
            size = short(int(plan.slot_bytes[slot]))
            marks.text(size, self._left - 6 - width(size, SMALL), y + 14, fill=theme.muted)
            room = _GUTTER - width(size, SMALL) - 14
            marks.text(fit(str(plan.slot_storage_ids[slot]), room, SMALL), MARGIN, y + 14)
        lost = {each.entry for each in plan.losses}
        for at, (entry, left, right) in enumerate(lives):
            wide = right - left
            covered = at + 1 < len(lives) and lives[at + 1][1] == left
            if entry < 0:
                marks.path(_rect(left, y + 1, wide, high), z=1, fill=theme.edge)
                continue
            own = plan.entry_of(entry)
            said = f"#{own.node}" + (f":{own.output}" if own.output else "")
            name = f"{said} {self._name(own.node)}"
            fill = self._fill(entry)
            wide -= 0.8 if wide > 4 else 0
            if self._titled:
                title = f"{name}: {bytes_text(max(0, int(plan.entry_bytes[entry])))}"
                marks.rect(left, y + 1, wide, high, title=title, z=1, fill=fill)
            else:
                marks.path(_rect(left, y + 1, wide, high), z=1, fill=fill)
            if own in lost:
                marks.rect(left, y + 1, wide, 3, z=2, fill=theme.error)
            if own.node in self._options.selected:
                look: dict[str, Any] = {"fill": "none", "stroke": theme.text, "stroke_width": 2}
                marks.rect(left, y + 1, wide, high, z=3, **look)
            if wide >= _LABEL_FROM and not covered:
                shown = fit(name, wide - 6, SMALL)
                if shown != name and wide < _SHORTENED_FROM:
                    shown = said if width(said, SMALL) <= wide - 4 else ""
                marks.text(shown, left + 3, y + 14, fill=theme.ink_on(fill))
        return y + _PITCH

    def _name(self, node: int) -> str:
        graph = self._plan.graph
        return node_label(graph, node)[:_LONGEST]

    def _fill(self, entry: int) -> Paint:
        plan = self._plan
        if self._options.color_by == "size":
            most = int(plan.slot_bytes[~plan.slot_is_parameter].max(initial=1))
            return self._theme.heat(max(0, int(plan.entry_bytes[entry])) / max(1, most))
        return self._theme.kind(plan.graph.nodes[plan.entry_of(entry).node].op_kind)

    def _legend(self, rows: list[int], y: float) -> float:
        marks, theme, x = self._marks, self._theme, float(MARGIN)
        if self._options.color_by == "size":
            for at in range(40):
                marks.rect(x + 26 + at * 3, y + 3, 3.2, 9, fill=theme.heat(at / 39))
            most = int(self._plan.slot_bytes[rows].max(initial=0))
            marks.text("0 B", x, y + 12)
            marks.text(short(most), x + 152, y + 12)
            return y + LINE_HEIGHT
        planned = self._plan.ranges is not None
        for kind in [*self._kinds(rows), *([ELSEWHERE] if planned else [])]:
            wide = 14 + width(kind, SMALL) + 14
            if x + wide > self._end and x > MARGIN:
                x, y = float(MARGIN), y + LINE_HEIGHT
            look: dict[str, Any] = {"fill": theme.kind(kind)}
            if kind == ELSEWHERE:
                look = {"fill": theme.muted, "fill_opacity": FAINT}
            marks.rect(x, y + 3, 9, 9, rx=2, **look)
            marks.text(kind, x + 14, y + 12)
            x += wide
        return y + LINE_HEIGHT

    def _kinds(self, rows: list[int]) -> list[str]:
        """Kinds of the nodes whose entries are drawn."""
        plan = self._plan
        owner = plan.owner[np.flatnonzero(np.isin(plan.entry_slot, rows))]
        codes = plan.graph.func_names.codes
        one_each: dict[tuple[int, int], int] = {}
        for node in owner.tolist():
            one_each.setdefault((int(codes[node]), int(plan.graph.kinds[node])), node)
        found = {plan.graph.nodes[node].op_kind for node in one_each.values()}
        return sorted(found)


def _rect(x: float, y: float, wide: float, high: float) -> str:
    return f"M{number(x)} {number(y)}h{number(wide)}v{number(high)}h{number(-wide)}z"
