"""Tables that ExecuTorch's Inspector printed or saved, against the dumps they were made of."""

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
from tabulate import tabulate

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, answers, case_dir
from tvmdbg_widgets.formats.executorch.printed_tables import printed_tables
from tvmdbg_widgets.model.base.text import FormatError

MLP, MIXED, MANY = "01_mlp_portable", "03b_mixed_xnnpack", "05_multirun"
#: Of 09, events are out of order, doubled, or in no call: it was made by hand.
_TIMED = [
    case
    for case in CASES
    if not case.startswith("09")
    and isinstance(answers(case).get("inspector", {}).get("dataframe"), dict)
    and "rows" in answers(case)["inspector"]["dataframe"]
]
_RECORDED = [case for case in _TIMED if (case_dir(case) / "etrecord.bin").exists()]


def _frame(case: str) -> Any:
    return answers(case)["inspector"]["dataframe"]


def _csv(case: str, *, delimiter: str = ",", index: bool = True) -> str:
    frame, out = _frame(case), io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow([""] * index + frame["columns"])
    for number, row in enumerate(frame["rows"]):
        writer.writerow([number] * index + ["" if cell is None else cell for cell in row])
    return out.getvalue()


def _markdown(case: str) -> str:
    frame = _frame(case)
    lines = [frame["columns"], ["---"] * len(frame["columns"])]
    lines += [[str(c).replace("\n", " ").replace("|", "/") for c in r] for r in frame["rows"]]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _pandas(case: str) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(_frame(case)["rows"], columns=_frame(case)["columns"])


def _printed(case: str) -> Any:
    return answers(case)["inspector"]["print_data_tabular"]


def _open(text: str) -> Any:
    return tvmdbg.open(text.encode())


def _times(run: Any) -> list[float]:
    return sorted(row.time_ns for row in run.table() if row.time_ns == row.time_ns)


FORMS: dict[str, Any] = {
    "csv": _csv,
    "markdown": _markdown,
    "pandas": lambda case: _pandas(case).to_string(max_colwidth=None),
    "tabs": lambda case: _csv(case, delimiter="\t"),
    "semicolons": lambda case: _csv(case, delimiter=";"),
    "no index": lambda case: _csv(case, index=False),
    "html": lambda case: _pandas(case).to_html(),
    "json": lambda case: _pandas(case).to_json(),
    "records": lambda case: _pandas(case).to_json(orient="records", indent=1),
}


@pytest.mark.parametrize("case", _TIMED)
@pytest.mark.parametrize("form", FORMS)
def test_a_table_has_the_times_of_its_dump(case: str, form: str) -> None:
    dump, run = tvmdbg.open(case_dir(case) / "etdump.etdp"), _open(FORMS[form](case))
    ours, its = run.timeline, dump.timeline
    assert ours.total_ns == pytest.approx(its.total_ns, abs=0.51)
    assert _times(run) == pytest.approx(_times(dump), abs=0.51)
    # pandas and CSV alike keep the starts, which tell how long their ticks are.
    assert (ours.executions, ours.synthetic) == (its.executions, False)
    starts = np.sort(its.slice_start_ns)
    assert np.sort(ours.slice_start_ns) == pytest.approx(starts, abs=0.51)


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
        # The grid has six digits; means are drawn as whole nanoseconds.
        assert (seen, took) == (told, pytest.approx(mean, rel=6e-6, abs=1))
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
    run = tvmdbg.open(_csv(MLP).encode(), case_dir("02_conv_portable") / "etrecord.bin")
    assert run.check().by_rule("executorch-disagree")
    assert np.isnan(run.timeline.node_ns).all()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_lines_wrapped_by_a_terminal_are_joined(width: int) -> None:
    text = _printed(MLP)
    cut = [line[at : at + width] for line in text.split("\n") for at in range(0, len(line), width)]
    assert _times(_open("\n".join(cut))) == _times(_open(text))


@pytest.mark.parametrize("prefix", ["> ", "# ", "2026-01-02T03:04:05.678Z ", "    "])
@pytest.mark.parametrize("form", [_printed, _csv, _markdown])
def test_line_prefixes_are_removed(prefix: str, form: Any) -> None:
    text = form(MIXED)
    pasted = "".join(f"{prefix}{line}\n" for line in text.splitlines())
    assert _times(_open(pasted)) == _times(_open(text))


def test_every_table_of_a_log_is_reached() -> None:
    first, second = _printed(MLP), _csv("02_conv_portable")
    run = _open(f"before\n{first}\nafter\n{second}")
    assert run.check().by_rule("more-than-one")
    assert [_times(each) for each in run.tables] == [_times(_open(first)), _times(_open(second))]
    assert _times(run) == _times(run.tables[1])


def test_delegate_calls_are_named_by_backend_with_facts_on_slices() -> None:
    run = _open(_csv(MIXED))
    assert {f"XNNPACK call {at} of 2" for at in (1, 2)} <= {row.name for row in run.table()}
    about = "\n".join(run.timeline.slice_about)
    assert ["op types\t" in about, "row\t" in about, "instruction" in about] == [True, True, False]


