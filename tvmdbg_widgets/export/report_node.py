"""Everything known of one node, as Markdown: exact values, exact times, how far each is trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.answers.node import node_details
from tvmdbg_widgets.answers.tensor.counts import special_counts
from tvmdbg_widgets.export.markdown import bullets, code, plain, section
from tvmdbg_widgets.export.private_parameters import FEWEST, PrivateParameters
from tvmdbg_widgets.figures.texts import index_text
from tvmdbg_widgets.model.base import bits
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.number_text import computed_text, number_text
from tvmdbg_widgets.model.base.numbers import counted, exact_ns
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.tensors import Tensor

#: Makes Markdown of a message.
Tell: TypeAlias = "Callable[[str], str]"

_CONSUMERS = 20
_REPEATS = 100
_SPECIALS = {"nan": "NaN", "pos_inf": "+Inf", "neg_inf": "-Inf"}


def node_lines(run: Derived, node: int, tell: Tell, private: PrivateParameters) -> list[str]:
    """Return attributes, inputs, outputs, exact statistics, times and warnings of a node."""
    if run.graph is None:
        raise KeyError("this run has no graph")
    if not 0 <= node < run.graph.num_nodes:
        raise IndexError(f"node {node} of a graph with {counted(run.graph.num_nodes, 'node')}")
    details = node_details(run, node)
    lines = bullets(
        [
            f"name {code(details['name'])}",
            f"function {code(details['funcName'])}, {details['kind']}, {details['opKind']}",
        ]
    )
    attrs = bullets(f"{code(name)}: {code(value)}" for name, value in details["attrs"])
    lines += section("Attributes", attrs, 3)
    reads: list[str] = []
    for each in details["inputs"]:
        reads.append(
            f"- node {each['node']} output {each['output']}, {code(each['name'])}: "
            f"{plain(each['text'])}, edge {each['trust']}"
        )
        reads += bullets(_values(run, each["node"], each["output"], tell, private), "  ")
    lines += section("Inputs", reads, 3)
    made: list[str] = []
    for each in details["outputs"]:
        made.append(f"- output {each['output']}: {plain(each['text'])}{_readers(each)}")
        made += bullets(_values(run, node, each["output"], tell, private), "  ")
    lines += section("Outputs", made, 3)
    lines += section("Times", _times(run, node, details["times"]), 3)
    return lines + section("Warnings", bullets(map(tell, details["notes"])), 3)


def _readers(output: dict[str, Any]) -> str:
    nodes = [str(each["node"]) for each in output["consumers"]]
    if not nodes:
        return ", read by no node"
    more = f" and {len(nodes) - _CONSUMERS} more" if len(nodes) > _CONSUMERS else ""
    return f", read by node {', '.join(nodes[:_CONSUMERS])}{more}"


def _values(
    run: Derived, node: int, output: int, tell: Tell, private: PrivateParameters
) -> list[str]:
    tensors: Mapping[tuple[int, int], Tensor] = run.tensors or {}
    tensor = tensors.get((node, output))
    return ["no tensor in this dump"] if tensor is None else _statistics(tensor, tell, private)


def _statistics(tensor: Tensor, tell: Tell, private: PrivateParameters) -> list[str]:
    stored = f"stored as {code(f'{tensor.dtype}{list(tensor.shape)}')}"
    read = {"node": "captured at the node", "later": "read after the run"}.get(tensor.captured)
    said = [f"{stored}, {counted(tensor.nbytes, 'byte')}, matched {tensor.trust.label}", read]
    told = [", ".join(filter(None, said))]
    try:
        found = tensor.statistics()
    except (FormatError, OSError) as problem:
        return [*told, f"cannot be read: {tell(str(problem))}"]
    if not found.applicable:
        return [*told, f"no statistics: {plain(found.reason)}"]
    specials = special_counts(found, tensor.dtype.name)
    counts = [f"{count:,} {_SPECIALS[name]}" for name, count in specials.items()]
    counts += [f"{found.zero:,} zero", f"{found.negative:,} negative"]
    told.append(", ".join([f"{counted(found.size, 'value')}: {found.finite:,} finite", *counts]))
    counts_only = private.counts_only(tensor)
    if (tensor.node, tensor.output) in private:
        found = found.redacted(counts_only=counts_only)
    told += _more(tensor, found)
    if counts_only:
        told.append(f"a parameter of fewer than {FEWEST} values: its bounds are not told")
    elif found.finite and not math.isnan(found.mean):
        told.append(
            f"{number_text(found.minimum)}{_at(tensor, found.argmin)} … "
            f"{number_text(found.maximum)}{_at(tensor, found.argmax)}, "
            f"mean {computed_text(found.mean)}, standard deviation {computed_text(found.std)}"
        )
    return told


def _more(tensor: Tensor, found: Statistics) -> list[str]:
    """Return counts and places that matter only where they are there."""
    told = []
    if found.denormal:
        told.append(f"{found.denormal:,} denormal")
    if bits.is_integer(tensor.values().numpy_dtype):
        told += [
            f"{count:,} at the {name} value of the type"
            for count, name in ((found.at_lowest, "lowest"), (found.at_highest, "highest"))
            if count
        ]
    first = (("NaN", found.first_nan), ("+Inf", found.first_pos_inf), ("-Inf", found.first_neg_inf))
    told += [f"first {name}{_at(tensor, at)}" for name, at in first if at is not None]
    line = ", ".join(told)
    return [line] if line else []


def _at(tensor: Tensor, flat: int | None) -> str:
    """Return ``" (at [0, 13, 8, 12])"``; nothing for a scalar."""
    if flat is None or not tensor.view_shape:
        return ""
    index = [int(each) for each in np.unravel_index(flat, tensor.view_shape)]
    return f" (at {index_text(index)})"


def _times(run: Derived, node: int, shown: list[tuple[str, str]]) -> list[str]:
    lines = bullets(f"{name}: {plain(text)}" for name, text in shown if name != "repeats")
    timeline = run.timeline
    if timeline is None or not 0 <= node < timeline.num_nodes:
        return lines
    repeats = timeline.repeats(node)
    if len(repeats) > 1:
        exact = ", ".join(exact_ns(float(each)) for each in repeats[:_REPEATS])
        more = f" and {len(repeats) - _REPEATS} more" if len(repeats) > _REPEATS else ""
        lines.append(f"- {counted(len(repeats), 'repeat')}: {exact}{more}")
    return lines
