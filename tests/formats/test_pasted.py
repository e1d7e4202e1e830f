"""Texts as people paste them open as what they were before, with the same numbers."""

import csv
import html
import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets import samples
from tvmdbg_widgets.formats.pasted import documents, node_tables
from tvmdbg_widgets.formats.pasted.lines import single
from tvmdbg_widgets.formats.pasted.readings import readings, tables
from tvmdbg_widgets.formats.pasted.reports import _unwrapped
from tvmdbg_widgets.formats.tvm.report.numbers import Cutter
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.tuning.log import TuningLog

TABLE = (samples.resnet20_cifar / "run_stdout.txt").read_text("utf-8")
GRAPH = (samples.resnet20_cifar / "graph.json").read_text("utf-8")


def each_line(mark: str) -> Callable[[str], str]:
    """Put a mark before each line."""
    return lambda text: "\n".join(mark + line for line in text.split("\n"))


def one_blank(text: str) -> str:
    """Leave one blank between cells, as HTML does."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def markdown(text: str) -> str:
    """Write a table in Markdown."""
    rows = [re.split(r" {2,}", line.strip()) for line in text.split("\n") if line.strip()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def wrapped(width: int) -> Callable[[str], str]:
    """Cut lines where a terminal ends."""
    return lambda text: "\n".join(
        line[at : at + width]
        for line in text.split("\n")
        for at in range(0, max(1, len(line)), width)
    )


def times_of(run: tvmdbg.DebugRun) -> list[tuple[str, float]]:
    return [(row.name, row.time_ns) for row in run.table()]


JSON_WAYS: dict[str, Callable[[str], str]] = {
    "a label": lambda text: f"graph json: {text}",
    "a log": lambda text: f"[10:00:00] building\n[10:00:01] done\n{text}\nfinished\n",
    "Jira": lambda text: f"{{code:json|title=graph}}{text}{{code}}",
    "CDATA": lambda text: f"<system-out><![CDATA[{text}]]></system-out>",
    "repr": repr,
    "bytes": lambda text: repr(text.encode()),
    "a dict": lambda text: repr(json.loads(text)),
    "a fence": lambda text: f"The graph is\n```json\n{text}\n```\n",
    "quoted": lambda text: each_line("> ")(json.dumps(json.loads(text), indent=1)),
    "curly quote marks": lambda text: re.sub(r'"([^"]*)"', r"“\1”", text),
}


@pytest.mark.parametrize("way", JSON_WAYS)
def test_a_graph_opens_however_it_is_pasted(way: str) -> None:
    graph, known = tvmdbg.open(JSON_WAYS[way](GRAPH).encode()).graph, tvmdbg.open(GRAPH.encode())
    assert list(graph.names) == list(known.graph.names)
    assert graph.num_edges == known.graph.num_edges


def test_truncated_graph_is_refused() -> None:
    for cut in (200, len(GRAPH) // 2, len(GRAPH) - 3):
        with pytest.raises(tvmdbg.FormatError):
            tvmdbg.open(GRAPH[:cut].encode())


def test_table_heading_without_rows_is_named_in_the_error() -> None:
    with pytest.raises(
        tvmdbg.FormatError, match=r"heading of the table of TVM's debugger .* line 3"
    ):
        tvmdbg.open(b"look:\n\nNode Name  Ops  Time(us)\nand so on\n")


V9 = """\
Node Name   Ops            Time(us)  Time(%)  Shape         Inputs  Outputs  Measurements(us)  $
---------   ---            --------  -------  -----         ------  -------  ----------------  $
conv_a      fused_conv_a   120.5     60.25    (1, 8, 4, 4)  3       1        [120.0, 121.0]    $
dense_b     fused_dense_b  79.5      39.75    (1, 10)       12      1        [79.0, 80.0]      $
Total_time  -              200.0     -        -             -       -        -                 $
""".replace("$", "")
V5 = """\
Node Name  Ops            Time(us)  Time(%)  Start Time       End Time         Shape    Inputs  Outputs  $
---------  ---            --------  -------  ----------       --------         -----    ------  -------  $
conv_a     fused_conv_a   120.5     60.25    15:24:44.177475  15:24:44.177600  (1, 8)   3       1        $
dense_b    fused_dense_b  79.5      39.75    15:24:44.177700  15:24:44.177800  (1, 10)  12      1        $
""".replace("$", "")  # noqa: E501
VM = (
    f"{'#OpName':<80}\t{'#InvokeCount':<10}\t#Duration(us): Sum/Mean/Min/Max\n"
    f"{'fused_conv':<80}\t{2:<10}\t240.5/120.25/120/120.5\n"
    "Total Duration: 240.5 us.\tTotal Packed Functions: 2\n"
)
REPORT = """\
Name         Duration (us)  Percent  Device  Count      Argument Shapes              Hash  $
fused_conv          120.50    60.25    cpu0      1  float32[1, 3, 8, 8]  4348120d16b01599  $
fused_dense          79.50    39.75    cpu0      1        float32[1, 8]  21901fcfe13371ae  $
----------                                                                                 $
Sum                 200.00   100.00              2                                         $
Total               200.00             cpu0      1                                         $
""".replace("$", "")
CSV = """\
Argument Shapes,Count,Device,Duration (us),Hash,Name,Percent,layout
"float32[1, 3, 8, 8]",1,"cpu0",120.5,"4348120d16b01599","fused_conv",60.25,"NCHW"
"float32[1, 8]",1,"cpu0",79.5,"21901fcfe13371ae","fused_dense",39.75,""
"""
TABLES = {"v0.9": V9, "v0.5": V5, "vm": VM, "report": REPORT, "csv": CSV}


def numbered(head: str) -> Callable[[str], str]:
    """Put a head before each line that counts or tells the time."""
    return lambda text: "\n".join(
        head.format(n=n + 8, s=f"{n % 60:02d}", ms=100 + 7 * n % 900) + line
        for n, line in enumerate(text.split("\n"))
    )


LOGS = {
    "journal": "Nov 29 09:38:{s} host-1.lan python3[4123]: ",
    "kubectl": "[pod/web-7f9c4d-x2x/main] ",
    "stern": "web-7f9c main ",
    "compose": "app-1  | ",
    "GitLab": "2024-01-02T03:04:{s}.123456Z 01O ",
    "Jenkins": "[2024-01-02T03:04:{s}.{ms}Z] ",
    "logging": "INFO:tvm:",
    "loguru": "2024-01-01 10:00:{s}.{ms} | INFO     | __main__:main:12 - ",
    "rich": "[10:00:{s}] INFO     ",
    "LOG(INFO)": "[10:00:{s}] /src/runtime/file.cc:{n}: ",
    "logcat": "01-02 10:00:{s}.{ms} I/tvm  ( 1234): ",
    "dmesg": "[ {n}.{ms}] ",
    "cat -n": "{n:6d}\t",
    "editor": "{n:<4d} ",
    "grep": "log.txt:{n}:",
    "doxygen": " * ",
    "SQL": "-- ",
    "diff": "+",
    "nested": "> > ",
    "indented": "    ",
}
AROUND: dict[str, Callable[[str], str]] = {
    "slack": lambda text: f"```{text}\n```",
    "Jira": lambda text: f"{{noformat}}\n{text}{{noformat}}\n",
    "pre": lambda text: f"<p>Hi</p><pre>{html.escape(text)}</pre>",
    "br": lambda text: html.escape(text).replace("\n", "<br/>\n"),
    "Out": lambda text: f"Out[3]: {text}",
    "head of a logger": lambda text: f"INFO:tvm:{text}\nINFO:tvm:done 1.5 (2)\n",
    "tee": lambda text: f"+ run | tee x\nwarning: (bar) 1.5\n{text}\nreal\t0m1.2s\n",
    "UTF-16": lambda text: f"\ufeff{text}",
    "carriage returns": lambda text: text.replace("\n", "\r\r\n"),
    "lost escapes": lambda text: "".join(f"[32m{line}[0m\n" for line in text.split("\n")),
    "backslashes": lambda text: "".join(f"{line} \\\n" for line in text.split("\n")),
    "C": lambda text: "".join(
        '    "' + line.replace('"', '\\"') + '\\n"\n' for line in text.splitlines()
    ),
    "JSON": lambda text: json.dumps({"log": text, "stream": "stdout"}),
    "Docker": lambda text: "".join(
        json.dumps({"log": f"{line}\n", "time": "x"}) + "\n" for line in text.splitlines()
    ),
    "repr": lambda text: f"x = {text!r}\n",
    "blank lines": lambda text: text.replace("\n", "\n\n"),
}
CELLS: dict[str, Callable[[str], str]] = {
    "tabs": lambda text: re.sub(r" {2,}", "\t", text),
    "one blank": one_blank,
    "Markdown": markdown,
    "spreadsheet": lambda text: "\n".join(
        ",".join(f'"{cell}"' for cell in re.split(r" {2,}", line.strip()))
        for line in text.splitlines()
    ),
    "LaTeX": lambda text: "\n".join(
        " & ".join(re.split(r" {2,}", line.strip())).replace("_", "\\_") + " \\\\"
        for line in text.splitlines()
    ),
    "HTML": lambda text: (
        "<table>"
        + "\n".join(
            "<tr><td>" + "</td><td>".join(re.split(r" {2,}", line.strip())) + "</td></tr>"
            for line in text.splitlines()
        )
        + "</table>"
    ),
}


def numbers_of(data: bytes) -> list[object]:
    run = tvmdbg.open(data)
    calls = [
        (list(each.names), each.duration_ns.tolist(), each.count.tolist(), list(each.devices))
        for each in run.reports
    ]
    return [times_of(run), calls]


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_opens_with_every_line_prefix(kind: str) -> None:
    known = numbers_of(TABLES[kind].encode())
    for way, head in LOGS.items():
        assert numbers_of(numbered(head)(TABLES[kind]).encode()) == known, way
    for way, around in AROUND.items():
        encoding = "utf-16-le" if way == "UTF-16" else "utf-8"
        assert numbers_of(around(TABLES[kind]).encode(encoding)) == known, way


@pytest.mark.parametrize("kind", ["v0.9", "v0.5", "report"])
def test_reformatted_table_gives_the_same_numbers(kind: str) -> None:
    known = numbers_of(TABLES[kind].encode())
    for way, written in CELLS.items():
        assert numbers_of(written(TABLES[kind]).encode()) == known, way


def assert_whole_or_named(text: str, known: list[object]) -> None:
    """A text has all its numbers, or is refused with the heading that stands in it."""
    try:
        found = numbers_of(text.encode())
    except tvmdbg.FormatError as problem:
        assert "eading of" in str(problem)  # noqa: PT017
    else:
        assert found == known


@pytest.mark.parametrize("width", [40, 60, 72, 80, 100])
@pytest.mark.parametrize("kind", TABLES)
def test_lines_cut_anywhere_give_all_rows_or_an_error(kind: str, width: int) -> None:
    known = numbers_of(TABLES[kind].encode())
    for strip in (False, True):
        cut = wrapped(width)(TABLES[kind])
        text = "\n".join(map(str.rstrip, cut.split("\n"))) if strip else cut
        assert_whole_or_named(text, known)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("width", range(20, 100, 7))
def test_truncated_lines_are_reported_or_refused(kind: str, width: int) -> None:
    known = numbers_of(TABLES[kind].encode())
    text = "\n".join(line[:width] for line in TABLES[kind].split("\n"))
    try:
        run = tvmdbg.open(text.encode())
    except tvmdbg.FormatError:
        return
    if numbers_of(text.encode()) != known:
        assert [each for each in run.check() if each.severity.name in ("ERROR", "WARNING")]


@given(
    st.sampled_from(sorted(TABLES)),
    st.lists(st.sampled_from(["{n}", "{s}", "10:00:{s}", "app", "x-1", ": ", "] ", " ", "#", "|"])),
)
def test_any_line_prefix_is_removed_or_the_text_is_refused(kind: str, pieces: list[str]) -> None:
    head = "".join(pieces)
    known = numbers_of(TABLES[kind].encode())
    text = numbered(head)(TABLES[kind])
    assert_whole_or_named(text, known)


def test_line_of_another_process_is_not_joined_to_a_row() -> None:
    lines = V9.split("\n")
    text = "\n".join([*lines[:3], "done", *lines[3:]])
    assert [name for name, _ in times_of(tvmdbg.open(text.encode()))] == ["conv_a", "dense_b"]


def test_row_with_a_possibly_split_number_is_left_out() -> None:
    head = "Node Name  Ops  Time(us)  Time(%)  Shape  Inputs  Outp\nuts\n"
    rows = "a  f  1.0  50.0  (1,)  1  1\n2\nb  f  1.0  50.0  (1,)  1  1\nend\n"
    run = tvmdbg.open((head + rows).encode())
    assert [name for name, _ in times_of(run)] == ["b"]
    assert run.check().by_rule("pasted-text")


V9_HEAD = V9.splitlines(keepends=True)[0]
VM_HEAD = f"{'#OpName':<80}\t{'#InvokeCount':<10}\t#Duration(us): Sum/Mean/Min/Max\n"
MANY = {
    "cut rows": VM_HEAD
    + "fused_nn_dense       nvokeCount\t#Duration(us): Sum/Mean/Min/Max\n" * 1_000,
    "words": VM_HEAD + ("a 3 1/1/1/1\n" + "word/1\n" * 250) * 12,
    "rows that have blanks": VM_HEAD + "a b 3 1/1/1/1\n" * 1_000,
    "no row": VM_HEAD + ("a 3 1/1/1/1\n" + "T 3\n" * 250) * 12,
    "letters": V9_HEAD + ("a  f  1.0  50.0  (1,)  1  1  []\n" + "w\n" * 250) * 12,
    "commas": V9_HEAD + ("a  f  1.0  50.0  (1,)  1  1  []\n" + "1, 1, w,\n" * 250) * 12,
}


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_joining_lines_takes_bounded_work(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def counted(line: str) -> str:
        nonlocal looked_at
        looked_at += len(line)
        return single(line)

    monkeypatch.setattr(node_tables, "single", counted)
    tables(text)
    assert looked_at < 10 * len(text) + 5_000_000


@pytest.mark.parametrize("text", ["\n \t\r\n" * 1_000, "a log\n" * 1_000])
def test_lines_of_a_text_without_records_are_not_looked_at(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []

    class Members:
        def search(self, line: str) -> None:
            searched.append(line)

    monkeypatch.setattr(documents, "_MEMBER", Members())
    with pytest.raises(tvmdbg.FormatError, match="no file of a format read here"):
        tvmdbg.open(text.encode())
    assert not searched


def test_report_without_a_total_is_not_joined() -> None:
    padded = 0

    class Line(str):
        __slots__ = ()

        def ljust(self, *args: Any) -> str:
            nonlocal padded
            padded += 1
            return super().ljust(*args)

    head = "Name    Duration (us)  Percent  Device  Count           Argument Shapes  "
    lines = [head, *["k_relu           1  float32[3, 4], float32[]  "] * 3_000]
    assert _unwrapped(list(map(Line, lines))) is None
    assert padded < 4 * len(lines)


@pytest.mark.parametrize(
    "text",
    [
        "Name|Duration (us)|Percent|Count\n" + "x" * 99_999 + "|1.00|9.00|1\n"
        "k_sum|9.32|8.55|1\n" * 5_000,
        "Node Name  Ops  Time(us)  Time(%)  Shape  Inputs  Outputs\n"
        + "x" * 19_999 + "  f  1.0  50.0  (1,)  1  1\n" + "a  f  1.0  50.0  (1,)  1  1\n" * 9_000,
    ],
)  # fmt: skip
def test_overlong_cell_is_named(text: str) -> None:
    (found,) = tables(text)
    assert not found.text
    assert "one of its cells has " in found.why


def test_lines_ending_with_quotes_are_joined_in_bounded_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = CSV.splitlines()[0] + "\n" + ("a" * 99 + '"\n') * 3_000
    cut, letters = Cutter.cut, 0

    def counted(cutter: Cutter, line: str) -> object:
        nonlocal letters
        letters += len(line)
        return cut(cutter, line)

    monkeypatch.setattr(Cutter, "cut", counted)
    (found,) = tables(text)
    assert not found.text
    assert letters < 20 * len(text)


def test_a_report_without_rows_is_refused() -> None:
    with pytest.raises(tvmdbg.FormatError, match=r"CSV of a profiling report is in line 1"):
        tvmdbg.open(CSV.replace('"', "'").encode())


def test_report_without_its_dashes_does_not_count_sums_as_calls() -> None:
    text = "".join(line for line in REPORT.splitlines(keepends=True) if "-----" not in line)
    assert times_of(tvmdbg.open(text.encode())) == times_of(tvmdbg.open(REPORT.encode()))


@pytest.mark.parametrize("width", [33, 40, 80, 100])
def test_terminal_line_breaks_are_removed_from_node_names(width: int) -> None:
    known = tvmdbg.open(GRAPH.encode()).graph
    compact = json.dumps(json.loads(GRAPH))
    spaced = compact.replace('"name": "', '"name": "a b ')
    for text, names in ((compact, list(known.names)), (spaced, None)):
        cut = wrapped(width)(text)
        for each in (cut, "\n".join(map(str.rstrip, cut.split("\n"))), each_line("> ")(cut)):
            graph = tvmdbg.open(each.encode()).graph
            assert list(graph.names) == (names or list(tvmdbg.open(spaced.encode()).graph.names))
            assert graph.num_edges == known.num_edges


def test_line_break_in_a_name_is_reported() -> None:
    text = json.dumps(json.loads(GRAPH)).replace('"name": "', '"name": "a\n', 1)
    assert tvmdbg.open(text.encode()).check().by_rule("line-cut")


@pytest.mark.parametrize("head", [*LOGS.values(), ""])
def test_fragments_of_broken_json_are_not_read_as_times(head: str) -> None:
    text = json.dumps(json.loads(GRAPH), indent=1).replace('"arg_nodes"', "lost line\n", 1)
    with pytest.raises(tvmdbg.FormatError):
        tvmdbg.open(numbered(head)(text).encode())


RECORD = (
    '{"i": [["[\\"ab\\"]", "llvm", [1, 64, 64, 0, 0, 0, 0, 0]], [[], [["SP", 1, 0, 4, [2], 1]]]], '
    '"r": [[0.5], 0, 1.5, 1608087071], "v": "v0.6"}'
)
TASKS = """\
|  ID  |  Task Description  | Latency (ms) | Speed (GFLOPS) | Trials |
-----------------------------------------------------------------------
|    0 |             conv_a |        0.120 |          10.50 |     64 |
|    1 |            dense_b |            - |              - |      0 |
-----------------------------------------------------------------------
Estimated total latency: 0.120 ms	Trials: 64	Used time : 12 s	Next ID: 1
"""


def of_tuning(data: bytes) -> tuple[int, object]:
    log = tvmdbg.open(data)
    assert isinstance(log, TuningLog)
    return len(log.trials), log.console


@pytest.mark.parametrize("text", [f"{RECORD}\n" * 3, TASKS])
def test_pasted_tuning_output_opens_with_any_prefix(text: str) -> None:
    known = of_tuning(text.encode())
    for way, head in LOGS.items():
        assert of_tuning(numbered(head)(text).encode()) == known, way
    for way in ("slack", "pre", "tee", "lost escapes", "JSON", "Docker", "repr", "UTF-16"):
        encoding = "utf-16-le" if way == "UTF-16" else "utf-8"
        assert of_tuning(AROUND[way](text).encode(encoding)) == known, way
    for width in (40, 60, 80):
        assert of_tuning(wrapped(width)(text).encode()) == known


def test_tuning_heading_without_rows_is_reported() -> None:
    log = tvmdbg.open(TASKS.split("\n", maxsplit=1)[0].encode())
    assert isinstance(log, TuningLog)
    assert log.issues.by_rule("output-empty")


def test_names_with_tags_and_escapes_are_kept_unchanged() -> None:
    text = V9.replace("\nconv_a  ", "\n<b>&lt;")
    assert times_of(tvmdbg.open(text.encode()))[0][0] == "<b>&lt;"


@given(st.text(max_size=400))
def test_any_text_is_read_or_left_alone(text: str) -> None:
    for source, found in readings(BytesSource(text.encode("utf-8", "replace"))):
        assert source.size
        assert isinstance(found.notes, str)


def test_long_runs_of_one_letter_cost_linear_time() -> None:
    for letter in " >#|[{(-\t\u00a0`":
        list(readings(BytesSource((letter * 100_000).encode())))
        list(readings(BytesSource(((letter * 50 + "\n") * 2000).encode())))


def test_deeply_nested_python_text_is_ignored() -> None:
    for text in ("[" + "-" * 500_000, "[" * 200_000, "{'a': " * 100_000, "'" + "\\" * 99_999):
        found = readings(BytesSource(text.encode()))
        assert not [each for _, each in found if "Python's notation" in each.taken]


def test_python_bytes_literals_are_decoded_as_utf8() -> None:
    found = [each.text for _, each in readings(BytesSource(repr('{"é": 1}'.encode()).encode()))]
    assert '{"é": 1}' in found


def test_byte_of_windows_leaves_utf8_of_other_lines() -> None:
    text = V9.replace("conv_a  ", "c\u00f6nv_a ", 1).encode().replace(b"dense_b", b"d\xeanse_b", 1)
    quoted = b"".join(b"> " + line + b"\n" for line in text.split(b"\n"))
    assert [name for name, _ in times_of(tvmdbg.open(quoted))] == ["c\u00f6nv_a", "d\u00eanse_b"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1,0]<stdout>:", "[1,1]<stdout>:"),
        ("a_1  | ", "b_1  | "),
        ("I/tvm     ( 1234): ", "I/tvm     ( 1235): "),
        ("05-01 10:00:00.123  1234  1234 I tvm: ", "05-01 10:00:00.123  1235  1235 I tvm: "),
    ],
)
def test_interleaved_lines_of_two_processes_are_refused(one: str, other: str) -> None:
    lines = TABLE.split("\n")
    mixed = "\n".join(f"{head}{line}" for line in lines for head in (one, other))
    with pytest.raises(tvmdbg.FormatError):
        tvmdbg.open(mixed.encode())


SPREADSHEETS: dict[str, Callable[[list[list[str]]], str]] = {
    "tabs": lambda rows: "\n".join(map("\t".join, rows)),
    "semicolons": lambda rows: "\n".join(map(";".join, rows)),
    "pandas": lambda rows: "\n".join(
        ",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows
    ),
    "Markdown": lambda rows: "\n".join("| " + " | ".join(row) + " |" for row in rows),
    "other order": lambda rows: "\n".join(
        "\t".join(row[place] for place in (5, 6, 3, 0, 1, 2, 4, 7)) for row in rows
    ),
    "Word": lambda rows: (
        "<html><body><table class=MsoTableGrid>"
        + "".join(
            "<tr>"
            + "".join(f"<td><p><b>{cell}</b><o:p></o:p></p></td>\n" for cell in row)
            + "</tr>\n"
            for row in rows
        )
        + "</table></body></html>"
    ),
}


@pytest.mark.parametrize("way", SPREADSHEETS)
def test_report_csv_saved_by_a_spreadsheet_opens(way: str) -> None:
    rows = list(csv.reader(CSV.splitlines()))
    found = numbers_of(SPREADSHEETS[way](rows).encode())
    assert found == numbers_of(CSV.encode())


def test_tables_with_decimal_commas_are_refused() -> None:
    for text in (V9, V5, VM, CSV, VM.replace("\nfused", "\n0\tfused")):
        commas = re.sub(r"(?<=\d)\.(?=\d)", ",", re.sub(r" {2,}", "\t", text))
        with pytest.raises(tvmdbg.FormatError):
            tvmdbg.open(commas.encode())


def test_tables_in_cat_and_json_logger_output_open() -> None:
    for text in TABLES.values():
        known = numbers_of(text.encode())
        ends = "\n".join(line.replace("\t", "^I") + "$" for line in text.split("\n"))
        assert numbers_of(ends.encode()) == known
        logged = (json.dumps({"level": "info", "msg": line}) + "\n" for line in text.splitlines())
        assert numbers_of("".join(logged).encode()) == known
        gitlab = numbered("2024-01-02T03:04:{s}.123456Z 01O ")(text).split("\n")
        gitlab[2] = gitlab[2].replace("01O", "01E")
        assert numbers_of("\n".join(gitlab).encode()) == known


def test_foreign_text_does_not_become_a_name() -> None:
    for text in (V9, V5):
        lines = text.split("\n")
        glued = "\n".join([*lines[:3], f"warning: x {lines[3]}", *lines[4:]])
        run = tvmdbg.open(glued.encode())
        assert [name for name, _ in times_of(run)] == ["conv_a"]
        assert [each for each in run.check() if each.severity.name == "WARNING"]
    cells = [line.replace('"', '""') for line in CSV.splitlines()]
    lines = ["timestamp,message", *(f'17145500{n},"{line}"' for n, line in enumerate(cells))]
    assert times_of(tvmdbg.open("\n".join(lines).encode())) == times_of(tvmdbg.open(CSV.encode()))
    with pytest.raises(tvmdbg.FormatError, match="no row of this"):
        tvmdbg.open(re.sub("^", "   ", REPORT).replace("\n", "\n0  ").encode())


def test_missing_rows_raise_a_shares_issue() -> None:
    for text in (V9, V5):
        run = tvmdbg.open("\n".join([*text.split("\n")[:3], ""]).encode())
        assert run.check().by_rule("shares-disagree")
        assert not tvmdbg.open(text.encode()).check().by_rule("shares-disagree")


@pytest.mark.parametrize(("count", "read"), [(100, 100), (1_002, 1_000)])
def test_the_last_of_many_pasted_tables_is_used(count: int, read: int) -> None:
    heading = "> #OpName  #InvokeCount  #Duration(us): Sum/Mean/Min/Max\n"
    text = "".join(f"{heading}> n{at} 1 1/1/1/1\n> Total Duration: 1 us\n" for at in range(count))
    run = tvmdbg.open(text.encode())
    assert list(run.reports[0].names) == [f"n{count - 1}"]
    assert len(run.tables) == read
    left_out = [each for each in run.check() if "only the last 1,000 of its 1,002" in each.message]
    assert len(left_out) == (count > read)


@pytest.mark.parametrize("mark", ["", "INFO "])
def test_csv_printed_twice_is_not_summed(mark: str) -> None:
    text = f'{mark}Duration (us),Name\n{mark}1,"a"\n{mark}2,"b"\n'
    report = tvmdbg.open((text + text.replace('"a"', '"c"')).encode()).reports[0]
    assert list(report.names) == ["c", "b"]
    assert [each.rule for each in report.issues] == ["several-tables"]


def test_second_json_of_a_log_is_not_left_out_silently() -> None:
    call = '{{"calls":[{{"Name":{{"string":"{}"}},"Duration (us)":{{"microseconds":1.0}}}}]}}'
    run = tvmdbg.open(f"INFO {call.format('a')}\nINFO {call.format('b')}\n".encode())
    assert list(run.reports[0].names) == ["a"]
    noted = run.check().by_rule("pasted-text")[0]
    assert noted.severity.name == "WARNING"
    assert "1 other JSON value of its size is left out" in noted.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "letter",
    [" ", "\t", "# ", "> ", "=", "Node Name ", "| ID |", "[{'a': ", "1:1:", "<pre>", "'\\n"],
)
def test_repeated_text_does_not_take_quadratic_time(letter: str) -> None:
    def cost(size: int) -> float:
        begin = time.process_time()
        with pytest.raises(tvmdbg.FormatError):
            tvmdbg.open((letter * size).encode())
        return time.process_time() - begin

    cost(1000)
    assert cost(60_000) < 30 * cost(6000) + 0.5


def test_adjacent_string_literals_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was decoded and encoded again with all before it."""
    from tvmdbg_widgets.formats.pasted import documents

    written: list[int] = []
    dumps = json.dumps

    def counted(text: str) -> str:
        written.append(len(text))
        return dumps(text)

    monkeypatch.setattr(json, "dumps", counted)
    text = "[" + "'ab' " * 2_000 + "]"
    assert documents._of_python(text, 0) == f'["{"ab" * 2_000}"]'
    assert sum(written) == 4_000
    assert documents._of_python("[" * 100_000, 0) is None


@pytest.mark.parametrize("damaged", ["N\ufffdme", "Dur\ufffdtion (us)"])
def test_heading_without_name_or_time_is_refused(damaged: str) -> None:
    known = "Name" if damaged.startswith("N") else "Duration (us)"
    text = CSV.replace(known, damaged).replace("\n", '""\n')
    with pytest.raises(tvmdbg.FormatError):
        tvmdbg.open(text.encode())
