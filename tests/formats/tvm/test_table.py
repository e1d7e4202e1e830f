from pathlib import Path

import numpy as np
import pytest
from formats.tvm.table_text import format_table
from formats.tvm.times_truth import Case, corpus_cases, own_cases

from tvmdbg_widgets.formats.tvm.table import DebuggerTable, print_table, read_tables, sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource


def read(text: str, encoding: str = "utf-8") -> DebuggerTable:
    return read_tables(BytesSource(text.encode(encoding), "log.txt"))[-1]


def rules(table: DebuggerTable) -> list[str]:
    return [issue.rule for issue in table.issues]


def printed(path: Path) -> str:
    return path.read_bytes().decode().removesuffix("\n")


def check_case(case: Case) -> None:
    """What TVM printed, what we print from its times, and what we read are the same."""
    nodes = case.timed_nodes()
    log = case.folder / "run2_stdout.txt"
    path = log if log.exists() else case.folder / "run_stdout.txt"
    text = printed(path)
    assert print_table([node for _, node in nodes], style=case.style) == text
    table = read_tables(FileSource(path))[-1]
    assert format_table(table) == text
    assert table.style == case.style
    assert not table.issues
    assert sniff(path.read_bytes())
    seconds = case.node_seconds
    expected = [
        (node.name, node.func_name, case.printed_us(seconds[index]), shape, output)
        for index, node in nodes
        for output, shape in enumerate(node.shapes)
    ]
    expected.sort(key=lambda row: row[2], reverse=True)
    rows = [(row.name, row.ops, row.time_us, row.shape, row.output) for row in table.rows]
    assert rows == expected
    assert table.total_us == case.printed_us(sum(seconds))
    if case.style == "v0.9":
        repeats = {node.name: [round(s * 1e6, 3) for s in node.times_s] for _, node in nodes}
        names = [node.name for _, node in nodes]
        for row in table.rows:
            if names.count(row.name) == 1:
                assert list(row.measurements_us) == repeats[row.name]


def test_own_tables_match_tvm_output(data: Path) -> None:
    for case in own_cases(data):
        check_case(case)


def test_corpus_tables_match_tvm_output(corpus: Path) -> None:
    cases = corpus_cases(corpus)
    assert len(cases) >= 46
    for case in cases:
        check_case(case)


def test_unsorted_corpus_tables_match_tvm_output(corpus: Path) -> None:
    count = 0
    for case in corpus_cases(corpus):
        path = case.folder / "debug_result_unsorted.txt"
        if path.exists():
            nodes = [node for _, node in case.timed_nodes()]
            text = printed(path)
            assert print_table(nodes, style=case.style, sort_by_time=False) == text
            table = read_tables(FileSource(path))[-1]
            assert format_table(table) == text
            assert table.total_us is None
            assert not table.issues
            assert len(table) == sum(len(node.shapes) for node in nodes)
            count += 1
    assert count == 33


def test_profile_reports_are_not_node_time_tables(corpus: Path) -> None:
    files = sorted((corpus / "tvm").rglob("report*.txt"))
    assert files
    for path in files:
        assert not sniff(path.read_bytes())
        with pytest.raises(FormatError, match="no table of node times"):
            read_tables(FileSource(path))[-1]


