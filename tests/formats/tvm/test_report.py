"""Profiling reports: what TVM printed is what is read, in each of its three forms."""

import csv
import io
import json
import math
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from graph_json import chain
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.formats.tvm.report.report import read_report, sniff
from tvmdbg_widgets.formats.tvm.versions import same_report
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.model.placement import join_report
from tvmdbg_widgets.model.timeline.report import Argument, Report, parse_arguments
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

NAN, INF = math.nan, math.inf
#: The reports made by hand through TVM's own objects: name, µs, count, percent, device, ratio.
HAND = [
    ("my_op", 1.5, 1, 75.0, "cpu0", 0.5),
    ("my_op", 0.25, 1, 12.5, "cpu0", None),
    ('other, "quoted"', 123456.789, 2, 25.0, "cuda0", None),
]
MERGED = [HAND[2], ("my_op", 1.75, 2, 87.5, "cpu0", 0.5)]
TWO_DEVICES = [*HAND[:2], ("other", 123456.789, 2, 25.0, "cuda0", None)]


def read(data: str | bytes, name: str = "report.json") -> Report:
    return read_report(BytesSource(data.encode() if isinstance(data, str) else data, name))


def rules(report: Report) -> list[str]:
    return [issue.rule for issue in report.issues]


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def check_rows(report: Report, expected: list[tuple], digits: float) -> None:
    assert len(report) == len(expected)
    for row, (name, us, count, percent, device, ratio) in enumerate(expected):
        assert report.names[row] == name
        assert abs(report.duration_ns[row] - us * 1e3) <= digits * abs(us) * 1e3 + 1e-9
        assert report.count[row] == count
        assert report.percent[row] == percent
        assert report.devices[row] == device
        metric = report.metrics["Ratio"][row]
        assert (None if metric is None else metric.value) == ratio
        if device == "cpu0":
            assert report.arguments(row) == (Argument("float32", (1, 2)),)


def test_handmade_reports_match_their_source_rows(corpus: Path) -> None:
    folder = corpus / "tvm/edge_cases/v0.19/reports"
    for stem, rows in (("hand", HAND), ("two_devices", TWO_DEVICES)):
        report = read_report(FileSource(folder / f"{stem}.json"))
        check_rows(report, rows, 1e-16)
        assert [report.device_ns[name] for name in ("cuda0", "cpu0")] == [3e3, 2e3]
        assert {k: m.value for k, m in report.configuration.items()} == {
            "Number of threads": 3,
            "Executor": "Graph",
        }
        assert rules(report) == ["percent-disagrees"]
        assert "75 %" in report.issues[0].message
        assert "gives 50 %" in report.issues[0].message
        check_rows(read_report(FileSource(folder / f"{stem}.csv")), rows, 5e-6)


def test_printed_tables_made_by_hand(corpus: Path) -> None:
    folder = corpus / "tvm/edge_cases/v0.19/reports"
    for file in sorted(folder.glob("hand*.txt")):
        report = read_report(FileSource(file))
        merged = "agg1" in file.name or file.name == "hand.txt"
        single = HAND if "sort0" in file.name else [HAND[2], HAND[0], HAND[1]]
        check_rows(report, MERGED if merged else single, 1e-6)
        assert report.aggregated  # one call was made with a count of 2
        assert report.in_call_order == ("sort0_agg0" in file.name)
        assert list(report.device_ns.values()) == [3e3, 2e3]
        assert report.executor == "Graph"


def test_nonfinite_numbers_and_escaped_strings_are_read(corpus: Path) -> None:
    folder = corpus / "tvm/edge_cases/v0.19/reports"
    for form in ("json", "csv", "txt"):
        report = read_report(FileSource(folder / f"nonfinite.{form}"))
        assert list(report.names) == ["x\\y\nz\t"]
        assert math.isnan(report.duration_ns[0])
        assert report.count.tolist() == [4611686018427387904]
        assert report.percent[0] == (0.0 if form == "txt" else 1e-9)
        assert report.metrics["Ratio"][0].value == INF
        if form != "csv":
            assert list(report.device_ns.values()) == [-1e3]


