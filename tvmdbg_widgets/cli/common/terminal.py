"""What is written where: results to standard output, notes to standard error, both made safe."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from tvmdbg_widgets.model.base.text import one_line

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_WIDEST_PROSE = 100
#: Columns in which a shortened name can still be told from others.
_TOLD = 28


def prepare() -> None:
    """Make both streams take any text: what their encoding lacks is written as an escape."""
    if sys.stderr is None:  # started with it closed; print would turn to standard output
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def version() -> str:
    """Return the line that ``--version`` prints."""
    from tvmdbg_widgets import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    return f"tvmdbg {__version__} (tvmdbg-widgets, Python {python})"


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at this stream now."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # no such stream, or a closed one
        return False


def has_color(stream: TextIO) -> bool:
    """Whether to color: a terminal that can, and ``NO_COLOR`` (no-color.org) not set."""
    able = os.environ.get("TERM", "") != "dumb"
    return is_terminal(stream) and able and not os.environ.get("NO_COLOR")


def width(stream: TextIO) -> int:
    """Columns to write prose in; 80 where nobody looks."""
    return max(40, shutil.get_terminal_size().columns) if is_terminal(stream) else 80


def styled(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """Return the text made safe for one line, and in the styles named where that shows."""
    clean = one_line(text)
    codes = ";".join(_STYLES[style] for style in styles)
    return f"\x1b[{codes}m{clean}\x1b[0m" if codes and has_color(stream or sys.stdout) else clean


def say(*pieces: str) -> None:
    """Write one line of a result; each piece comes from :func:`styled`, or is our own text."""
    print("".join(pieces))


def paragraph(
    text: str,
    *styles: str,
    label: str = "",
    label_styles: Sequence[str] = (),
    indent: int = 0,
    more: int = 0,
    stream: TextIO | None = None,
) -> None:
    """Write a label and a text folded beside it, long words left whole; further lines by `more`."""
    stream = stream or sys.stdout
    begin = indent + len(label)
    head, *rest = textwrap.wrap(
        one_line(text),
        max(20, min(width(stream), _WIDEST_PROSE) - 1),
        initial_indent=" " * begin,
        subsequent_indent=" " * (begin + more),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [" " * begin]
    mark = " " * indent + styled(label, *label_styles, stream=stream)
    print(mark + styled(head[begin:], *styles, stream=stream), file=stream)
    for line in rest:
        print(styled(line, *styles, stream=stream), file=stream)


def note(text: str) -> None:
    """Write a remark to standard error, folded to the terminal."""
    paragraph(text, "dim", stream=sys.stderr)


def problem(text: str, hint: str | None = None) -> None:
    """Write what went wrong to standard error."""
    paragraph(text, label="error: ", label_styles=("bold", "red"), stream=sys.stderr)
    if hint:
        paragraph(hint, "dim", indent=7, stream=sys.stderr)


def shortened(text: str, columns: int) -> str:
    """Take out of the middle of a text what does not fit; the end of a name tells most."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= columns:
        return text
    head = set_cell_size(text, (columns - 1) // 2)
    tail = set_cell_size(text[::-1], columns // 2)[::-1]
    return f"{head}…{tail}"


def grid(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    give: int = 1,
    drop: Iterable[int] = (),
) -> None:
    """Write a table whose columns fit the terminal; where nobody looks it is written whole."""
    from rich.cells import cell_len, set_cell_size

    lines = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths: list[int] = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    kept = list(range(len(head)))
    if is_terminal(sys.stdout):
        room = width(sys.stdout) + 1

        def left() -> int:
            return room + widths[give] - sum(widths[i] + 2 for i in kept)

        for column in drop:
            if left() < min(_TOLD, widths[give]):
                kept.remove(column)
        widths[give] = max(_TOLD // 2, min(widths[give], left()))
    aligned = set(right)
    for number, line in enumerate(lines):
        line[give] = shortened(line[give], widths[give])
        cells = [
            " " * (widths[i] - cell_len(line[i])) + line[i]
            if i in aligned
            else set_cell_size(line[i], widths[i])
            for i in kept
        ]
        text = "  ".join(cells).rstrip()
        say(styled(text, "bold") if number == 0 else text)
    if hidden := [head[i] for i in range(len(head)) if i not in kept]:
        note(f"a wider terminal also shows: {', '.join(hidden)}")
