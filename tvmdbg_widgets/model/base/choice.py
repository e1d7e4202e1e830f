"""One of what is known, or a message that names close ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def one_of(name: str, given: object, known: Iterable[str]) -> str:
    """Return the value if it is known.

    Raises
    ------
    ValueError
        It is not; the message names close ones, or all.
    """
    usable = list(known)
    if isinstance(given, str) and given in usable:
        return given
    close = difflib.get_close_matches(given, usable, n=3) if isinstance(given, str) else []
    told = f"close: {', '.join(close)}" if close else f"known: {', '.join(usable) or 'none'}"
    raise ValueError(f"no {name} {given!r}; {told}")


def fields_of(given: object, name: str, known: Sequence[str]) -> dict[str, Any]:
    """Return a mapping with known fields alone.

    Raises
    ------
    TypeError
        It is no mapping.
    ValueError
        It has another field; the message names close ones.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is a mapping of {', '.join(known)}, not {type(given).__name__}")
    for field in given:
        one_of("field", field, known)
    return dict(given)
