"""What a query can ask of a node: names of fields, and the units of their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Units:
    """Units of a field of numbers.

    Attributes
    ----------
    factors : mapping of str to float
    told : str
        As an error names them: ``"ns, us, ms or s"``.
    needed : bool
        Whether a number other than 0 must have one.
    any_case : bool
        Whether upper and lower case are the same; then `factors` are in lower case.
    """

    factors: Mapping[str, float]
    told: str
    needed: bool = False
    any_case: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """What queries can ask of one kind of thing.

    Attributes
    ----------
    texts, numbers : tuple of str
        Fields; one that is both is a number where a whole number follows, else a text.
    fields : tuple of str
        All fields, in the order in which an error names them; ``"shape"`` where shapes can be
        asked for, and ``"attr."`` for attributes, whose names follow it.
    units : mapping of str to Units
        By field.
    paths : bool
        Whether ``->`` and ``->>`` join terms.
    example : str
        A query.
    """

    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    fields: tuple[str, ...]
    units: Mapping[str, Units] = field(default_factory=dict)
    paths: bool = False
    example: str = ""


TEXTS: Final = ("name", "op", "func", "kind", "dtype", "device", "layout", "group")
"""Fields that are texts."""

NUMBERS: Final = (
    *("id", "time", "share", "bytes", "storage", "rank"),
    *("inputs", "outputs", "consumers", "depth"),
)
"""Fields that are numbers."""

FIELDS: Final = (*TEXTS, "shape", *NUMBERS, "attr.")
"""All of them; an attribute's name follows ``attr.``."""

TIMES: Final = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
"""Factors to nanoseconds."""

_BYTES: Final = {
    "b": 1.0,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "tb": 1e12,
    "kib": 2.0**10,
    "mib": 2.0**20,
    "gib": 2.0**30,
    "tib": 2.0**40,
}

GRAPH: Final = Vocabulary(
    TEXTS,
    NUMBERS,
    FIELDS,
    {
        "time": Units(TIMES, "ns, us, ms or s", needed=True),
        "share": Units({"%": 0.01}, "%", needed=True),
        "bytes": Units(_BYTES, "B, KB, KiB, MB, MiB, GB or GiB", any_case=True),
    },
    paths=True,
    example="time>1ms op:conv",
)
"""Of the nodes of a graph: times in nanoseconds, shares of 1."""


def close_fields(word: str, fields: tuple[str, ...] = FIELDS) -> list[str]:
    """Return the fields that a misspelt name may mean, at most three."""
    found = [(_distance(word, each.rstrip(".")), each) for each in fields]
    nearest = min(found)[0]
    if nearest > min(2, max(len(word) - 1, 0)):
        return []
    return [each for distance, each in found if distance == nearest][:3]


def _distance(a: str, b: str) -> int:
    """Edits from one word to the other; two letters changed for each other are one edit."""
    if abs(len(a) - len(b)) > 2:
        return 3
    rows = [list(range(len(b) + 1))]
    for i, left in enumerate(a, 1):
        row = [i]
        for j, right in enumerate(b, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