def test_empty_report_is_read_in_every_form(corpus: Path) -> None:
    for file in sorted((corpus / "tvm/edge_cases/v0.19/reports").glob("empty*")):
        report = read_report(FileSource(file))
        assert len(report) == 0
        assert not report.truncated
        assert all(issue.severity is IssueSeverity.NOTE for issue in report.issues)


def test_corpus_reports_match_parsed_json(corpus: Path) -> None:
    """These names need no escapes, so that a JSON reader of its own tells the truth."""
    files = sorted((corpus / "tvm").rglob("report.json"))
    assert len(files) == 33
    for file in files:
        truth = json.loads(file.read_text())
        report = read_report(FileSource(file))
        assert len(report) == len(truth["calls"])
        assert not report.issues
        for row, call in enumerate(truth["calls"]):
            assert report.names[row] == call["Name"]["string"]
            assert report.duration_ns[row] == call["Duration (us)"]["microseconds"] * 1e3
            assert report.percent[row] == call["Percent"]["percent"]
            assert report.count[row] == call["Count"]["count"]
            assert report.devices[row] == call["Device"]["string"]
            assert report.hashes[row] == call.get("Hash", {"string": ""})["string"]
            text = call["Argument Shapes"]["string"]
            assert ", ".join(map(str, report.arguments(row))) == text
            others = {n: m[row].value for n, m in report.metrics.items() if m[row] is not None}
            assert others == {n: v["string"] for n, v in call.items() if "layout" in n}
        assert {d: ns / 1e3 for d, ns in report.device_ns.items()} == pytest.approx(
            {d: m["Duration (us)"]["microseconds"] for d, m in truth["device_metrics"].items()}
        )
        assert bool(report.configuration) == ("configuration" in truth)


def test_csv_and_tables_agree_with_json_within_their_digits(corpus: Path) -> None:
    for file in sorted((corpus / "tvm").rglob("report.json")):
        truth = json.loads(file.read_text())["calls"]
        exact = read_report(FileSource(file))
        rows = read_report(FileSource(file.with_suffix(".csv")))
        table = list(csv.DictReader(io.StringIO(file.with_suffix(".csv").read_text())))
        assert [row["Name"] for row in table] == list(rows.names)
        for row, call in enumerate(truth):
            us = call["Duration (us)"]["microseconds"]
            assert float(f"{us:.6g}") * 1e3 == rows.duration_ns[row]
            assert abs(us * 1e3 - rows.duration_ns[row]) <= rows.rounding_ns[row] * 1.001
        raw = read_report(FileSource(file.parent / "report.raw_table.txt"))
        assert list(raw.names) == [call["Name"]["string"] for call in truth]
        for row, call in enumerate(truth):
            assert (
                f"{call['Duration (us)']['microseconds']:.2f}"
                == f"{raw.duration_ns[row] / 1e3:.2f}"
            )
            assert raw.argument_shapes[row] == call["Argument Shapes"]["string"]
        merged = read_report(FileSource(file.with_suffix(".txt")))
        for other in (rows, raw, merged):
            assert same_report(exact, other)
            assert not [i for i in other.issues if i.severity is not IssueSeverity.NOTE]


def test_every_report_joins_its_graph_by_order(corpus: Path) -> None:
    for file in sorted((corpus / "tvm").rglob("report.json")):
        graph = json.loads((file.parent / "graph.json").read_text("utf-8"))
        truth = json.loads(file.read_text())["calls"]
        operators = [i for i, node in enumerate(graph["nodes"]) if node["op"] == "tvm_op"]
        run = tvmdbg.open(file, graph=file.parent / "graph.json")
        (report,) = run.reports
        assert report.nodes.tolist() == operators
        assert set(report.trust.tolist()) <= {Trust.BY_ORDER}
        for node, call in zip(operators, truth, strict=True):
            assert graph["nodes"][node]["attrs"]["func_name"] == call["Name"]["string"]
            assert report.node_ns[node] == call["Duration (us)"]["microseconds"] * 1e3
        assert {i.rule for i in run.check()} <= {
            "report-one-pass",
            "timeline-synthetic",
            "duplicate-name",
        }


