"""Close names for wrong ones, and short errors of public functions in notebooks."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from tvmdbg_widgets.model.base.short_tracebacks import SEARCHED, perhaps, shorten

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_Kind = TypeVar("_Kind", bound=type)
_Function = TypeVar("_Function", bound="Callable[..., Any]")


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
            raise no_attribute(f"module {module!r}", name, {*homes, *getattr(own, "__all__", ())})
        home, _, there = homes[name].partition(":")
        value: object = getattr(import_module(f"tvmdbg_widgets.{home}"), there or name)
        setattr(own, name, value)
        return value

    return get


def no_attribute(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error of an unknown attribute, with close names."""
    problem = f"{owner} has no attribute {name!r}"
    if not name.startswith("_"):
        problem += perhaps(name, sorted(each for each in known if not each.startswith("_")))
    error = AttributeError(problem)
    shorten(error, is_slip=not name.startswith("_"))
    return error


def public(function: _Function) -> _Function:
    """Make errors of a function help: close keywords, types it takes, and no inner frames.

    See :mod:`~tvmdbg_widgets.model.base.short_tracebacks`.
    """
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
            if kwargs and not is_open and not known.issuperset(kwargs):
                _refuse(f"{_name(function, args)}()", kwargs, known)
            return function(*args, **kwargs)
        except Exception as problem:
            shorten(problem)
            if hasattr(problem, "_render_traceback_"):
                raise
            refusal = _refusal(function, signature, args, kwargs)
            if refusal is None:
                raise
            shorten(refusal, is_slip=True)
            raise refusal from problem

    return called  # type: ignore[return-value]


def _refuse(name: str, given: Iterable[str], known: frozenset[str]) -> None:
    raise no_argument(name, next(each for each in given if each not in known), known)


def _name(function: Callable[..., Any], args: Sequence[object]) -> str:
    """Return what users call: of a constructor its class."""
    return type(args[0]).__name__ if function.__name__ == "__init__" else function.__name__


def _refusal(
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> TypeError | None:
    """Return what is wrong with the arguments of a call that failed, if that is certain."""
    name = _name(function, args)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as problem:
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        parameters = [item for item in signature.parameters.values() if item.kind not in several]
        needed = [item.name for item in parameters if item.default is item.empty]
        more = ["…"] if len(needed) < len(parameters) else []
        needed = needed[needed[:1] == ["self"] :]
        return TypeError(f"{name}({', '.join([*needed, *more])}): {problem}")
    for parameter, value in given.items():
        item = signature.parameters[parameter]
        if item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD):
            continue
        if isinstance(item.annotation, str) and (what := _wrong_type(value, item.annotation)):
            found = "None" if value is None else type(value).__name__
            return TypeError(f"{name}() takes {parameter} as {what}, not {found}")
    return None


#: What a value of a type in a signature has, and what to call it; others may be anything.
_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "None": ("None", lambda value: value is None),
    "str": ("str", lambda value: isinstance(value, str)),
    "bytes": ("bytes", lambda value: isinstance(value, bytes | bytearray | memoryview)),
    "bool": ("bool", lambda value: type(value).__name__ in ("bool", "bool_")),
    "int": ("int", lambda value: hasattr(value, "__index__")),
    "float": ("float", lambda value: hasattr(value, "__float__") or hasattr(value, "__index__")),
    "os.PathLike": ("a path", lambda value: hasattr(value, "__fspath__")),
    "Sequence": ("a list", lambda value: hasattr(value, "__iter__")),
    "Iterable": ("a list", lambda value: hasattr(value, "__iter__")),
    "Mapping": ("a mapping", lambda value: isinstance(value, Mapping)),
    "DebugRun": ("a run", lambda value: hasattr(value, "facts")),
    "OpenedRun": ("a run", lambda value: hasattr(value, "facts")),
    "TuningLog": ("a tuning log", lambda value: hasattr(value, "facts")),
    "DTypeLayout": ("a DTypeLayout", lambda value: hasattr(value, "declaration")),
    "ByteSource": ("a file", lambda value: hasattr(value, "read_ranges")),
}


def _wrong_type(value: object, annotation: str) -> str:
    """Return what an annotation takes if the value is certainly none of it, or ""."""
    while (plain := re.sub(r"\[[^][]*\]", "", annotation)) != annotation:
        annotation = plain
    kinds = [kind.strip() for kind in annotation.split("|")]
    if any(kind not in _TYPES or _TYPES[kind][1](value) for kind in kinds):
        return ""
    return " or ".join(dict.fromkeys(_TYPES[kind][0] for kind in kinds if kind != "None"))


def public_class(kind: _Kind, *more: str) -> _Kind:
    """Make public methods and cached properties of a class :func:`public`, also inherited ones.

    Unknown attributes get close names.
    """
    kind.__getattr__ = _suggest  # type: ignore[attr-defined]
    private = {"__getitem__", "__call__", *more}
    for base in kind.__mro__:
        if not base.__module__.startswith("tvmdbg_widgets."):
            continue
        for name, member in list(vars(base).items()):
            if name in private or not name.startswith("_"):
                _open(base, name, member)
    return kind


def _open(kind: type, name: str, member: Any) -> None:
    """Make one member of a class :func:`public`."""
    is_cached = isinstance(member, functools.cached_property)
    function = member.func if is_cached else member
    if not inspect.isfunction(function) or _is_public(function):
        return
    opened: Any = _marked(public(function))
    if is_cached:
        opened = functools.cached_property(opened)
        opened.__set_name__(kind, name)
    setattr(kind, name, opened)


def _suggest(self: Any, name: str) -> Any:
    """Refuse an unknown attribute, as ``__getattr__``, with close names."""
    if name.startswith("_") or hasattr(type(self), name):
        return object.__getattribute__(self, name)  # raises what it raised before
    known = set(dir(self))
    for part in getattr(self, "_looks_in", ()):
        known |= {f"{part}.{each}" for each in dir(getattr(self, part)) if each[0] != "_"}
    raise no_attribute(type(self).__name__, name, known)


def _marked(function: _Function) -> _Function:
    function.__dict__["_is_public"] = True
    return function


def _is_public(function: Callable[..., Any]) -> bool:
    return bool(getattr(function, "_is_public", False))


#: Names listed in a message.
_LISTED = 30


def meant(given: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean 'graph'?"`` with the known names if there are few."""
    names = list(islice(known, SEARCHED))
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


def row_of(what: str, index: Any, count: int, by_name: str = "") -> int:
    """Return the row of an id; IndexError or TypeError that says which ids there are."""
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        how = f"; by name: {by_name.format(index)}" if by_name and isinstance(index, str) else ""
        raise TypeError(f"{what} ids are numbers, not {index!r:.80}{how}")
    row: int = index.__index__()
    if not -count <= row < count:
        known = f"ids are 0 to {count - 1:,}" if count else "there are none"
        raise IndexError(f"no {what} {row}; {known}")
    return row % count


def fields_of(given: object, name: str, known: Sequence[str]) -> dict[str, Any]:
    """Return a mapping that must have known fields alone."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is a mapping of {', '.join(known)}, not {type(given).__name__}")
    for field in given:
        one_of("field", field, known)
    return dict(given)
