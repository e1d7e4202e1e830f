"""Keys for sums of times: nodes, op kinds, groups, modules, devices, callers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.blocks.sequence import STACK, common_path, module_path
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.ranges import first_rows, flat_ranges, numbered
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.graph.graph import Graph, device_name, node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.operators import parts
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.int64]
Key = int | str | tuple[str, str]

BY: Final = ("node", "kind", "part", "group", "module", "device", "name", "callers", "track")
NO_GROUP: Final = "in no group"
AT_THE_TOP: Final = "at the top"
NO_FUNCTION: Final = "no function"
NO_DEVICE: Final = "unknown device"
NO_TRACK: Final = "on no track"
OF_SLICES: Final = ("name", "callers")  # keys that nodes without slices lack


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of K slices; a slice may have several."""

    codes: Ints
    items: Ints
    keys: Sequence[Key]
    labels: Sequence[str]
    overlap: bool = False

    def used(self) -> Keys:
        """Return the keys without unused ones, in order of first use."""
        first = np.full(len(self.keys), len(self.codes))
        first[self.codes[::-1]] = np.arange(len(self.codes))[::-1]
        order = np.argsort(first, kind="stable")
        order = order[first[order] < len(self.codes)]
        place = np.empty(len(self.keys), np.int64)
        place[order] = np.arange(len(order))
        kept = order.tolist()
        return replace(
            self,
            codes=place[self.codes],
            keys=[self.keys[i] for i in kept],
            labels=[self.labels[i] for i in kept],
        )

    def only(self, kept: npt.NDArray[np.bool_]) -> Keys:
        """Return the keys of some items."""
        return replace(self, codes=self.codes[kept], items=self.items[kept])


def within_keys(outer: Keys, inner: Keys) -> tuple[Keys, list[Key]]:
    """Return inner keys, apart for each outer key, with that outer key."""
    own = inner.codes[np.argsort(inner.items)][outer.items]
    codes = numbered(outer.codes, own)
    first = first_rows(codes)
    within = own[first].tolist()
    keys = [inner.keys[at] for at in within]
    labels = [inner.labels[at] for at in within]
    holders = [outer.keys[at] for at in outer.codes[first].tolist()]
    return Keys(codes, outer.items, keys, labels, outer.overlap), holders


