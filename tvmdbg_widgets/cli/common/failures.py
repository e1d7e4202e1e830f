"""How a command ends: one clear message and an exit status, never a traceback."""

from __future__ import annotations

import functools
import inspect
import os
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tvmdbg_widgets.cli.common.hints import for_shell
from tvmdbg_widgets.cli.common.terminal import note, paragraph, problem

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
    run.__annotations__ = {each.name: each.annotation for each in parameters}
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
    from tvmdbg_widgets.analysis.query.errors import QueryError
    from tvmdbg_widgets.model.base.errors import FormatError

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