def test_merged_rows_have_no_node_and_single_rows_do(corpus: Path) -> None:
    case = corpus / "tvm/resnet20_cifar"
    run = tvmdbg.open(case / "report.txt", graph=case / "graph.json")
    (report,) = run.reports
    assert (report.nodes[report.count > 1] == -1).all()
    assert (report.nodes[report.count == 1] >= 0).all()
    exact = tvmdbg.open(case / "report.json", graph=case / "graph.json").reports[0]
    rows = np.flatnonzero(report.nodes >= 0)
    times = exact.node_ns[report.nodes[rows]]
    assert np.abs(times - report.duration_ns[rows]).max() <= 5.001
    assert run.check().by_rule("report-rows-ambiguous")
    assert run.check().by_rule("rows-merged")


def test_report_in_a_dump_folder_is_a_separate_measurement(corpus: Path) -> None:
    case = corpus / "tvm/resnet20_cifar"
    run = tvmdbg.open(case)
    (report,) = run.reports
    assert report.form == "json"
    assert set(report.also) == {"report.csv", "report.raw_table.txt", "report.txt"}
    seconds = json.loads((case / "time_list.json").read_text())
    ours = sum(map(np.mean, seconds)) * 1e6
    theirs = sum(
        c["Duration (us)"]["microseconds"]
        for c in json.loads((case / "report.json").read_text())["calls"]
    )
    assert run.timeline.total_ns == pytest.approx(ours * 1e3, rel=1e-9)
    assert report.total_ns == pytest.approx(theirs * 1e3, rel=1e-12)
    (note,) = run.check().by_rule("report-differs")
    assert note.severity is IssueSeverity.NOTE
    assert f"{ours / 1e3:.2f} ms" in note.message
    assert f"{theirs / 1e3:.2f} ms" in note.message
    assert "Report: 27 calls" in run.summary()
    assert "Report: 27 calls" in repr(run)


def test_report_without_dump_becomes_the_timeline(corpus: Path) -> None:
    case = corpus / "tvm/resnet20_cifar"
    run = tvmdbg.open(case / "report.json")
    timeline = run.timeline
    assert timeline.synthetic
    assert timeline.tracks == ("cpu0",)
    assert timeline.num_slices == timeline.num_nodes == 27
    ends = timeline.slice_start_ns + timeline.slice_duration_ns
    assert np.abs(ends[:-1] - timeline.slice_start_ns[1:]).max() < 1e-6
    assert run.provenance.releases == "TVM v0.9 to v0.23"
    assert "one pass" in run.check().by_rule("report-one-pass")[0].message
    older = tvmdbg.open(corpus / "tvm/resnet20_cifar_v0.8/report.json")
    assert older.provenance.releases == "TVM v0.8"
    both = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/reports/two_devices.json")
    assert both.timeline.tracks == ("cpu0", "cuda0")


def test_issue_for_disagreeing_shapes_shows_both(corpus: Path) -> None:
    case = corpus / "tvm/resnet20_cifar"
    text = (case / "report.json").read_text()
    first = "float32[1, 3, 32, 32], float32[16, 3, 3, 3]"
    changed = text.replace(first, "float32[9, 3, 32, 32], float32[16, 3, 3, 3]")
    run = tvmdbg.open(changed.encode(), graph=case / "graph.json")
    (issue,) = run.check().by_rule("report-shapes-disagree")
    assert "float32[9, 3, 32, 32]" in issue.message
    assert "float32[1, 3, 32, 32]" in issue.message
    assert run.reports[0].trust[0] == Trust.AMBIGUOUS
    other = tvmdbg.open(text.encode(), graph=corpus / "tvm/transformer_encoder/graph.json")
    assert other.check().by_rule("report-names")
    joined = other.reports[0].nodes >= 0
    assert joined.sum() < len(joined) / 2
    assert (other.reports[0].trust[joined] >= Trust.BY_NAME).all()


