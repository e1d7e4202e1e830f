"""What a query finds, node by node and as slowly as it is said, from the tree alone."""

import functools
import math
import re
from typing import Any

from tvmdbg_widgets.analysis.layouts import known_layouts
from tvmdbg_widgets.model.graph.graph import device_name
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.run import DebugRun


def truth(run: DebugRun, tree: list[Any]) -> set[int]:
    """Ids of the nodes that a tree (``Query.plain()``) finds."""
    everything = set(range(run.graph.num_nodes))
    match tree:
        case ["id", node]:
            return everything & {node}
        case ["not", part]:
            return everything - truth(run, part)
        case ["and", *parts]:
            return everything.intersection(*(truth(run, part) for part in parts))
        case ["or", *parts]:
            return set().union(*(truth(run, part) for part in parts))
        case ["path", arrows, *steps]:
            return _path(run, arrows, [truth(run, step) for step in steps])
        case ["word", mode, text]:
            return {node for node in everything if _word(run, node, mode, text)}
        case ["shape", sizes, differs]:
            return {node for node in everything if _shape(run, node, sizes, differs)}
        case ["text", field, mode, text, differs]:
            return {
                node
                for node in everything
                if (values := texts_of(run, node, field))
                and any(_fits(mode, text, value) for value in values) != differs
            }
        case ["compare", field, by, value]:
            return {node for node in everything if _compare(run, node, field, by, value)}
    raise AssertionError(tree)


def _path(run: DebugRun, arrows: list[str], steps: list[set[int]]) -> set[int]:
    """All nodes on all ways, by trying every one."""
    graph = run.graph

    def next_of(node: int, arrow: str) -> set[int]:
        return set(graph.nodes[node].consumers) if arrow == "->" else _downstream(run, node)

    def ways(node: int, at: int) -> set[int] | None:
        """Nodes behind this one on ways to the end; None where there is none."""
        if at == len(arrows):
            return set()
        found: set[int] | None = None
        for other in next_of(node, arrows[at]) & steps[at + 1]:
            behind = ways(other, at + 1)
            if behind is not None:
                found = (found or set()) | behind | {other}
        return found

    found: set[int] = set()
    for node in steps[0]:
        behind = ways(node, 0)
        if behind is not None:
            found |= behind | {node}
    return found


def _downstream(run: DebugRun, node: int) -> set[int]:
    graph = run.graph
    found: set[int] = set()
    new = set(graph.nodes[node].consumers)
    while new:
        found |= new
        new = set().union(*(graph.nodes[each].consumers for each in new)) - found
    return found


def _fits(mode: str, text: str, value: str) -> bool:
    value = value.lower()
    if mode == "has":
        return text in value
    if mode == "is":
        return text == value
    if mode == "glob":
        text = "".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in text)
        return re.fullmatch(text, value, re.DOTALL) is not None
    return re.search(text, value, re.IGNORECASE | re.ASCII | re.DOTALL) is not None


def _label(run: DebugRun, node: int) -> list[str]:
    each = run.graph.nodes[node]
    if each.func_name == "__nop":
        return ["reshape (zero-copy)"]
    if each.func_name == "__copy":
        return ["device copy"]
    return [part.rpartition(".")[2] or part for part in each.parts]


def _word(run: DebugRun, node: int, mode: str, text: str) -> bool:
    each = run.graph.nodes[node]
    label = _label(run, node)
    texts = [each.name, each.func_name, " + ".join(label) or each.name, each.op_kind]
    texts += [dtype or "" for dtype in each.dtypes]
    if mode == "has":
        texts.append(f"#{node}")
        for shape in each.shapes:
            if shape is not None:
                texts += [str(shape), *(by.join(map(str, shape)) for by in ",×x")]
    if mode == "glob" and each.kind >= 2:
        texts += label or [each.name]
    return any(_fits(mode, text, value) for value in texts)