# The sample output of docs/dev/debugger.rst in apache/tvm, Apache-2.0, at commit
# 0c005451b7737f3fa2d1a1c60a2ce4fd2f1223bb: what v0.5 printed, without the blanks
# behind each line and indented by four.
SAMPLE = """\
    Node Name               Ops                                                                  Time(us)   Time(%)  Start Time       End Time         Shape                Inputs  Outputs
    ---------               ---                                                                  --------   -------  ----------       --------         -----                ------  -------
    1_NCHW1c                fuse___layout_transform___4                                          56.52      0.02     15:24:44.177475  15:24:44.177534  (1, 1, 224, 224)     1       1
    _contrib_conv2d_nchwc0  fuse__contrib_conv2d_NCHWc                                           12436.11   3.4      15:24:44.177549  15:24:44.189993  (1, 1, 224, 224, 1)  2       1
    relu0_NCHW8c            fuse___layout_transform___broadcast_add_relu___layout_transform__    4375.43    1.2      15:24:44.190027  15:24:44.194410  (8, 1, 5, 5, 1, 8)   2       1
    _contrib_conv2d_nchwc1  fuse__contrib_conv2d_NCHWc_1                                         213108.6   58.28    15:24:44.194440  15:24:44.407558  (1, 8, 224, 224, 8)  2       1
    relu1_NCHW8c            fuse___layout_transform___broadcast_add_relu___layout_transform__    2265.57    0.62     15:24:44.407600  15:24:44.409874  (64, 1, 1)           2       1
    _contrib_conv2d_nchwc2  fuse__contrib_conv2d_NCHWc_2                                         104623.15  28.61    15:24:44.409905  15:24:44.514535  (1, 8, 224, 224, 8)  2       1
    relu2_NCHW2c            fuse___layout_transform___broadcast_add_relu___layout_transform___1  2004.77    0.55     15:24:44.514567  15:24:44.516582  (8, 8, 3, 3, 8, 8)   2       1
    _contrib_conv2d_nchwc3  fuse__contrib_conv2d_NCHWc_3                                         25218.4    6.9      15:24:44.516628  15:24:44.541856  (1, 8, 224, 224, 8)  2       1
    reshape1                fuse___layout_transform___broadcast_add_reshape_transpose_reshape    1554.25    0.43     15:24:44.541893  15:24:44.543452  (64, 1, 1)           2       1
"""  # noqa: E501
V05 = ("Node Name", "Ops", "Time(us)", "Time(%)", "Start Time", "End Time", "Shape", "Inputs")


def test_the_sample_of_the_documentation_is_a_timeline_with_gaps() -> None:
    table = read("Sample Output\n\n::\n\n" + SAMPLE)
    assert not table.issues
    assert format_table(table) == SAMPLE.removesuffix("\n")
    assert table.style == "v0.5"
    assert table.total_us is None
    assert table.rounding_ns == 5.0
    row = table.rows[1]
    assert (row.name, row.time_us, row.percent) == ("_contrib_conv2d_nchwc0", 12436.11, 3.4)
    assert (row.ops, row.shape) == ("fuse__contrib_conv2d_NCHWc", (1, 1, 224, 224, 1))
    midnight = (15 * 60 + 24) * 60e9
    assert table.start_ns[0] == midnight + 44_177_475_000
    assert table.end_ns[-1] == midnight + 44_543_452_000
    gaps = table.start_ns[1:] - table.end_ns[:-1]
    assert gaps.tolist() == [15e3, 34e3, 30e3, 42e3, 31e3, 32e3, 46e3, 37e3]
    offsets, repeats = table.repeats()
    assert offsets.tolist() == list(range(10))
    assert repeats[0] == pytest.approx(56520)


def clock_table(*times: tuple[str, str], outputs: int = 1) -> DebuggerTable:
    widths = (11, 5, 10, 9, 17, 17, 9, 8, 9)
    titles = (*V05, "Outputs")
    lines: list[tuple[object, ...]] = [titles, tuple("-" * len(title) for title in titles)]
    for number, (start, end) in enumerate(times):
        name = f"n{number // outputs}"
        lines.append((name, "k", 1.0, 25.0, start, end, (4,), 1, outputs))
    return read(
        "\n".join(
            "".join(str(cell).ljust(w) for cell, w in zip(line, widths, strict=True))
            for line in lines
        )
    )


@pytest.mark.spec_only
def test_times_across_midnight_keep_increasing() -> None:
    table = clock_table(
        ("23:59:59.999990", "23:59:59.999995"),
        ("23:59:59.999998", "00:00:00.000004"),
        ("00:00:00.000010", "00:00:01"),
    )
    assert not table.issues.by_rule("clock-steps-back")
    day = 86_400e9
    assert table.start_ns.tolist() == [day - 10e3, day - 2e3, day + 10e3]
    assert table.end_ns.tolist() == [day - 5e3, day + 4e3, day + 1e9]


