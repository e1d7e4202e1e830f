"""Layouts of entries as the graph states them, checked against the stored shape.

Sources, best first: attributes of the entry's own node, attributes of its readers, entries of the
same shape that only element-wise operators lie between, names of functions. Padding is known where
a ``layout_transform`` has the unpadded array on its other side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.layout_attributes import (
    NAMES,
    is_transform,
    keeps_axes,
    of_operand,
    of_output,
)
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.ranges import first_rows, flat_ranges, numbered
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import family, parts
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.values import ArrayView, Unfolded

Entry: TypeAlias = tuple[int, int]

Certainty: TypeAlias = Literal["stated", "likely"]

#: Most entries visited on a walk through element-wise operators, and most claims of one of them.
_REACH = 64
_CLAIMS = 32
_PLAIN_RANK = 4
#: Follows a layout that is not certain.
_LIKELY: Final = " (likely)"
Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class KnownLayout:
    """A layout of an entry, with its source."""

    layout: Layout
    source: str
    certainty: Certainty
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


class _Claim(NamedTuple):
    """A layout before its check; `plain` is the same array in another layout."""

    text: str
    attr: str
    node: int
    certain: bool
    plain: tuple[Entry, str] | None = None
    #: Operators between the entry and the one of which it is stated.
    through: Sequence[int] = ()

    @property
    def source(self) -> str:
        source, between = f"{self.attr} of node {self.node}", self.through
        if not between:
            return source
        nodes = f"node {between[0]}" if len(between) == 1 else counted(len(between), "node")
        return f"{source}, through {nodes}"


def known_layouts(run: RunParts, entry: Entry, *, near: bool = True) -> tuple[KnownLayout, ...]:
    """Return the possible layouts of an entry, the best first."""
    graph, shape, (node, output) = run.graph, _known_shape(run, entry), entry
    if graph is None or not shape:
        return ()
    at, search = graph.entry_id(*entry), _search(run, graph)
    named: list[_Claim] = []
    if graph.kinds[node] == NodeKind.OPERATOR and not output:
        text = _suggested(graph.func_names[node], shape)
        named.append(_Claim(text, "func_name", node, certain=False))
    for claims in (search.stated(at), search.nearby(at) if near else (), named):
        layouts: dict[str, KnownLayout] = {}
        for claim, layout, sizes in _valid(run, shape, claims):
            known = layouts.get(claim.text)
            if known is None:
                certainty: Certainty = "stated" if claim.certain else "likely"
                layouts[claim.text] = KnownLayout(layout, claim.source, certainty, sizes)
            elif sizes and not known.sizes:
                source = f"{known.source}, sizes from node {claim.node}"
                layouts[claim.text] = KnownLayout(layout, source, known.certainty, sizes)
        if layouts:
            return tuple(layouts.values())
    return ()


def best_layouts(
    run: RunParts, graph: Graph, watch: Callable[[int], None] = lambda _done: None
) -> list[str | None]:
    """Return the first of ``known_layouts`` of every entry; tell where it is not certain."""
    search = _search(run, graph)
    if search.best is not None:
        return search.best
    layouts = search.suggested()
    for entry, shape in search.candidates():
        watch(entry)
        stated = search.stated(entry)
        if stated and (best := next(_valid(run, shape, stated), None)):
            layouts[entry] = best[0].text + ("" if best[0].certain else _LIKELY)
        elif step := next(search.walk(entry), None):
            layouts[entry] = search.links.text[step[0]] + _LIKELY
    search.best = layouts
    return layouts


def stated_layouts(graph: Graph) -> list[str]:
    """Return the best certain layout of every entry by the graph alone, ``""`` for none."""
    run = RunParts("", graph)
    search, shapes = _search(run, graph), graph.entry_shapes
    layouts = [""] * graph.num_entries
    for entry in search.claims:
        best = next(_valid(run, shapes[entry] or (), search.stated(entry)), None)
        if best and best[0].certain:
            layouts[entry] = best[0].text
    return layouts


def _search(run: RunParts, graph: Graph) -> _Search:
    search: _Search = run.kept.get("layouts") or run.kept.setdefault("layouts", _Search(run, graph))
    return search


class _Links(NamedTuple):
    """Pairs of entries that a function joins without moving axes, by first entry.

    A view of an array is read item by item as quickly as a list, in less memory.
    """

    start: memoryview
    there: memoryview
    node: memoryview
    same: memoryview
    #: First of the layouts stated of the second that fits the first; empty if none does.
    text: list[str]
    #: Entries of which something is stated, or of another on their walk.
    reached: Flags


class _Search:
    """Claims about entries, which have the numbers of the graph's columns."""

    def __init__(self, run: RunParts, graph: Graph) -> None:
        self._run, self._graph = run, graph
        self._shapes: list[tuple[int, ...] | None] = []
        self.best: list[str | None] | None = None

    def stated(self, entry: int) -> Sequence[_Claim]:
        """Return what is stated of an entry, what is certain first."""
        claims = self.claims.get(entry, ())
        return claims if len(claims) < 2 else sorted(claims, key=lambda claim: not claim.certain)

    def nearby(self, entry: int) -> Iterator[_Claim]:
        """Yield what is stated of entries that functions join to this one, the nearest first."""
        for link, came in self.walk(entry):
            other = self.links.there[link]
            for claim in self.claims[other][:_CLAIMS]:
                through, last = list[int](), other
                while last != entry:
                    last, operator = came[last]
                    through[:0] = [operator] if operator != claim.node else []
                yield claim._replace(certain=False, plain=None, through=through)

    def walk(self, entry: int) -> Iterator[tuple[int, dict[int, tuple[int, int]]]]:
        """Yield links to entries with a fitting layout, and the entry and node before each."""
        if not self.claims:
            return
        start, there, node, same, text, _ = self.links
        came = {entry: (entry, -1)}
        waiting = [entry]
        for here in waiting:
            for link in range(start[here], start[here + 1]):
                other = there[link]
                if other in came:
                    continue
                if len(came) >= _REACH:
                    return
                came[other] = here, node[link]
                if text[link]:
                    yield link, came
                if same[link]:
                    waiting.append(other)

    def candidates(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield entries of which or near which something is stated, with their shapes."""
        for entry in np.flatnonzero(self.links.reached).tolist() if self.claims else ():
            if shape := self._shapes[self._shape[entry]]:
                yield entry, shape

    def suggested(self) -> list[str | None]:
        """Return what the functions' names suggest of all entries."""
        graph, first = self._graph, self._graph.entry_offsets[:-1]
        nodes = np.flatnonzero(
            (graph.kinds == NodeKind.OPERATOR) & (np.diff(graph.entry_offsets) > 0)
        )
        layouts: list[str | None] = [None] * graph.num_entries
        code = self._shape[first[nodes]]
        alike = numbered(graph.func_names.codes[nodes], code)
        texts = [
            _suggested(graph.func_names[int(nodes[row])], self._shapes[code[row]] or ())
            for row in first_rows(alike).tolist()
        ]
        for entry, kind in zip(first[nodes].tolist(), alike.tolist(), strict=True):
            if text := texts[kind]:
                layouts[entry] = text + _LIKELY
        return layouts

    @cached_property
    def claims(self) -> dict[int, list[_Claim]]:
        """What attributes state of every entry: those of its node, then those of its readers."""
        graph = self._graph
        claims: dict[int, list[_Claim]] = {}
        if NAMES.isdisjoint(graph.attr_names):
            return claims
        states = np.array([not NAMES.isdisjoint(attrs) for attrs in graph.attrs], np.bool_)
        for node in np.flatnonzero(states & (graph.kinds == NodeKind.OPERATOR)).tolist():
            func, entries = graph.func_names[node], graph.entry_range(node)
            if (named := of_output(graph.attrs[node], func)) is not None:
                certain = named.certain and len(entries) == 1
                plain = _operand(graph, node) if is_transform(func) else None
                claim = _Claim(named.layout, named.attr, node, certain, plain)
                for entry in entries:
                    claims.setdefault(entry, []).append(claim)
        edges = np.flatnonzero((graph.edge_source >= 0) & states[graph.edge_target])
        source = graph.entry_offsets[graph.edge_source[edges]] + graph.edge_output[edges]
        columns = (
            *(source, graph.edge_target[edges], graph.edge_position[edges]),
            graph.edge_trust[edges] != Trust.AMBIGUOUS,
        )
        for entry, node, position, sure in zip(*(c.tolist() for c in columns), strict=True):
            attrs, func = graph.attrs[node], graph.func_names[node]
            if (named := of_operand(attrs, func, position)) is not None:
                plain = ((node, 0), attrs.get("dst_layout", "")) if is_transform(func) else None
                claim = _Claim(named.layout, named.attr, node, named.certain and sure, plain)
                claims.setdefault(entry, []).append(claim)
        return claims

    @cached_property
    def _shape(self) -> npt.NDArray[np.int64]:
        """The place of every entry's shape in ``_shapes``, which this makes."""
        graph, shapes = self._graph, list(self._graph.entry_shapes)
        for (node, output), tensor in (self._run.tensors or {}).items():
            if node < graph.num_nodes and output < len(graph.entry_range(node)):
                shapes[graph.entry_id(node, output)] = tensor.view_shape
        table: dict[tuple[int, ...] | None, int] = {}
        codes = np.array([table.setdefault(shape, len(table)) for shape in shapes], np.int64)
        self._shapes = list(table)
        return codes

    @cached_property
    def links(self) -> _Links:
        graph, offsets = self._graph, self._graph.entry_offsets.astype(np.int64)
        keeping = np.array([keeps_axes(func) for func in graph.func_names.unique], np.bool_)
        keeps, target = keeping[graph.func_names.codes], graph.edge_target
        outputs = np.diff(offsets)[target]
        known = (graph.edge_source >= 0) & (graph.edge_position < _REACH) & (outputs > 0)
        source = offsets[graph.edge_source] + graph.edge_output
        into = known & (keeps & (graph.kinds >= NodeKind.OPERATOR))[target]
        by = known & (keeps[target] | (graph.edge_position > 1))
        count = outputs[into]
        here = np.concatenate([flat_ranges(offsets[target[into]], count), source[by]])
        order = np.argsort(here, kind="stable")
        there = np.concatenate([np.repeat(source[into], count), offsets[target[by]]])[order]
        node = np.concatenate([np.repeat(target[into], count), target[by]])[order]
        here = here[order]
        kinds: dict[tuple[str, ...], int] = {(): 0}
        kind = np.zeros(graph.num_entries, np.int64)
        for entry, claims in self.claims.items():
            texts = tuple(claim.text for claim in claims[:_CLAIMS])
            kind[entry] = kinds.setdefault(texts, len(kinds))
        mine, theirs, stated = self._shape[here], self._shape[there], kind[there]
        alike = numbered(mine, theirs, stated)
        rows, of_kind = first_rows(alike), list(kinds)
        near = [
            _near_text(of_kind[texts], self._shapes[shape], self._shapes[onto])
            for shape, onto, texts in zip(mine[rows], theirs[rows], stated[rows], strict=True)
        ]
        same, reached = mine == theirs, kind > 0
        fits = np.array([bool(text) for text in near], np.bool_)[alike]
        reached[here[fits]] = True
        begin, end = here[same], there[same]
        for _ in range(_REACH):
            reached[begin[reached[end]]] = True
        return _Links(
            *(np.searchsorted(here, np.arange(graph.num_entries + 1)).data, there.data),
            *(node.data, same.data),
            [near[number] for number in alike.tolist()],
            reached,
        )


def _valid(
    run: RunParts, shape: tuple[int, ...], claims: Iterable[_Claim]
) -> Iterator[tuple[_Claim, Layout, dict[str, int]]]:
    """Yield the claims that fit a shape, with the sizes of padded axes."""
    for claim in claims:
        layout = _fitting(claim.text, shape)
        sizes = None if layout is None else _unpadded_sizes(run, shape, layout, claim.plain)
        if layout is not None and sizes is not None:
            yield claim, layout, sizes


@lru_cache(maxsize=16_384)
def _fitting(text: str, shape: tuple[int, ...]) -> Layout | None:
    try:
        layout = Layout.parse(text)
    except ValueError:
        return None
    return layout if layout.fits(shape) else None


@lru_cache(maxsize=16_384)
def _suggested(func: str, shape: tuple[int, ...]) -> str:
    """Return the layout of an output that the name of its function suggests."""
    operators, text = parts(func), ""
    if len(shape) == _PLAIN_RANK + 1 and any("conv2d_NCHWc" in part for part in operators):
        text = f"NCHW{shape[-1]}c"
    if len(shape) == _PLAIN_RANK and any(
        family(part) == "convolution" or part.endswith("relu") for part in operators
    ):
        text = "NHWC" if "nhwc" in func.lower() else "NCHW"
    return text if _fitting(text, shape) else ""


def _unpadded_sizes(
    run: RunParts, shape: tuple[int, ...], layout: Layout, plain: tuple[Entry, str] | None
) -> dict[str, int] | None:
    there = None if plain is None else _known_shape(run, plain[0])
    other = None if plain is None or there is None else _fitting(plain[1], there)
    if there is None or other is None:
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


def _operand(graph: Graph, node: int) -> tuple[Entry, str] | None:
    for edge in graph.in_edges(node):
        if (source := int(graph.edge_source[edge])) >= 0:
            layout = graph.attrs[node].get("src_layout", "")
            return (source, int(graph.edge_output[edge])), layout
    return None


def _known_shape(run: RunParts, entry: Entry) -> tuple[int, ...] | None:
    graph, (node, output) = run.graph, entry
    if graph is None or not 0 <= node < graph.num_nodes:
        return None
    if output not in range(len(graph.entry_range(node))):
        return None
    tensor = None if run.tensors is None else run.tensors.get(entry)
    return graph.shape(*entry) if tensor is None else tensor.view_shape


def _near_text(
    texts: Iterable[str], shape: tuple[int, ...] | None, onto: tuple[int, ...] | None
) -> str:
    """Return the first layout that fits a shape, if that is broadcast to another."""
    if not shape or onto is None or len(shape) != len(onto):
        return ""
    if any(mine not in (1, theirs) for mine, theirs in zip(shape, onto, strict=True)):
        return ""
    return next((text for text in texts if _fitting(text, shape)), "")