def test_vm_calls_are_kept_and_reported_as_nested(corpus: Path) -> None:
    rows = [("VM::AllocStorage", 1.0), ("fused_add", 2.0), ("main", 4.0)]
    text = json_text([{"Name": n, "Duration (us)": us, "Count": 1} for n, us in rows])
    run = tvmdbg.open(text.encode())
    assert [slice_.name for slice_ in map(run.timeline.slice, range(3))] == [n for n, _ in rows]
    assert "twice" in run.check().by_rule("vm-calls-nested")[0].message
    case = corpus / "tvm/edge_cases/v0.19/split_multi"
    own = json.loads((case / "report.json").read_text())
    plumbing = {"Name": {"string": "vm.builtin.reshape"}, "Duration (us)": {"microseconds": 1.0}}
    own["calls"] = [c for call in own["calls"] for c in (plumbing, call)]
    (report,) = tvmdbg.open(json.dumps(own).encode(), graph=case / "graph.json").reports
    assert report.nodes.tolist() == [-1, 1, -1, 2, -1, 3]


@pytest.mark.parametrize("name", ["report.json", "report.csv", "report.raw_table.txt"])
def test_report_can_be_passed_as_keyword(corpus: Path, name: str) -> None:
    case = corpus / "tvm/resnet20_cifar"
    dump = next((case / "tvmdbg").iterdir())
    run = tvmdbg.open(dump, report=case / name)
    assert len(run.reports) == 1
    assert (run.reports[0].nodes >= 0).all()
    assert run.timeline.num_slices == 72


# A printer like TVM's (AsJSON, AsCSV, AsTable): what it does not escape, this does not either.
def metric_text(value: object, decimals: int) -> str:
    if isinstance(value, str):
        return f'{{"string":"{value}"}}'
    if isinstance(value, int):
        return f'{{"count":{value}}}'
    number = str(value) if not math.isfinite(value) else f"{value:.{decimals}f}"
    return f'{{"microseconds":{number}}}'


def json_text(calls: list[dict], decimals: int = 17, threads: str = "x") -> str:
    rows = ",".join(
        "{" + ",".join(f'"{k}":{metric_text(v, decimals)}' for k, v in call.items()) + "}"
        for call in calls
    )
    devices = '{"cpu0":{"Name":{"string":"Total"},"Duration (us)":{"microseconds":nan}}}'
    configuration = f',"configuration":{{"Executor":{{"string":"{threads}"}}}}'
    tail = configuration if decimals == 17 else ""
    return f'{{"calls":[{rows}],"device_metrics":{devices}{tail}}}'


def csv_text(calls: list[dict]) -> str:
    columns = sorted({key for call in calls for key in call})
    lines = [",".join(columns)]
    for call in calls:
        cells = []
        for column in columns:
            value = call.get(column, "")
            if column in call and isinstance(value, str):
                cells.append(f'"{value}"')
            else:
                cells.append(f"{value:.6g}" if isinstance(value, float) else str(value))
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


PIECES = ['"', "\\", "}", "{", ",", ":", "]", '"}', '"}}', '"},', '","', "\n", "\\n", "1", "a", "é"]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "Duration (us)": st.sampled_from([1.5, NAN, INF, -INF, 0.0]),
            "Name": texts,
            "Count": st.integers(1, 2**62),
        },
        optional={"layout": texts, "Hash": texts},
    ),
    min_size=1,
    max_size=3,
)


