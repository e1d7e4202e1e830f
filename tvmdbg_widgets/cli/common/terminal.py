"""What is written where: results to standard output, notes to standard error, both made safe."""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from tvmdbg_widgets.cli.common.hints import for_shell
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.model.base.text import Issue
    from tvmdbg_widgets.model.findings import Finding


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


def examples(*pairs: tuple[str, str]) -> str:
    """Lay out what to type and what it does; each on a line of its own, which fits 80 columns."""
    lines = ["[bold]Examples[/]"]
    for what, command in pairs:
        lines += [f"[dim]{what}[/]", f"  [cyan]{command}[/]"]
    return "\n".join(lines)


FOUND = 1
FAILED = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        metavar="",
        help="Show the traceback of an error.",
        rich_help_panel="Everywhere",
    ),
]


class UsageError(Exception):
    """The request makes no sense: a message, and what to do instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a verb: an option ``--debug``, and errors as people expect them."""
    signature = inspect.signature(function, eval_str=True)
    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False)
    parameters = [*signature.parameters.values(), debug.replace(annotation=_Debug)]

    @functools.wraps(function)
    def run(*args: Any, debug: bool, **kwargs: Any) -> None:
        if sys.stdout is None:  # started with it closed
            problem("standard output is closed", "Redirect it: > /dev/null")
            sys.exit(FAILED)
        if debug:
            function(*args, **kwargs)
            return
        try:
            function(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            _close_stdout()
            sys.exit(BROKEN_PIPE)
        except KeyboardInterrupt:
            _close_stdout()
            sys.exit(INTERRUPTED)
        except Exception as error:
            if not _print_message(error):
                raise
            sys.exit(FAILED)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del run.__wrapped__
    return run


def end_politely() -> None:
    """Let a process that is told to end undo what it began."""

    def end(number: int, frame: object) -> None:  # noqa: ARG001
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def _close_stdout() -> None:
    """Keep the interpreter from flushing, at its end, what nobody reads."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return


def _print_message(error: Exception) -> bool:
    """Tell an error in one message; False for one that is to be raised (usage, as typer has it)."""
    from tvmdbg_widgets.analysis.query import QueryError
    from tvmdbg_widgets.model.base.text import FormatError

    if type(error).__module__.startswith(("click", "typer")):
        return False
    if isinstance(error, FormatError):
        _tell_format_error(error)
    elif isinstance(error, QueryError):
        problem(error.message)
        for line in str(error).split("\n")[1:]:
            print(f"     {line}", file=sys.stderr)
    elif isinstance(error, UsageError):
        problem(str(error), error.hint and for_shell(error.hint))
    elif isinstance(error, OSError) and error.filename is not None:
        problem(in_words(error))
    elif isinstance(error, ImportError | OSError | ValueError | TypeError | KeyError | IndexError):
        said = error.args[0] if isinstance(error, KeyError) and error.args else error
        problem(for_shell(str(said)))
        note("       --debug shows the traceback")
    else:
        problem(
            f"{type(error).__name__}: {error}",
            "This is a bug in tvmdbg. Run it again with --debug and report the output.",
        )
    return True


def in_words(error: Exception) -> str:
    """Return an error in one sentence, with the file first where it is about one."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    missing = isinstance(error, FileNotFoundError)
    said = "no such file or folder" if missing else error.strerror or error
    return f"{os.fsdecode(error.filename)}: {said}"


def _tell_format_error(error: Any) -> None:
    problem(f"{error.file}: {error.problem}")
    facts = (
        ("field", error.field),
        ("offset", None if error.offset is None else f"byte {error.offset:,}"),
        ("expected", error.expected),
        ("found", error.found),
        ("try", error.hint and for_shell(error.hint)),
    )
    for name, fact in facts:
        if fact is not None:
            paragraph(str(fact), label=f"{name:>11}: ", label_styles=("dim",), stream=sys.stderr)


_STYLE = {"error": ("bold", "red"), "warning": ("yellow",), "hotspot": ("cyan",), "info": ("dim",)}
SEVERITIES = tuple(_STYLE)
"""From the worst on."""

_INDENT = 9


def reach(findings: Iterable[Finding], severity: str) -> bool:
    """Return whether any finding is of a severity, or a worse one."""
    bar = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return any(finding.severity.value in bar for finding in findings)


def tell_findings(findings: Iterable[Finding]) -> None:
    """Write findings with evidence, confidence, and what to do next; a blank line between them."""
    for number, each in enumerate(findings):
        if number:
            say()
        _tell(each)


def _tell(finding: Finding) -> None:
    severity = finding.severity.value
    mark = f"{severity:<{_INDENT}}"
    paragraph(finding.title, "bold", label=mark, label_styles=_STYLE[severity])
    first, *code = for_shell(finding.next_step).splitlines() or [""]
    facts = (("· ", text) for text in finding.evidence)
    for label, text in (*facts, ("why   ", finding.why), ("next  ", first)):
        if text:
            paragraph(text, label=label, label_styles=("dim",), indent=_INDENT)
    for line in code:
        say(" " * (_INDENT + 6), styled(line))
    where = _numbers("node", finding.nodes) + _numbers("task", finding.tasks)
    told = f"{finding.confidence} confidence · {finding.rule}{where}"
    say(" " * _INDENT, styled(told, "dim"))


def _numbers(noun: str, numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:8])) + (" …" if len(numbers) > 8 else "")
    return f" · {noun} {shown}" if numbers else ""


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a run's finding as JSON has it."""
    return {
        **_record(finding),
        "nodes": list(finding.nodes),
        "entries": [list(entry) for entry in finding.entries],
        "next": finding.next_step,
    }


def log_finding_record(finding: Finding) -> dict[str, Any]:
    """Return a tuning log's finding as JSON has it."""
    return {
        **_record(finding),
        "tasks": list(finding.tasks),
        "trials": list(finding.trials),
        "next": finding.next_step,
    }


def _record(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "title": finding.title,
        "evidence": list(finding.evidence),
        "why": finding.why,
    }


_STYLE_issues = {"error": ("bold", "red"), "warning": ("yellow",), "note": ("dim",)}


def tell_issues(issues: Iterable[Issue]) -> None:
    """Write issues: the weight, the message folded beside it, file and rule below."""
    for issue in issues:
        weight = issue.severity.value
        paragraph(
            for_shell(issue.message),
            label=f"{weight:<9}",
            label_styles=_STYLE_issues[weight],
            indent=2,
        )
        where = f"{issue.rule} · {issue.file}" if issue.file else issue.rule
        say(" " * 11, styled(where, "dim"))


def as_json(issue: Issue) -> dict[str, Any]:
    """Return an issue as JSON has it."""
    return {
        "rule": issue.rule,
        "severity": issue.severity.value,
        "message": issue.message,
        "nodes": list(issue.nodes),
        "entries": [list(entry) for entry in issue.entries],
        "file": issue.file,
    }