@pytest.mark.parametrize(("unit", "factor"), [("ns", 1e6), ("us", 1e3), ("s", 1e-3)])
def test_units_are_read_from_the_heading(unit: str, factor: float) -> None:
    frame = _frame(MLP)
    lines = [",".join(c.replace("(ms)", f"({unit})") for c in frame["columns"][:9])]
    for row in frame["rows"]:
        raw = json.dumps([value * factor for value in row[2]])
        means = [str(value * factor) for value in row[3:9]]
        lines.append(",".join([row[0], row[1], f'"{raw}"', *means]))
    run = _open("\n".join(lines))
    assert _times(run) == pytest.approx(_times(_open(_csv(MLP))), abs=1)
    assert not run.check().by_rule("unit-assumed")


def _events(*rows: tuple[str, int, float]) -> str:
    lines = [f'Execute,{name},"[{took}]",{took},[{start}]\n' for name, start, took in rows]
    return "event_block_name,event_name,raw,avg (ms),start_time\n" + "".join(lines)


def test_impossible_start_times_are_left_out_and_others_exact() -> None:
    base = 1_764_400_000_000_000_001  # since 1970
    rows = [("native_call_a.out", 1_000, 0.001), ("OPERATOR_CALL", 900, 0.0013)]
    rows += [("native_call_b.out", 3_001, 0.001), ("OPERATOR_CALL", 2_907, 0.0013)]
    rows += [("Method::execute", 0, 0.005)]
    run = _open(_events(*((name, base + at, took) for name, at, took in rows)))
    assert run.timeline.slice_start_ns.tolist() == [1_000, 900, 3_001, 2_907, 0]
    start = 2**62 - 1
    line = _open(_events(("OPERATOR_CALL", start, 1.0), ("Method::execute", start, 2.0))).timeline
    assert (line.synthetic, line.total_ns) == (True, 2e6)


def test_means_of_several_runs_raise_a_note() -> None:
    run = _open(answers(MANY)["inspector"]["save_data_to_tsv"])
    assert "means of 10 runs" in run.check().by_rule("means-only")[0].message
    assert any("p90\t" in text for text in run.timeline.slice_about)
    exact = tvmdbg.open(case_dir(MANY) / "etdump.etdp").timeline.total_ns
    assert run.timeline.total_ns == pytest.approx(exact, abs=1)


def test_malformed_truncated_and_elided_rows() -> None:
    lines = _csv(MLP).splitlines()
    run = _open("\n".join([*lines[:4], "3,Execute,native_call_x", *lines[4:]]))
    (issue, *_) = run.check().by_rule("rows-left-out")
    assert re.search("(line|heading:) 5", issue.message)
    assert _times(run) == _times(_open("\n".join(lines)))
    assert _open(_printed(MLP)[: len(_printed(MLP)) * 2 // 3]).timeline.num_slices > 2
    run = _open(_markdown(MLP) + "| ... " * len(_frame(MLP)["columns"]) + "|\n")
    assert run.check().by_rule("table-elided")


def test_events_are_not_assigned_to_calls_across_missing_rows() -> None:
    """A delegate's events whose own call was elided are of no other call."""
    pandas = pytest.importorskip("pandas")
    shown = "display.max_rows", 6, "display.max_columns", 30, "display.width", 0
    with pandas.option_context(*shown):
        run = _open(_pandas("08_conv_xnnpack_quant").to_string(max_rows=6))
    assert run.check().by_rule("table-elided")
    assert not run.check().by_rule("delegate-clock")
    times = dict(zip(run.timeline.slice_names, run.timeline.slice_duration_ns, strict=True))
    assert times["Method::execute"] == pytest.approx(run.timeline.total_ns)


def test_tables_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(FormatError, match="without event_name"):
        _open(str(_pandas(MLP)))  # pandas left out columns
    long = _events(*((f"native_call_{number}", 0, 4e12) for number in range(9)))
    with pytest.raises(FormatError, match="no row that can be read"):
        _open(long)
    with pytest.raises(FormatError, match="no row that can be read") as caught:
        _open("some log\nevent_block_name,event_name,avg (ms)\nthe end\n")
    assert caught.value.field == "line 2"
    assert "save_data_to_tsv" in str(caught.value)


def test_names_are_escaped_in_html() -> None:
    evil = "<img src=x onerror=alert(1)>"
    table = _open(_events((f"native_call_{evil}", 0, 1.0))).table()
    assert evil in table[0].name
    assert evil not in table._repr_html_()


TWO_RUNS = """\
,event_block_name,event_name,raw,avg (ms),is_delegated_op
0,Execute,native_call_add.out,"[0.25, 0.75]",0.5,False
1,Execute,Method::execute,"[1.5, 2.5]",2.0,False
"""


def test_assumed_units_cycles_and_doubled_rows_are_reported() -> None:
    run = _open(_csv(MLP).replace(" (ms)", ""))
    assert run.check().by_rule("unit-assumed")
    assert _times(run) == _times(_open(_csv(MLP)))
    run = _open(_csv(MLP).replace("(ms)", "(cycles)"))
    assert run.check().by_rule("times-in-cycles")
    # A repeated heading starts a table.
    assert _times(_open(TWO_RUNS + TWO_RUNS)) == _times(_open(TWO_RUNS))
    assert _times(_open(TWO_RUNS.replace("(ms)", "(µs)"))) == [500, 1500]
    doubled = "".join(line * 2 for line in TWO_RUNS.splitlines(keepends=True))
    assert _open(doubled).check().by_rule("rows-twice")


def test_decimal_commas_are_not_read_as_lists_of_runs() -> None:
    rows = [row[1:] for row in csv.reader(TWO_RUNS.replace("[0.25, 0.75]", "[0.5]").splitlines())]
    german = [[re.sub(r"(?<=\d)\.(?=\d)", ",", cell) for cell in row] for row in rows]
    for columns in (slice(None), slice(0, 2)):
        with pytest.raises(FormatError):
            _open("\n".join(";".join([*row[columns], *row[3:]]) for row in german))


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


# What was delegated ------------------------------------------------------------------------------

HEADINGS = ("op_type", "occurrences_in_delegated_graphs", "occurrences_in_non_delegated_graphs")
OPERATORS = [("aten_add_tensor", 1010, 0), ("aten_mul_tensor", 52, 1), ("getitem", 0, 3)]


def _counted(subgraphs: object, delegated: object, others: object) -> str:
    return (
        f"Total delegated subgraphs: {subgraphs}\n"
        f"Number of delegated nodes: {delegated}\nNumber of non-delegated nodes: {others}\n"
    )


def _in_frames(*rows: tuple[object, ...]) -> str:
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


COUNTED = _counted(2, "1,062", 4)
WHOLE = COUNTED + _in_frames(HEADINGS, *OPERATORS)
DECIMALS = ((name, f"{a:,}.0", f"{b}.0") for name, a, b in OPERATORS)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        "".join(f"INFO:root:{line}\n" for line in WHOLE.split("\n")),
        "".join(f"> {line}\n" for line in WHOLE.split("\n")),
        COUNTED + _in_frames(("op_type", "delegated", "non_delegated"), *OPERATORS),
        COUNTED + _in_frames(HEADINGS, *DECIMALS),
        COUNTED + _in_blocks(),
        "[INFO 2024 a.py:1] lowered\n" + WHOLE,
        json.dumps([dict(zip(HEADINGS, row, strict=True)) for row in OPERATORS]),
    ],
)
def test_every_operator_of_a_delegation_is_kept(text: str) -> None:
    info = _open(text).delegation
    assert info.operators == {name: (a, b) for name, a, b in OPERATORS}
    if "Total" in text:
        assert (info.subgraphs, info.delegated, info.non_delegated) == (2, 1062, 4)


