"""What users call: keywords with a slip, and errors that are theirs told in short."""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Concatenate, ParamSpec, TypeVar

from tvmdbg_widgets.model.base.choice import no_argument

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_Kind = TypeVar("_Kind", bound=type)
_Function = TypeVar("_Function", bound="Callable[..., Any]")

_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")  # noqa: PTH118, PTH120


def asks(
    of: Callable[[Any], T], function: Callable[Concatenate[T, P], R]
) -> Callable[Concatenate[Any, P], R]:
    """Make a method of a function that takes something `of` the object."""

    @functools.wraps(function)
    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(of(self), *args, **kwargs)

    signature = inspect.signature(function)
    taken, *others = signature.parameters.values()
    own = [taken.replace(name="self"), *others]
    method.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    return method


def lazily(module: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a ``__getattr__`` of a module that imports names from their homes when used."""

    def get(name: str) -> object:
        own = sys.modules[module]
        if name not in homes:
            problem = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(problem, name=name, obj=own)
        value: object = getattr(import_module(f"tvmdbg_widgets.{homes[name]}"), name)
        setattr(own, name, value)
        return value

    return get


def public(function: _Function) -> _Function:
    """Have a function name close keywords, and notebooks show its errors without inner frames."""
    signature = inspect.signature(function)
    kinds = {each.kind for each in signature.parameters.values()}
    known = frozenset(
        each.name
        for each in signature.parameters.values()
        if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD) and each.name != "self"
    )
    is_open = inspect.Parameter.VAR_KEYWORD in kinds

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            if not is_open and not known.issuperset(kwargs):
                _refuse(function.__name__, kwargs, known)
            return function(*args, **kwargs)
        except Exception as problem:
            shorten(problem)
            raise

    return called  # type: ignore[return-value]


def public_class(kind: _Kind) -> _Kind:
    """Make all public methods of a class, its own and inherited ones, :func:`public`."""
    for base in kind.__mro__:
        if not base.__module__.startswith("tvmdbg_widgets."):
            continue
        for name, member in list(vars(base).items()):
            if inspect.isfunction(member) and not name.startswith("_") and not _is_public(member):
                setattr(base, name, _marked(public(member)))
    return kind


def _refuse(name: str, given: Iterable[str], known: frozenset[str]) -> None:
    wrong = next(each for each in given if each not in known)
    raise no_argument(f"{name}()", wrong, known)


def shorten(problem: Exception) -> None:
    """Have IPython show an error that is the user's without the frames of this package."""
    if not _is_a_slip(problem) or "_render_traceback_" in getattr(problem, "__dict__", {}):
        return
    problem._render_traceback_ = lambda: _lines(problem)  # type: ignore[attr-defined]


def _lines(problem: Exception) -> list[str]:
    frames = traceback.extract_tb(problem.__traceback__)
    own = [
        each for each in frames if not _is_ours(each.filename) and "IPython" not in each.filename
    ]
    said = traceback.format_exception_only(problem)
    return [line.rstrip("\n") for line in [*traceback.format_list(own), *said]]


def _is_a_slip(problem: Exception) -> bool:
    if isinstance(problem, OSError):
        return problem.filename is not None
    if not isinstance(problem, ValueError | TypeError | LookupError | ImportError):
        return type(problem).__name__ == "TraitError"
    last = problem.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return False
    file = last.tb_frame.f_code.co_filename
    return _is_ours(file) and linecache.getline(file, last.tb_lineno).lstrip().startswith("raise")


def _is_ours(file: str) -> bool:
    return file.startswith(_HERE)


def _marked(function: _Function) -> _Function:
    function.__dict__["_is_public"] = True
    return function


def _is_public(function: Callable[..., Any]) -> bool:
    return bool(getattr(function, "_is_public", False))
