"""Nodes of a graph for other tools: selection, groups, names and colors."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.figures.engine import colors_of_nodes
from tvmdbg_widgets.figures.graph import colored, graph_options
from tvmdbg_widgets.figures.options import GraphOptions
from tvmdbg_widgets.model.base.numbers import counted, duration_text, time_share
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph, node_label, shape_text
from tvmdbg_widgets.model.graph.groups import Group, Groups
from tvmdbg_widgets.model.graph.nodes import Subgraph, given_text
from tvmdbg_widgets.model.timeline.timeline import Timeline

__all__ = ["around_nodes", "cut", "entry_text", "part"]


def part(graph: Graph, nodes: Any) -> Subgraph:
    """Return the chosen nodes: all for None, else a selection, a group, ids or nodes."""
    if nodes is None:
        return graph.subgraph(range(graph.num_nodes))
    if isinstance(nodes, Subgraph):
        return graph.subgraph(nodes.node_ids.tolist())
    if isinstance(nodes, Group):
        return graph.subgraph(nodes.nodes.tolist())
    if isinstance(nodes, int | str) or not hasattr(nodes, "__iter__"):
        raise TypeError(f"nodes are ids, run.select(query) or a subgraph, not {nodes!r:.80}")
    return graph.subgraph([getattr(node, "id", node) for node in nodes])


def around_nodes(groups: Groups, nodes: list[int]) -> list[int]:
    """Return the groups around any of the nodes, parents first."""
    used = np.zeros(len(groups), np.bool_)
    inner = groups.node_group[nodes]
    used[inner[inner >= 0]] = True
    for group in range(len(groups) - 1, -1, -1):
        if used[group] and groups.parent[group] >= 0:
            used[groups.parent[group]] = True
    return [int(group) for group in np.flatnonzero(used)]


def cut(text: str, most: int) -> str:
    """Return a text of at most ``most`` letters; a cut one ends with its length."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({counted(len(text), 'letter')})"


def entry_text(dtype: str | None, shape: tuple[int, ...] | None) -> str:
    """Return dtype and shape of an entry: ``"float32[1, 64]"``, ``"float32?"``."""
    return f"{cut(dtype or '?', 60)}{'?' if shape is None else list(shape[:16])}"


_MOST_LABEL, _MOST_TIP = 80, 400


def quoted(text: str, most: int = _MOST_TIP) -> str:
    """Quote a text for Graphviz, cut to ``most`` letters.

    Line ends are kept; unprintable characters are escaped.
    """
    lines = [one_line(line) for line in cut(text, most).split("\n")]
    plain = "\n".join(lines).replace("&", "&amp;")
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


#: Also matches words that begin no address, so that no letter is scanned twice.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*+(://[^\s'\"<>]*)?", re.IGNORECASE)
_ROOTED = re.compile(r"(?:[A-Za-z]:)?[\\/](?:[^\s\\/:;,'\"()\[\]]+[\\/]+)+")


@dataclass(frozen=True)
class MachineFolders:
    """Folders of this machine, longest first."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, run: RunFacts) -> MachineFolders:
        """Return the folders of the run's files, the current folder, and home."""
        named = [tensor.file for tensor in (run.tensors or {}).values()]
        named += [issue.file for issue in run.issues]
        named += [re.sub(r" \([\d,]+ bytes\)$", "", file) for file in run.provenance.files]
        named += list(run.timeline.sources) if run.timeline is not None else []
        named += [run.graph.file] if run.graph is not None else []
        known = {os.getcwd(), str(Path.home())}  # noqa: PTH109 (as messages spell it)
        for name in set(named):
            path = Path(name)
            if path.is_absolute():
                known |= {os.fspath(path.parent), os.fspath(path.parent.resolve())}
        return cls(tuple(sorted((path for path in known if len(path) > 1), key=len, reverse=True)))

    def without_paths(self, text: str) -> str:
        """Return text with file names only: no folders of this machine, no addresses.

        Names of nodes may look like paths (``/encoder/layer.0``), so an unknown folder is removed
        only if its first part exists on this machine.
        """
        if "://" in text:
            text = _ADDRESS.sub(lambda match: _last(match[0]) if match[1] else match[0], text)
        for folder in self.folders:
            text = text.replace(folder + os.sep, "").replace(folder, Path(folder).name)
        return _ROOTED.sub(lambda match: "" if _exists(match[0]) else match[0], text)


