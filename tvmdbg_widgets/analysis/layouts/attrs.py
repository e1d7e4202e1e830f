"""Which layout attribute of a function speaks of its output, and which of an operand.

Attributes are those of all operators fused into the function, by name; of two operators that have
one of the same name the later counts (``LabelOps``, src/relay/transforms/label_ops.cc @ v0.8.0).
Operands come in the order in which the fused operators first use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tvmdbg_widgets.model.graph.operators import family, parts

_HASH = re.compile(r"_[0-9]{12,}_")
_TRANSFORM = "layout_transform"
#: Families that leave every axis where it was.
_KEEPING = frozenset({"elementwise", "activation", "cast/quantize"})
_KEEPING_TOO = frozenset(
    {"__copy", "nn.pad", "nn.lrn", "nn.batch_norm", "concatenate", "strided_slice"}
)
_WEIGHTS = ("kernel_layout", "weight_layout")
#: Attributes of the data that an operator reads, and of what it writes, the one that counts first.
_CONVOLUTION = ("data_layout",), ("out_layout", "data_layout")
_LAYOUT = ("layout",), ("out_layout", "layout")
#: Operators beside convolutions that have such an attribute (include/tvm/relay/attrs/nn.h,
#: image.h and vision.h @ v0.19.0); transpose, tile or mean have none.
_LAID_OUT = re.compile(
    r"pool[123]d|upsampl|resize|roi_(?:align|pool)|grid_sample|depth_to_space|space_to_depth"
)
_ANY = (
    ("src_layout", "data_layout", "layout"),
    ("out_layout", "dst_layout", "data_layout", "layout"),
)
NAMES = frozenset((*_WEIGHTS, *_ANY[0], *_ANY[1]))


class NamedLayout(NamedTuple):
    """A layout that an attribute names."""

    attr: str
    layout: str
    certain: bool


def keeps_axes(func_name: str) -> bool:
    """Whether a function computes element by element, so that its axes are those of its operands.

    >>> keeps_axes("fused_add_nn_relu_1"), keeps_axes("fused_nn_conv2d_add")
    (True, False)
    """
    return all(map(_keeps, parts(func_name))) and bool(func_name)


def is_transform(func_name: str) -> bool:
    """Whether a function does nothing but change the layout."""
    return parts(func_name) == (_TRANSFORM,)


def of_output(attrs: Mapping[str, str], func_name: str) -> Iterator[NamedLayout]:
    """Yield what the attributes of a function say of its output, the best first."""
    if NAMES.isdisjoint(attrs):
        return
    found = parts(func_name)
    bearers = _bearers(attrs, found)
    if not bearers:
        yield from _named(attrs, _ANY[1], certain=False)
        return
    at = bearers[-1]
    certain = all(map(_keeps, found[at + 1 :])) and not _is_cut(func_name)
    yield from _named(attrs, _attributes(found[at])[1], certain=certain)


def of_operand(attrs: Mapping[str, str], func_name: str, position: int) -> Iterator[NamedLayout]:
    """Yield what the attributes of a function say of an operand, the best first."""
    if NAMES.isdisjoint(attrs):
        return
    found = parts(func_name)
    bearers = _bearers(attrs, found)
    if not bearers:
        if not position:
            yield from _named(attrs, _ANY[0], certain=False)
        return
    at = bearers[0]
    first = found[at]
    certain = at == 0 and len(bearers) == 1 and not _is_cut(func_name)
    if family(first) in ("convolution", "matmul") and position == 1:
        if not first.endswith("without_weight_transform"):
            yield from _named(attrs, _WEIGHTS, certain=certain)
    elif position == 0 or (at > 0 and all(map(_keeps, found[:at]))):
        yield from _named(attrs, _attributes(first)[0], certain=certain)


def _bearers(attrs: Mapping[str, str], found: tuple[str, ...]) -> list[int]:
    """Positions of the operators that the attributes can be of."""
    return [
        at
        for at, part in enumerate(found)
        if not _keeps(part) and any(attrs.get(name) for name in _all_attributes(part))
    ]


def _attributes(part: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kind = family(part)
    if part.endswith(_TRANSFORM):
        return ("src_layout",), ("dst_layout",)
    if kind == "convolution":
        return _CONVOLUTION
    if _LAID_OUT.search(part):
        return _LAYOUT
    return (), ()


def _all_attributes(part: str) -> tuple[str, ...]:
    read, written = _attributes(part)
    weights = _WEIGHTS if family(part) in ("convolution", "matmul") else ()
    return (*read, *written, *weights)


def _named(
    attrs: Mapping[str, str], names: tuple[str, ...], *, certain: bool
) -> Iterator[NamedLayout]:
    """Yield the first of the attributes that is not empty."""
    for name in names:
        layout = attrs.get(name)
        if isinstance(layout, str) and layout:
            yield NamedLayout(name, layout, certain)
            return


def _is_cut(func_name: str) -> bool:
    """Whether a hash stands for the end of the name, so that operators may be missing.

    Names are cut at 80 characters (src/relay/backend/te_compiler_cache.cc @ v0.19.0).
    """
    return _HASH.search(func_name) is not None


def _keeps(part: str) -> bool:
    return family(part) in _KEEPING or part in _KEEPING_TOO