@given(calls, st.sampled_from([6, 17]), texts)
def test_unescaped_strings_are_read_verbatim(
    rows: list[dict], decimals: int, executor: str
) -> None:
    if '":{' in executor or any('":{' in str(v) for row in rows for v in row.values()):
        return
    text = json_text(rows, decimals, executor)
    report = read(text)
    assert sniff(text.encode())
    assert not report.truncated
    assert len(report) == len(rows)
    for row, call in enumerate(rows):
        assert report.names[row] == call["Name"]
        assert report.hashes[row] == call.get("Hash", "")
        assert report.count[row] == call["Count"]
        assert same(report.duration_ns[row], call["Duration (us)"] * 1e3)
        if "layout" in call:
            assert report.metrics["layout"][row].value == call["layout"]
    if decimals == 17:
        assert report.configuration["Executor"].value == executor


@given(calls)
def test_csv_cells_are_correct_or_reported(rows: list[dict]) -> None:
    report = read(csv_text(rows), "report.csv")
    told = [i for i in report.issues if i.severity is not IssueSeverity.NOTE]
    if not told:
        assert list(report.names) == [call["Name"] for call in rows]
        for row, call in enumerate(rows):
            assert report.hashes[row] == call.get("Hash", "")
            assert same(report.duration_ns[row], call["Duration (us)"] * 1e3)
    elif not report.truncated and len(report) == len(rows):
        for row, call in enumerate(rows):
            assert report.names[row] in ("", call["Name"])


def test_string_that_mimics_the_report_is_reported_with_its_offset() -> None:
    text = json_text([{"Name": 'a"},"Count":{"count":1', "Duration (us)": 1.0}])
    with pytest.raises(FormatError, match="at byte"):
        read(text)
    clear = json_text([{"Name": 'x":{y', "Duration (us)": 1.0}])
    (issue,) = read(clear).issues.by_rule("string-unclear")
    assert f"byte {clear.index('x') - 1}" in issue.message
    assert read(clear).names[0] == ""


def test_ambiguous_csv_line_leaves_strings_empty() -> None:
    rows = [{"Duration (us)": 1.0, "Hash": "h", "Name": 'a","b'}]
    report = read(csv_text(rows), "r.csv")
    assert rules(report) == ["string-unclear"]
    assert "byte 24" in report.issues[0].message
    assert report.names[0] == report.hashes[0] == ""
    assert report.duration_ns[0] == 1e3


def test_valid_json_of_other_tools_and_its_escapes() -> None:
    document = {
        "configuration": {},
        "device_metrics": {},
        "calls": [{"Name": {"string": 'a"\\b'}, "Duration (us)": {"microseconds": 1.25}}],
    }
    for separators in ((",", ":"), (", ", ": ")):
        report = read(json.dumps(document, separators=separators))
        assert list(report.names) == ['a"\\b']
        assert not report.issues
    printed = json_text([{"Name": r"C:\temp\new", "Duration (us)": 1.0}]).replace(
        "nan", "1." + "0" * 17
    )
    json.loads(printed)  # valid, and wrong: \t and \n would be read as escapes
    report = read(printed)
    assert list(report.names) == [r"C:\temp\new"]
    assert report.issues.by_rule("backslash-kept")


def test_unknown_metrics_are_noted() -> None:
    text = json.dumps(
        {
            "calls": [
                {
                    "Name": {"string": "a", "count": 1},
                    "Duration (us)": {"string": "x"},
                    "odd": {"furlongs": 3.5},
                    "bare": 7,
                },
                [],
            ],
            "more": 1,
        }
    )
    report = read(text)
    assert sorted(set(rules(report))) == [
        "kind-unknown",
        "metric-not-a-number",
        "metric-unreadable",
        "unknown-section",
    ]
    assert report.metrics["odd"][0].kind == "furlongs"
    assert report.metrics["odd"][0].value == 3.5
    assert list(report.names) == ["", ""]
    twice = '{"calls":[{"Name":{"string":"a"},"Name":{"string":"b"}}]}'
    assert rules(read(twice)) == ["metric-twice"]
    assert read(twice).names[0] == ""


def test_one_repeated_name_among_many_takes_no_time() -> None:
    others = ",".join(f'"m{at}":{{"count":1}}' for at in range(200_000))
    text = f'{{"calls":[{{"Name":{{"string":"a"}},{others},"m0":{{"count":2}}}}]}}'
    report = read(text)  # took eight minutes
    assert rules(report) == ["metric-twice"]
    assert list(report.names) == ["a"]


