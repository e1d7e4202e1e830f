"""A small dump of some nodes of a run, to attach to an issue."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmdbg_widgets import __version__
from tvmdbg_widgets.export.nodes import part
from tvmdbg_widgets.export.private_parameters import (
    ExtractedPart,
    SmallGraphNode,
    neighborhood,
    private_parameters,
)
from tvmdbg_widgets.formats.decimals import nanoseconds
from tvmdbg_widgets.formats.tvm.model_library import FIRST_LINE
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.formats.tvm.params.survey import write_params
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.writing import new_folder
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Extracted:
    """A small dump that was written.

    Attributes
    ----------
    path
        Its folder.
    nodes
        New ids of kept nodes, by old id.
    inputs
        New ids of entries ``(node, output)`` of the run that became inputs.
    parameters_left_out
        Old ids of parameters, and of what is computed from those alone, whose values were not
        written.
    notes
        Differences between the small dump and the run.
    """

    path: Path
    nodes: Mapping[int, int]
    inputs: Mapping[tuple[int, int], int]
    parameters_left_out: tuple[int, ...]
    notes: tuple[str, ...]


def extract(
    parts: RunParts,
    nodes: Iterable[int],
    path: str | os.PathLike[str],
    *,
    hops: int = 0,
    parameters: bool = False,
) -> Extracted:
    """Write some nodes of a run as a dump that opens like any other.

    Entries read from outside become inputs with their tensors. Bytes of tensors, times and names
    stay; nodes get new ids.
    """
    if parts.graph is None:
        raise ValueError("this run has no graph, so no part of it can be taken")
    if hops < 0:
        raise ValueError(f"the number of hops must not be negative, found {hops}")
    chosen = ExtractedPart(parts.graph, part(parts.graph, nodes).node_ids.tolist())
    if not chosen.kept:
        raise ValueError("no node is named; name at least one")
    if hops:
        chosen = ExtractedPart(parts.graph, neighborhood(parts.graph, chosen.kept, hops))
    target = Path(path).absolute()
    with new_folder(target) as folder:
        return _write(parts, chosen, folder, target, parameters)


def _write(
    parts: RunParts, chosen: ExtractedPart, folder: Path, target: Path, parameters: bool
) -> Extracted:
    device = parts.provenance.device.replace(":", "_").replace("/", "_") or "CPU_0"
    dump = folder / f"_tvmdbg_device_{device}"
    dump.mkdir()
    notes = _notes(parts, chosen)
    _write_json(dump / "_tvmdbg_graph_dump.json", chosen.dump(), indent=4)
    if not chosen.ambiguous:
        _write_json(folder / "graph.json", chosen.raw(), indent=2)
    arrays, left_out, absent = _arrays(parts, chosen, parameters)
    if arrays:
        layout = read_params(next(iter(arrays.values())).record.source).layout
        records = [(key, tensor.record) for key, tensor in arrays.items()]
        write_params(dump / "output_tensors.params", records, layout=layout)
    trace, problem = trace_of(parts, chosen)
    if trace is not None:
        _write_json(dump / "_tvmdbg_execution_trace.json", trace)
    if problem:
        notes.append(problem)
    if absent:
        outputs = counted(absent, "output")
        notes.append(f"The run had no tensor of {outputs} of these nodes either.")
    if parts.timeline is not None and len(parts.timeline.repeats_ns):
        notes.append("Times are means; the run also knew the repeats they were taken of.")
    result = Extracted(
        target,
        {place.node: new for place, new in chosen.new_ids.items() if place.output is None},
        {
            (place.node, place.output): new
            for place, new in chosen.new_ids.items()
            if place.output is not None
        },
        tuple(left_out),
        tuple(notes),
    )
    text = readme(parts, chosen, result)
    (folder / "README.txt").write_text(text, "utf-8", newline="\n")
    return result


def _write_json(path: Path, value: Any, indent: int | None = None) -> None:
    path.write_text(json.dumps(value, indent=indent), "utf-8", newline="\n")


def _arrays(
    parts: RunParts, chosen: ExtractedPart, parameters: bool
) -> tuple[dict[str, Tensor], list[int], int]:
    """Return tensors by new key, nodes of omitted parameters, and the number of missing tensors."""
    tensors = parts.tensors
    private = private_parameters(parts, doubt=False)
    arrays: dict[str, Tensor] = {}
    left_out, absent = [], 0
    for new, place in enumerate(chosen.places):
        for output in chosen.outputs(place):
            if not parameters and (place.node, output) in private:
                left_out.append(place.node)
                continue
            tensor = None if tensors is None else tensors.get((place.node, output))
            if tensor is None:
                absent += tensors is not None
                continue
            own = 0 if place.output is not None else output
            arrays[f"{chosen.name(place)}____topo-index:{new}____output-num:{own}"] = tensor
    return arrays, list(dict.fromkeys(left_out)), absent


def _notes(parts: RunParts, chosen: ExtractedPart) -> list[str]:
    notes = []
    if chosen.ambiguous:
        named = ", ".join(map(str, chosen.ambiguous[:8]))
        notes.append(
            "The run's files do not state which values "
            f"{agree(len(chosen.ambiguous), 'node', 'nodes')} "
            f"{named} {agree(len(chosen.ambiguous), 'reads')}; neither does this dump. "
            "All candidates were exported."
        )
    for node, position in chosen.lost[:8]:
        notes.append(f"Operand {position} of node {node} leads nowhere in the run; it is left out.")
    for place in chosen.places:
        for output in chosen.outputs(place):
            tensor = None if parts.tensors is None else parts.tensors.get((place.node, output))
            own = () if tensor is None else tensor.notes[len(tensor.record.notes) :]
            notes += [f"Tensor {place.node}:{output} of the run: {text}" for text in own]
    return notes


def readme(parts: RunParts, chosen: ExtractedPart, result: Extracted) -> str:
    """Return the folder's README: origin, and old ids of new nodes."""
    graph = chosen.graph
    origin = parts.provenance
    kept, became = counted(len(result.nodes), "node"), counted(len(result.inputs), "output")
    lines = [
        FIRST_LINE,
        "",
        f"Run:      {one_line(parts.title)}, {origin.format}",
        f"Graph:    {kept} of {graph.num_nodes:,}; {became} of others became inputs",
        f"Made by:  tvmdbg-widgets {__version__}",
        "Open it:  tvmdbg show THIS_FOLDER, or tvmdbg_widgets.open(THIS_FOLDER)",
        "",
    ]
    left = counted(len(result.parameters_left_out), "parameter")
    if result.parameters_left_out:
        lines += [f"Left out: the values of {left} (extract --parameters takes them along).", ""]
    lines += ["Tensors have the bytes they had. Where times have gaps, nodes left outside ran."]
    if result.notes:
        lines += ["", "What to know", *(f"* {one_line(note)}" for note in result.notes)]
    lines += ["", "new id <- id in the run", ""]
    for new, place in enumerate(chosen.places):
        lines.append(f"{new:6d} <- {_place_text(place):<10} {one_line(chosen.name(place))}")
    return "\n".join([*lines, ""])


