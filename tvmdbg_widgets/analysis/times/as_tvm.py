"""The debugger's own table of a run, as a release of TVM prints it."""

from __future__ import annotations

import re
import warnings

import numpy as np

from tvmdbg_widgets.formats.tvm.table.layout import find_layout
from tvmdbg_widgets.formats.tvm.table.printer import TimedNode, print_table
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline

_RELEASE = re.compile(r"v?0\.([0-9]{1,2})(?:\..*)?", re.ASCII)
_READ = re.compile(r"TVM v0\.(\d+)(?: to v0\.(\d+))?")
_FIRST, _LAST_SHORT, _LAST = 5, 8, 19
#: Parts of a run that hold the repeats of nodes.
_WITH_REPEATS = frozenset({"table", "times", "recorded-times"})


def as_tvm(parts: RunParts, release: str | None) -> str:
    """Return the table: as it was read where there is one of that release, else printed anew."""
    minor = None if release is None else _minor(release)
    layout = find_layout(parts.printed.partition("\n")[0]) if parts.printed else None
    if layout is not None and (minor is None or _style(minor) == layout.style):
        return parts.printed
    if minor == _FIRST:
        raise ValueError("v0.5 prints times of day, which only a table of v0.5 has")
    graph, timeline = parts.graph, parts.timeline
    if graph is None or timeline is None:
        missing = "graph" if graph is None else "node times"
        raise ValueError(f"the table needs a graph and node times, and this run has no {missing}")
    minor = minor or _found(parts)
    style = _style(minor)
    if style == "v0.9" and not {file.part for file in parts.files} & _WITH_REPEATS:
        _warn("these files keep the mean of a node's repeats: Measurements(us) holds that alone")
    return print_table(_nodes(graph, timeline, minor), style=style)


def _style(minor: int) -> str:
    return "v0.5" if minor == _FIRST else "v0.6" if minor <= _LAST_SHORT else "v0.9"


def _minor(release: str) -> int:
    found = _RELEASE.fullmatch(str(release))
    minor = int(found[1]) if found else -1
    if not _FIRST <= minor <= _LAST:
        raise ValueError(
            f"release is {release!r:.40}; the debugger prints its table in '0.{_FIRST}' "
            f"to '0.{_LAST}'"
        )
    return minor


def _found(parts: RunParts) -> int:
    """Return the release that wrote the files; the latest where they do not tell its columns."""
    found = _READ.fullmatch(parts.provenance.releases)
    if found is not None:
        first, last = _minor(f"0.{found[1]}"), _minor(f"0.{found[2] or found[1]}")
        if _style(first) == _style(last):
            return last
    _warn(
        "the release of TVM is not known: the table is printed as v0.9 to v0.19 print it; "
        "release='0.8' prints another"
    )
    return _LAST


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=4)


def _seconds(ns: float, minor: int) -> float:
    """Return a time as TVM holds it: up to v0.8 it is read from a text of six digits."""
    if minor < _LAST_SHORT:
        return float(f"{ns / 1e3:.6g}") * 1e-6
    return float(f"{ns / 1e9:.6g}") if minor == _LAST_SHORT else ns / 1e9


def _nodes(graph: Graph, timeline: Timeline, minor: int) -> list[TimedNode]:
    found = []
    for node in graph.nodes:
        if node.kind < NodeKind.OPERATOR:
            continue
        mean = float(timeline.node_ns[node.id])
        repeats = np.asarray(timeline.repeats(node.id), np.float64)
        times = repeats if len(repeats) else np.array([mean])
        if not np.isfinite(times).all() or None in node.shapes:
            raise ValueError(
                f"node {node.id} ({node.name!r:.60}) has no time or shape: the table prints both"
            )
        found.append(
            TimedNode(
                node.name,
                node.func_name,
                tuple(_seconds(each, minor) for each in times.tolist()),
                tuple(shape for shape in node.shapes if shape is not None),
                int(node.attrs.get("num_inputs", len(node.inputs))),
            )
        )
    return found