def test_report_of_other_calls_of_one_function_is_joined_quickly() -> None:
    """A graph of 1,000 nodes took 90 s: each was described anew for every row."""
    graph = read_graph(BytesSource(chain([f"f{at}" for at in range(3_000)], "fused")))
    call = {"Name": {"string": "fused"}, "Device": {"string": "cuda0"}}
    fits = call | {"Argument Shapes": {"string": "float32[1, 4], float32[1, 4]"}}
    report = read(json.dumps({"calls": [call, *[fits] * 2_000]}))
    begin = time.process_time()
    joined, issues = join_report(graph, report)
    assert time.process_time() - begin < 5
    assert (joined.nodes == -1).all()
    assert [each.rule for each in issues] == ["report-names", "report-rows-ambiguous"]


def test_thousands_separators_of_any_locale(corpus: Path) -> None:
    text = (corpus / "tvm/edge_cases/v0.19/reports/hand.txt").read_text()
    for number in ("123,456.79", "123.456,79", "123'456.79"):
        sum_of = number[:-2].replace("6", "8") + "54"
        changed = text.replace("   123456.79", number.rjust(12)).replace(
            "   123458.54", sum_of.rjust(12).replace("458", "458")
        )
        report = read(changed, "r.txt")
        assert report.duration_ns[0] == 123456790.0, number


def test_names_wider_in_bytes_than_in_characters() -> None:
    names = ["卷积", "a" * 9]
    width = 10
    head = f"{'Name'.ljust(width)}  Duration (us)  Percent  Count  \n"
    rows = "".join(
        f"{name}{' ' * (width - len(name.encode()))}  {us:>13.2f}  {1:>7.2f}  {1:>5}  \n"
        for name, us in zip(names, (3.0, 2.0), strict=True)
    )
    dashes = f"{'-' * 10}".ljust(width + 2 + 13 + 2 + 7 + 2 + 5 + 2) + "\n"
    report = read(head + rows + dashes, "r.txt")
    assert list(report.names) == names
    assert report.duration_ns.tolist() == [3000.0, 2000.0]


def prefix_of(part: Report, whole: Report) -> bool:
    count = len(part)
    return (
        list(part.names) == list(whole.names)[:count]
        and part.count.tolist() == whole.count.tolist()[:count]
        and np.array_equal(part.duration_ns, whole.duration_ns[:count], equal_nan=True)
    )


@pytest.mark.parametrize(
    "name", ["hand.json", "hand.csv", "hand.table_sort0_agg0.txt", "nonfinite.csv"]
)
def test_truncated_report_gives_earlier_calls_or_an_error(corpus: Path, name: str) -> None:
    content = (corpus / "tvm/edge_cases/v0.19/reports" / name).read_bytes()
    whole = read(content, name)
    shown = set()
    for length in range(len(content)):
        try:
            part = read(content[:length], name)
        except FormatError:
            continue
        assert prefix_of(part, whole), length
        shown.add(len(part))
        if len(part) < len(whole) and name.endswith("json"):
            assert part.truncated
    # The last row of a CSV is whole only with its line end.
    assert max(shown) >= len(whole) - name.endswith("csv")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"calls":' + "[" * 100_000, "", "{}", '{"calls":7}']
)
def test_non_report_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read(text)


def test_a_line_of_many_quotes_does_not_hang() -> None:
    text = "Count,Duration (us),Name\n" + '",' * 100_000 + "\n"
    assert read(text, "r.csv").truncated
    with pytest.raises(FormatError):
        read('{"calls":[{"Name":{"string":"' + '"}' * 100_000)


