"""Texts as people paste them open as what they were before, with the same numbers."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets import samples
from tvmdbg_widgets.formats.pasted import readings
from tvmdbg_widgets.model.sources.byte_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Callable

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


WAYS: dict[str, Callable[[str], str]] = {
    "quoted": each_line("> "),
    "quoted twice": each_line("> > "),
    "a comment": each_line("# "),
    "a log of CI": each_line("2023-05-01T10:00:00.1234567Z "),
    "a log of gh": each_line("build\tRun tests\t2023-05-01T10:00:00.1234567Z "),
    "times": each_line("[10:00:00] "),
    "glog": each_line("I0501 10:00:00.123456 12345 debug_executor.cc:12] "),
    "logging": each_line("2023-05-01 10:00:00,123 - tvm - INFO - "),
    "logcat": each_line("05-01 10:00:00.123  1234  1234 I tvm     : "),
    "old logcat": each_line("I/tvm     ( 1234): "),
    "containers": each_line("server_1  | "),
    "pytest": each_line("E   "),
    "colors": lambda text: "".join(f"\x1b[32m{line}\x1b[0m\n" for line in text.split("\n")),
    "fenced": lambda text: f"This is what it prints:\n\n```\n{text}\n```\nWhy is it slow?\n",
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "one blank": one_blank,
    "Markdown": markdown,
    "tabs": lambda text: re.sub(r" {2,}", "\t", text),
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "quoted in a fence": lambda text: each_line("> ")(f"```\n{text}\n```"),
}


def times_of(run: tvmdbg.DebugRun) -> list[tuple[str, float]]:
    return [(row.name, row.time_ns) for row in run.table()]


@pytest.fixture(scope="module")
def plain() -> list[tuple[str, float]]:
    return times_of(tvmdbg.open(TABLE.encode()))


@pytest.mark.parametrize("way", WAYS)
def test_a_table_opens_however_it_is_pasted(way: str, plain: list[tuple[str, float]]) -> None:
    run = tvmdbg.open(WAYS[way](TABLE).encode())
    assert times_of(run) == plain
    # The reader of tables finds them behind marks and between other lines.
    if way not in ("Windows", "quoted", "quoted twice", "a comment", "fenced", "quoted in a fence"):
        assert run.check().by_rule("pasted-text")


@pytest.mark.parametrize("width", [80, 100])
def test_rows_of_wrapped_lines_are_whole_or_left_out(
    width: int, plain: list[tuple[str, float]]
) -> None:
    short = "\n".join(
        re.sub(r"\[[\d., ]+\]|Measurements\(us\)", "", line) for line in TABLE.split("\n")
    )
    data = wrapped(width)(short).encode()
    try:
        found = times_of(tvmdbg.open(data))
    except tvmdbg.FormatError as problem:
        assert "Node Name" in str(problem) or "heading of the table" in str(problem)  # noqa: PT017
    else:
        assert set(found) <= set(plain)


JSON_WAYS: dict[str, Callable[[str], str]] = {
    "a label": lambda text: f"graph json: {text}",
    "a log": lambda text: f"[10:00:00] building\n[10:00:01] done\n{text}\nfinished\n",
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


def test_a_broken_graph_is_no_part_of_one() -> None:
    for cut in (200, len(GRAPH) // 2, len(GRAPH) - 3):
        with pytest.raises(tvmdbg.FormatError):
            tvmdbg.open(GRAPH[:cut].encode())


def test_a_heading_alone_is_named() -> None:
    with pytest.raises(
        tvmdbg.FormatError, match=r"heading of the table of TVM's debugger .* line 3"
    ):
        tvmdbg.open(b"look:\n\nNode Name  Ops  Time(us)\nand so on\n")


@given(st.text(max_size=400))
def test_any_text_is_read_or_left_alone(text: str) -> None:
    for source, found in readings(BytesSource(text.encode("utf-8", "replace"))):
        assert source.size
        assert isinstance(found.told, str)


def test_long_runs_of_one_letter_cost_linear_time() -> None:
    for letter in " >#|[{(-\t\u00a0`":
        list(readings(BytesSource((letter * 100_000).encode())))
        list(readings(BytesSource(((letter * 50 + "\n") * 2000).encode())))


def test_deep_nesting_as_python_prints_it_ends_nothing() -> None:
    for text in ("[" + "-" * 500_000, "[" * 200_000, "{'a': " * 100_000, "'" + "\\" * 99_999):
        found = readings(BytesSource(text.encode()))
        assert not [each for _, each in found if "Python's notation" in each.taken]


def test_bytes_that_python_prints_are_utf_8() -> None:
    found = [each.text for _, each in readings(BytesSource(repr('{"é": 1}'.encode()).encode()))]
    assert '{"é": 1}' in found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1,0]<stdout>:", "[1,1]<stdout>:"),
        ("a_1  | ", "b_1  | "),
        ("I/tvm     ( 1234): ", "I/tvm     ( 1235): "),
        ("05-01 10:00:00.123  1234  1234 I tvm: ", "05-01 10:00:00.123  1235  1235 I tvm: "),
    ],
)
def test_lines_of_two_processes_are_no_one_table(one: str, other: str) -> None:
    lines = TABLE.split("\n")
    mixed = "\n".join(f"{head}{line}" for line in lines for head in (one, other))
    with pytest.raises(tvmdbg.FormatError):
        tvmdbg.open(mixed.encode())


@pytest.mark.slow
@pytest.mark.parametrize("letter", [" ", "\t", "# ", "> "])
def test_blanks_cost_no_squares(letter: str) -> None:
    def cost(size: int) -> float:
        begin = time.process_time()
        with pytest.raises(tvmdbg.FormatError):
            tvmdbg.open((letter * size).encode())
        return time.process_time() - begin

    cost(1000)
    assert cost(60_000) < 30 * cost(6000) + 0.5