ROWS = [("aten_add", 200, 0), ("aten_mean_dim", 3, 1), ("getitem", 0, 6), ("Total", 203, 7)]
GRID = tabulate(ROWS, HEADINGS, tablefmt="fancy_grid", showindex=True)
SMALL = f"{_counted(2, 203, 7)}\n{GRID}\n"


def test_delegation_is_read_from_summary_and_table() -> None:
    run = _open(f"INFO lowering\n{SMALL}done\n")
    info = run.delegation
    assert (info.subgraphs, info.delegated, info.non_delegated, info.complete) == (2, 203, 7, True)
    assert info.operators["aten_mean_dim"] == (3, 1)
    assert info.left_out() == {"getitem": 6, "aten_mean_dim": 1}
    assert "203 of 210 nodes" in run.summary()
    assert [each.rule for each in run.findings()] == ["delegation"]
    assert "<td" in run._repr_mimebundle_()["text/html"]
    assert next(iter(info.to_dataframe().columns)) == "op_type"
    run = _open(SMALL + _printed(MLP))
    assert (run.delegation.delegated, bool(len(run.table()))) == (203, True)


def test_delegation_as_the_documentation_prints_it() -> None:
    text = (
        "Total  delegated  subgraphs:  86\nNumber  of  delegated  nodes:  473\n"
        "Number  of  non-delegated  nodes:  430\n\n"
        "|    |  op_type  |  occurrences_in_delegated_graphs  |  "
        "occurrences_in_non_delegated_graphs  |\n|----|-----|----|---|\n"
        "|  0  |  aten__softmax_default  |  12  |  0  |\n|      |  ...  |    |    |\n"
        "|  26  |  Total  |  473  |  430  |\n"
    )
    info = _open(text).delegation
    assert (info.share, info.complete) == (pytest.approx(473 / 903), False)
    assert _open(text).check().by_rule("delegation-incomplete")


def test_delegation_that_is_inconsistent_unreadable_or_missing() -> None:
    run = _open(SMALL.replace("nodes: 203", "nodes: 204"))
    assert run.check().by_rule("delegation-disagrees")
    run = _open(COUNTED + "op_type  ...  occurrences_in_delegated_graphs\na 1\n")
    assert run.check().by_rule("delegation-table-unread")
    with pytest.raises(ValueError, match="print_delegation_info"):
        _ = tvmdbg.open(case_dir(MLP) / "etdump.etdp").delegation