def _place_text(place: SmallGraphNode) -> str:
    return str(place.node) if place.output is None else f"{place.node}:{place.output} (input)"


_STEPS = 64


def trace_of(parts: RunParts, chosen: ExtractedPart) -> tuple[dict[str, Any] | None, str]:
    """Return the execution trace of a part of a run, and a problem with it.

    Slices keep their start, so nothing is rounded, and gaps stay for omitted nodes. Without slices
    in node order, nodes are back to back.
    """
    timeline = parts.timeline
    if timeline is None:
        return None, ""
    operators = [place for place in chosen.places if not chosen.is_null(place)]
    unknown = [place.node for place in operators if math.isnan(timeline.node_ns[place.node])]
    if unknown:
        named = ", ".join(map(str, unknown[:8]))
        return None, f"There is no trace: the time of node {named} is not known."
    events: list[dict[str, Any]] = []
    end, inexact = 0.0, 0
    for place in chosen.places:
        duration = 0.0 if chosen.is_null(place) else float(timeline.node_ns[place.node])
        start = max(end, _start(timeline, place, end))
        first, last, exact = _pair(start, duration)
        inexact += not exact
        end = last * 1e3
        events += [_event(chosen, place, first, "B"), _event(chosen, place, last, "E")]
    problem = (
        f"{counted(inexact, 'time')} {agree(inexact, 'differs')} in their last digit."
        if inexact
        else ""
    )
    return {"displayTimeUnit": "ns", "traceEvents": events}, problem


def _start(timeline: Timeline, place: SmallGraphNode, end: float) -> float:
    """Return the start of a node's only slice in ns, else ``end``."""
    slices = timeline.slices_of(place.node)
    if len(slices) != 1 or not timeline.synthetic:
        return end
    return float(timeline.slice_start_ns[slices[0]])


def _pair(start: float, duration: float) -> tuple[float, float, bool]:
    """Return µs of a B and an E event, and whether their difference reads as the duration."""
    first, last = start / 1e3, (start + duration) / 1e3
    for steps in (2, _STEPS):
        begins, ends = _near(first, 2), _near(last, steps)
        read = nanoseconds([*begins, *ends])
        rest = np.zeros(len(read.whole)) if read.rest is None else read.rest
        at = len(begins)
        lasts = read.whole[at:] - read.whole[:at, None] + (rest[at:] - rest[:at, None])
        off = np.abs(lasts - duration)
        begin, end = divmod(int(off.argmin()), len(ends))
        if off[begin, end] == 0:
            return begins[begin], ends[end], True
    return begins[begin], ends[end], False


def _near(value: float, steps: int) -> list[float]:
    """Return a value and its neighboring doubles, nearest first."""
    values = [value]
    up = down = value
    for _ in itertools.repeat(None, steps):
        up, down = math.nextafter(up, math.inf), math.nextafter(down, -math.inf)
        values += [up, down] if down >= 0 else [up]
    return values


def _event(
    chosen: ExtractedPart, place: SmallGraphNode, time_us: float, phase: str
) -> dict[str, Any]:
    return {"ts": time_us, "tid": 1, "pid": 1, "name": chosen.name(place), "ph": phase}
