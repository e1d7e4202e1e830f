"""Joins of stored arrays and of report rows to the entries of a graph, with their trust."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, IssueLog, Issues, IssueSeverity, listed, one_line
from tvmdbg_widgets.model.graph.graph import Graph, device_name
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import canonical
from tvmdbg_widgets.model.timeline.report import Argument, Report


class KeyedArray(NamedTuple):
    """An array with its parsed key; ``node`` is None if the key has none."""

    record: ArrayRecord
    name: str
    node: int | None
    output: int


class Placed(NamedTuple):
    """An array with its entry and the trust in it."""

    array: KeyedArray
    node: int
    output: int
    trust: Trust
    notes: tuple[str, ...] = ()

    @property
    def entry(self) -> tuple[int, int]:
        """``(node, output)``."""
        return self.node, self.output


def place(
    graph: Graph | None, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[Placed], list[Issue]]:
    """Give every array its entry: by topo-index, else by node order, else by name."""
    indexed = all(array.node is not None for array in arrays)
    if graph is None and indexed:
        return [Placed(a, a.node or 0, a.output, Trust.EXACT) for a in arrays], []
    if graph is None:
        ids: dict[str, int] = {}
        nodes = [ids.setdefault(array.name, len(ids)) for array in arrays]
        pairs = zip(arrays, nodes, strict=True)
        return [Placed(array, node, array.output, Trust.BY_ORDER) for array, node in pairs], []
    if indexed:
        return _by_index(graph, arrays, file)
    entries = [(i, k) for i in range(graph.num_nodes) for k in range(len(graph.entry_range(i)))]
    in_order = [(graph.names[node], output) for node, output in entries]
    if in_order[: len(arrays)] == [(array.name, array.output) for array in arrays]:
        ordered = zip(arrays, entries, strict=False)
        return [Placed(array, *entry, Trust.BY_ORDER) for array, entry in ordered], []
    return _by_name(graph, arrays, file)


def _by_index(
    graph: Graph, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[Placed], list[Issue]]:
    placed, outside, renamed = [], [], []
    names, widths = list(graph.names), np.diff(graph.entry_offsets).tolist()
    for array in arrays:
        node = array.node if array.node is not None else -1
        if not 0 <= node < len(names) or array.output >= widths[node]:
            outside.append(array)
            continue
        same = names[node] == array.name
        if not same:
            renamed.append(array)
        notes = () if same else (f"its key names {array.name!r}, node {node} is {names[node]!r}",)
        placed.append(
            Placed(array, node, array.output, Trust.EXACT if same else Trust.AMBIGUOUS, notes)
        )
    issues = IssueLog(file)
    if outside:
        first = outside[0]
        message = (
            f"{counted(len(outside), 'tensor')} {agree(len(outside), 'belongs')} to no entry "
            f"of the graph{agree(len(outside), ':', ', the first is')} {first.record.key!r}; "
            "the graph has "
            f"{counted(graph.num_nodes, 'node')}. The dump may be of another graph"
        )
        issues.error("tensor-outside-graph", message)
    if renamed:
        first = renamed[0]
        message = (
            f"{counted(len(renamed), 'tensor')} {agree(len(renamed), 'names')} another node "
            f"than the graph has at {agree(len(renamed), 'its')} index: "
            f"{first.name!r} at node {first.node}, which is {graph.names[first.node or 0]!r}. "
            "The dump may be of another graph or of an older run"
        )
        issues.error("tensor-names", message, (array.node or 0 for array in renamed))
    return placed, issues


def _by_name(
    graph: Graph, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[Placed], list[Issue]]:
    owners: dict[tuple[str, int], list[int]] = defaultdict(list)
    for node, name in enumerate(graph.names):
        for output in range(len(graph.entry_range(node))):
            owners[name, output].append(node)
    groups: dict[tuple[str, int], list[KeyedArray]] = defaultdict(list)
    for array in arrays:
        groups[array.name, array.output].append(array)
    placed, unknown, surplus = [], [], []
    lost: set[int] = set()
    for key, group in groups.items():
        nodes = owners.get(key)
        if not nodes:
            unknown.extend(group)
            continue
        surplus.extend(group[: -len(nodes)])
        if len(group) < len(nodes):
            lost.update(nodes[: -len(group)])
        placed += _namesakes(group[max(0, len(group) - len(nodes)) :], nodes)
    issues = IssueLog(file)
    if unknown:
        message = (
            f"{counted(len(unknown), 'tensor')} {agree(len(unknown), 'names')} no node of the "
            f"graph{agree(len(unknown), ':', ', the first is')} {unknown[0].record.key!r}. "
            "The dump may be of another graph"
        )
        issues.error("tensor-names", message)
    if surplus:
        message = (
            f"{counted(len(surplus), 'tensor')} of a name that fewer nodes of the graph "
            f"have{agree(len(surplus), ':', ', the first is')} {surplus[0].record.key!r}; the "
            "last of each name are shown"
        )
        issues.warning("tensor-repeated", message)
    if lost:
        message = (
            f"the tensors of {counted(len(lost), 'node')} {agree(len(lost), 'is')} lost: a "
            "later node has the same name, and TVM v0.8 writes one tensor a name"
        )
        issues.warning("tensor-overwritten", message, sorted(lost))
    return placed, issues


def _namesakes(group: list[KeyedArray], nodes: list[int]) -> list[Placed]:
    """Place arrays of one key at the last nodes of that name, in order."""
    if len(nodes) == 1:
        return [Placed(group[0], nodes[0], group[0].output, Trust.BY_NAME)]
    what = f"{counted(len(nodes), 'node')} are named {group[0].name!r}"
    trust = Trust.BY_ORDER
    note = f"{what}; they are matched by order"
    if len(group) < len(nodes):
        trust = Trust.BY_NAME if len(group) == 1 else Trust.AMBIGUOUS
        note = (
            f"{what}; TVM v0.8 keeps only the last one's tensor, so this is taken to be node "
            f"{nodes[-1]}'s"
            if len(group) == 1
            else f"{what} and {counted(len(group), 'tensor')}; they are taken to be the last ones'"
        )
    placed = zip(group, nodes[len(nodes) - len(group) :], strict=True)
    return [Placed(array, node, array.output, trust, (note,)) for array, node in placed]


#: Calls of the VM's runtime, which have no node (``src/runtime/vm``).
_PLUMBING = ("VM::", "vm.builtin.")


def join_report(graph: Graph, report: Report) -> tuple[Report, Issues]:
    """Join report rows to operators by call order, else by unique function name and shapes."""
    operators = np.flatnonzero(np.asarray(graph.kinds) >= NodeKind.OPERATOR).astype(np.int64)
    functions = [graph.func_names[int(node)] for node in operators]
    nodes = np.full(len(report), -1, np.int32)
    trust = np.full(len(report), Trust.ABSENT, np.uint8)
    calls = _calls(report, len(operators))
    names = [report.names[row] for row in calls.tolist()]
    in_order = report.in_call_order and not report.aggregated
    agree = all(not name or name == func for name, func in zip(names, functions, strict=False))
    issues: list[Issue] = []
    if in_order and agree and len(calls) == len(operators):
        nodes[calls] = operators
        trust[calls] = Trust.BY_ORDER
    elif in_order and agree and report.truncated and len(calls) < len(operators):
        if report.form == "json":
            nodes[calls] = operators[: len(calls)]
            trust[calls] = Trust.BY_ORDER
    else:
        _by_name_report(graph, report, operators, nodes, trust)
        if in_order:
            issues.append(_disagreeing(report, names, functions))
    issues += _check(graph, report, nodes, trust)
    issues += _not_joined(report, calls, nodes)
    return report.joined(nodes, trust, graph.num_nodes), Issues(issues)


def _calls(report: Report, operators: int) -> npt.NDArray[np.int64]:
    """Return rows that may be operators, without calls of the VM's runtime."""
    rows = np.arange(len(report))
    if len(rows) == operators:
        return rows
    plain = [i for i in rows.tolist() if not report.names[i].startswith(_PLUMBING)]
    return np.asarray(plain, np.int64)


