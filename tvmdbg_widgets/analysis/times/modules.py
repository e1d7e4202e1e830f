"""The module that each operator is in, and the innermost one that holds several of them."""

from __future__ import annotations

from itertools import takewhile
from typing import Final, NamedTuple

from tvmdbg_widgets.analysis.blocks.scopes import STACK, module_path
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.timeline.node_sets import NodeSets

NO_MODULE: Final = "in no module"
#: What the model computes outside of its modules, or in several of them at once.
WHOLE: Final = "the model itself"
_TYPE: Final = "module_type"
#: Modules that torch.export puts around a model while it is captured.
_CAPTURE: Final = "torch.export."

Path = tuple[str, ...]


class Modules(NamedTuple):
    """What modules are called: of each node of a graph, and of each set of nodes."""

    of_node: StringColumn
    of_set: StringColumn


def has_modules(graph: Graph | None) -> bool:
    """Tell whether nodes of the graph say in which module they are."""
    return graph is not None and not graph.attr_names.isdisjoint((STACK, _TYPE))


def modules(graph: Graph, sets: NodeSets | None, level: int = -1) -> Modules:
    """Return the modules of the nodes and sets; ``level`` 0 is the outermost, -1 the innermost.

    A set is in the innermost module that holds all of its nodes; nodes without a module, as those
    that quantization inserted, have no say. What is left of a call, and what lowering inserted, is
    in none: nobody knows which.
    """
    if not has_modules(graph):
        raise ValueError(no_modules(graph))
    known: dict[tuple[str, str], Path | None] = {}
    types: dict[Path, str] = {}
    paths: list[Path | None] = []
    for attrs in graph.attrs:
        told = attrs.get(STACK, ""), attrs.get(_TYPE, "")
        if told not in known:
            known[told] = _path(*told)
            types.setdefault(known[told] or (), told[1].rpartition(".")[2])
        paths.append(known[told])
    cut = slice(None) if level < 0 else slice(level + 1)

    def called(path: Path | None) -> str:
        if not path:
            return NO_MODULE if path is None else WHOLE
        kind = types.get(path[cut], "")
        return ".".join(path[cut]) + (f" ({kind})" if kind else "")

    texts = {path: called(path) for path in {*known.values(), None}}
    return Modules(
        StringColumn.from_strings(texts[path] for path in paths),
        StringColumn.from_strings(called(each) for each in _of_sets(sets, paths)),
    )


def no_modules(graph: Graph | None) -> str:
    """Return why there are no modules, and what to open."""
    lacking = "this run has no graph" if graph is None else "no node of this graph tells its module"
    return f"{lacking}: modules are in an ETRecord's edge graph: open(…, 'etrecord.bin')"


def _path(stack: str, kind: str) -> Path | None:
    """Return the path of a node's module, that of the model itself is empty; None unknown."""
    if stack:
        return module_path(stack)
    return () if kind and not kind.startswith(_CAPTURE) else None


def _of_sets(sets: NodeSets | None, paths: list[Path | None]) -> list[Path | None]:
    found: list[Path | None] = []
    for number in range(0 if sets is None else len(sets)):
        assert sets is not None  # noqa: S101
        nodes = () if sets.apart[number] else sets.of(number)
        some = [path for node in nodes if (path := paths[node]) is not None]
        parts = takewhile(lambda each: len(set(each)) == 1, zip(*some, strict=False))
        found.append(tuple(each[0] for each in parts) if some else None)
    return found
