"""The columns of every answer, as js/src/shared/client/wire.ts defines them for both sides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from tvmdbg_widgets.engine.host import BUNDLE
from tvmdbg_widgets.model.base.numbers import StringColumn


def check(answer: str, headers: Iterable[Mapping[str, Any]]) -> None:
    """See that an answer has the columns that the views read, each of a kind they can be."""
    kinds = {each["name"]: each["kind"] for each in headers}
    wire = _wire()
    if wire is None:
        return
    for name, expected in wire[answer].items():
        found = kinds.pop(name, None)
        allowed = expected.rstrip("?").split("|")
        if found not in allowed and not (found is None and expected.endswith("?")):
            said = "is missing" if found is None else f"is {found}"
            raise TypeError(f"answer {answer!r}: column {name!r} {said}, expected {expected}")
    if kinds:
        raise TypeError(f"answer {answer!r}: unknown column {next(iter(kinds))!r}")


def without_rows(answer: str) -> dict[str, np.ndarray[Any, Any] | StringColumn]:
    """Return the columns that an answer must have, each of length 0."""
    kinds = (_wire() or {}).get(answer, {})
    return {
        name: StringColumn((), np.zeros(0, np.int32))
        if kind == "strings"
        else np.zeros(0, kind.partition("|")[0])
        for name, kind in kinds.items()
        if not kind.endswith("?")
    }


@cache
def _wire() -> dict[str, dict[str, str]] | None:
    """Return ``WIRE``; None where the views' code, which reads the answers, is not built."""
    path = BUNDLE.with_name("wire.json")
    return json.loads(path.read_text("utf-8")) if path.exists() else None