def _by_name_report(
    graph: Graph,
    report: Report,
    operators: npt.NDArray[np.int64],
    nodes: npt.NDArray[np.int32],
    trust: npt.NDArray[np.uint8],
) -> None:
    named: dict[str, list[int]] = defaultdict(list)
    for node in operators.tolist():
        named[graph.func_names[node]].append(node)
    rows: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(report.names):
        if name and report.count[row] <= 1:
            rows[name].append(row)
    for name, own in rows.items():
        candidates = named.get(name, [])
        if len(candidates) == 1 and len(own) == 1:
            nodes[own[0]], trust[own[0]] = candidates[0], Trust.BY_NAME
            continue
        expected = {candidate: _expected(graph, candidate) for candidate in candidates}
        texts = {report.argument_shapes[row]: report.arguments(row) for row in own}
        fits = {
            text: [c for c in candidates if arguments is None or _same(expected[c], arguments)]
            for text, arguments in texts.items()
        }
        counts = Counter(report.argument_shapes[row] for row in own)
        taken = Counter(fits[text][0] for text in counts.elements() if len(fits[text]) == 1)
        for row in own:
            fit = fits[report.argument_shapes[row]]
            if len(fit) == 1 and taken[fit[0]] == 1:
                nodes[row], trust[row] = fit[0], Trust.BY_NAME