@dataclass(frozen=True, eq=False)
class KeyedSlices:
    """K slices, and nodes without slices behind them, to be given keys."""

    timeline: Timeline
    slices: Ints
    graph: Graph | None
    alone: Ints

    @cached_property
    def node(self) -> Ints:
        """Node ids, -1 unknown (int64 [K])."""
        own = self.timeline.slice_node[self.slices].astype(np.int64)
        return np.concatenate((own, self.alone)) if len(self.alone) else own

    @cached_property
    def call(self) -> Ints:
        """Numbers of sets of several nodes, -1 none (int64 [K])."""
        shared = self.timeline.shared
        if shared is None:
            return np.full(len(self.node), -1)
        own = shared.slice_set[self.slices].astype(np.int64)
        return np.concatenate((own, np.full(len(self.alone), -1)))

    @cached_property
    def name(self) -> Ints:
        """Indices into :attr:`names`, 0 for a node alone (int64 [K])."""
        own = self.timeline.slice_names.codes[self.slices].astype(np.int64)
        return np.concatenate((own, np.zeros_like(self.alone))) if len(self.alone) else own

    @cached_property
    def track(self) -> Ints:
        """Numbers of tracks, for a node alone one past the last (int64 [K])."""
        own = self.timeline.slice_track[self.slices].astype(np.int64)
        return np.concatenate((own, np.full(len(self.alone), len(self.timeline.tracks))))

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct names of the timeline."""
        return self.timeline.slice_names.unique

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """Whether the node is in the graph (bool [K])."""
        if self.graph is None:
            return np.zeros(len(self.node), np.bool_)
        return (self.node >= 0) & (self.node < self.graph.num_nodes)

    @cached_property
    def at(self) -> Ints:
        """Node ids, 0 for nodes outside of the graph (int64 [K])."""
        return np.where(self.known, self.node, 0)


def keys_of(by: str, named: KeyedSlices, groups: Callable[[], Groups], level: int | None) -> Keys:
    """Return the keys of some slices."""
    one_of("table by", by, BY)
    if by == "group":
        if named.graph is None:
            raise ValueError("groups need a graph, and this run has none: open(…, graph=…)")
        return _groups_at_level(groups(), named, level or 0)
    if by == "module":
        return _modules(named, -1 if level is None else level)
    return _MAKE[by](named)


RUNTIME: Final = "runtime"  # op kind of an execution's time outside of its instructions
#: Labels of slices that are no work.
NO_WORK: Final = {
    SliceRole.LOADING: "loading",
    SliceRole.OTHER_CLOCK: "delegate's own clock",
    SliceRole.OBSERVER: "profiler",
}


def row_kinds(timeline: Timeline, graph: Graph | None) -> list[str]:
    """Return op kinds for the rows of ``timeline.account``, or labels for other time."""
    account, sets = timeline.account, timeline.shared
    of_node = None if graph is None else node_op_kinds(graph)
    of_name = name_kinds(timeline, graph)
    codes = timeline.slice_names.codes
    columns = (account.node, account.call, account.name, account.role, account.first)
    lists = (column.tolist() for column in (*columns, account.operators))
    kinds = []
    for node, call, name, role, first, runs in zip(*lists, strict=True):
        if role in NO_WORK:
            kinds.append(NO_WORK[role])
        elif name >= 0 and not runs:
            kinds.append(RUNTIME)
        elif sets is not None and call >= 0:
            kinds.append(sets.kinds[call])
        elif of_node is not None and 0 <= node < len(of_node):
            kinds.append(of_node[node])
        else:
            code = name if name >= 0 else int(codes[first]) if first >= 0 else -1
            kinds.append(of_name[code] if code >= 0 else "other")
    return kinds


def with_others(keys: Keys, by: str, others: KeyedSlices, behind: int) -> Keys:
    """Add keys for slices that are no work: by name, else by purpose."""
    if not len(others.slices):
        return keys
    if by in OF_SLICES:
        purposes = _MAKE[by](others)
    else:
        roles = others.timeline.slice_role[others.slices].astype(np.int64)
        purposes = _coded_by_text(roles, [NO_WORK.get(role, "") for role in SliceRole])
    return Keys(
        np.concatenate((keys.codes, len(keys.keys) + purposes.codes)),
        np.concatenate((keys.items, behind + purposes.items)),
        [*keys.keys, *purposes.keys],
        [*keys.labels, *purposes.labels],
        keys.overlap,
    )


def _coded_by_text(codes: Ints, words: Sequence[str]) -> Keys:
    table: dict[str, int] = {}
    place = np.array([table.setdefault(word, len(table)) for word in words], np.int64)
    distinct = list(table)
    return Keys(place[codes], np.arange(len(codes)), distinct, distinct).used()


def _names(named: KeyedSlices) -> Keys:
    return Keys(named.name, np.arange(len(named.name)), named.names, named.names).used()


def _kinds(named: KeyedSlices) -> Keys:
    shared, kinds = named.timeline.shared, list(name_kinds(named.timeline, named.graph))
    codes, whole = named.name, named.timeline.whole
    if whole and whole in named.names:
        kinds[named.names.index(whole)] = RUNTIME
    if shared is not None:
        codes = np.where(named.call >= 0, len(kinds) + named.call, codes)
        kinds += shared.kinds
    if named.graph is not None and named.known.any():
        of_node = node_op_kinds(named.graph)
        codes = np.where(named.known, len(kinds) + of_node.codes[named.at].astype(np.int64), codes)
        kinds += of_node.unique
    return _coded_by_text(codes, kinds)


def _operators_of_names(named: KeyedSlices) -> Keys:
    graph, shared = named.graph, named.timeline.shared
    codes, texts, own_names = named.name, list(named.names), range(0)
    modules = () if graph is None else graph.module_prefixes
    if graph is not None and named.known.any():
        functions = graph.func_names
        of_node = functions.codes[named.at].astype(np.int64)
        codes = np.where(named.known, of_node, len(functions.unique) + codes)
        texts = [*functions.unique, *texts]
    if shared is not None:
        codes = np.where(named.call >= 0, len(texts) + named.call, codes)
        own_names = range(len(texts), len(texts) + len(shared))
        texts += shared.names
    table: dict[str, int] = {}
    used, own = np.unique(codes, return_inverse=True)
    of_text = [
        sorted({table.setdefault(part, len(table)) for part in operators or (NO_FUNCTION,)})
        for operators in (
            (texts[i],) if i in own_names else parts(texts[i], modules) for i in used.tolist()
        )
    ]
    sizes = np.array([len(row_codes) for row_codes in of_text], np.int64)
    flat = np.array([code for row_codes in of_text for code in row_codes], np.int64)
    first, each = (np.cumsum(sizes) - sizes)[own], sizes[own]
    items = np.repeat(np.arange(len(codes)), each)
    distinct = list(table)
    return Keys(
        flat[flat_ranges(first, each)], items, distinct, distinct, bool((sizes > 1).any())
    ).used()


def _nodes(named: KeyedSlices) -> Keys:
    timeline, count = named.timeline, named.timeline.num_nodes
    names = timeline.slice_names
    of_node = np.full(count, -1, np.int64)
    nodes = np.flatnonzero(timeline.slice_node >= 0)[::-1]
    of_node[timeline.slice_node[nodes]] = names.codes[nodes]
    labels = ["" if code < 0 else names.unique[code] for code in of_node.tolist()]
    if named.graph is not None:
        labels[: named.graph.num_nodes] = list(node_labels(named.graph))[:count]
    calls = () if timeline.shared is None else timeline.shared.names
    behind = count + len(calls)
    codes = np.where(named.call >= 0, count + named.call, behind + named.name)
    return Keys(
        np.where(named.node >= 0, named.node, codes),
        np.arange(len(named.node)),
        [*range(count), *calls, *names.unique],
        [*labels, *calls, *names.unique],
    ).used()


def levels(parent: npt.NDArray[np.integer]) -> Ints:
    """Return how deep groups are in others, which stand before them."""
    depth = np.zeros(len(parent), np.int64)
    for row, around in enumerate(parent.tolist()):
        if around >= 0:
            depth[row] = depth[around] + 1
    return depth


def _groups_at_level(groups: Groups, named: KeyedSlices, level: int) -> Keys:
    depth = levels(groups.parent)
    at_level = np.arange(len(groups) + 1)
    for row, around in enumerate(groups.parent.tolist()):
        if around >= 0 and 0 <= level < depth[row]:
            at_level[row] = at_level[around]
    inner = np.full(len(named.node), -1)
    inner[named.known] = groups.node_group[named.node[named.known]]
    shared = named.timeline.shared
    if shared is not None:
        own = len(named.slices)
        together = shared.slice_set[named.slices]
        of_set = np.append(shared.groups_around(groups), -1)
        inner[:own] = np.where(together >= 0, of_set[together], inner[:own])
    codes = at_level[np.where(inner < 0, len(groups), inner)]
    return Keys(
        codes,
        np.arange(len(codes)),
        [*range(len(groups)), NO_GROUP],
        [*(group.title for group in groups), NO_GROUP],
    ).used()


def _modules(named: KeyedSlices, level: int) -> Keys:
    if named.graph is None:
        raise ValueError(no_modules(None))
    of_node, of_set = modules(named.graph, named.timeline.shared, level)
    words = [*of_node.unique, *of_set.unique, NO_MODULE]
    codes = np.full(len(named.node), len(words) - 1)
    codes[named.known] = of_node.codes[named.node[named.known]]
    together = named.call >= 0
    codes[together] = len(of_node.unique) + of_set.codes[named.call[together]]
    return _coded_by_text(codes, words)


def _devices(named: KeyedSlices) -> Keys:
    graph, timeline = named.graph, named.timeline
    track = named.track
    pairs = zip(timeline.track_device, timeline.tracks, strict=True)
    names = [*(device or name for device, name in pairs), NO_DEVICE]
    if graph is None or graph.device_types is None or not named.known.any():
        return _coded_by_text(track, names)
    types, of_entry = np.unique(graph.device_types, return_inverse=True)
    outputs = np.diff(graph.entry_offsets)[named.at]
    placed = named.known & (outputs > 0)
    first = np.where(placed, graph.entry_offsets[:-1][named.at], 0)
    words = [*(device_name(type_) for type_ in types.tolist()), *names]
    return _coded_by_text(np.where(placed, of_entry[first], len(types) + track), words)


def _tracks(named: KeyedSlices) -> Keys:
    names = [*named.timeline.tracks, NO_TRACK]
    return Keys(named.track, np.arange(len(named.track)), names, names).used()


def _callers(named: KeyedSlices) -> Keys:
    timeline, names = named.timeline, named.names
    parent = timeline.rows.parent[named.slices].astype(np.int64)
    around = np.where(parent >= 0, timeline.slice_names.codes[np.maximum(parent, 0)], len(names))
    wide = len(names) + 1
    pairs, codes = np.unique(named.name * wide + around, return_inverse=True)
    outer = [*names, AT_THE_TOP]
    keys = [(names[pair // wide], outer[pair % wide]) for pair in pairs.tolist()]
    labels = [f"{own} ← {caller}" for own, caller in keys]
    return Keys(codes, np.arange(len(codes)), keys, labels).used()


_MAKE: Final[dict[str, Callable[[KeyedSlices], Keys]]] = {
    "node": _nodes,
    "kind": _kinds,
    "part": _operators_of_names,
    "device": _devices,
    "name": _names,
    "callers": _callers,
    "track": _tracks,
}

NO_MODULE: Final = "in no module"
#: Label for operators outside of modules, or in several modules at once.
WHOLE: Final = "the model itself"
_TYPE: Final = "module_type"
_CAPTURE: Final = "torch.export."  # modules that torch.export wraps around a model during capture

Path = tuple[str, ...]


class Modules(NamedTuple):
    """Names of modules for nodes and for sets of nodes."""

    of_node: StringColumn
    of_set: StringColumn


def has_modules(graph: Graph | None) -> bool:
    """Return whether nodes of the graph name their modules."""
    return graph is not None and not graph.attr_names.isdisjoint((STACK, _TYPE))


def modules(graph: Graph, sets: NodeSets | None, level: int = -1) -> Modules:
    """Return the modules of nodes and sets; ``level`` 0 is the outermost, -1 the innermost."""
    if not has_modules(graph):
        raise ValueError(no_modules(graph))
    known: dict[tuple[str, str], Path | None] = {}
    types: dict[Path, str] = {}
    paths: list[Path | None] = []
    for attrs in graph.attrs:
        stack = attrs.get(STACK, ""), attrs.get(_TYPE, "")
        if stack not in known:
            known[stack] = _module_path_of(*stack)
            types.setdefault(known[stack] or (), stack[1].rpartition(".")[2])
        paths.append(known[stack])
    cut = slice(None) if level < 0 else slice(level + 1)

    def called(path: Path | None) -> str:
        if not path:
            return NO_MODULE if path is None else WHOLE
        kind = types.get(path[cut], "")
        return ".".join(path[cut]) + (f" ({kind})" if kind else "")

    texts = {path: called(path) for path in {*known.values(), None}}
    return Modules(
        StringColumn.from_strings(texts[path] for path in paths),
        StringColumn.from_strings(called(path) for path in _of_sets(sets, paths)),
    )


def no_modules(graph: Graph | None) -> str:
    """Return why there are no modules, and how to get them."""
    lacking = "this run has no graph" if graph is None else "no node of this graph tells its module"
    return f"{lacking}: modules are in an ETRecord's edge graph: open(…, 'etrecord.bin')"


def _module_path_of(stack: str, kind: str) -> Path | None:
    if stack:
        return module_path(stack)
    return () if kind and not kind.startswith(_CAPTURE) else None


def _of_sets(sets: NodeSets | None, paths: list[Path | None]) -> list[Path | None]:
    common: list[Path | None] = []
    for number in range(0 if sets is None else len(sets)):
        assert sets is not None  # noqa: S101
        nodes = () if sets.apart[number] else sets.of(number)
        some = [path for node in nodes if (path := paths[node]) is not None]
        common.append(common_path(some) if some else None)
    return common