def texts_of(run: DebugRun, node: int, field: str) -> list[str]:
    """Return the values of a node in a field of texts, as far as they are known."""
    graph = run.graph
    each = graph.nodes[node]
    entries = graph.entry_range(node)
    found: list[str | None]
    match field:
        case "name":
            found = [each.name]
        case "func":
            found = [each.func_name]
        case "op":
            found = list(_label(run, node) or [each.name]) if each.kind >= 2 else []
        case "kind":
            found = [each.kind.name.lower(), each.op_kind]
        case "dtype":
            found = list(each.dtypes)
        case "group":
            around = run.groups.of(node)
            return [group.name for group in around]
        case "device":
            types = [] if graph.device_types is None else [graph.device_types[i] for i in entries]
            found = [device_name(int(number)) for number in types if number >= 0]
        case "layout":
            known = [known_layouts(run.parts, (node, output)) for output in range(len(entries))]
            found = [
                each[0].layout.text for each in known if each and each[0].certainty == "stated"
            ]
        case _:
            found = [each.attrs.get(field.removeprefix("attr."))]
            return [str(value) for value in found if value is not None]
    return [value for value in found if value]


def _shape(run: DebugRun, node: int, sizes: list[str], differs: bool) -> bool:
    pattern = re.compile(
        "".join(
            r"(?:\d+,)*" if size == "..." else size.replace("?", r"\d").replace("*", r"\d*") + ","
            for size in sizes
        )
    )
    known = [
        "".join(f"{size}," for size in shape)
        for shape in run.graph.nodes[node].shapes
        if shape is not None
    ]
    return bool(known) and any(pattern.fullmatch(each) for each in known) != differs


def _bytes(dtype: str | None, shape: tuple[int, ...] | None) -> float:
    if dtype is None or shape is None:
        return math.nan
    try:
        found = DataType.parse(dtype)
    except ValueError:
        return math.nan
    bits = (8 if found.is_bool else found.bits) * found.lanes
    return math.ceil(math.prod(shape) * bits / 8) if bits > 0 else math.nan


def numbers(run: DebugRun, node: int, field: str) -> list[float]:  # noqa: C901, PLR0911 (a table)
    """Return the values of a node in a field of numbers, NaN where unknown."""
    graph, timeline = run.graph, run.timeline
    each = graph.nodes[node]
    entries = graph.entry_range(node)
    times = [math.nan] * graph.num_nodes if timeline is None else timeline.node_ns.tolist()
    match field:
        case "id":
            return [node]
        case "time":
            return [times[node]]
        case "share":
            total = sum(time for time in times if time > 0)
            return [times[node] / total if total else math.nan]
        case "bytes":
            return [_bytes(*pair) for pair in zip(each.dtypes, each.shapes, strict=True)]
        case "storage":
            ids = [] if graph.storage_ids is None else [int(graph.storage_ids[i]) for i in entries]
            return [number for number in ids if number >= 0]
        case "rank":
            return [len(shape) for shape in each.shapes if shape is not None]
        case "inputs":
            return [len(each.inputs)]
        case "outputs":
            return [each.num_outputs]
        case "consumers":
            return [len(each.consumers)]
        case "depth":
            return [_depth(run, node)]
    value = each.attrs.get(field.removeprefix("attr."), "")
    return [float(value)] if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", value) else []


@functools.cache
def _depth(run: DebugRun, node: int) -> int:
    read = [each.node for each in run.graph.nodes[node].inputs if each.node >= 0]
    return 1 + max(_depth(run, each) for each in read) if read else 0


def _compare(run: DebugRun, node: int, field: str, by: str, value: float) -> bool:
    known = [number for number in numbers(run, node, field) if not math.isnan(number)]
    if by == "!=":
        return bool(known) and value not in known
    compared = {
        "<": lambda number: number < value,
        "<=": lambda number: number <= value,
        ">": lambda number: number > value,
        ">=": lambda number: number >= value,
        "=": lambda number: number == value,
    }
    return any(map(compared[by], known))
