"""What two runs that are shown as one differ by in time, as the flamechart takes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.compare_times import TimeChange, TimeChanges, TimeComparison
from tvmdbg_widgets.analysis.compare_times.aligned import NO_MATCH
from tvmdbg_widgets.analysis.compare_times.verdicts import TimeVerdict
from tvmdbg_widgets.analysis.matching import Certainty
from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.engine.wire import without_rows
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.node_words import node_labels


def change(context: Context, _question: Question) -> Reply:
    """Answer all rows of the comparison, by node and by op kind; nothing where one run is shown."""
    compared = context.run.compared
    if compared is None:
        return Reply(None)
    rows = list(compared)
    graph_b = compared.matching.graph_b
    labels = node_labels(graph_b)
    a, b = [row.a for row in rows], [row.b for row in rows]
    places = np.empty(compared.matching.graph_a.num_nodes, np.int64)
    places[compared.matching.graph_a.topological_order] = np.arange(len(places))
    last = [max(nodes, key=lambda each: places[each]) if nodes else -1 for nodes in a]
    columns: dict[str, Any] = {
        **_columns(compared, "node"),
        "node": np.array(last, np.int32),
        "aStart": _starts(a),
        "aNodes": _flat(a).astype(np.int32),
        "bStart": _starts(b),
        "bNodes": _flat(b).astype(np.int32),
        "bNames": StringColumn.from_strings(labels[node] for each in b for node in each),
        "bSlices": _first_slices(compared)[_flat(b).astype(np.int64)],
        **_sliced(compared),
        "match": np.array(
            [NO_MATCH if row.certainty is None else row.certainty for row in rows], np.uint8
        ),
        "reason": StringColumn.from_strings(row.reason for row in rows),
        "shape": StringColumn.from_strings(row.shape for row in rows),
        "repeatsAStart": _starts([row.repeats_a for row in rows]),
        "repeatsA": _flat([row.repeats_a for row in rows]).astype(np.float64),
        "repeatsBStart": _starts([row.repeats_b for row in rows]),
        "repeatsB": _flat([row.repeats_b for row in rows]).astype(np.float64),
        **{
            f"kind{name[0].upper()}{name[1:]}": column
            for name, column in _columns(compared.by("kind"), "kind").items()
        },
    }
    return Reply.of("change", columns, _info(compared))


def change_of_slices(compared: TimeComparison) -> Reply:
    """Answer what slices are called, without the rows, to a figure that lists its own."""
    return Reply.of("change", without_rows("change") | _sliced(compared), _info(compared))


def _info(compared: TimeComparison) -> dict[str, Any]:
    total = compared.total
    return {
        "titles": list(compared.titles),
        "sentence": compared.sentence,
        "said": list(compared.caption[2:]),
        "verdicts": [each.label for each in TimeVerdict],
        "matches": [each.label for each in Certainty],
        "roundings": list(compared.columns.rounding_ns),
        "total": {
            "a": total.ns_a,
            "b": total.ns_b,
            "verdict": int(total.verdict),
            "why": total.why,
        },
    }


def _sliced(compared: TimeComparison) -> dict[str, StringColumn]:
    """What slices of `b` are called by the name they have, and of which op kind they are."""
    rows = [(name, *words) for name, words in compared.slice_words.items()]
    return {
        name: StringColumn.from_strings(row[at] for row in rows)
        for at, name in enumerate(("sliceNames", "sliceLabels", "sliceKinds"))
    }


def _first_slices(compared: TimeComparison) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return for each node of `b` its first slice in the timeline of both, -1 for none."""
    a, b = compared.a.timeline, compared.b.timeline
    found = np.full(compared.matching.graph_b.num_nodes, -1, np.int32)
    if a is None or b is None:
        return found
    first = np.flatnonzero((b.slice_node >= 0) & (b.slice_occurrence == 0))
    found[b.slice_node[first]] = first + a.num_slices
    return found


def _columns(compared: TimeChanges, what: str) -> dict[str, Any]:
    """Return the columns that rows by node and by kind share; `what` they are of names texts."""
    rows: list[TimeChange] = list(compared)
    numbers = {
        "nsA": [row.ns_a for row in rows],
        "nsB": [row.ns_b for row in rows],
        "p": [row.p for row in rows],
        "q": [row.q for row in rows],
        "shift": [row.shift_ns for row in rows],
        "low": [row.low_ns for row in rows],
        "high": [row.high_ns for row in rows],
    }
    texts = {"label": [row.label for row in rows], "why": [row.why for row in rows]}
    if what == "node":
        texts["kind"] = [row.kind for row in rows]
    return {
        **{name: StringColumn.from_strings(column) for name, column in texts.items()},
        **{name: np.array(column, np.float64) for name, column in numbers.items()},
        "verdict": np.array([row.verdict for row in rows], np.uint8),
        "shown": compared.columns.verdicts.shown[compared.columns.order].view(np.uint8),
    }


def _starts(rows: list[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.cumsum([0, *map(len, rows)]).astype(np.int32)


def _flat(rows: list[Any]) -> np.ndarray[Any, Any]:
    return np.array([each for row in rows for each in row])
