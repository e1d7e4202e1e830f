"""Tables that ExecuTorch's Inspector printed or saved, against the dumps they were made of."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, answers, case_dir
from tvmdbg_widgets.formats.executorch.printed_tables import printed_tables
from tvmdbg_widgets.model.base.text import FormatError

#: Made by hand: events out of order, doubled, or in no call.
_ODD = ("09",)
_TIMED = [
    case
    for case in CASES
    if not case.startswith(_ODD)
    and isinstance(answers(case).get("inspector", {}).get("dataframe"), dict)
    and "rows" in answers(case)["inspector"]["dataframe"]
]
_RECORDED = [case for case in _TIMED if (case_dir(case) / "etrecord.bin").exists()]
_DELEGATION = """\
Total delegated subgraphs: 2
Number of delegated nodes: 203
Number of non-delegated nodes: 7

╒════╤═══════════════╤═══════════════════════════════════╤═════════════════════════════════════╕
│    │ op_type       │   occurrences_in_delegated_graphs │ occurrences_in_non_delegated_graphs │
╞════╪═══════════════╪═══════════════════════════════════╪═════════════════════════════════════╡
│  0 │ aten_add      │                               200 │                                   0 │
├────┼───────────────┼───────────────────────────────────┼─────────────────────────────────────┤
│  1 │ aten_mean_dim │                                 3 │                                   1 │
├────┼───────────────┼───────────────────────────────────┼─────────────────────────────────────┤
│  2 │ getitem       │                                 0 │                                   6 │
├────┼───────────────┼───────────────────────────────────┼─────────────────────────────────────┤
│  3 │ Total         │                               203 │                                   7 │
╘════╧═══════════════╧═══════════════════════════════════╧═════════════════════════════════════╛
"""


def _frame(case: str) -> dict[str, Any]:
    found: dict[str, Any] = answers(case)["inspector"]["dataframe"]
    return found


def _csv(case: str, *, delimiter: str = ",", index: bool = True) -> str:
    frame, out = _frame(case), io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow([""] * index + frame["columns"])
    for number, row in enumerate(frame["rows"]):
        cells = ["" if cell is None else cell for cell in row]
        writer.writerow([number] * index + cells)
    return out.getvalue()


def _markdown(case: str) -> str:
    frame = _frame(case)
    lines = [frame["columns"], ["---"] * len(frame["columns"])]
    lines += [[str(c).replace("\n", " ").replace("|", "/") for c in r] for r in frame["rows"]]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _data_frame(case: str) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(_frame(case)["rows"], columns=_frame(case)["columns"])


def _pandas(case: str) -> str:
    text: str = _data_frame(case).to_string(max_colwidth=None)
    return text


def _printed(case: str) -> str:
    text: str = answers(case)["inspector"]["print_data_tabular"]
    return text


def _open(text: str) -> Any:
    return tvmdbg.open(text.encode())


def _times(run: Any) -> list[float]:
    return sorted(row.time_ns for row in run.table() if row.time_ns == row.time_ns)


@pytest.mark.parametrize("case", _TIMED)
@pytest.mark.parametrize(
    "form",
    [
        _csv,
        _markdown,
        _pandas,
        lambda case: _csv(case, delimiter="\t"),
        lambda case: _csv(case, delimiter=";"),
        lambda case: _csv(case, index=False),
        lambda case: _data_frame(case).to_html(),
        lambda case: _data_frame(case).to_json(),
        lambda case: _data_frame(case).to_json(orient="records", indent=1),
    ],
    ids=["csv", "markdown", "pandas", "tabs", "semicolons", "no index", "html", "json", "records"],
)
def test_a_table_has_the_times_of_its_dump(case: str, form: Any) -> None:
    dump, run = tvmdbg.open(case_dir(case) / "etdump.etdp"), _open(form(case))
    assert run.timeline.total_ns == pytest.approx(dump.timeline.total_ns, abs=0.51)
    assert _times(run) == pytest.approx(_times(dump), abs=0.51)
    assert run.timeline.executions == dump.timeline.executions
    # pandas and CSV alike keep the starts, which tell how long their ticks are.
    assert not run.timeline.synthetic
    assert np.sort(run.timeline.slice_start_ns) == pytest.approx(
        np.sort(dump.timeline.slice_start_ns), abs=0.51
    )


@pytest.mark.parametrize("case", _TIMED)
@pytest.mark.parametrize("form", ["print_data_tabular", "save_data_to_tsv"])
def test_printed_table_has_the_mean_times_of_the_data_frame(case: str, form: str) -> None:
    run = _open(answers(case)["inspector"][form])
    frame = _frame(case)
    name, avg = frame["columns"].index("event_name"), frame["columns"].index("avg (ms)")
    printed = [row for row in frame["rows"] if "OPERATOR_CALL" not in row[name]]
    own = zip(run.timeline.slice_names, run.timeline.slice_duration_ns, strict=True)
    said = [(row[name], row[avg] * 1e6) for row in printed]
    if run.timeline.executions > 1:
        return
    for (seen, took), (told, mean) in zip(sorted(own), sorted(said), strict=True):
        assert seen == told
        # The grid has six digits; means are drawn as whole nanoseconds.
        assert took == pytest.approx(mean, rel=6e-6, abs=1)
    kernels = any(row[name].startswith("native_call_") for row in printed)
    assert bool(run.check().by_rule("kernels-only")) == kernels


@pytest.mark.parametrize("case", _RECORDED)
def test_a_table_is_tied_to_the_program_it_was_measured_on(case: str) -> None:
    record = case_dir(case) / "etrecord.bin"
    dump = tvmdbg.open(case_dir(case) / "etdump.etdp", record)
    run = tvmdbg.open(_csv(case).encode(), record)
    assert run.check().by_rule("table-by-order")
    rows, own = run.table(), dump.table()
    assert [row.node for row in rows] == [row.node for row in own]
    assert [row.time_ns for row in rows] == pytest.approx([r.time_ns for r in own], nan_ok=True)


def test_table_of_another_program_is_tied_to_no_node() -> None:
    record = case_dir("02_conv_portable") / "etrecord.bin"
    run = tvmdbg.open(_csv("01_mlp_portable").encode(), record)
    assert run.check().by_rule("executorch-disagree")
    assert np.isnan(run.timeline.node_ns).all()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_lines_wrapped_by_a_terminal_are_joined(width: int) -> None:
    text = _printed("01_mlp_portable")
    cut = [line[at : at + width] for line in text.split("\n") for at in range(0, len(line), width)]
    assert _times(_open("\n".join(cut))) == _times(_open(text))


@pytest.mark.parametrize("prefix", ["> ", "# ", "2026-01-02T03:04:05.678Z ", "    "])
@pytest.mark.parametrize("form", [_printed, _csv, _markdown])
def test_line_prefixes_are_removed(prefix: str, form: Any) -> None:
    text = form("03b_mixed_xnnpack")
    pasted = "".join(f"{prefix}{line}\n" for line in text.splitlines())
    assert _times(_open(pasted)) == _times(_open(text))


def test_every_table_of_a_log_is_reached() -> None:
    first, second = _printed("01_mlp_portable"), _csv("02_conv_portable")
    run = _open(f"before\n{first}\nafter\n{second}")
    assert run.check().by_rule("more-than-one")
    assert [_times(each) for each in run.tables] == [_times(_open(first)), _times(_open(second))]
    assert _times(run) == _times(run.tables[1])


def test_delegate_calls_are_named_by_backend_with_facts_on_slices() -> None:
    run = _open(_csv("03b_mixed_xnnpack"))
    names = [row.name for row in run.table()]
    assert any(name == "XNNPACK, row 3" for name in names)
    assert any("op types\t" in text for text in run.timeline.slice_about)
    assert any("row\t" in text for text in run.timeline.slice_about)
    assert not any("instruction" in text for text in run.timeline.slice_about)


@pytest.mark.parametrize(("unit", "factor"), [("ns", 1e6), ("us", 1e3), ("s", 1e-3)])
def test_units_are_read_from_the_heading(unit: str, factor: float) -> None:
    frame = _frame("01_mlp_portable")
    timed = [frame["columns"].index("raw"), frame["columns"].index("avg (ms)")]
    for row in frame["rows"]:
        assert row[timed[0]] is not None
    lines = [",".join(c.replace("(ms)", f"({unit})") for c in frame["columns"][:9])]
    for row in frame["rows"]:
        raw = json.dumps([value * factor for value in row[2]])
        means = [str(value * factor) for value in row[3:9]]
        lines.append(",".join([row[0], row[1], f'"{raw}"', *means]))
    run, same = _open("\n".join(lines)), _open(_csv("01_mlp_portable"))
    assert _times(run) == pytest.approx(_times(same), abs=1)
    assert not run.check().by_rule("unit-assumed")


def test_table_without_units_is_read_as_ms_with_an_issue() -> None:
    run = _open(_csv("01_mlp_portable").replace(" (ms)", ""))
    assert run.check().by_rule("unit-assumed")
    assert _times(run) == _times(_open(_csv("01_mlp_portable")))


def _events(*rows: tuple[str, int, float]) -> str:
    lines = [f'Execute,{name},"[{took}]",{took},[{start}]\n' for name, start, took in rows]
    return "event_block_name,event_name,raw,avg (ms),start_time\n" + "".join(lines)


def test_starts_of_a_clock_since_1970_are_exact() -> None:
    base = 1_764_400_000_000_000_001
    rows = [("native_call_a.out", 1_000, 0.001), ("OPERATOR_CALL", 900, 0.0013)]
    rows += [("native_call_b.out", 3_001, 0.001), ("OPERATOR_CALL", 2_907, 0.0013)]
    rows += [("Method::execute", 0, 0.005)]
    run = _open(_events(*((name, base + at, took) for name, at, took in rows)))
    assert run.timeline.slice_start_ns.tolist() == [1_000, 900, 3_001, 2_907, 0]


def test_impossible_start_times_are_left_out() -> None:
    start = 2**62 - 1
    run = _open(_events(("OPERATOR_CALL", start, 1.0), ("Method::execute", start, 2.0)))
    assert run.timeline.synthetic
    assert run.timeline.total_ns == 2e6


def test_impossible_durations_are_refused() -> None:
    with pytest.raises(FormatError, match="no row that can be read"):
        _open(_events(*((f"native_call_{number}", 0, 4e12) for number in range(9))))


def test_times_in_cycles_are_reported() -> None:
    run = _open(_csv("01_mlp_portable").replace("(ms)", "(cycles)"))
    assert run.check().by_rule("times-in-cycles")


def test_means_of_several_runs_raise_a_note() -> None:
    run = _open(answers("05_multirun")["inspector"]["save_data_to_tsv"])
    assert "means of 10 runs" in run.check().by_rule("means-only")[0].message
    assert any("p90\t" in text for text in run.timeline.slice_about)
    exact = tvmdbg.open(case_dir("05_multirun") / "etdump.etdp").timeline.total_ns
    assert run.timeline.total_ns == pytest.approx(exact, abs=1)


def test_malformed_rows_are_left_out_and_reported() -> None:
    lines = _csv("01_mlp_portable").splitlines()
    run = _open("\n".join([*lines[:4], "3,Execute,native_call_x", *lines[4:]]))
    assert "line 5" in run.check().by_rule("rows-left-out")[0].message.replace(
        "heading: 5", "line 5"
    )
    assert _times(run) == _times(_open("\n".join(lines)))


def test_truncated_table_keeps_complete_rows() -> None:
    text = _printed("01_mlp_portable")
    run = _open(text[: len(text) * 2 // 3])
    assert run.timeline.num_slices > 2


def test_elided_rows_are_reported() -> None:
    text = _markdown("01_mlp_portable")
    columns = len(_frame("01_mlp_portable")["columns"])
    run = _open(text + "| ... " * columns + "|\n")
    assert run.check().by_rule("table-elided")


def test_events_are_not_assigned_to_calls_across_missing_rows() -> None:
    """A delegate's events whose own call was elided are of no other call."""
    pandas = pytest.importorskip("pandas")
    frame = _data_frame("08_conv_xnnpack_quant")
    with pandas.option_context(
        "display.max_rows", 6, "display.max_columns", 30, "display.width", 0
    ):
        run = _open(frame.to_string(max_rows=6))
    assert run.check().by_rule("table-elided")
    assert not run.check().by_rule("delegate-clock")
    shown = dict(zip(run.timeline.slice_names, run.timeline.slice_duration_ns, strict=True))
    assert shown["Method::execute"] == pytest.approx(run.timeline.total_ns)


