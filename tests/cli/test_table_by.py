"""``tvmdbg table --by``: the same in three forms, and as Python tells it."""

import csv
import io
import json
from pathlib import Path

import pytest
from cli.start import Run, refused

import tvmdbg_widgets
from tvmdbg_widgets import samples

SAMPLE = samples.resnet20_cifar


@pytest.mark.parametrize("by", ["kind", "part"])
def test_grouped_table_matches_as_text_csv_and_json(tvmdbg: Run, by: str) -> None:
    table = tvmdbg_widgets.open(SAMPLE).times(by)
    told = json.loads(tvmdbg("table", SAMPLE, "--by", by, "--json").stdout)
    lines = list(csv.DictReader(io.StringIO(tvmdbg("table", SAMPLE, "--by", by, "--csv").stdout)))
    done = tvmdbg("table", SAMPLE, "--by", by)
    assert told["total_ns"] == table.total_ns
    assert [row["ns"] for row in told["rows"]] == table.ns.tolist()
    assert [float(line["ns"]) for line in lines] == table.ns.tolist()
    assert [line["label"] for line in lines] == list(table.labels)
    for label, line in zip(table.labels, done.stdout.splitlines()[1:], strict=True):
        assert line.startswith(label)
    assert ("so shares overlap" in " ".join(done.stderr.split())) == (by == "part")


def test_groups_have_levels_and_rows_are_cut(tvmdbg: Run) -> None:
    outer = json.loads(tvmdbg("table", SAMPLE, "--by", "group", "--json", "--top", "2").stdout)
    assert len(outer["rows"]) == 2
    arguments = ("--by", "group", "--level", "1", "--json")
    inner = json.loads(tvmdbg("table", SAMPLE, *arguments).stdout)
    assert inner["total_ns"] == outer["total_ns"]
    assert max(len(row["nodes"]) for row in inner["rows"]) < max(
        len(row["nodes"]) for row in outer["rows"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--by", "kind", "--sort", "time"), "leave out --sort"),
        (("--by", "kind", "--level", "1"), "--by group"),
        (("--level", "1"), "--by group"),
    ],
)
def test_conflicting_options_are_refused(
    tvmdbg: Run, arguments: tuple[str, ...], said: str
) -> None:
    assert said in refused(tvmdbg("table", SAMPLE, *arguments))


def test_groups_need_a_graph(tvmdbg: Run, data: Path) -> None:
    assert "this run has none" in refused(
        tvmdbg("table", data / "chrome" / "viztracer.json", "--by", "group")
    )


def test_tvm_option_prints_the_debugger_table(tvmdbg: Run, data: Path) -> None:
    log = data / "times" / "split_multi_v0.19" / "run_stdout.txt"
    done = tvmdbg("table", log, "--tvm")
    assert done.returncode == 0
    assert done.stdout == log.read_text("utf-8")
    for others in (("--top", "3"), ("--json",), ("--sort", "name")):
        assert "--tvm prints every operator" in tvmdbg("table", log, "--tvm", *others).stderr
    assert "--release needs --tvm" in tvmdbg("table", log, "--release", "0.8").stderr
    older = tvmdbg("table", log, "--tvm", "--release", "0.8")
    assert older.returncode != 0
    assert "graph" in older.stderr
