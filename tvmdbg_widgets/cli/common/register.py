"""Registration of verbs; errors of usage that name the nearest verb or option."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

from tvmdbg_widgets.model.base.choice import meant

if TYPE_CHECKING:
    import typer

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