def test_columns_omitted_by_pandas_are_named() -> None:
    with pytest.raises(FormatError, match="without event_name"):
        _open(str(_data_frame("01_mlp_portable")))


def test_heading_without_rows_is_refused_with_a_hint() -> None:
    with pytest.raises(FormatError, match="no row that can be read") as caught:
        _open("some log\nevent_block_name,event_name,avg (ms)\nthe end\n")
    assert caught.value.field == "line 2"
    assert "save_data_to_tsv" in str(caught.value)


def test_names_are_escaped_in_html() -> None:
    evil = "<img src=x onerror=alert(1)>"
    run = _open(f"event_block_name,event_name,avg (ms)\nExecute,native_call_{evil},1.0\n")
    assert evil.replace("native_call_", "") in run.table()[0].name
    assert evil not in run.table()._repr_html_()


def test_delegation_is_read_from_summary_and_table() -> None:
    run = _open(f"INFO lowering\n{_DELEGATION}done\n")
    info = run.delegation
    assert (info.subgraphs, info.delegated, info.non_delegated) == (2, 203, 7)
    assert info.operators["aten_mean_dim"] == (3, 1)
    assert info.left_out() == {"getitem": 6, "aten_mean_dim": 1}
    assert info.complete
    assert "203 of 210 nodes" in run.summary()
    assert [each.rule for each in run.findings()] == ["delegation"]
    assert "<td" in run._repr_mimebundle_()["text/html"]
    frame = info.to_dataframe()
    assert next(iter(frame.columns)) == "op_type"