@pytest.mark.parametrize("line", ["", ",", '"', ',,"a', '"a', '","x","', "1,1," * 8, '",' * 90])
def test_lines_that_are_not_rows_are_scanned_once(line: str) -> None:
    """It takes minutes where each of them is tried together with the next 64."""
    count = 40_000 // len(f"{line}\n")
    report = read("Count,Duration (us),Name\n" + f"{line}\n" * count + '1,2,"b"\n', "r.csv")
    assert report.names[-1] == "b"
    assert rules(report) == ["report-cut"]
    assert f"{count:,} lines" in report.issues[0].message


def test_many_unclear_strings_are_reported_with_byte_offset() -> None:
    """Minutes where the text is encoded from its start for each of them."""
    call = '{"Name":{"string":"é":{y"},"Duration (us)":{"microseconds":1.0}}'
    text = f'{{"calls":[{",".join([call] * 20_000)}]}}'
    report = read(text)
    assert len(report) == 20_000
    last = len(text[: text.rindex('"é')].encode())
    assert f"byte {last} " in report.issues.by_rule("string-unclear")[-1].message


def test_byte_that_is_no_utf8_ends_no_table() -> None:
    """It is shown as U+FFFD, three bytes, but is as wide as it was printed."""
    head = "Name      Duration (us)  Percent  Count  \n"
    rows = [f"kérn_{at}   {at:>13.2f}  {at * 100 / 6:>7.2f}  {1:>5}  \n" for at in range(1, 4)]
    total = f"{'Total':<8}  {6:>13.2f}  {'':>7}  {'':>5}  \n"
    text = "".join([head, *rows, total])
    report = read(text.encode().replace(b"rn_2", b"r\x80_2"), "r.txt")
    assert list(report.names) == ["kérn_1", "kér\ufffd_2", "kérn_3"]
    assert report.duration_ns.tolist() == [1000.0, 2000.0, 3000.0]
    assert rules(report) == ["not-text"]


def test_a_string_of_several_lines_is_one_cell() -> None:
    most = "Count,Duration (us),Name\n" + '1,2,"' + "x\n" * 63 + '"\n'
    assert read(most, "r.csv").names[0] == "x\n" * 63
    assert rules(read(most.replace("x", "x\ny"), "r.csv")) == ["report-cut"]
    after = read('Count,Duration (us),Name\n1,2,"a\n1,3,"b"\n4,5,"c\nd"\n', "r.csv")
    assert list(after.names) == ["b", "c\nd"]  # a row of its own ends an open string


def test_report_has_reprs_and_converts_to_dataframe(corpus: Path) -> None:
    report = read_report(FileSource(corpus / "tvm/edge_cases/v0.19/reports/hand.json"))
    assert 'other, "quoted"' in repr(report)
    assert "other, &quot;quoted&quot;" in report._repr_html_()
    pytest.importorskip("pandas")
    assert report.to_dataframe()["duration_ns"].tolist() == report.duration_ns.tolist()


def test_overflowing_duration_is_infinite_without_warning() -> None:
    call = {"Name": {"string": "op"}, "Duration (us)": {"microseconds": 1e308}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = {"cpu0": {"Duration (us)": {"microseconds": 10**320}}}
        report = read(json.dumps({"calls": [call], "device_metrics": whole, "configuration": {}}))
    assert report.duration_ns.tolist() == [INF]
    assert report.device_ns == {"cpu0": INF}


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "float32[" + "1, " * 300_000, "i[" + "1" * 5000 + "]"]
)
def test_long_malformed_argument_shapes_are_rejected(text: str) -> None:
    assert parse_arguments(text) is None


def test_dangling_edge_does_not_stop_joining_calls(corpus: Path) -> None:
    case = corpus / "tvm/edge_cases/v0.19/split_multi"
    graph = json.loads((case / "graph.json").read_text())
    reader = next(node for node in graph["nodes"] if node["name"] == "relu_of_1")
    reader["inputs"] = [[1, 77, 0]]
    document = json.loads((case / "report.json").read_text())
    document["calls"].reverse()
    run = tvmdbg.open([json.dumps(document).encode(), json.dumps(graph).encode()])
    (report,) = run.reports
    assert report.nodes.max() >= 1
