"""Which null nodes of a graph are parameters, by their names or by those of a params file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Collection

    from tvmdbg_widgets.model.base.strings import StringColumn

_PARAMETER = re.compile(
    r"p\d+|(?:.*[^a-z])?(?:weights?|bias|gamma|beta|(?:moving|running)_(?:mean|var|variance))"
    r"(?:_?\d+)?",
    re.IGNORECASE | re.DOTALL,
)


def looks_like_parameter(name: str) -> bool:
    """Tell whether a null node of that name is usually a parameter.

    Relay numbers constants ``p0``, ``p1``, … (``src/relay/backend/graph_executor_codegen.cc``
    @ v0.19.0); the other endings are those the importers give weights.
    """
    return _PARAMETER.fullmatch(name) is not None


def parameters_by_name(
    names: StringColumn, kinds: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return `kinds` and their trust with null nodes guessed by name (uint8 [N] both)."""
    likely = np.array([looks_like_parameter(name) for name in names.unique], dtype=np.bool_)
    return _split(kinds, likely[names.codes], Trust.BY_NAME)


def parameters_by_file(
    names: StringColumn, kinds: npt.NDArray[np.uint8], listed: Collection[str]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return `kinds` and their trust with null nodes told apart by a params file's names."""
    wanted = set(listed)
    named = np.array([name in wanted for name in names.unique], dtype=np.bool_)
    return _split(kinds, named[names.codes], Trust.EXACT)


def _split(
    kinds: npt.NDArray[np.uint8], is_parameter: npt.NDArray[np.bool_], grade: Trust
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    null = (kinds == NodeKind.INPUT) | (kinds == NodeKind.PARAMETER)
    parameter = null & is_parameter
    changed = np.where(null, np.uint8(NodeKind.INPUT), kinds)
    changed = np.where(parameter, np.uint8(NodeKind.PARAMETER), changed)
    trust = np.where(parameter, np.uint8(grade), np.uint8(Trust.ABSENT))
    return changed, trust
