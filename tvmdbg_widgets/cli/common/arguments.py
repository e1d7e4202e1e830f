"""Arguments that several verbs share, made one object before the verb is called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any


def taking(
    made: Callable[..., Any],
    argument: tuple[str, Any],
    options: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a verb shared arguments as its first one."""
    positional, annotation = argument

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        _, *own = signature.parameters.values()
        shared = (
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=each
            )
            for name, each in options.items()
        )
        first = inspect.Parameter(
            positional, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation
        )

        @functools.wraps(function)
        def run(**given: Any) -> None:
            value = given.pop(positional)
            function(made(value, **{name: given.pop(name) for name in options}), **given)

        run.__signature__ = signature.replace(parameters=[first, *own, *shared])  # type: ignore[attr-defined]
        return run

    return decorate