def test_delegation_and_times_are_one_run() -> None:
    run = _open(_DELEGATION + _printed("01_mlp_portable"))
    assert run.delegation.delegated == 203
    assert len(run.table())


def test_delegation_as_the_documentation_prints_it() -> None:
    text = (
        "Total  delegated  subgraphs:  86\nNumber  of  delegated  nodes:  473\n"
        "Number  of  non-delegated  nodes:  430\n\n"
        "|    |  op_type  |  occurrences_in_delegated_graphs  |  "
        "occurrences_in_non_delegated_graphs  |\n|----|-----|----|---|\n"
        "|  0  |  aten__softmax_default  |  12  |  0  |\n|      |  ...  |    |    |\n"
        "|  26  |  Total  |  473  |  430  |\n"
    )
    run = _open(text)
    assert run.delegation.share == pytest.approx(473 / 903)
    assert not run.delegation.complete
    assert run.check().by_rule("delegation-incomplete")


def test_inconsistent_delegation_counts_are_reported() -> None:
    run = _open(_DELEGATION.replace("nodes: 203", "nodes: 204"))
    assert run.check().by_rule("delegation-disagrees")


def test_run_without_delegation_text_suggests_how_to_get_it() -> None:
    run = tvmdbg.open(case_dir("01_mlp_portable") / "etdump.etdp")
    with pytest.raises(ValueError, match="print_delegation_info"):
        _ = run.delegation


