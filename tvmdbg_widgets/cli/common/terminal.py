"""Output: results to standard output, notes to standard error, both safe for terminals."""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from tvmdbg_widgets.cli.common.hints import for_shell
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.model.base.text import Issue
    from tvmdbg_widgets.model.findings import Finding


_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_WIDEST_PROSE = 100
#: Columns that a shortened name needs to stay recognizable.
_NAME_COLUMNS = 28


def option(metavar: str, text: str, *flags: str, **more: Any) -> Any:
    """Return an option of a verb with its placeholder and help."""
    import typer

    return typer.Option(*flags, metavar=metavar, help=text, **more)


def flag(text: str, *flags: str, **more: Any) -> Any:
    """Return an option of a verb without a value."""
    return option("", text, *flags, **more)


def argument(metavar: str, text: str, **more: Any) -> Any:
    """Return an argument of a verb with its placeholder and help."""
    import typer

    return typer.Argument(metavar=metavar, help=text, **more)


def prepare() -> None:
    """Let both streams accept any text, with escapes for what the encoding lacks."""
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


def examples(*pairs: tuple[str, str]) -> str:
    """Return examples as markup, with commands on lines of their own below 80 columns."""
    lines = ["[bold]Examples[/]"]
    for what, command in pairs:
        lines += [f"[dim]{what}[/]", f"  [cyan]{command}[/]"]
    return "\n".join(lines)


FOUND = 1
FAILED = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


class UsageError(Exception):
    """A request that makes no sense, with a hint."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a verb: with ``--debug``, exit status and short errors."""
    signature = inspect.signature(function, eval_str=True)
    shows = flag("Show the traceback of an error.", "--debug", rich_help_panel="Everywhere")
    debug = inspect.Parameter(
        "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, shows]
    )
    parameters = [*signature.parameters.values(), debug]

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


@contextmanager
def usage_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turn a ValueError about arguments, and errors of other kinds, into a UsageError."""
    from tvmdbg_widgets.model.base.text import FormatError

    caught: tuple[type[Exception], ...] = (ValueError, *kinds)
    try:
        yield
    except FormatError:
        raise
    except caught as error:
        raise UsageError(str(error)) from None


def end_politely() -> None:
    """Exit on SIGTERM so that cleanup runs."""

    def end(number: int, frame: object) -> None:  # noqa: ARG001
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def _close_stdout() -> None:
    """Keep the interpreter from flushing a closed pipe at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return


def _print_message(error: Exception) -> bool:
    """Print an error as one message; False for usage errors, which Typer prints."""
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
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        problem(for_shell(str(text)))
        note("       --debug shows the traceback")
    else:
        problem(
            f"{type(error).__name__}: {error}",
            "This is a bug in tvmdbg. Run it again with --debug and report the output.",
        )
    return True


def in_words(error: Exception) -> str:
    """Return an error as one sentence that begins with its file."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    missing = isinstance(error, FileNotFoundError)
    text = "no such file or folder" if missing else error.strerror or error
    return f"{os.fsdecode(error.filename)}: {text}"


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
    """Whether any finding has this severity or a worse one."""
    bar = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return any(finding.severity.value in bar for finding in findings)


def tell_findings(findings: Iterable[Finding]) -> None:
    """Print findings with evidence, confidence and next step."""
    for number, finding in enumerate(findings):
        if number:
            say()
        _tell(finding)


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
    footer = f"{finding.confidence} confidence · {finding.rule}{where}"
    say(" " * _INDENT, styled(footer, "dim"))


def _numbers(noun: str, numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:8])) + (" …" if len(numbers) > 8 else "")
    return f" · {noun} {shown}" if numbers else ""


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a run's finding as JSON."""
    from tvmdbg_widgets.model.findings import finding_fields

    return {
        **finding_fields(finding),
        "nodes": list(finding.nodes),
        "entries": [list(entry) for entry in finding.entries],
        "next": finding.next_step,
    }


def log_finding_record(finding: Finding) -> dict[str, Any]:
    """Return a tuning log's finding as JSON."""
    from tvmdbg_widgets.model.findings import finding_fields

    return {
        **finding_fields(finding),
        "tasks": list(finding.tasks),
        "trials": list(finding.trials),
        "next": finding.next_step,
    }


_STYLE_issues = {"error": ("bold", "red"), "warning": ("yellow",), "note": ("dim",)}


def tell_issues(issues: Iterable[Issue]) -> None:
    """Print issues with severity, message, file and rule."""
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
    """Return an issue as JSON."""
    return {
        "rule": issue.rule,
        "severity": issue.severity.value,
        "message": issue.message,
        "nodes": list(issue.nodes),
        "entries": [list(entry) for entry in issue.entries],
        "file": issue.file,
    }