def _expected(graph: Graph, node: int) -> list[tuple[str | None, tuple[int, ...] | None]]:
    """Return dtypes and shapes of a node's inputs, then outputs."""
    view = graph.nodes[node]
    inputs = [_entry(graph, source, output) for source, output in view.inputs]
    return [*inputs, *zip(view.dtypes, view.shapes, strict=True)]


def _entry(graph: Graph, node: int, output: int) -> tuple[str | None, tuple[int, ...] | None]:
    """Return dtype and shape of an entry; None if the graph lacks it."""
    if node < 0 or output >= len(graph.entry_range(node)):
        return None, None
    view = graph.nodes[node]
    return view.dtypes[output], view.shapes[output]


def _same(
    expected: list[tuple[str | None, tuple[int, ...] | None]], arguments: tuple[Argument, ...]
) -> bool:
    return len(expected) == len(arguments) and all(
        (shape is None or shape == argument.shape)
        and (not dtype or canonical(dtype) == canonical(argument.dtype))
        for (dtype, shape), argument in zip(expected, arguments, strict=True)
    )


def _check(
    graph: Graph, report: Report, nodes: npt.NDArray[np.int32], trust: npt.NDArray[np.uint8]
) -> list[Issue]:
    """Compare arguments and devices with the graph; lower the trust where they differ."""
    shapes: list[tuple[int, str]] = []
    devices: list[tuple[int, str]] = []
    kinds = {device.rstrip("0123456789") for device in report.devices.unique}
    for row in np.flatnonzero(nodes >= 0).tolist():
        node = int(nodes[row])
        arguments = report.arguments(row)
        expected = _expected(graph, node) if arguments is not None else []
        if arguments is not None and not _same(expected, arguments):
            graphs = listed([f"{dtype}{list(shape or ())}" for dtype, shape in expected])
            shapes.append((row, f"{listed(arguments)}, the graph {graphs}"))
        kind = report.devices[row].rstrip("0123456789")
        types = graph.device_types
        if kind and types is not None:
            own = device_name(int(types[graph.entry_offsets[node]]))
            # Where all devices are of one kind, the run was on stand-ins of the graph's.
            if kind != own and kinds != {kind}:
                devices.append((row, f"{report.devices[row]}, the graph {own}"))
    issues = IssueLog(report.file)
    trust[[row for row, _ in shapes]] = Trust.AMBIGUOUS
    for rule, severity, what, differing in (
        ("report-shapes-disagree", IssueSeverity.WARNING, "argument shapes", shapes),
        ("report-devices-disagree", IssueSeverity.NOTE, "devices", devices),
    ):
        if not differing:
            continue
        row, difference = differing[0]
        message = (
            f"the {what} of {counted(len(differing), 'call')} {agree(len(differing), 'is')} "
            f"not the graph's: row {row} "
            f"({one_line(report.names[row])!r}, node {nodes[row]}) has {one_line(difference)}"
        )
        issues.add(rule, severity, message, (int(nodes[row]) for row, _ in differing))
    return issues


def _disagreeing(report: Report, names: list[str], functions: list[str]) -> Issue:
    k = next(
        (
            i
            for i, (name, func) in enumerate(zip(names, functions, strict=False))
            if name and name != func
        ),
        min(len(names), len(functions)),
    )
    have = repr(one_line(names[k])) if k < len(names) else "no more calls"
    want = repr(one_line(functions[k])) if k < len(functions) else "no more operators"
    message = (
        f"the report has {counted(len(names), 'call')} for {counted(len(functions), 'operator')}, "
        f"and call {k} is {have} where the graph has {want}: it may be from another graph. Calls "
        "are matched by name where only one operator has it, else left unmatched"
    )
    return Issue("report-names", IssueSeverity.WARNING, message, file=report.file)


def _not_joined(
    report: Report, calls: npt.NDArray[np.int64], nodes: npt.NDArray[np.int32]
) -> list[Issue]:
    lost = [row for row in calls.tolist() if nodes[row] < 0]
    if not lost:
        return []
    merged = [row for row in lost if report.count[row] > 1]
    if len(merged) == len(lost):
        why = "a row of several calls, whose shares cannot be known"
    elif report.truncated and report.form == "csv":
        why = "rows before are missing, so places say nothing"
    else:
        why = "several operators share a row's name and shapes, or none has them"
    first = lost[0]
    message = (
        f"{len(lost)} of {counted(len(report), 'row')} {agree(len(lost), 'is')} on no single "
        f"node: {why}{agree(len(lost), ':', '. The first is')} row {first}, "
        f"{one_line(report.names[first])!r}"
    )
    return [Issue("report-rows-ambiguous", IssueSeverity.NOTE, message, file=report.file)]
