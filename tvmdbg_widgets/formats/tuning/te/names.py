"""What names in a source mean."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Dotted:
    """A name of a module, or of what is in it: ``te.compute``."""

    path: str


@dataclass(frozen=True, eq=False)
class Function:
    """A function or lambda of the source, and the names it sees."""

    node: ast.FunctionDef | ast.Lambda
    names: Names

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters, without ``*args``."""
        arguments = self.node.args
        return tuple(each.arg for each in (*arguments.posonlyargs, *arguments.args))


@dataclass(eq=False)
class Names:
    """What names mean, inner ones first."""

    own: dict[str, Any] = field(default_factory=dict)
    outer: Names | None = None

    def get(self, name: str) -> Any:
        """Return what a name means, None for nothing."""
        names: Names | None = self
        while names is not None:
            if name in names.own:
                return names.own[name]
            names = names.outer
        return None


def imported(statement: ast.Import | ast.ImportFrom) -> dict[str, Dotted]:
    """Return what an import gives names to."""
    if isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        return {
            each.asname or each.name: Dotted(f"{module}.{each.name}") for each in statement.names
        }
    return {
        each.asname or each.name.split(".")[0]: Dotted(
            each.name if each.asname else each.name.split(".")[0]
        )
        for each in statement.names
    }