@pytest.mark.spec_only
def test_clock_step_back_between_nodes_is_an_issue() -> None:
    twice = ("10:00:00.000001", "10:00:00.000003")
    both = clock_table(twice, twice, outputs=2)
    assert not both.issues.by_rule("clock-steps-back")
    assert both.start_ns[0] == both.start_ns[1]
    back = clock_table(("10:00:00.000001", "10:00:00.000003"), ("09:59:59", "10:00:00"))
    assert "'n1'" in back.issues.by_rule("clock-steps-back")[0].message


@pytest.fixture
def split_text(data: Path) -> str:
    return (data / "times" / "split_multi_v0.19" / "run_stdout.txt").read_bytes().decode()


def test_names_with_spaces_or_unicode_and_empty_names_are_read(data: Path) -> None:
    for version in ("v0.6", "v0.8"):
        path = data / "times" / f"odd_names_{version}" / "run_stdout.txt"
        table = read_tables(FileSource(path))[-1]
        assert {row.name for row in table.rows} == {
            "same",
            "",
            '卷积/层:0 "q" <b>',
            "same____topo-index:1____output-num:0",
        }
    text = (data / "times" / "odd_names_v0.8" / "run_stdout.txt").read_text(encoding="utf-8")
    table = read(
        text.replace("same____topo-index:1____output-num:0", "same  two  k_exp  0.416  (3,)       ")
    )
    assert not table.issues.by_rule("rows-interrupted")
    assert "same  two  k_exp  0.416  (3,)" in [row.name for row in table.rows]


def test_lines_between_rows_are_reported(split_text: str) -> None:
    lines = split_text.split("\n")
    lines.insert(4, "[18:39:56] graph_executor_debug.cc: warning")
    table = read("\n".join(lines))
    assert len(table) == 5
    assert rules(table) == ["rows-interrupted"]
    assert "line 5" in table.issues[0].message


def test_missing_row_is_detected_by_count_or_total(split_text: str) -> None:
    lines = split_text.split("\n")
    assert rules(read("\n".join(lines[:3] + lines[4:]))) == ["rows-missing"]
    assert rules(read("\n".join(lines[:6] + lines[7:]))) == ["total-disagrees"]
    del lines[-2]
    assert "blanks-lost" in rules(read("\n".join(lines)))


def test_total_unequal_to_its_rows_is_reported(split_text: str) -> None:
    assert rules(read(split_text.replace("7.536", "7.538"))) == []
    table = read(split_text.replace("7.536", "7.539"))
    assert rules(table) == ["total-disagrees"]
    assert "7.539" in table.issues[0].message
    assert "7.536" in table.issues[0].message


def test_misaligned_line_is_not_a_row(split_text: str) -> None:
    assert "exp_of_2    k_exp  " in split_text
    table = read(split_text.replace("exp_of_2    k_exp  ", "exp_of_2   k_exp   "))
    assert [row.name for row in table.rows] == ["split"] * 3 + ["relu_of_1"]
    assert rules(table)[0] == "rows-interrupted"
    narrow = split_text.replace("Time(us)  Time(%)", "Time(us) Time(%) ")
    with pytest.raises(FormatError, match="no header line"):
        read(narrow)


def test_mean_unequal_to_its_measurements_is_reported(split_text: str) -> None:
    table = read(split_text.replace("[2.395, 2.377]", "[2.395, 2.379]"))
    assert rules(table) == []
    table = read(split_text.replace("[2.395, 2.377]", "[2.395, 2.397]"))
    assert rules(table) == ["mean-disagrees"]
    assert "2.396" in table.issues[0].message


@pytest.mark.spec_only
def test_nan_percent_is_read(split_text: str) -> None:
    text = split_text.replace("31.544", "nan   ").replace("2.377     nan", "0.0       nan")
    rows = read(text).rows
    assert np.isnan(rows[-1].percent)
    assert rows[-1].time_us == 0.0


@pytest.mark.spec_only
def test_a_zero_division_is_explained() -> None:
    with pytest.raises(FormatError, match=r"up to v0\.8 cannot print the table"):
        read("Traceback (most recent call last):\nZeroDivisionError: float division by zero\n")


def test_header_without_dashes_is_refused(split_text: str) -> None:
    with pytest.raises(FormatError, match="header in line 1 without the line of dashes"):
        read(split_text.split("\n", maxsplit=1)[0] + "\n")
    with pytest.raises(FormatError, match="no header line"):
        read("")
