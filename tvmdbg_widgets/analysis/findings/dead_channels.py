"""Channels of an activation that are zero throughout.

The channel axis is that of the node's layout (`out_layout`, `dst_layout`, `data_layout`,
`layout`; ``NCHW8c`` has two axes of channels). Without one, rank-4 outputs of functions with a
convolution or a relu are taken for NCHW (NHWC where the function is named so), and the finding
says so. A channel must hold 16 values or more, since single zeros mean nothing.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import cut, nodes_of
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.findings import Certainty, Finding, Kind
from tvmdbg_widgets.model.operators import family, parts
from tvmdbg_widgets.model.statistics import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.analysis.tensor_scan import Entry, Look
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.model.tensors import Tensor

NAME = "dead-channels"
_LEAST_VALUES = 16
#: Share of dead channels from which on they are a doubt.
MANY = 0.5
_SHOWN = 8
_LAYOUTS = ("out_layout", "dst_layout", "data_layout", "layout")
_AXIS = re.compile(r"([A-Z])|([1-9][0-9]{0,8})([a-z])")
_FIRST_OPERATOR = 2


class Channels(NamedTuple):
    """The dead channels of one entry, and by which axis they were counted."""

    dead: tuple[int, ...]
    total: int
    axis: str
    assumed: bool


def channel_axes(layout: str, rank: int) -> tuple[int, ...] | None:
    """Return the axes of the channels, the slow one first, or None where there are none.

    >>> channel_axes("NCHW8c", 5), channel_axes("NHWC", 4), channel_axes("NC", 4)
    ((1, 4), (3,), None)
    """
    axes = list(_AXIS.finditer(layout))
    if len(axes) != rank or sum(len(each.group()) for each in axes) != len(layout):
        return None
    letters = [each.group(1) or each.group(3) for each in axes]
    if letters.count("C") != 1 or letters.count("c") > 1:
        return None
    found = (letters.index("C"),)
    return (*found, letters.index("c")) if "c" in letters else found


def channels(run: RunParts, entry: Entry, tensor: Tensor) -> int | None:
    """Return how many channels an entry has that are looked at; None where none are."""
    chosen = _chosen(run, entry, tensor)
    return None if chosen is None else math.prod(tensor.shape[axis] for axis in chosen[0])


def probe(look: Look) -> Channels | None:
    """Find the channels that are zero throughout."""
    found, shape = look.statistics, look.tensor.shape
    chosen = _chosen(look.parts, look.entry, look.tensor)
    if chosen is None:
        return None
    axes, text, assumed = chosen
    count = math.prod(shape[axis] for axis in axes)
    if found.zero == found.size or found.zero < found.size // count:
        return None
    dead = np.flatnonzero(~_alive(look, axes, count))
    return Channels(tuple(dead.tolist()), count, text, assumed) if len(dead) else None


def _chosen(
    run: RunParts, entry: Entry, tensor: Tensor
) -> tuple[tuple[int, ...], str, bool] | None:
    """Axes of the channels, how they are known, and whether that is assumed."""
    graph, node, shape = run.graph, entry[0], tensor.shape
    if graph is None or not 0 <= node < graph.num_nodes or graph.kinds[node] < _FIRST_OPERATOR:
        return None
    if tensor.view_shape != shape:
        return None
    chosen = _axes(graph.attrs[node], graph.func_names[node], len(shape))
    if chosen is None:
        return None
    count = math.prod(shape[axis] for axis in chosen[0])
    return chosen if count >= 2 and tensor.size // count >= _LEAST_VALUES else None


def _axes(
    attrs: Mapping[str, str], func_name: str, rank: int
) -> tuple[tuple[int, ...], str, bool] | None:
    for name in _LAYOUTS:
        layout = attrs.get(name)
        axes = channel_axes(layout, rank) if isinstance(layout, str) else None
        if axes is not None:
            return axes, f"{name} {layout}", False
    if rank != 4 or not any(_has_channels(part) for part in parts(func_name)):
        return None
    layout = "NHWC" if "nhwc" in func_name.lower() else "NCHW"
    return (layout.index("C"),), f"taken for {layout}, the graph names no layout", True


def _has_channels(part: str) -> bool:
    return family(part) == "convolution" or part.endswith("relu")


def _alive(
    look: Look, axes: tuple[int, ...], count: int
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each channel holds anything but zero; reads on only while one seems dead."""
    shape = look.tensor.shape
    alive = np.zeros(count, np.bool_)
    start = 0
    for chunk in look.chunks():
        at = np.flatnonzero(comparable(chunk)) + start
        channel = np.zeros(len(at), np.int64)
        for axis in axes:
            inner = math.prod(shape[axis + 1 :])
            channel = channel * shape[axis] + at // inner % shape[axis]
        alive |= np.bincount(channel, minlength=count) > 0
        if alive.all():
            break
        start += len(chunk)
    return alive


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of all nodes with dead channels; a doubt where half are dead somewhere."""
    found: dict[tuple[int, int], Channels] = {
        entry: each
        for entry, each in evidence.scanned.probed.get(NAME, {}).items()
        if entry in evidence.statistics
    }
    if not found:
        return
    entries = sorted(found, key=lambda entry: (-_share(found[entry]), entry))
    worst = found[entries[0]]
    facts = []
    for entry in entries:
        each = found[entry]
        more = f" and {len(each.dead) - _SHOWN:,} more" if len(each.dead) > _SHOWN else ""
        listed = ", ".join(map(str, each.dead[:_SHOWN]))
        facts.append(
            f"{evidence.entry_name(entry)}: {len(each.dead):,} of {each.total:,} channels "
            f"({listed}{more}); {each.axis}"
        )
    certainty, why = evidence.joined(entries)
    if any(each.assumed for each in found.values()) and certainty is Certainty.CERTAIN:
        certainty, why = Certainty.LIKELY, f"{why}; where no layout is named the axis is assumed"
    rest = f"; {len(entries) - 1:,} more outputs have some" if entries[1:] else ""
    yield Finding(
        NAME,
        Kind.DOUBT if _share(worst) >= MANY else Kind.NOTE,
        f"{len(worst.dead):,} of {worst.total:,} channels of {evidence.entry_name(entries[0])} "
        f"{'is' if len(worst.dead) == 1 else 'are'} zero throughout{rest}",
        cut(facts),
        certainty,
        why,
        nodes_of(entries),
        tuple(entries),
        "Compare the bias and the batch norm of these channels with the model's; if they are dead "
        "for other inputs too, they can be pruned.",
        0.55,
    )


def _share(found: Channels) -> float:
    return len(found.dead) / found.total


RULE = Rule(NAME, find, probe)
