"""A verb's place in the command line."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import typer


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
    return "\n\n".join(each.replace("\n", " ") for each in paragraphs)
