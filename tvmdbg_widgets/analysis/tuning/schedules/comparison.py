"""Comparison of two schedules, step by step and loop by loop."""

from __future__ import annotations

import html
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, TypeAlias, TypeVar

from tvmdbg_widgets.analysis.tuning.schedules.nest import nest, with_factor
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.steps import AnyStep, NestLine, State

_SHOWN = 40
_SHOWN_LINES = 200
_LEFT = 'style="text-align: left"'
_CODE = 'style="text-align: left; white-space: pre"'
_SIGNS = {"same": " ", "changed": "≠", "only A": "A", "only B": "B"}


@dataclass(frozen=True)
class ScheduleDifference:
    """A step, or a line of the nest, of both schedules or of one.

    Attributes
    ----------
    change : str
        ``"same"``, ``"changed"``, ``"only A"`` or ``"only B"``.
    a, b : int
        Which step, or line of the nest, it is; -1 where there is none.
    text_a, text_b : str
        In words, or as printed; empty where there is none.
    fields : tuple of str
        Differences: fields of a step; ``"extent"``, ``"factor"``, ``"annotation"`` of a loop.
    """

    change: str
    a: int
    b: int
    text_a: str
    text_b: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ScheduleComparison:
    """Two schedules side by side.

    Attributes
    ----------
    a, b : Schedule
    steps, lines : tuple of Difference
        All of both, aligned, in order.
    """

    a: Schedule
    b: Schedule
    steps: tuple[ScheduleDifference, ...]
    lines: tuple[ScheduleDifference, ...]

    @property
    def caption(self) -> str:
        """How much differs."""
        steps = counted(sum(difference.change != "same" for difference in self.steps), "step")
        loops = counted(sum(difference.change != "same" for difference in self.lines), "line")
        return f"{steps} and {loops} of the loop nest differ"

    def __repr__(self) -> str:
        lines = [f"A: {self.a.title}", f"B: {self.b.title}", self.caption]
        differing = _differing((*self.steps, *self.lines))
        for each in differing[:_SHOWN]:
            lines += [
                f"  {letter} {text}"
                for letter, text in (("A", each.text_a), ("B", each.text_b))
                if text
            ]
        if len(differing) > _SHOWN:
            lines.append(f"  … {counted(len(differing) - _SHOWN, 'more difference')}")
        return "\n".join(map(indented, lines))

    def _repr_html_(self) -> str:
        titles = "".join(
            f"<td {_LEFT}>{html.escape(schedule.title)}</td>" for schedule in (self.a, self.b)
        )
        head = f"<tr><th></th><th {_LEFT}>A</th><th {_LEFT}>B</th></tr><tr><td></td>{titles}</tr>"
        return (
            f"<p>{self.caption}</p>"
            f"<table>{head}{_rows(self.lines[:_SHOWN_LINES])}{_more(self.lines)}</table>"
            f"<details><summary>steps</summary><table>{head}{_rows(_differing(self.steps))}</table>"
            "</details>"
        )


def compare_schedules(a: Schedule, b: Schedule) -> ScheduleComparison:
    """Align equal steps on equal loops, and loops of equal stage and name."""
    return ScheduleComparison(a, b, tuple(_steps(a, b)), tuple(_lines(a, b)))


def _steps(a: Schedule, b: Schedule) -> list[ScheduleDifference]:
    of_a, of_b = a.record.steps, b.record.steps
    if not of_a and not of_b:
        return _aligned_texts(a.steps, b.steps)

    def same_loop(step: AnyStep) -> Hashable:
        return step.code, step.stage_id, getattr(step, "iter_id", -1)

    differences = []
    for in_a, in_b in align(of_a, of_b, same_loop, lambda step: (step.code, step.stage_id)):
        differing: tuple[str, ...] = ()
        if in_a is not None and in_b is not None:
            values = vars(of_b[in_b])
            differing = tuple(n for n, value in vars(of_a[in_a]).items() if value != values[n])
        differences.append(_difference((in_a, in_b), a.steps, b.steps, differing))
    return differences


def _aligned_texts(a: Sequence[str], b: Sequence[str]) -> list[ScheduleDifference]:
    pairs = align(a, b, lambda text: text, lambda text: text.partition(":")[0])
    return [
        _difference(pair, a, b, () if None in pair or a[pair[0]] == b[pair[1]] else ("value",))  # type: ignore[index]
        for pair in pairs
    ]


