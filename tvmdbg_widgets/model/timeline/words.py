"""Descriptions of the times of a timeline, shared by the figure and the live view."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.timeline.measured import TimeMeaning
from tvmdbg_widgets.model.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class TimelineWords:
    """Words for one timeline."""

    measured: TimeMeaning
    said: str
    more: str
    item: str
    row: str
    rows: str
    time: str
    together: str
    shares: str
    whole: str
    order: str
    no_repeats: str
    by_name: bool
    repeats: bool
    parts_overlap: str
    durations: str
    durations_within: str

    def to_json(self) -> dict[str, str | bool]:
        """Return the words under their names in the live view."""
        words = ((name.split("_"), value) for name, value in asdict(self).items())
        return {first + "".join(map(str.title, more)): value for (first, *more), value in words}


#: Times of nodes that were measured one by one.
ISOLATED = (
    "Each node was measured in isolation, repeatedly on the same data: its caches are usually "
    "warm, and nothing else runs. Inside a run of the whole network it may take longer."
)
_LAID = (
    " Nothing ran at these times: there are no gaps, overlaps or transfers. To measure the "
    "latency of the network, run all of it (time_evaluator on its run function)."
)
_SYNTHETIC = {
    TimeMeaning.MEAN: "mean node times back to back; total is not model latency",
    TimeMeaning.CALL: "calls of one profiled pass back to back; total is not model latency",
    TimeMeaning.SUM: "functions back to back, each with the sum of its calls; total is not model "
    "latency",
}
_MORE = {
    TimeMeaning.MEAN: f"{ISOLATED} Here the means, usually of several repeats, follow each other "
    "in node order.",
    TimeMeaning.CALL: "A profiling report holds one pass of the whole model, after passes to warm "
    "up, with a timer around every call, which adds to the times: one time per call and no "
    "repeats. It has no start times, so the calls follow each other in the order of the file.",
    TimeMeaning.SUM: "Each row stands for all calls of a function together. A report has no start "
    "times, so the rows follow each other in the order of the file, which need not be the order "
    "of execution.",
}
_WALL = "wall clock: start and end as recorded; empty space was idle or not recorded"
_WALL_MORE = (
    "Every slice is drawn where the clock recorded it. Gaps are real: point at one to measure it."
)
_NESTED = "; slices below a slice are its children and part of its time"
_NESTED_MORE = (
    " Slices nest: a child is drawn below its parent, and its time is part of the parent's. Their "
    "durations must not be added up. Self time is the time of a slice without its children."
)
_NO_REPEATS = {
    TimeMeaning.MEAN: (
        "No repeats are known, only the mean. To see how it varies, keep the table that run() "
        "prints (its Measurements column) beside the trace, and measure more with repeat=."
    ),
    TimeMeaning.CALL: "One call of one pass was measured: how the time varies is unknown.",
    TimeMeaning.SUM: "A sum over calls: how they vary is unknown.",
}
PARTS_OVERLAP = (
    "Time by fused operator (a fused function counts for each): how much each operator takes is "
    "not measured, so shares overlap and add up to more than 100 %."
)
#: Time of a delegate outside of modules.
MODULES = (
    "Operators that ran as one count to the innermost module that contains them all. In no module: "
    "operators inserted by lowering, and the rest of a delegate's calls; run.table() lists both."
)
#: Durations in a table of times.
WHOLE_DURATIONS = (
    "Times are self times within the range; counts are of slices that overlap it; min, median, p90 "
    "and max are of the whole durations of slices that lie entirely within it."
)
NESTED_DURATIONS = (
    "Times are self times, so that nothing is counted twice; min, median, p90 and max are of whole "
    "durations, children included."
)
#: Nodes of several outputs.
PRINTED_ONCE_AN_OUTPUT = (
    "A node with k outputs appears k times in the table that run() prints, each time with its "
    "whole time; here it counts once."
)
#: Nodes that only a table of times knows.
_ALONE = "Included: the time of {} without slices, which are in no range of time."
_UNNAMED = "Not included: the time of {} without slices, which have no name."
FOLDED = (
    "Each operator starts at the sum of the medians before it: medians back to back, which is no "
    "single repeat. The whiskers are p10 and p90 of its repeats; percentiles of operators do "
    "not add up to those of the sum."
)
MEMORY_ON_SYNTHETIC = (
    "Memory is that of the storage plan while each node runs, drawn where the synthetic timeline "
    "puts the node: neither was observed."
)
MEMORY_ON_WALL = (
    "Memory is that of the storage plan while each node runs, from the start of its slice on; the "
    "plan was computed from the graph, not observed."
)
#: Memory outside of the plan.
MEMORY_LEAVES_OUT = "Parameters and what kernels allocate themselves are not in it."
_TIME = {
    TimeMeaning.MEAN: "mean time",
    TimeMeaning.CALL: "time of the call",
    TimeMeaning.SUM: "sum",
}
_ITEM = {TimeMeaning.MEAN: "node", TimeMeaning.CALL: "call", TimeMeaning.SUM: "row"}


def timeline_words(timeline: Timeline, graph: bool) -> TimelineWords:
    """Return the words for a timeline."""
    measured, nested = timeline.measured, any(timeline.nesting.nested)
    numbered = bool(timeline.issues.by_rule("order-unknown"))
    item = "node" if graph else "row" if numbered else _ITEM[measured]
    row = "operator" if graph else item
    if timeline.synthetic:
        text, more = f"synthetic timeline: {_SYNTHETIC[measured]}", _MORE[measured] + _LAID
    else:
        text = _WALL + (_NESTED if nested else "")
        more = _WALL_MORE + (_NESTED_MORE if nested else "")
    in_file = measured is not TimeMeaning.MEAN and not graph
    by_name = timeline.num_nodes == 0 and timeline.shared is None
    item = "slice" if by_name else item
    time, together = _TIME[measured], f"summed over {item}s"
    shares = f"of the sum of all {item} times"
    if by_name and nested:
        row, time, together = "slice name", "self time", "of self time summed over slices"
        shares = "of the self time of all slices"
    elif by_name:
        row, time, together = "slice name", "time", "summed over slices"
        shares = "of the time of all slices"
    elif timeline.whole:
        together, shares = f"in {execution(timeline)}", f"of {timeline.whole}"
        item, row = ("node", "operator") if graph else ("instruction", "instruction")
    elif nested:
        time, shares = "mean total time", "of the self time of all slices"
    return TimelineWords(
        measured=measured,
        said=text,
        more=more,
        item=item,
        row=row,
        rows=f"{row}s",
        time=time,
        together=together,
        shares=shares,
        whole=execution(timeline) if timeline.whole else "",
        order="order of the file" if in_file or numbered else "execution order",
        no_repeats="" if by_name else _NO_REPEATS[measured],
        by_name=by_name,
        repeats=measured is TimeMeaning.MEAN,
        parts_overlap=PARTS_OVERLAP if graph else "",
        durations=NESTED_DURATIONS if nested else "",
        durations_within=WHOLE_DURATIONS,
    )


def execution(timeline: Timeline) -> str:
    """Describe an execution: ``"Method::execute, the mean of 3 executions"``."""
    if timeline.executions <= 1:
        return timeline.whole
    return f"{timeline.whole}, the mean of {counted(timeline.executions, 'execution')}"


def work_of(timeline: Timeline) -> str:
    """Describe the base of sums over all slices: ``"in 3 executions of Method::execute"``."""
    if not timeline.whole:
        return "in all slices"
    several = f"{counted(timeline.executions, 'execution')} of " if timeline.executions > 1 else ""
    return f"in {several}{timeline.whole}"


def left_out(idle: int) -> str:
    """Describe the slices that are missing in a table of times."""
    return f"{counted(idle, 'slice')} of inputs and parameters hidden: no time"


def times_notes(
    timeline: Timeline,
    *,
    several_outputs: bool,
    by: str,
    overlap: bool,
    part: bool,
    alone: int = 0,
    unnamed: int = 0,
) -> tuple[str, ...]:
    """Return caveats of a table of times."""
    notes = []
    if overlap:
        notes.append(PARTS_OVERLAP)
    if by == "module" and timeline.shared is not None and timeline.shared.apart.any():
        notes.append(MODULES)
    if part:
        notes.append(WHOLE_DURATIONS)
    elif any(timeline.nesting.nested):
        notes.append(NESTED_DURATIONS)
    if alone or unnamed:
        nodes = counted(alone or unnamed, "node")
        notes.append((_ALONE if alone else _UNNAMED).format(nodes))
    if timeline.synthetic:
        text = f"{_SYNTHETIC[timeline.measured]}."
        notes.append(f"Synthetic timeline: {text}")
        if timeline.measured is TimeMeaning.MEAN:
            notes.append(ISOLATED)
            if several_outputs and by == "node":
                notes.append(PRINTED_ONCE_AN_OUTPUT)
    return tuple(notes)
