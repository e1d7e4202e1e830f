"""What a query can ask of a node: names of fields, and the units of their numbers."""

from __future__ import annotations

from typing import Final

TEXTS: Final = ("name", "op", "func", "kind", "dtype", "device", "layout", "group")
"""Fields that are texts."""

NUMBERS: Final = (
    *("id", "time", "share", "bytes", "storage", "rank"),
    *("inputs", "outputs", "consumers", "depth"),
)
"""Fields that are numbers."""

FIELDS: Final = (*TEXTS, "shape", *NUMBERS, "attr.")
"""All of them; an attribute's name follows ``attr.``."""

_TIMES: Final = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
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

UNITS: Final = {"time": _TIMES, "share": {"%": 0.01}, "bytes": _BYTES}
"""Factor of each unit, by field; units of bytes in lower case."""

UNITS_TOLD: Final = {
    "time": "ns, us, ms or s",
    "share": "%",
    "bytes": "B, KB, KiB, MB, MiB, GB or GiB",
}


def close_fields(word: str) -> list[str]:
    """Return the fields that a misspelt name may mean, at most three."""
    found = [(_distance(word, field.rstrip(".")), field) for field in FIELDS]
    nearest = min(found)[0]
    if nearest > min(2, max(len(word) - 1, 0)):
        return []
    return [field for distance, field in found if distance == nearest][:3]


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
