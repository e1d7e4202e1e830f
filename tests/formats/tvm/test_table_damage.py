import contextlib
import math
import time
from pathlib import Path

import pytest
from formats.tvm.table_text import format_table
from hypothesis import assume, given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.tvm.layout import clock_ns
from tvmdbg_widgets.formats.tvm.table import DebuggerTable, TimedNode, print_table, read_tables
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource

DATA = Path(__file__).parents[2] / "data" / "times"
TABLES = ("split_multi_v0.19/run_stdout.txt", "odd_names_v0.8/run_stdout.txt")

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text(" a-.\t\r(),1")
seconds = st.floats(0, 10, allow_subnormal=False) | st.floats(0, 1e-5)
nodes = st.builds(
    TimedNode,
    names,
    names,
    st.lists(seconds, min_size=1, max_size=4).map(tuple),
    st.lists(st.lists(st.integers(0, 10**6), max_size=5).map(tuple), min_size=1, max_size=3).map(
        tuple
    ),
    st.integers(0, 12),
)


def read(content: bytes | str) -> DebuggerTable:
    return read_tables(BytesSource(content.encode() if isinstance(content, str) else content))[-1]


@pytest.mark.parametrize("name", TABLES)
def test_truncated_table_gives_whole_rows_or_an_error(name: str) -> None:
    content = (DATA / name).read_bytes()
    whole = read(content)
    shown = set()
    for length in range(len(content)):
        try:
            table = read(content[:length])
        except FormatError:
            continue
        shown.add(len(table))
        assert [row.cells for row in table.rows] == [row.cells for row in whole.rows[: len(table)]]
        assert table.total_us in {None, whole.total_us}
        assert not table.issues.by_rule("rows-interrupted")
        at_line_end = content[length - 1 : length] == b"\n" or content[length : length + 1] == b"\n"
        assert table.truncated != at_line_end
        assert bool(table.issues.by_rule("row-cut")) == table.truncated
    assert shown == set(range(len(whole) + 1))


@given(st.data())
def test_random_damage_gives_a_table_or_an_error(draw: st.DataObject) -> None:
    content = bytearray((DATA / draw.draw(st.sampled_from(TABLES))).read_bytes())
    patches = [
        b"Node Name   ",
        b"\n",
        b"\r\n",
        b"  ",
        b"nan",
        b"-1e999",
        b"Total_time  -",
        b"9" * 5000,
    ]
    for _ in range(draw.draw(st.integers(1, 5))):
        place = draw.draw(st.integers(0, len(content) - 1))
        patch = draw.draw(st.binary(max_size=3) | st.sampled_from(patches))
        content[place : place + draw.draw(st.sampled_from([0, 1, len(patch), 80]))] = patch
    try:
        tables = read_tables(BytesSource(bytes(content)))
    except FormatError:
        return
    for table in tables:
        again = read(format_table(table))
        assert [row.cells for row in again.rows] == [row.cells for row in table.rows]
        offsets, repeats = table.repeats()
        assert offsets[-1] == len(repeats)


@given(st.lists(nodes, max_size=6), st.sampled_from(["v0.6", "v0.9"]), st.booleans())
def test_printed_table_round_trips(timed: list[TimedNode], style: str, sort_by_time: bool) -> None:
    texts = [text for node in timed for text in (node.name, node.func_name)]
    assume(not any("\n" in text or text.endswith(" ") for text in texts))
    text = print_table(timed, style=style, sort_by_time=sort_by_time)
    table = read(text)
    assert format_table(table) == text
    assert format_table(read(format_table(table))) == text
    assert table.style == style
    rows = [(n.name, n.func_name, shape) for n in timed for shape in n.shapes]
    found = [(row.name, row.ops, row.shape) for row in table.rows]
    assert (sorted(found) == sorted(rows)) if sort_by_time else (found == rows)
    quiet = {"no-total-row"}
    if all(not math.isnan(row.percent) for row in table.rows):
        assert {issue.rule for issue in table.issues} <= quiet


@given(names)
def test_lost_trailing_blanks_are_reported(name: str) -> None:
    assume(name and "\n" not in name)
    table = read(print_table([TimedNode(name + "  ", "a", (1.0,), ((1,),), 1)]))
    assert table.rows[0].name == name.rstrip(" ")
    if len(name) >= 10:
        assert table.issues.by_rule("blanks-lost")


@given(st.times())
def test_python_times_of_day_are_parsed(moment: object) -> None:
    hour, minute, second, micro = (
        getattr(moment, part) for part in ("hour", "minute", "second", "microsecond")
    )
    expected = ((hour * 60 + minute) * 60 + second) * 10**9 + micro * 1000
    assert clock_ns(str(moment)) == expected


@pytest.mark.slow
def test_no_input_takes_long() -> None:
    header = "Node Name  Ops  Time(us)  Time(%)  Shape  Inputs  Outputs  "
    dashes = "---------  ---  --------  -------  -----  ------  -------  "
    hostile = [
        "Node Name  " * 50_000,
        "Node Name" + " " * 1_000_000 + "Ops",
        " " * 1_000_000 + "Node Name  Ops",
        (header + "\n") * 20_000,
        f"{header}\n{dashes}\n" * 10_000,
        f"{header}\n{dashes}\n" + "(1, " * 300_000,
        f"{header}\n{dashes}\n" + "x\n" * 300_000,
        f"{header}\n{dashes}\na          b    1.0       1.0      (" + "1, " * 300_000 + ")",
    ]
    for text in hostile:
        begin = time.process_time()
        with contextlib.suppress(FormatError):
            read(text)
        assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "text", ["", "24:00:00", "1:02:03", "12:60:00", "12:00:00.5", "12:00:00\n"]
)
def test_other_texts_are_not_times_of_day(text: str) -> None:
    assert math.isnan(clock_ns(text))
