"""A state as TVM prints it (``PrintState``, src/auto_scheduler/loop_state.cc)."""

from __future__ import annotations

from collections.abc import Iterator as Yields

from tvmdbg_widgets.model.tuning.dag import DagSource
from tvmdbg_widgets.model.tuning.state import Iterator, NestLine, Stage, State


def print_state(state: State, hide_ones: bool = True) -> str:
    """Return what ``print(state)`` shows, with a line end after each line."""
    return "".join(f"{line}\n" for line in nest(state, hide_ones))


def nest(state: State, hide_ones: bool = True) -> list[NestLine]:
    """Return the lines of the printed loop nest, each with the stage, loop and step it is of."""
    lines = [_placeholders(state)]
    for index, stage in enumerate(state.stages):
        if stage.is_printed:
            lines += _stage(state, index, hide_ones)
    return lines


def with_factor(line: NestLine) -> str:
    """Return a line with its indent, and the split factor behind an extent that is not known."""
    factor = f" factor {line.factor}" if line.factor is not None and line.extent is None else ""
    return f"{line}{factor}"


def _placeholders(state: State) -> NestLine:
    if state.dag.source is DagSource.NONE:
        text = "names, inputs and stages without a step are not in the log"
        return NestLine("note", 0, f"({text})")
    names = [stage.name for stage in state.stages if stage.is_placeholder]
    return NestLine("placeholders", 0, f"Placeholder: {', '.join(names)}")


def _stage(state: State, root: int, hide_ones: bool) -> list[NestLine]:
    lines: list[NestLine] = []
    open_stages = [_lines(state, root, 0, hide_ones)]
    while open_stages:
        found = next(open_stages[-1], None)
        if found is None:
            open_stages.pop()
        elif isinstance(found, NestLine):
            lines.append(found)
        else:
            open_stages.append(_lines(state, *found, hide_ones))
    return lines


def _lines(
    state: State, index: int, indent: int, hide_ones: bool
) -> Yields[NestLine | tuple[int, int]]:
    """Yield a stage's lines, and where others are attached their index and indent."""
    stage = state.stages[index]
    yield from _attributes(stage, index, indent)
    for place, loop in enumerate(stage.iterators):
        if not (hide_ones and loop.extent == 1):
            yield _loop(loop, index, place, indent)
            indent += 2
        for attached in state.attached.get((index, place), ()):
            yield attached, indent
    if stage.is_open:
        yield NestLine("note", indent, "(more loops may follow)", index)
    yield NestLine(
        "compute",
        indent,
        f"{stage.name} = ...",
        index,
        step=max(stage.placed_by, stage.made_by),
        steps=stage.steps,
    )


def _attributes(stage: Stage, index: int, indent: int) -> Yields[NestLine]:
    for name, value, step in (
        ("auto_unroll", stage.auto_unroll, stage.unrolled_by),
        ("storage_offset", stage.storage_offset, stage.aligned_by),
    ):
        if value:
            text = f"{stage.name} {name}: {value}"
            yield NestLine("attribute", indent, text, index, step=step, steps=(step,))


def _loop(loop: Iterator, stage: int, place: int, indent: int) -> NestLine:
    extent = str(loop.extent) if loop.extent is not None else loop.symbol
    size = f"({loop.min},{extent})" if extent else "(None)"
    return NestLine(
        "loop",
        indent,
        f"{loop.annotation.word} {loop.name} {size}",
        stage,
        place,
        loop.annotation,
        loop.extent,
        loop.factor,
        max(loop.made_by, loop.annotated_by),
        loop.steps,
    )
