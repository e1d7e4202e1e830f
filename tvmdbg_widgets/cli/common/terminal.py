"""Text on a terminal: results to standard output, notes to standard error, hints as options."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from tvmdbg_widgets.model.base.text import one_line

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_WIDEST_PROSE = 100
#: Columns that a shortened name needs to stay recognizable.
_NAME_COLUMNS = 28

_FILES = frozenset(("graph", "params", "trace", "table", "debug_buffer"))
_CHOICES = frozenset(("device", "method"))
_OPTIONS = {
    "open(…, follow_links=True)": "--follow-links",
    "open_rpc(capture, connection=0)": "--connection 0",
    "open_rpc(client, server)": "tvmdbg rpc CLIENT SERVER",
    "open the log with dag=": "give a DAG text along",
}
_WRITE = re.compile(r"log\.write\(path(?:, log\.select\(\"([^\"]*)\"\))?\)")
_ERRORS = re.compile(r"log\.errors_by\(\"(\w+)\"\)")
_FOLDER = re.compile(r"tvmdbg_widgets\.open\(('[^']*')\)")
_GRAPH = re.compile(r"\(open\(…, graph=(lib\.\w+\(\))\)\)|open\(…, graph=(lib\.\w+\(\))\)")
_GIVEN = re.compile(r"open\(…, (?:(\w+)=)?'([^']*)'\)")
_EXECUTION = re.compile(r"open\(…, execution=(\d+)\)")
_LIMIT = re.compile(r"open\(…, limits=\{'(\w+)': (\d+) \* 2\*\*30\}\)")


def prepare() -> None:
    """Let both streams accept any text, with escapes for what the encoding lacks."""
    if sys.stderr is None:  # started with it closed; print would turn to standard output
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is an open terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # no such stream, or a closed one
        return False


def has_color(stream: TextIO) -> bool:
    """Whether to color: a capable terminal, and no ``NO_COLOR`` (no-color.org)."""
    able = os.environ.get("TERM", "") != "dumb"
    return is_terminal(stream) and able and not os.environ.get("NO_COLOR")


def width(stream: TextIO) -> int:
    """Columns for prose; 80 without a terminal."""
    return max(40, shutil.get_terminal_size().columns) if is_terminal(stream) else 80


def styled(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """Return the text as one safe line, styled if the stream has color."""
    clean = one_line(text)
    codes = ";".join(_STYLES[style] for style in styles)
    return f"\x1b[{codes}m{clean}\x1b[0m" if codes and has_color(stream or sys.stdout) else clean


def say(*pieces: str) -> None:
    """Print one line of a result; pieces come from :func:`styled` or are constant."""
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
    """Print a label and a folded text; later lines are indented by `more`."""
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
    """Print a remark to standard error, folded to the terminal."""
    paragraph(text, "dim", stream=sys.stderr)


def problem(text: str, hint: str | None = None) -> None:
    """Print an error to standard error."""
    paragraph(text, label="error: ", label_styles=("bold", "red"), stream=sys.stderr)
    if hint:
        paragraph(hint, "dim", indent=7, stream=sys.stderr)


def shortened(text: str, columns: int) -> str:
    """Cut the middle of a text; the end of a name says most."""
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
    """Print a table that fits the terminal; without one nothing is cut."""
    from rich.cells import cell_len, set_cell_size

    lines = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths: list[int] = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    kept = list(range(len(head)))
    if is_terminal(sys.stdout):
        room = width(sys.stdout) + 1

        def left() -> int:
            return room + widths[give] - sum(widths[i] + 2 for i in kept)

        for column in drop:
            if left() < min(_NAME_COLUMNS, widths[give]):
                kept.remove(column)
        widths[give] = max(_NAME_COLUMNS // 2, min(widths[give], left()))
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


def for_shell(text: str) -> str:
    """Return a hint with options of this command instead of calls of ``open``."""
    text = _ERRORS.sub(r"tvmdbg tuning errors LOG --by \1", _WRITE.sub(_write, text))
    text = _FOLDER.sub(lambda call: shlex.quote(call[1][1:-1]), text)
    text = _GRAPH.sub(_graph, text)
    for call, option in _OPTIONS.items():
        text = text.replace(call, option)
    text = _LIMIT.sub(r"--limit \1=\2G", text)
    text = _EXECUTION.sub(r"--execution \1", text)
    return _GIVEN.sub(_given, text)


def _graph(call: re.Match[str]) -> str:
    if call[1]:
        return f"({call[1]} in a file, as --graph FILE)"
    return f"give --graph FILE, which holds {call[2]}"


def _write(call: re.Match[str]) -> str:
    chosen = f" --select {shlex.quote(call[1])}" if call[1] else ""
    return f"tvmdbg tuning merge LOG{chosen} -o FILE"


def _given(call: re.Match[str]) -> str:
    name, value = call[1], shlex.quote(call[2])
    if name in _CHOICES:
        return f"--{name} {value}"
    if name in _FILES:
        return f"give --{name.replace('_', '-')} {value}"
    return call[0] if name == "module" else f"add {value}"
