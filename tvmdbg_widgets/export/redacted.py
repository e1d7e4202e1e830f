"""Findings and health without the values of small parameters that their words tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tvmdbg_widgets.export.private_parameters import PrivateParameters
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.verdicts.findings import Findings

_GONE = "…"
_VALUE = re.compile(r"[-−]?(?<!\d)\d++(?:\.\d+(?:e[-+−]?\d+)?|e[-+−]?\d+)", re.IGNORECASE)


def redacted_findings(
    found: Findings, tensors: Mapping[Any, Tensor] | None, private: PrivateParameters
) -> Findings:
    """Return the findings without bounds of tensors that are told by counts alone."""
    erase = bounds_eraser(tensors, private)
    return Findings(
        (
            replace(each, title=erase(each.title), evidence=tuple(map(erase, each.evidence)))
            for each in found
        ),
        complete=found.complete,
        scanned=found.scanned,
        to_scan=found.to_scan,
    )


def bounds_eraser(
    tensors: Mapping[Any, Tensor] | None, private: PrivateParameters
) -> Callable[[str], str]:
    """Return what takes bounds of tensors that are told by counts alone out of a text."""
    return _eraser([each for each in (tensors or {}).values() if private.counts_only(each)])


def without_numbers(text: str) -> str:
    """Take out what looks like a value: a number with a point or an exponent, rounded or not."""
    return _VALUE.sub(_GONE, text)


def _eraser(tensors: Iterable[Tensor]) -> Callable[[str], str]:
    texts = sorted({text for each in tensors for text in _bounds(each)}, key=len, reverse=True)
    if not texts:
        return lambda text: text
    exact = [re.escape(text) for text in texts if not text.isdecimal()]
    # Small whole numbers count things, too: only where a value stands.
    whole = [
        rf"(?:(?<=: )|(?<=is )|(?<=but )){text}(?= \D|$)" for text in texts if text.isdecimal()
    ]
    pattern = re.compile(
        "|".join([rf"(?<![\w.])(?:{'|'.join(exact)})(?!\w|\.\d)"] * bool(exact) + whole)
    )
    return lambda text: pattern.sub(_GONE, text)


def _bounds(tensor: Tensor) -> set[str]:
    """Texts of the least, the greatest and the largest value."""
    try:
        found = tensor.statistics()
    except (FormatError, OSError):
        return set()
    if found.minimum is None or found.maximum is None:
        return set()
    ends = [found.minimum, found.maximum]
    with np.errstate(over="ignore"):  # of the least integer there is no magnitude
        return {number_text(each) for each in (*ends, *map(abs, ends))}
