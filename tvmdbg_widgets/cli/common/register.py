"""A verb's place in the command line, and what is said where there is no such verb or option."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

from tvmdbg_widgets.model.base.choice import meant

if TYPE_CHECKING:
    import typer

_NO_CHOICE = re.compile(r"'(?P<given>[^']*)' is not one of (?P<known>'.*')")


class Verbs(TyperGroup):
    """Verbs whose errors of usage name what is spelled alike, as every other error does."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read what stands before the verb."""
        with _nearest_named():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Read what stands behind the verb, and run it."""
        with _nearest_named():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb."""
        if args[0][:1] != "-" and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no command {args[0]!r:.200}{meant(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


@contextmanager
def _nearest_named() -> Iterator[None]:
    """Add the nearest names to an error of usage that lacks them."""
    try:
        yield
    except Exception as error:
        # Typer has a copy of click from some release on: the classes are told by what they hold.
        if not hasattr(error, "format_message"):
            raise
        found: Any = error
        context = getattr(error, "ctx", None)
        if (option := getattr(error, "option_name", None)) and hasattr(error, "possibilities"):
            options = [] if context is None else context.command.get_params(context)
            known = [name for each in options for name in each.opts if name.startswith("--")]
            if found.message.startswith("No such option"):
                found.message = f"no option {option!r:.200}{meant(option, known)}"
                found.possibilities = None
        elif told := _NO_CHOICE.search(found.message):
            known = re.findall("'(.*?)'", told["known"])
            found.message = f"no choice {told['given']!r:.200}{meant(told['given'], known)}"
        raise


def register(app: typer.Typer, module: ModuleType, panel: str) -> None:
    """Add the verb of a module: the function that is named as the module is."""
    name = module.__name__.rpartition(".")[2]
    function = getattr(module, name)
    app.command(name, help=_prose(function), rich_help_panel=panel, epilog=module.EXAMPLES)(
        function
    )


def _prose(function: Callable[..., None]) -> str:
    """The paragraphs of a docstring, each on one line, as the help folds them itself."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