@pytest.mark.parametrize(
    "lines",
    [
        "event_block_name event_name raw" + " x" * 50_000 + "\n" + "1\n" * 100_000,
        "event_block_name event_name raw \\\n" + "0 E x [1]\n" * 20_000,
        ",event_block_name,event_name\n" + '0,"\n' * 100_000,
        "<table><tr><th>event_block_name</th><th>event_name</th></tr>" + "<tr><td>" * 100_000,
        "╒══\n" * 100_000 + "event_block_name event_name",
    ],
    ids=["short lines", "blocks", "open cells", "open rows", "rules"],
)
def test_hostile_text_is_refused_in_bounded_time(lines: str) -> None:
    begin = time.process_time()
    with pytest.raises(FormatError):
        _open(lines)
    assert time.process_time() - begin < 10


_CELLS = st.text(st.sampled_from("│|,\t;\"'\n ab0.[]{}╒╕├┤╞╡╘╛-+=…"), max_size=60)


@given(st.lists(_CELLS, max_size=12), st.sampled_from([",", "\t", "│", "|", "  ", ";"]))
def test_text_after_a_heading_never_breaks_the_reader(lines: list[str], between: str) -> None:
    heading = between.join(["", "event_block_name", "event_name", "avg (ms)", ""])
    for table in printed_tables("\n".join([heading, *lines]), ("event_block_name", "event_name")):
        assert all(set(row) <= set(table.columns) for row in table.rows)
    with contextlib.suppress(FormatError):
        _open("\n".join([heading, *lines]))


