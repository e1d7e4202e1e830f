"""What was found in the tensors of a run, as far as a page may tell it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.export.private_parameters import PrivateParameters
from tvmdbg_widgets.export.redacted import (
    bounds_eraser,
    redacted_findings,
    without_numbers,
)


def stored_findings(run: Derived, private: PrivateParameters | None) -> dict[str, Any]:
    """Return the findings as the views ask for them, all tensors scanned."""
    found = run.findings(progress=False)
    told: dict[str, Any] = answer(run, {"kind": "findings"}).result
    if private is not None:
        found = redacted_findings(found, run.tensors, private)
    rows = [
        {**row, "title": each.title, "evidence": list(each.evidence)}
        for row, each in zip(told["findings"], found, strict=True)
    ]
    return {**told, "findings": rows, "state": "done"}


def stored_health(
    run: Derived, private: PrivateParameters | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the health of all tensors as the views ask for it, and its columns."""
    told = answer(run, {"kind": "health"}).result
    told = {name: value for name, value in told.items() if name != "columns"}
    columns = run.search.health().columns()
    if private is not None:
        erase = bounds_eraser(run.tensors, private)
        small = [private.counts_only(each) for each in (run.tensors or {}).values()]
        for name in ("words", "brief"):
            texts = map(erase, told[name])
            told[name] = [
                without_numbers(each) if hidden else each
                for each, hidden in zip(texts, small, strict=True)
            ]
        for name in ("low", "high"):
            columns[name] = np.where(small, np.nan, columns[name])
    return told, columns
