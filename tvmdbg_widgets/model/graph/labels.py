"""Short names of operators, for boxes and bars."""

from __future__ import annotations

from functools import lru_cache

from tvmdbg_widgets.model.graph.operators import bare, parts

_SHARED = {"__nop": "reshape (zero-copy)", "__copy": "device copy"}


@lru_cache(maxsize=65_536)
def label(func_name: str, modules: tuple[str, ...] = ()) -> str:
    """Return the operators of a function in a few words: ``"conv2d + add + relu"``.

    Namespaces are left out, and prefixes of the graph's `modules`; the empty name stays empty.
    """
    return label_of(parts(func_name, modules))


def label_of(operators: tuple[str, ...]) -> str:
    """Return the operators of a function, as :func:`parts` splits it, in a few words."""
    if len(operators) == 1 and operators[0] in _SHARED:
        return _SHARED[operators[0]]
    return " + ".join(map(bare, operators))
