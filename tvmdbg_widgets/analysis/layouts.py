"""Layouts of entries as the graph states them, checked against the stored shape.

Sources, best first: attributes of the entry's own node, attributes of its readers, entries of the
same shape that only element-wise operators lie between, names of functions. Padding is known where
a ``layout_transform`` has the unpadded array on its other side.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import family, parts
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.values import ArrayView, Unfolded

Entry: TypeAlias = tuple[int, int]

#: Most entries visited on a walk through element-wise operators, and most readers of one entry.
REACH = 64
READERS = 32
_PLAIN_RANK = 4


@dataclass(frozen=True)
class KnownLayout:
    """A layout of an entry, with its source."""

    layout: Layout
    source: str
    certainty: Literal["stated", "likely"]
    sizes: dict[str, int] = field(default_factory=dict)


def stated_layout(known: Iterable[KnownLayout], shape: Sequence[int]) -> KnownLayout | None:
    """Return the first stated layout that fits a shape; views open with its axes."""
    return next(
        (
            candidate
            for candidate in known
            if candidate.certainty == "stated" and candidate.layout.fits(shape)
        ),
        None,
    )


def laid_out(
    values: ArrayView,
    known: Iterable[KnownLayout],
    layout: str | None,
    sizes: Mapping[str, int] | None,
) -> Unfolded | None:
    """Return values along the requested axes; None for the stored axes."""
    known = list(known)
    if layout is None:
        stated = stated_layout(known, values.view_shape)
        layout = "" if stated is None else stated.layout.text
    if not layout:
        return None
    parsed = Layout.parse(layout)
    if sizes is None:
        sizes = {candidate.layout.text: candidate.sizes for candidate in known}.get(layout, {})
    fitting = {letter: size for letter, size in sizes.items() if letter in parsed.letters}
    return Unfolded(values, parsed, fitting)


class Claim(NamedTuple):
    """A layout before its check; `plain` is the same array in another layout."""

    text: str
    source: str
    node: int
    certain: bool
    plain: tuple[Entry, str] | None = None


def known_layouts(run: RunParts, entry: Entry, *, near: bool = True) -> tuple[KnownLayout, ...]:
    """Return the possible layouts of an entry, the best first."""
    graph = run.graph
    shape = _known_shape(run, entry)
    if graph is None or not shape:
        return ()
    layouts = valid_claims(run, shape, stated_claims(graph, entry))
    if near and not layouts and not NAMES.isdisjoint(graph.attr_names):
        layouts = valid_claims(run, shape, _neighboring_claims(run, graph, entry, shape))
    return layouts or valid_claims(run, shape, claims_of_name(graph, entry, shape))


def stated_claims(graph: Graph, entry: Entry, most: int | None = None) -> Iterator[Claim]:
    """Yield what the node of an entry and its first readers state."""
    node = entry[0]
    if graph.kinds[node] == NodeKind.OPERATOR:
        attrs, func = graph.attrs[node], graph.func_names[node]
        single = len(graph.entry_range(node)) == 1
        for named in of_output(attrs, func):
            plain = None
            if is_transform(func) and (operands := _operand_entries(graph, node)):
                plain = operands[0], attrs.get("src_layout", "")
            source = f"{named.attr} of node {node}"
            yield Claim(named.layout, source, node, named.certain and single, plain)
    for edge in _reader_edges(graph, entry, most):
        reader, position = int(graph.edge_target[edge]), int(graph.edge_position[edge])
        attrs, func = graph.attrs[reader], graph.func_names[reader]
        sure = graph.edge_trust[edge] != Trust.AMBIGUOUS
        for named in of_operand(attrs, func, position):
            plain = ((reader, 0), attrs.get("dst_layout", "")) if is_transform(func) else None
            source = f"{named.attr} of node {reader}"
            yield Claim(named.layout, source, reader, named.certain and sure, plain)


def _neighboring_claims(
    run: RunParts, graph: Graph, entry: Entry, shape: tuple[int, ...]
) -> Iterator[Claim]:
    seen: set[Entry] = {entry}
    waiting: deque[tuple[Entry, tuple[int, ...]]] = deque([(entry, ())])
    while waiting and len(seen) < REACH:
        here, path = waiting.popleft()
        for node, other in _joined_entries(graph, here):
            if other in seen or len(seen) >= REACH:
                continue
            seen.add(other)
            there = _known_shape(run, other)
            if there == shape:
                waiting.append((other, (*path, node)))
            elif there is None or not is_stretched(shape, there):
                continue
            for claim in stated_claims(graph, other, READERS):
                between = [operator for operator in (*path, node) if operator != claim.node]
                through = f"node {between[0]}" if between else ""
                through = counted(len(between), "node") if len(between) > 1 else through
                source = claim.source + (f", through {through}" if through else "")
                yield Claim(claim.text, source, claim.node, certain=False)


def _joined_entries(graph: Graph, entry: Entry) -> Iterator[tuple[int, Entry]]:
    node = entry[0]
    if graph.kinds[node] >= NodeKind.OPERATOR and keeps_axes(graph.func_names[node]):
        for operand in _operand_entries(graph, node):
            yield node, operand
    for edge in _reader_edges(graph, entry, REACH):
        reader = int(graph.edge_target[edge])
        if keeps_axes(graph.func_names[reader]) or graph.edge_position[edge] > 1:
            yield reader, (reader, 0)


def claims_of_name(graph: Graph, entry: Entry, shape: tuple[int, ...]) -> Iterator[Claim]:
    """Yield what the name of a function suggests for its first output."""
    node = entry[0]
    func = graph.func_names[node]
    source = f"func_name of node {node}"
    if graph.kinds[node] != NodeKind.OPERATOR or entry[1]:
        return
    if len(shape) == _PLAIN_RANK + 1 and any("conv2d_NCHWc" in part for part in parts(func)):
        yield Claim(f"NCHW{shape[-1]}c", source, node, certain=False)
    if len(shape) == _PLAIN_RANK and any(
        family(part) == "convolution" or part.endswith("relu") for part in parts(func)
    ):
        yield Claim("NHWC" if "nhwc" in func.lower() else "NCHW", source, node, certain=False)


def valid_claims(
    run: RunParts, shape: tuple[int, ...], claims: Iterable[Claim]
) -> tuple[KnownLayout, ...]:
    """Return the claims that fit a shape, the certain ones first."""
    layouts: dict[str, KnownLayout] = {}
    for claim in sorted(claims, key=lambda claim: not claim.certain):
        try:
            layout = Layout.parse(claim.text)
        except ValueError:
            continue
        sizes = _unpadded_sizes(run, shape, layout, claim.plain) if layout.fits(shape) else None
        known = layouts.get(claim.text)
        if sizes is None or (known is not None and (known.sizes or not sizes)):
            continue
        certainty = known.certainty if known else ("stated" if claim.certain else "likely")
        source = known.source if known else claim.source
        if known:
            source = f"{source}, sizes from node {claim.node}"
        layouts[claim.text] = KnownLayout(layout, source, certainty, sizes)
    return tuple(layouts.values())


def _unpadded_sizes(
    run: RunParts, shape: tuple[int, ...], layout: Layout, plain: tuple[Entry, str] | None
) -> dict[str, int] | None:
    if plain is None:
        return {}
    there = _known_shape(run, plain[0])
    try:
        other = Layout.parse(plain[1])
    except ValueError:
        return {}
    if there is None or not other.fits(there):
        return {}
    theirs = dict(zip(other.letters, other.logical_shape(there), strict=True))
    sizes = {}
    for letter, mine in zip(layout.letters, layout.logical_shape(shape), strict=True):
        size = theirs.get(letter, mine)
        if size - mine >= other.block(letter) or mine - size >= layout.block(letter):
            return None
        if size < mine:
            sizes[letter] = size
    return sizes


def _reader_edges(graph: Graph, entry: Entry, most: int | None) -> list[int]:
    edges: list[int] = graph.readers(*entry)[:most].tolist()
    return edges


def _operand_entries(graph: Graph, node: int) -> list[Entry]:
    edges = graph.in_edges(node)[:REACH].tolist()
    return [
        (int(graph.edge_source[edge]), int(graph.edge_output[edge]))
        for edge in edges
        if graph.edge_source[edge] >= 0
    ]


def _known_shape(run: RunParts, entry: Entry) -> tuple[int, ...] | None:
    if run.tensors is not None and entry in run.tensors:
        return run.tensors[entry].view_shape
    graph = run.graph
    if graph is None or not 0 <= entry[0] < graph.num_nodes:
        return None
    return graph.shape(*entry) if entry[1] in range(len(graph.entry_range(entry[0]))) else None


def is_stretched(shape: Sequence[int], onto: Sequence[int]) -> bool:
    """Return whether a shape is broadcast to another of as many axes."""
    return len(shape) == len(onto) and all(
        mine in (1, theirs) for mine, theirs in zip(shape, onto, strict=True)
    )


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


def of_output(attrs: Mapping[str, str], func_name: str) -> Iterator[NamedLayout]:
    """Yield layouts that a function's attributes state for its output, the best first."""
    if NAMES.isdisjoint(attrs):
        return
    operators = parts(func_name)
    bearers = _bearing_positions(attrs, operators)
    if not bearers:
        yield from _first_attribute(attrs, _ANY[1], certain=False)
        return
    at = bearers[-1]
    certain = all(map(_keeps, operators[at + 1 :])) and not _is_cut(func_name)
    yield from _first_attribute(attrs, _attributes(operators[at])[1], certain=certain)


