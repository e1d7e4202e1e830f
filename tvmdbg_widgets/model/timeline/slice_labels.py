"""What recorded names of slices read where they are drawn: without what tells nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from tvmdbg_widgets.model.graph.labels import label_of
from tvmdbg_widgets.model.graph.operators import parts
from tvmdbg_widgets.model.graph.short_names import number_at_end

_WORD_END = re.compile(r".*[_./:]", re.DOTALL)
#: Shorter beginnings take no room that matters.
_LEAST_PREFIX = 6


def slice_labels(names: Sequence[str]) -> list[str]:
    """Return what each of some distinct names reads.

    The name of a fused function reads as its operators; of several functions of the same operators
    each keeps its number: ``"conv2d + add + relu_1"``. What all other names begin with is left out.
    Distinct names read differently.
    """
    found = list(map(parts, names))
    functions = [bool(name) and told != (name,) for name, told in zip(names, found, strict=True)]
    short = [
        label_of(told) if isa else name
        for name, isa, told in zip(names, functions, found, strict=True)
    ]
    often = Counter(short)
    for i, name in enumerate(names):
        if functions[i] and often[short[i]] > 1:
            short[i] += number_at_end(name)
    if not any(functions):
        cut = _shared(names)
        short = [name[cut:] for name in names]
    often = Counter(short)
    return [s if often[s] == 1 else name for s, name in zip(short, names, strict=True)]


def _shared(names: Sequence[str]) -> int:
    """Return how many letters all names begin with, up to the end of a word."""
    if len(names) < 2:
        return 0
    first, last = min(names), max(names)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    words = _WORD_END.match("".join(letter for letter, _ in alike))
    cut = words.end() if words else 0
    return cut if cut >= _LEAST_PREFIX and len(min(names, key=len)) > cut else 0