EVENTS_OF_TWO_RUNS = """\
,event_block_name,event_name,raw,avg (ms),is_delegated_op
0,Execute,native_call_add.out,"[0.25, 0.75]",0.5,False
1,Execute,Method::execute,"[1.5, 2.5]",2.0,False
"""


def _call_times(text: str) -> list[tuple[str, float]]:
    return [(row.name, row.time_ns) for row in tvmdbg.open(text.encode()).table()]


def test_decimal_commas_are_not_read_as_lists_of_runs() -> None:
    rows = [
        row[1:]
        for row in csv.reader(EVENTS_OF_TWO_RUNS.replace("[0.25, 0.75]", "[0.5]").splitlines())
    ]
    german = [[re.sub(r"(?<=\d)\.(?=\d)", ",", cell) for cell in row] for row in rows]
    for columns in (slice(None), slice(0, 2)):
        text = "\n".join(";".join([*row[columns], *row[3:]]) for row in german)
        with pytest.raises(tvmdbg.FormatError):
            tvmdbg.open(text.encode())
    assert _call_times(EVENTS_OF_TWO_RUNS.replace("(ms)", "(µs)")) == [
        (name, time / 1000) for name, time in _call_times(EVENTS_OF_TWO_RUNS)
    ]


def test_repeated_heading_starts_a_table_and_doubled_rows_are_reported() -> None:
    assert _call_times(EVENTS_OF_TWO_RUNS + EVENTS_OF_TWO_RUNS) == _call_times(EVENTS_OF_TWO_RUNS)
    doubled = "".join(line * 2 for line in EVENTS_OF_TWO_RUNS.splitlines(keepends=True))
    assert tvmdbg.open(doubled.encode()).check().by_rule("rows-twice")


COUNTED = """\
Total delegated subgraphs: 2
Number of delegated nodes: 1,062
Number of non-delegated nodes: 4
"""
OPERATORS = [("aten_add_tensor", 1010, 0), ("aten_mul_tensor", 52, 1), ("getitem", 0, 3)]
HEADINGS = ("op_type", "occurrences_in_delegated_graphs", "occurrences_in_non_delegated_graphs")


def _in_frames(rows: list[tuple[object, ...]]) -> str:
    return "\n".join("│ " + " │ ".join(map(str, row)) + " │" for row in rows) + "\n"


def _in_blocks() -> str:
    first = [f"{name:>19}  {a:>31}" for name, a, _ in [(*HEADINGS[:2], 0), *OPERATORS]]
    second = [f"{b:>35}" for _, _, b in [("", 0, HEADINGS[2]), *OPERATORS]]
    heads = ["  ", *(f"{n} " for n in range(len(OPERATORS)))]
    blocks = (
        "\n".join(f"{head} {line}{end}" for head, line in zip(heads, lines, strict=True))
        for lines, end in ((first, "  \\"), (second, "  "))
    )
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        COUNTED + _in_frames([HEADINGS, *OPERATORS]),
        "".join(
            f"INFO:root:{line}\n"
            for line in (COUNTED + _in_frames([HEADINGS, *OPERATORS])).split("\n")
        ),
        "".join(
            f"> {line}\n" for line in (COUNTED + _in_frames([HEADINGS, *OPERATORS])).split("\n")
        ),
        COUNTED + _in_frames([("op_type", "delegated", "non_delegated"), *OPERATORS]),
        COUNTED
        + _in_frames([HEADINGS, *((name, f"{a:,}.0", f"{b}.0") for name, a, b in OPERATORS)]),
        COUNTED + _in_blocks(),
        "[INFO 2024 a.py:1] lowered\n" + COUNTED + _in_frames([HEADINGS, *OPERATORS]),
        json.dumps([dict(zip(HEADINGS, row, strict=True)) for row in OPERATORS]),
    ],
)
def test_every_operator_of_a_delegation_is_kept(text: str) -> None:
    info = tvmdbg.open(text.encode()).delegation
    assert info is not None
    assert info.operators == {name: (a, b) for name, a, b in OPERATORS}
    if "Total" in text:
        assert (info.subgraphs, info.delegated, info.non_delegated) == (2, 1062, 4)


def test_unreadable_operator_table_is_reported() -> None:
    run = tvmdbg.open((COUNTED + "op_type  ...  occurrences_in_delegated_graphs\na 1\n").encode())
    assert run.check().by_rule("delegation-table-unread")
