"""What is too large, too long or too deep is told as a limit, not as a mistake in writing."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from formats.tvm.graph_truth import valid

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.model.tensors.layouts import Layout

INT32, INT64 = 2**31 - 1, 2**63 - 1
DIGITS = "9" * 5000


def outputs(graph: dict[str, Any]) -> None:
    graph["nodes"][2]["attrs"]["num_outputs"] = "12345678901"


def an_edge(graph: dict[str, Any]) -> None:
    graph["nodes"][3]["inputs"][0] = [2**40, 1, 0]


def a_shape(graph: dict[str, Any]) -> None:
    graph["attrs"]["shape"][1][0] = [2**70, 3]


def an_offset(graph: dict[str, Any]) -> None:
    graph["node_row_ptr"][-1] = 2**70


@pytest.mark.parametrize(
    ("change", "rule", "limit"),
    [
        (outputs, "num-outputs-invalid", "expected at most 999,999,999"),
        (an_edge, "edge-type", f"integers from 0 to {INT32}"),
        (a_shape, "attr-item", f"at most 64 integers from 0 to {INT64}"),
        (an_offset, "node-row-ptr-type", "a list of 64-bit integers"),
    ],
)
def test_graph_number_limits_are_reported(
    change: Callable[[dict[str, Any]], None], rule: str, limit: str
) -> None:
    graph = valid()
    change(graph)
    (issue,) = tvmdbg.open(json.dumps(graph).encode()).check().by_rule(rule)
    assert limit in issue.message


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (f"[[{DIGITS}]]", "a number too long to be read"),
        ("[" * 100_000, "nested too deeply"),
        ("[[1", "not JSON"),
    ],
)
def test_time_list_limits_are_reported(times: str, told: str) -> None:
    run = tvmdbg.open(json.dumps(valid()).encode(), times=times.encode())
    (issue,) = run.check().by_rule("file-unreadable")
    assert told in issue.message
    assert ("not JSON" in issue.message) == (told == "not JSON")


def test_overlong_number_in_trace_is_reported() -> None:
    event = '{"ts":%s,"tid":1,"pid":1,"name":"x","ph":"%s"}'
    events = ",".join([event % (0, "B"), event % (0, "E"), event % (DIGITS, "B")])
    trace = f'{{"displayTimeUnit":"ns","traceEvents":[{events}]}}'
    (issue,) = (
        tvmdbg.open(json.dumps(valid()).encode(), trace=trace.encode()).check().by_rule("trace-cut")
    )
    assert issue.message.startswith("a number too long to be read comes after byte")


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ('"Count":{"count":%s}' % ("9" * 25), f"expected count, at most {INT64}"),
        ('"Duration (us)":{"microseconds":%s}' % ("9" * 500), "in at most 400 characters"),
    ],
)
def test_report_number_limits_are_reported(metric: str, told: str) -> None:
    metrics = {
        "Duration (us)": '"Duration (us)":{"microseconds":1.0}',
        "Count": '"Count":{"count":1}',
    }
    metrics[metric[1:].partition('"')[0]] = metric
    own = ",".join(metrics.values())
    call = f'{{"Name":{{"string":"a"}},"Device":{{"string":"cpu0"}},{own}}}'
    text = f'{{"calls":[{call}],"device_metrics":{{}},"configuration":{{}}}}'
    (issue,) = tvmdbg.open(text.encode()).check().by_rule("metric-not-a-number")
    assert told in issue.message


def test_overlong_layout_is_rejected() -> None:
    with pytest.raises(ValueError, match="a layout has at most 100 characters, found 200"):
        Layout.parse("N" * 200)
