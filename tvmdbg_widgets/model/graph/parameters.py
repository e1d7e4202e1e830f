"""Which null nodes of a graph are parameters, by their names or by those of a params file."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.nodes import NodeKind

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PARAMETERS = frozenset(
    {
        *("weight", "weights", "kernel", "filter", "filters", "bias", "biases", "gamma", "beta"),
        *("param", "params", "parameter", "const", "constant", "constants", "initializer"),
        *("embedding", "embeddings", "embed", "emb", "wte", "wpe", "norm", "tracked"),
        *("scale", "scales", "variance"),
    }
)
_FED = frozenset(
    {
        *("data", "input", "inputs", "image", "images", "img", "ids", "mask", "token", "tokens"),
        *("type", "segment", "placeholder", "x", "y", "query", "key", "value", "state", "hidden"),
        *("placeholders", "feature", "features", "label", "labels", "loader", "cache", "length"),
    }
)
_NUMBERED = re.compile(r"p\d+|_*param(?:eter)?_?\d+|_*const(?:ant)?_?\d+", re.IGNORECASE)
_ENDING = re.compile(
    r"(?:moving|running)_(?:mean|var|variance)|zero_points?|ReadVariableOp|onnx::\w+_\d"
    r"|(?:^|[._/])[wb]_\d+$|[._/][WB]$|(?<![OIHWDGKio0-9])[HWDGKio0-9]*+[OI][OIHWDGKio0-9]*\d[oi]",
    re.DOTALL,
)
_LONGEST = 300


def looks_like_parameter(name: str) -> bool:
    """Tell whether a null node of that name is usually a parameter.

    Relay numbers constants ``p0``, ``p1``, … (``src/relay/backend/graph_executor_codegen.cc``
    @ v0.19.0), NNVM's importers ``_param_1``, …; other names have words that importers give
    weights, and behind these what passes add (``_sc`` and ``_expand`` of
    ``nnvm/src/compiler/fold_scale_axis.cc``, layouts such as ``_OIHW8i8o``).
    """
    if _NUMBERED.fullmatch(name):
        return True
    short = name[-_LONGEST:]
    if _ENDING.search(short):
        return True
    words = [word.lower() for word in _WORD.findall(short)]
    return bool(words) and words[-1] not in _FED and not _PARAMETERS.isdisjoint(words)


def looks_like_input(name: str) -> bool:
    """Tell whether a null node of that name is usually fed: ``data``, ``input_ids``."""
    words = [word.lower() for word in _WORD.findall(name[-_LONGEST:])]
    return bool(words) and words[-1] in _FED


def parameters_by_file(
    names: StringColumn, kinds: npt.NDArray[np.uint8], listed: Collection[str]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return `kinds` and the trust in the roles, with null nodes told by a params file's names."""
    wanted = set(listed)
    named = np.array([name in wanted for name in names.unique], dtype=np.bool_)[names.codes]
    null = kinds <= NodeKind.PARAMETER
    changed = np.where(null, np.uint8(NodeKind.INPUT), kinds)
    changed = np.where(null & named, np.uint8(NodeKind.PARAMETER), changed)
    return changed, np.where(null, np.uint8(Trust.EXACT), np.uint8(Trust.ABSENT))
