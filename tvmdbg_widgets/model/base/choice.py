"""Look-up of a name among known ones, with close names in errors; loads no numpy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

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
