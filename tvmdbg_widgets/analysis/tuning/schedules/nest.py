"""A state as TVM prints it (``PrintState``, src/auto_scheduler/loop_state.cc)."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from collections.abc import Iterator as Yields

from tvmdbg_widgets.analysis.tuning.structure import TileStructure
from tvmdbg_widgets.model.base.numbers import html_table
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.steps import Annotation, Iterator, NestLine, Stage, State
from tvmdbg_widgets.model.tuning.trials import DagSource

_UNKNOWN = "(None)"


def print_state(state: State, hide_ones: bool = True) -> str:
    """Return the output of ``print(state)``, with a line end after every line."""
    return "".join(f"{line}\n" for line in nest(state, hide_ones))


def nest(state: State, hide_ones: bool = True) -> list[NestLine]:
    """Return the lines of the printed loop nest, with their stage, loop and step."""
    lines = [_placeholders(state)]
    for index, stage in enumerate(state.stages):
        if stage.is_printed:
            lines += _stage(state, index, hide_ones)
    return lines


def with_factor(line: NestLine) -> str:
    """Return an indented line with ``?`` for an unknown extent, and the split factor behind it."""
    factor = f" factor {line.factor}" if line.factor is not None and line.extent is None else ""
    return f"{' ' * line.indent}{shown_text(line)}{factor}"


def shown_text(line: NestLine) -> str:
    """Return a line as the views show it; TVM prints an unknown extent as ``(None)``."""
    return f"{line.text.removesuffix(_UNKNOWN)}(0,?)" if _is_unknown(line) else line.text


def _is_unknown(line: NestLine) -> bool:
    return line.kind == "loop" and line.text.endswith(_UNKNOWN)


def _placeholders(state: State) -> NestLine:
    if state.dag.source is DagSource.NONE:
        text = "names, inputs and stages without a step are not in the log"
        return NestLine("note", 0, f"({text})")
    names = [stage.name for stage in state.stages if stage.is_placeholder]
    return NestLine("placeholders", 0, f"Placeholder: {', '.join(names)}")


def _stage(state: State, root: int, hide_ones: bool) -> list[NestLine]:
    lines: list[NestLine] = []
    open_stages = [_stage_lines(state, root, 0, hide_ones)]
    while open_stages:
        attached = next(open_stages[-1], None)
        if attached is None:
            open_stages.pop()
        elif isinstance(attached, NestLine):
            lines.append(attached)
        else:
            open_stages.append(_stage_lines(state, *attached, hide_ones))
    return lines


def _stage_lines(
    state: State, index: int, indent: int, hide_ones: bool
) -> Yields[NestLine | tuple[int, int]]:
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
    size = f"({loop.min},{extent})" if extent else _UNKNOWN
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


_MOST_LINES = 400
_MOST_PYTHON = 20_000
_PRE = 'style="line-height: 1.35; overflow-x: auto"'
#: The view's hues, as bright as readable on both white and black.
_COLORS = {
    Annotation.PARALLEL: "#1272f2",
    Annotation.VECTORIZE: "#1e8b40",
    Annotation.UNROLL: "#ad6800",
    Annotation.TENSORIZE: "#768000",
    Annotation.VTHREAD: "#12828d",
    **dict.fromkeys((Annotation.BLOCK_X, Annotation.BLOCK_Y, Annotation.BLOCK_Z), "#8f63bb"),
    **dict.fromkeys((Annotation.THREAD_X, Annotation.THREAD_Y, Annotation.THREAD_Z), "#d9308e"),
}


def as_html(
    title: str,
    notes: Sequence[str],
    *,
    lines: Sequence[NestLine],
    sentences: Sequence[str],
    structure: TileStructure,
    python: str,
) -> str:
    """Return title, notes, colored nest, steps, tiles and Python as HTML."""
    parts = [f"<p><strong>{_text(title)}</strong></p>"]
    parts += [f"<p>{_text(note)}</p>" for note in notes]
    if lines:
        parts.append(f"<pre {_PRE}>{_cut(map(_line, lines), len(lines))}</pre>")
    steps = "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences[:_MOST_LINES])
    name = "steps" if lines else "what the tuner chose"
    more = f"<p>{_more(len(sentences))}</p>" if len(sentences) > _MOST_LINES else ""
    state = "" if lines else " open"
    parts.append(
        f'<details{state}><summary>{name}</summary><ol start="0">{steps}</ol>{more}</details>'
    )
    if structure.tiles:
        parts.append(f"<details><summary>tiles</summary>{_tiles(structure)}</details>")
    if python:
        code = html.escape(python[:_MOST_PYTHON])
        parts.append(f"<details><summary>Python</summary><pre {_PRE}>{code}</pre></details>")
    return "".join(parts)


def _line(line: NestLine) -> str:
    text = _text(with_factor(line).lstrip(" "))
    word = line.annotation.word
    color = _COLORS.get(line.annotation)
    if line.kind == "loop" and color:
        text = f'<b style="color: {color}">{word}</b>{text[len(word) :]}'
    title = f"step {line.step}" if line.step >= 0 else ""
    return f'<span title="{title}">{" " * line.indent}{text}</span>'


def _tiles(structure: TileStructure) -> str:
    rows = []
    for tile in structure.tiles[:_MOST_LINES]:
        factors = " · ".join("?" if factor is None else str(factor) for factor in tile.factors)
        marks = " · ".join(mark or "–" for mark in tile.marks) if any(tile.marks) else ""
        extent = "?" if tile.extent is None else str(tile.extent)
        name = structure.stages[tile.stage].name
        rows.append(list(map(one_line, (name, tile.loop, extent, factors, marks))))
    return html_table(("stage", "loop", "extent", "factors", "bound to"), rows, style="")


def _cut(lines: Iterable[str], count: int) -> str:
    shown = [line for line, _ in zip(lines, range(_MOST_LINES), strict=False)]
    return "\n".join([*shown, _more(count)] if count > _MOST_LINES else shown)


def _more(count: int) -> str:
    return f"… {count - _MOST_LINES:,} more"


def _text(text: str) -> str:
    return html.escape(one_line(text))