def of_operand(attrs: Mapping[str, str], func_name: str, position: int) -> Iterator[NamedLayout]:
    """Yield layouts that a function's attributes state for an operand, the best first."""
    if NAMES.isdisjoint(attrs):
        return
    operators = parts(func_name)
    bearers = _bearing_positions(attrs, operators)
    if not bearers:
        if not position:
            yield from _first_attribute(attrs, _ANY[0], certain=False)
        return
    at = bearers[0]
    first = operators[at]
    certain = at == 0 and len(bearers) == 1 and not _is_cut(func_name)
    if family(first) in ("convolution", "matmul") and position == 1:
        if not first.endswith("without_weight_transform"):
            yield from _first_attribute(attrs, _WEIGHTS, certain=certain)
    elif position == 0 or (at > 0 and all(map(_keeps, operators[:at]))):
        yield from _first_attribute(attrs, _attributes(first)[0], certain=certain)


def _bearing_positions(attrs: Mapping[str, str], operators: tuple[str, ...]) -> list[int]:
    return [
        at
        for at, part in enumerate(operators)
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


def _first_attribute(
    attrs: Mapping[str, str], names: tuple[str, ...], *, certain: bool
) -> Iterator[NamedLayout]:
    for name in names:
        layout = attrs.get(name)
        if isinstance(layout, str) and layout:
            yield NamedLayout(name, layout, certain)
            return


def _is_cut(func_name: str) -> bool:
    """Return whether a hash replaces the end of a name (te_compiler_cache.cc @ v0.19.0)."""
    return _HASH.search(func_name) is not None


def _keeps(part: str) -> bool:
    return family(part) in _KEEPING or part in _KEEPING_TOO
