"""Close names for wrong ones, and short errors of public functions in notebooks."""

from __future__ import annotations

import difflib
import functools
import inspect
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_Kind = TypeVar("_Kind", bound=type)
_Function = TypeVar("_Function", bound="Callable[..., Any]")

_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")  # noqa: PTH118, PTH120


def asks(
    of: Callable[[Any], T], function: Callable[Concatenate[T, P], R]
) -> Callable[Concatenate[Any, P], R]:
    """Make a method of a function that takes an object made of self by `of`."""

    @functools.wraps(function)
    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(of(self), *args, **kwargs)

    signature = inspect.signature(function)
    taken, *others = signature.parameters.values()
    own = [taken.replace(name="self"), *others]
    method.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    return method


def lazily(module: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a ``__getattr__`` of a module that imports names from their homes when used.

    A home is a module of this package, with ``:`` and the name there if that is another.
    """

    def get(name: str) -> object:
        own = sys.modules[module]
        if name not in homes:
            problem = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(problem, name=name, obj=own)
        home, _, there = homes[name].partition(":")
        value: object = getattr(import_module(f"tvmdbg_widgets.{home}"), there or name)
        setattr(own, name, value)
        return value

    return get


def public(function: _Function) -> _Function:
    """Make a function suggest close keywords, and IPython hide inner frames of its errors."""
    signature = inspect.signature(function)
    kinds = {item.kind for item in signature.parameters.values()}
    known = frozenset(
        item.name
        for item in signature.parameters.values()
        if item.kind in (item.KEYWORD_ONLY, item.POSITIONAL_OR_KEYWORD) and item.name != "self"
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
    """Make all public methods of a class :func:`public`, also inherited ones."""
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
    """Hide frames of this package from IPython for a user's error."""
    if not _is_a_slip(problem) or "_render_traceback_" in getattr(problem, "__dict__", {}):
        return
    problem._render_traceback_ = lambda: _lines(problem)  # type: ignore[attr-defined]


def _lines(problem: Exception) -> list[str]:
    frames = traceback.extract_tb(problem.__traceback__)
    own = [f for f in frames if not _is_ours(f.filename) and "IPython" not in f.filename]
    text = traceback.format_exception_only(problem)
    return [line.rstrip("\n") for line in [*traceback.format_list(own), *text]]


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


#: Names listed in a message, and names that are searched.
_LISTED = 30
_SEARCHED = 20_000


def near(given: object, known: Iterable[object]) -> list[str]:
    """Return up to three known names that resemble or contain the given one."""
    names = [name for name in islice(known, _SEARCHED) if isinstance(name, str)]
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    wanted = str(given).strip().casefold()
    close = difflib.get_close_matches(wanted, folded, n=3)
    if not close and len(wanted) > 1:
        close = [name for name in folded if wanted in name or (len(name) > 2 and name in wanted)]
    return [folded[name] for name in close[:3]]


def perhaps(given: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean 'graph'?"``, or "" if no name is near."""
    close = near(given, known)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def meant(given: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean 'graph'?"`` with the known names if there are few."""
    names = list(islice(known, _SEARCHED))
    hint = perhaps(given, names)
    if len(names) > _LISTED:
        return hint
    return f"{hint or ';'} known: {', '.join(map(repr, names)) or 'none'}"


def one_of(name: str, given: object, known: Iterable[str]) -> str:
    """Return the value if it is known."""
    usable = list(known)
    if isinstance(given, str) and given in usable:
        return given
    raise ValueError(f"no {name} {given!r:.200}{meant(given, usable)}")


def no_argument(what: str, given: str, known: Iterable[str]) -> TypeError:
    """Return the error of an unknown keyword, with close names."""
    return TypeError(f"{what} has no argument {given!r:.200}{meant(given, sorted(known))}")


def fields_of(given: object, name: str, known: Sequence[str]) -> dict[str, Any]:
    """Return a mapping that must have known fields alone."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is a mapping of {', '.join(known)}, not {type(given).__name__}")
    for field in given:
        one_of("field", field, known)
    return dict(given)
