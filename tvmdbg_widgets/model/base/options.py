"""Options of views, each declared once: default, accepted values, TypeScript type, description."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from tvmdbg_widgets.model.base.slips import no_argument, one_of

#: Returns the checked value; ValueError or TypeError otherwise.
Check: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class Accepts:
    """Values that an option accepts, as a check and as a TypeScript type."""

    typescript: str
    #: As documentation names it.
    python: str
    check: Check
    #: Texts among them.
    texts: tuple[str, ...] = ()
    #: Earlier names of texts.
    earlier: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def naming(option: str) -> Iterator[None]:
    """Name an option in the error of what checks it."""
    try:
        yield
    except (LookupError, OverflowError, TypeError, ValueError) as problem:
        why = problem.args[0] if problem.args else type(problem).__name__
        problem.args = (f"{option}: {why}",)
        raise


@dataclass(frozen=True)
class Option:
    """One option of a view."""

    name: str
    accepts: Accepts
    default: Any
    about: str
    #: Whether a live view has it, and whether a figure does.
    live: bool
    drawn: bool

    def checked(self, value: Any) -> Any:
        """Return the checked value; ValueError or TypeError that names the option."""
        if value is None and self.default is None:
            return None
        with naming(self.name):
            if self.accepts.texts and isinstance(value, str):
                folded = {text.casefold(): text for text in self.accepts.texts}
                folded |= self.accepts.earlier
                return one_of(self.name, folded.get(value.casefold(), value), self.accepts.texts)
            return self.accepts.check(value)

    @property
    def typescript(self) -> str:
        """Its type in TypeScript."""
        return self.accepts.typescript + (" | null" if self.default is None else "")

    @property
    def python(self) -> str:
        """Its type as documentation names it."""
        return self.accepts.python + (" or None" if self.default is None else "")


def option(
    accepts: Accepts, default: Any, about: str = "", *, live: bool = True, drawn: bool = True
) -> Any:
    """Declare an option as a field of :class:`ViewOptions`; with default None, it may be None."""
    metadata = {"option": (accepts, about, live, drawn)}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


#: Options by the name of the view.
RUN_VIEWS: dict[str, type[ViewOptions]] = {}


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """Checked options of a view; its fields are made by :func:`option`."""

    #: Name of the view, if its figure needs nothing but a run.
    view: ClassVar[str] = ""

    def __init_subclass__(cls, view: str = "") -> None:
        """Make the view known by its name."""
        if view:
            cls.view, RUN_VIEWS[view] = view, cls

    def __post_init__(self) -> None:
        """Check every option."""
        for each in options_of(type(self)):
            object.__setattr__(self, each.name, each.checked(getattr(self, each.name)))


def options_of(kind: type[Any]) -> tuple[Option, ...]:
    """Return the options of a view."""
    found = []
    for each in fields(kind):
        accepts, about, live, drawn = each.metadata["option"]
        made = each.default_factory
        default = each.default if made is MISSING else made()
        found.append(Option(each.name, accepts, default, about, live, drawn))
    return tuple(found)


def option_of(kind: type[ViewOptions], name: str) -> Option:
    """Return one option of a view."""
    return next(each for each in options_of(kind) if each.name == name)


def drawn(options: ViewOptions, kind: type[ViewOptions] | None = None) -> dict[str, Any]:
    """Return the options that a figure takes, by name; of a part of them if ``kind`` is given."""
    names = [each.name for each in options_of(kind or type(options)) if each.drawn]
    return {name: getattr(options, name) for name in names}


def known_options(what: str, given: Iterable[str], kind: type[ViewOptions], *more: str) -> None:
    """Raise TypeError for a name that no figure of this kind takes; names close ones."""
    known = {each.name for each in options_of(kind) if each.drawn} | set(more)
    for name in given:
        if name not in known:
            raise no_argument(what, name, {*known, "theme", "width"})


def choice(*texts: str, **earlier: str) -> Accepts:
    """Accept one of some texts, in any case, and what a text was called earlier."""

    def check(value: Any) -> Any:
        return one_of("choice", value, texts)

    return Accepts(" | ".join(f'"{text}"' for text in texts), "str", check, texts, earlier)


def either(one: Accepts, other: Accepts) -> Accepts:
    """Accept a choice, or other values."""
    types = f"{one.typescript} | {other.typescript}", f"{one.python} or {other.python}"
    return Accepts(*types, other.check, one.texts)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected True or False, found {value!r:.80}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r:.80}")
    return value


FLAG = Accepts("boolean", "bool", _flag)
TEXT = Accepts("string", "str", _text)


def text(check: Callable[[str], Any]) -> Accepts:
    """Accept texts that pass a check, which may change them."""
    return Accepts("string", "str", lambda value: check(_text(value)))


def whole(least: float = -math.inf, most: float = math.inf) -> Accepts:
    """Accept whole numbers between two limits."""

    def check(value: Any) -> int:
        if type(value) is int and least <= value <= most:  # soon said of a million nodes
            return value
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"expected an integer, found {value!r:.80}")
        return int(_limited(operator.index(value), least, most))

    return Accepts("number", "int", check)


def number(least: float = -math.inf, most: float = math.inf) -> Accepts:
    """Accept finite numbers between two limits."""

    def check(value: Any) -> float:
        if isinstance(value, bool | str):
            raise TypeError(f"expected a number, found {value!r:.80}")
        return float(_limited(_finite(value), least, most))

    return Accepts("number", "float", check)


def _limited(value: Any, least: float, most: float) -> Any:
    if not least <= value <= most:
        limits = f"at least {least}" if most == math.inf else f"{least} to {most}"
        raise ValueError(f"expected {limits}, found {value!r:.80}")
    return value


def _finite(value: Any) -> float:
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"expected a number, found {value!r:.80}") from None
    if not math.isfinite(found):
        raise ValueError(f"expected a finite number, found {value!r:.80}")
    return found


def fixed(**parts: Accepts | None) -> Accepts:
    """Accept a tuple of named parts; a part of None may be an axis or None."""
    accepts = [_AXIS if part is None else part for part in parts.values()]
    names = ", ".join(parts)

    def check(value: Any) -> tuple[Any, ...]:
        items = [] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        if len(items) != len(accepts):
            raise ValueError(f"expected ({names}), found {value!r:.80}")
        return tuple(part.check(each) for part, each in zip(accepts, items, strict=True))

    types = (f"{name}: {part.typescript}" for name, part in zip(parts, accepts, strict=True))
    python = ", ".join(part.python for part in accepts)
    return Accepts(f"[{', '.join(types)}]", f"({python})", check)


_AXIS = Accepts(
    "number | null", "int or None", lambda value: None if value is None else whole().check(value)
)


def interval(
    unit: str, *, names: tuple[str, str] = ("start", "end"), may_be_empty: bool = False
) -> Accepts:
    """Accept a pair of finite ascending numbers."""
    start, end = names
    order = "<=" if may_be_empty else "<"

    def check(value: Any) -> tuple[float, float]:
        pair = () if isinstance(value, str) or not isinstance(value, Iterable) else value
        try:
            low, high = map(_finite, pair)
            right = math.isfinite(high - low) and (low < high or (may_be_empty and low == high))
        except (TypeError, ValueError, OverflowError):
            right = False
        if not right:
            wanted = f"({start}, {end}) in {unit}, both finite, {start} {order} {end}"
            raise ValueError(f"expected {wanted}, found {value!r:.80}")
        return low, high

    return Accepts(f"[{start}: number, {end}: number]", "(float, float)", check)


def listed(item: Accepts) -> Accepts:
    """Accept lists; texts of a choice are checked as such."""

    def check(value: Any) -> list[Any]:
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise TypeError(f"expected a list, found {value!r:.80}")
        return [item.check(each) for each in value]

    inner = f"({item.typescript})" if "|" in item.typescript else item.typescript
    return Accepts(f"readonly {inner}[]", f"list of {item.python}", check)


def anything(typescript: str, python: str, check: Check = lambda value: value) -> Accepts:
    """Accept what a check does; by default every value, which the view's run checks."""
    return Accepts(typescript, python, check)
