"""Verbs: their options, how they run and end, and errors of usage that suggest a name."""

from __future__ import annotations

import functools
import inspect
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tvmdbg_widgets.cli.common.terminal import for_shell, note, paragraph, problem
from tvmdbg_widgets.model.base.short_tracebacks import close_paths
from tvmdbg_widgets.model.base.slips import meant

#: Exit statuses.
FOUND = 1
FAILED = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_NO_CHOICE = re.compile(r"'(?P<given>[^']*)' is not one of (?P<known>'.*')")


class Verbs(TyperGroup):
    """A group of verbs whose errors of usage suggest the nearest name."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the options before the verb."""
        with _nearest_named():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Parse the options after the verb, and run it."""
        with _nearest_named():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb; an unknown one fails with the nearest name."""
        if args[0][:1] != "-" and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no command {args[0]!r:.200}{meant(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


@contextmanager
def _nearest_named() -> Iterator[None]:
    """Add the nearest names to an error of usage."""
    try:
        yield
    except Exception as error:
        # Newer releases of Typer contain a copy of click, so classes are known by their attributes.
        if not hasattr(error, "format_message"):
            raise
        usage: Any = error
        context = getattr(error, "ctx", None)
        if (option := getattr(error, "option_name", None)) and hasattr(error, "possibilities"):
            options = [] if context is None else context.command.get_params(context)
            known = [name for one in options for name in one.opts if name.startswith("--")]
            if usage.message.startswith("No such option"):
                usage.message = f"no option {option!r:.200}{meant(option, known)}"
                usage.possibilities = None
        elif match := _NO_CHOICE.search(usage.message):
            known = re.findall("'(.*?)'", match["known"])
            usage.message = f"no choice {match['given']!r:.200}{meant(match['given'], known)}"
        raise


def register(app: typer.Typer, panels: Mapping[str, Iterable[ModuleType]]) -> None:
    """Add the verbs of modules by panel: the function with the name of its module."""
    for panel, modules in panels.items():
        for module in modules:
            name = module.__name__.rpartition(".")[2]
            function = getattr(module, name)
            how: dict[str, Any] = {"rich_help_panel": panel, "epilog": module.EXAMPLES}
            app.command(name, help=_prose(function), **how)(function)


def _prose(function: Callable[..., None]) -> str:
    """Return a docstring with one line per paragraph; the help wraps them."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)


def option(metavar: str, text: str, *flags: str, **more: Any) -> Any:
    """Return an option of a verb with its placeholder and help."""
    return typer.Option(*flags, metavar=metavar, help=text, **more)


def flag(text: str, *flags: str, **more: Any) -> Any:
    """Return an option of a verb without a value."""
    return option("", text, *flags, **more)


def argument(metavar: str, text: str, **more: Any) -> Any:
    """Return an argument of a verb with its placeholder and help."""
    return typer.Argument(metavar=metavar, help=text, **more)


def examples(*pairs: tuple[str, str]) -> str:
    """Return examples as markup, with commands on lines of their own below 80 columns."""
    lines = ["[bold]Examples[/]"]
    for what, command in pairs:
        lines += [f"[dim]{what}[/]", f"  [cyan]{command}[/]"]
    return "\n".join(lines)


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
        _print_format_error(error)
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
    path = os.fsdecode(error.filename)
    if isinstance(error, FileNotFoundError):
        return f"{path}: no such file or folder{close_paths(path)}"
    return f"{path}: {error.strerror or error}"


def _print_format_error(error: Any) -> None:
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
