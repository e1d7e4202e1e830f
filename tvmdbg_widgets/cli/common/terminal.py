"""What is written where: results to standard output, notes to standard error, both made safe."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def note(text: str) -> None:
    """Write a remark to standard error, folded to the terminal."""
    for line in folded(text, width(sys.stderr)):
        print(styled(line, "dim", stream=sys.stderr), file=sys.stderr)


def problem(text: str, hint: str | None = None) -> None:
    """Write what went wrong to standard error."""
    head = styled("error: ", "bold", "red", stream=sys.stderr)
    lines = folded(text, width(sys.stderr), first=7, rest=7)
    print(head + "\n".join(lines), file=sys.stderr)
    for line in folded(hint, width(sys.stderr), first=7, rest=7, indent=True) if hint else ():
        print(styled(line, "dim", stream=sys.stderr), file=sys.stderr)


def folded(
    text: str, columns: int, *, first: int = 0, rest: int = 0, indent: bool = False
) -> list[str]:
    """Fold a paragraph to the terminal, long words left whole."""
    room = max(20, min(columns, _WIDEST_PROSE) - 1)
    lines = textwrap.wrap(
        one_line(text),
        room,
        initial_indent=" " * first,
        subsequent_indent=" " * rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
    return lines if indent else [lines[0][first:], *lines[1:]]


def columns_of(text: str) -> int:
    """Columns that a text takes in a terminal: two for a wide character, none for a combining."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Fill a cell up with blanks."""
    blanks = " " * (columns - columns_of(text))
    return blanks + text if right else text + blanks


def shortened(text: str, columns: int) -> str:
    """Take out of the middle of a text what does not fit; the end of a name tells most."""
    if columns_of(text) <= columns:
        return text
    head, tail = "", ""
    room = columns - 1
    while room > 0 and text:
        from_end = len(tail) <= len(head)
        each = text[-1] if from_end else text[0]
        if columns_of(each) > room:
            break
        room -= columns_of(each)
        head, tail = (head, each + tail) if from_end else (head + each, tail)
        text = text[:-1] if from_end else text[1:]
    return f"{head}…{tail}"


def grid(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    give: int = 1,
    drop: Iterable[int] = (),
) -> list[str]:
    """Write a table whose columns fit the terminal; where nobody looks it is written whole."""
    lines = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(columns_of(line[i]) for line in lines) for i in range(len(head))]
    kept = list(range(len(head)))
    if is_terminal(sys.stdout):
        room = width(sys.stdout) - 1

        def left() -> int:
            others = sum(widths[i] for i in kept if i != give)
            return room - others - 2 * (len(kept) - 1)

        for column in drop:
            if left() < min(_TOLD, widths[give]):
                kept.remove(column)
        widths[give] = max(_TOLD // 2, min(widths[give], left()))
    aligned = set(right)
    for number, line in enumerate(lines):
        line[give] = shortened(line[give], widths[give])
        cells = [padded(line[i], widths[i], right=i in aligned) for i in kept]
        text = "  ".join(cells).rstrip()
        say(styled(text, "bold") if number == 0 else text)
    return [head[i] for i in range(len(head)) if i not in kept]
