"""Names of nodes without what all names of a compiler start with."""

from __future__ import annotations

from typing import Final

PREFIXES: Final = ("tvmgen_default_fused_", "tvmgen_default_", "fused_")


def without_prefix(name: str) -> str:
    """Return a name without its prefix: ``"nn_relu"`` for ``"tvmgen_default_fused_nn_relu"``.

    A name that is nothing but a prefix stays as it is.
    """
    prefix = next((each for each in PREFIXES if name.startswith(each)), "")
    return name.removeprefix(prefix) or name