def _lines(a: Schedule, b: Schedule) -> list[ScheduleDifference]:
    lines_a, lines_b = _full_nest(a), _full_nest(b)
    named_a = [(_alignment_key(a.shown, line), line) for line in lines_a]
    named_b = [(_alignment_key(b.shown, line), line) for line in lines_b]
    texts_a, texts_b = list(map(with_factor, lines_a)), list(map(with_factor, lines_b))
    differences = []
    for in_a, in_b in align(named_a, named_b, lambda item: item[0]):
        both = in_a is not None and in_b is not None
        differing = _changed(lines_a[in_a], lines_b[in_b]) if both else ()  # type: ignore[index]
        differences.append(_difference((in_a, in_b), texts_a, texts_b, differing))
    return differences


def _difference(
    pair: tuple[int | None, int | None],
    texts_a: Sequence[str],
    texts_b: Sequence[str],
    differing: tuple[str, ...],
) -> ScheduleDifference:
    a, b = pair
    change = "changed" if differing else "same"
    if b is None:
        change = "only A"
    elif a is None:
        change = "only B"
    return ScheduleDifference(
        change,
        -1 if a is None else a,
        -1 if b is None else b,
        "" if a is None else texts_a[a],
        "" if b is None else texts_b[b],
        differing,
    )


def _full_nest(schedule: Schedule) -> list[NestLine]:
    if schedule.shown is None or not schedule.record.steps:
        return []
    return nest(schedule.shown, hide_ones=False)


def _alignment_key(state: State | None, line: NestLine) -> tuple[Any, ...]:
    if state is None or line.stage < 0:
        return (line.kind, line.text)
    stage = state.stages[line.stage]
    loop = stage.iterators[line.iterator].name if line.iterator >= 0 else ""
    attribute = line.text.rpartition(": ")[0] if line.kind == "attribute" else ""
    return line.kind, stage.name, loop, attribute


def _changed(a: NestLine, b: NestLine) -> tuple[str, ...]:
    if with_factor(a) == with_factor(b):
        return ()
    fields = [
        name for name in ("annotation", "extent", "factor") if getattr(a, name) != getattr(b, name)
    ]
    return tuple(fields) or ("text",)


def _differing(differences: Sequence[ScheduleDifference]) -> list[ScheduleDifference]:
    return [difference for difference in differences if difference.change != "same"]


def _rows(differences: Sequence[ScheduleDifference]) -> str:
    return "".join(
        f"<tr><td>{_SIGNS[each.change]}</td>{_cell(each.text_a)}{_cell(each.text_b)}</tr>"
        for each in differences
    )


def _more(differences: Sequence[ScheduleDifference]) -> str:
    more = len(differences) - _SHOWN_LINES
    return f"<tr><td></td><td>… {counted(more, 'more line')}</td></tr>" if more > 0 else ""


def _cell(text: str) -> str:
    code = f"<code>{html.escape(indented(text))}</code>" if text else ""
    return f"<td {_CODE}>{code}</td>"


def indented(text: str) -> str:
    """Return a text as one line that keeps its indent."""
    inner = text.lstrip(" ")
    return " " * (len(text) - len(inner)) + one_line(inner)


T = TypeVar("T")
#: Indices into both sequences; None where one has no counterpart.
Pair: TypeAlias = tuple[int | None, int | None]

#: Longest aligned sequence, longer ones are paired by position: aligning is quadratic.
_LONGEST = 2_000


def align(a: Sequence[T], b: Sequence[T], *keys: Callable[[T], Hashable]) -> list[Pair]:
    """Pair items of equal keys in order; every next key pairs what the ones before left."""
    if max(len(a), len(b)) > _LONGEST:
        return list(zip_longest(range(len(a)), range(len(b))))
    return list(_aligned(a, b, (0, len(a)), (0, len(b)), keys))


def _aligned(
    a: Sequence[T],
    b: Sequence[T],
    of_a: tuple[int, int],
    of_b: tuple[int, int],
    keys: Sequence[Callable[[T], Hashable]],
) -> Iterator[Pair]:
    if not keys:
        yield from ((index, None) for index in range(*of_a))
        yield from ((None, index) for index in range(*of_b))
        return
    left = [keys[0](item) for item in a[slice(*of_a)]]
    right = [keys[0](item) for item in b[slice(*of_b)]]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        in_a, in_b = (of_a[0] + a_from, of_a[0] + a_to), (of_b[0] + b_from, of_b[0] + b_to)
        if tag == "equal":
            yield from zip(range(*in_a), range(*in_b), strict=True)
        else:
            yield from _aligned(a, b, in_a, in_b, keys[1:])
