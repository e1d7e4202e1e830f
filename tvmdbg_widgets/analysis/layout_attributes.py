"""Layouts that the attributes of a function state for its output and its operands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from tvmdbg_widgets.model.graph.operators import family, parts

_HASH = re.compile(r"_[0-9]{12,}_")
_TRANSFORM = "layout_transform"
#: Families that keep every axis in place.
_KEEPING = frozenset({"elementwise", "activation", "cast/quantize"})
_KEEPING_TOO = frozenset(
    {"__copy", "nn.pad", "nn.lrn", "nn.batch_norm", "concatenate", "strided_slice"}
)
_WEIGHTS = ("kernel_layout", "weight_layout")
#: Attributes for an operator's input data and for its output, by precedence.
_CONVOLUTION = ("data_layout",), ("out_layout", "data_layout")
_LAYOUT = ("layout",), ("out_layout", "layout")
#: Other operators with such an attribute (include/tvm/relay/attrs/nn.h, image.h and vision.h @
#: v0.19.0); transpose, tile or mean have none.
_LAID_OUT = re.compile(
    r"pool[123]d|upsampl|resize|roi_(?:align|pool)|grid_sample|depth_to_space|space_to_depth"
)
_ANY = (
    ("src_layout", "data_layout", "layout"),
    ("out_layout", "dst_layout", "data_layout", "layout"),
)
NAMES = frozenset((*_WEIGHTS, *_ANY[0], *_ANY[1]))


class NamedLayout(NamedTuple):
    """A layout named by an attribute."""

    attr: str
    layout: str
    certain: bool


def keeps_axes(func_name: str) -> bool:
    """Return whether a function is element-wise, so that it keeps the axes of its operands."""
    return all(map(_keeps, parts(func_name))) and bool(func_name)


def is_transform(func_name: str) -> bool:
    """Return whether a function only changes the layout."""
    return parts(func_name) == (_TRANSFORM,)


def of_output(attrs: Mapping[str, str], func_name: str) -> NamedLayout | None:
    """Return the layout that a function's attributes state for its output."""
    operators = parts(func_name)
    bearers = _bearing_positions(attrs, func_name)
    if not bearers:
        return _first_attribute(attrs, _ANY[1], certain=False)
    at = bearers[-1]
    certain = all(map(_keeps, operators[at + 1 :])) and not _is_cut(func_name)
    return _first_attribute(attrs, _attributes(operators[at])[1], certain=certain)


def of_operand(attrs: Mapping[str, str], func_name: str, position: int) -> NamedLayout | None:
    """Return the layout that a function's attributes state for an operand."""
    operators = parts(func_name)
    bearers = _bearing_positions(attrs, func_name)
    if not bearers:
        return None if position else _first_attribute(attrs, _ANY[0], certain=False)
    at, first = bearers[0], operators[bearers[0]]
    certain = at == 0 and len(bearers) == 1 and not _is_cut(func_name)
    if position == 1 and _has_weights(first):
        is_plain = not first.endswith("without_weight_transform")
        return _first_attribute(attrs, _WEIGHTS, certain=certain) if is_plain else None
    if position and (at == 0 or not all(map(_keeps, operators[:at]))):
        return None
    return _first_attribute(attrs, _attributes(first)[0], certain=certain)


def _bearing_positions(attrs: Mapping[str, str], func_name: str) -> list[int]:
    return [at for at, names in _bearers(func_name) if any(map(attrs.get, names))]


@lru_cache(maxsize=16_384)
def _bearers(func_name: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return places of operators that do not keep axes, and their attributes that name layouts."""
    return tuple(
        (at, sum(_attributes(part), _WEIGHTS if _has_weights(part) else ()))
        for at, part in enumerate(parts(func_name))
        if not _keeps(part)
    )


def _has_weights(part: str) -> bool:
    return family(part) in ("convolution", "matmul")


@lru_cache(maxsize=16_384)
def _attributes(part: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if part.endswith(_TRANSFORM):
        return ("src_layout",), ("dst_layout",)
    if family(part) == "convolution":
        return _CONVOLUTION
    if _LAID_OUT.search(part):
        return _LAYOUT
    return (), ()


def _first_attribute(
    attrs: Mapping[str, str], names: tuple[str, ...], *, certain: bool
) -> NamedLayout | None:
    for name in names:
        layout = attrs.get(name)
        if isinstance(layout, str) and layout:
            return NamedLayout(name, layout, certain)
    return None


def _is_cut(func_name: str) -> bool:
    """Return whether a hash replaces the end of a name (te_compiler_cache.cc @ v0.19.0)."""
    return _HASH.search(func_name) is not None


@lru_cache(maxsize=16_384)
def _keeps(part: str) -> bool:
    return family(part) in _KEEPING or part in _KEEPING_TOO