def _last(address: str) -> str:
    path = re.split(r"[?#]", address.partition("://")[2])[0].rstrip("/")
    return path.rpartition("/")[2] or "address"


def _exists(path: str) -> bool:
    first = re.match(r"(?:[A-Za-z]:)?[\\/][^\\/]+", path)
    return first is not None and Path(first[0]).is_dir()


#: Color, color of texts on it, text and value of a node; None if unknown.
Shown = tuple[str | None, str | None, str, float | str | None]


def node_colors(run: RunFacts, graph: Graph, what: Any) -> NodeColors | None:
    """Return the colors of nodes; None and a warning if the engine fails.

    Parameters and other errors as of :class:`NodeColors`.
    """
    try:
        return NodeColors(run, graph, what)
    except (RuntimeError, MemoryError) as problem:
        why = one_line(str(problem)) or type(problem).__name__
        name = what if isinstance(what, str) else getattr(what, "name", "data")
        warnings.warn(f"exported without the colors of {name!r}: {why}", stacklevel=5)
        return None


class NodeColors:
    """Colors of nodes, chosen as ``color_by`` of ``GraphView``."""

    def __init__(self, run: RunFacts, graph: Graph, what: Any) -> None:
        what = colored(graph, what)
        if what == "health":
            run.search.run()
        options = graph_options(run, GraphOptions(color_by=what), complete=True)
        self.name = options["color_by"]
        nothing: dict[str, Any] = {"unit": "", "nodes": []}
        made = colors_of_nodes(options, Answers(run).answer) if graph.num_nodes else nothing
        self.unit: str = made["unit"]
        self._shown: list[Shown] = made["nodes"]

    def of(self, node: int) -> Shown:
        """Return color, color of texts on it, text and value of a node."""
        return self._shown[node]


class NodeTexts:
    """Titles, shapes and times of a graph's nodes as texts."""

    def __init__(self, graph: Graph, timeline: Timeline | None) -> None:
        self._graph = graph
        self.ns = np.full(graph.num_nodes, np.nan) if timeline is None else timeline.node_ns
        self._rounding_ns = 0.0 if timeline is None else timeline.rounding_ns
        self._shared = None if timeline is None else timeline.shared
        self._shares = (
            self.ns if timeline is None else timeline.account.node_shares(graph.num_nodes)
        )
        #: Smallest set of nodes that share a time with a node, -1 for none.
        self._set_of = None if self._shared is None else self._shared.smallest(graph.num_nodes)
        self._heads = frozenset(graph.heads[:, 0].tolist())

    def title(self, node: int) -> str:
        """Operators of the node, or its name."""
        return node_label(self._graph, node) or f"node {node}"

    def is_head(self, node: int) -> bool:
        """Whether one of the node's outputs is an output of the graph."""
        return node in self._heads

    def shape(self, node: int) -> str:
        """Shape of the first output, and the number of outputs."""
        entries = self._graph.entry_range(node)
        if not entries:
            return "no output"
        more = f", {counted(len(entries), 'output')}" if len(entries) > 1 else ""
        shape = self._graph.shape(node)
        return f"{'shape unknown' if shape is None else shape_text(shape)}{more}"

    def time(self, node: int) -> str:
        """Time and share, or why there is none."""
        ns = float(self.ns[node])
        if ns > 0:
            return time_share(ns, float(self._shares[node]), between=" · ")
        if given := given_text(self._graph.roles[node]):
            return given
        if np.isnan(ns):
            return self.together(node) or "time unknown"
        return duration_text(ns, self._rounding_ns)

    def together(self, node: int) -> str:
        """``"4.9 µs for 2 together"``; "" for nodes with times of their own."""
        if self._shared is None or self._set_of is None or (number := self._set_of[node]) < 0:
            return ""
        offsets = self._shared.offsets
        count = int(offsets[number + 1] - offsets[number])
        time = duration_text(float(self._shared.own_ns[number]), self._rounding_ns)
        return f"{time} for {count:,} together"
