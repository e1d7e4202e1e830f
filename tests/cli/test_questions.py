"""summary, check, table: what they tell of real dumps."""

import csv
import io
import json
from pathlib import Path

import pytest
from cli.start import Run, refused

import tvmdbg_widgets
from tvmdbg_widgets import samples

# By the README of the collection: what each case was made to show.
NOT_AS_IT_WAS = {
    ("v0.19", "vec4"): "TVM's writer stores 32 of 128 bytes",
    ("v0.6", "dtypes"): "bool arrays are written without their values",
    ("v0.8", "odd_names"): "two nodes of one name: one tensor is lost",
}
# Names of producers do not tell which output, or which of two nodes, is read.
OPEN_WITHOUT_THE_GRAPH = {"split_multi", "odd_names", "transformer_encoder"}


def test_check_of_every_recorded_dump(tvmdbg: Run, corpus: Path) -> None:
    calls = []
    cases = sorted(each.parent for each in corpus.glob("tvm/**/tvmdbg"))
    assert len(cases) > 30
    for case in cases:
        meta = json.loads((case / "meta.json").read_text("utf-8"))
        release = "v0." + meta["tvm"].split(".")[1]
        damaged = (release, case.name) in NOT_AS_IT_WAS or bool(meta.get("overwritten_tensors"))
        unsure = case.name in OPEN_WITHOUT_THE_GRAPH and release != "v0.6"
        calls.append((case / "tvmdbg", [], damaged or unsure))
        if unsure:
            calls.append((case / "tvmdbg", ["--graph", str(case / "graph.json")], damaged))
    ended = [tvmdbg("check", folder, *arguments) for folder, arguments, _ in calls]
    wrong = [
        (folder, arguments, done.stdout, done.stderr)
        for (folder, arguments, expected), done in zip(calls, ended, strict=True)
        if done.returncode != expected
    ]
    assert not wrong


def test_check_of_a_module_that_ran_twice(tvmdbg: Run, corpus: Path) -> None:
    case = corpus / "tvm/edge_cases/v0.19/run_twice"
    alone = tvmdbg("check", case / "tvmdbg")
    assert alone.returncode == 0  # these files cannot show it
    done = tvmdbg("check", case, "--json")
    assert done.returncode == 1
    assert "tables-disagree" in {each["rule"] for each in json.loads(done.stdout)["issues"]}


def test_check_runs_on_a_dump_that_tvm_refuses(tvmdbg: Run, corpus: Path) -> None:
    case = corpus / "tvm/edge_cases/v0.19/escaped_names"
    done = tvmdbg("check", case / "graph.json")
    assert done.returncode in (0, 1)
    nothing = tvmdbg("check", case / "error.txt")
    assert (nothing.returncode, nothing.stdout) == (2, "")


@pytest.mark.parametrize(("least", "status"), [("error", 0), ("warning", 1), ("note", 1)])
def test_fail_on_sets_the_exit_status(least: str, status: int, tvmdbg: Run, corpus: Path) -> None:
    case = corpus / "tvm/edge_cases/v0.19/vec4/tvmdbg"
    done = tvmdbg("check", case, "--fail-on", least, "--json")
    assert done.returncode == status
    assert json.loads(done.stdout)["ok"] is (status == 0)


def test_links_and_large_files_are_read_only_with_an_option(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(samples.resnet20_cifar / "run_stdout.txt")
    graph = samples.resnet20_cifar / "graph.json"
    told = " ".join(tvmdbg("check", graph, tmp_path).stdout.split())
    assert "--follow-links follows links): link" in told
    told = tvmdbg("check", graph, tmp_path, "--follow-links").stdout
    assert "follow" not in told
    done = tvmdbg("summary", graph, "--limit", "graph=1k")
    assert done.returncode == 2
    assert "--limit graph=1G" in " ".join(done.stderr.split())
    assert tvmdbg("summary", graph, "--limit", "graph=1G", "--limit", "trace=0").returncode == 0
    for wrong in ("graph", "graph=", "graph=x", "shape=1"):
        assert "PART=BYTES" in refused(tvmdbg("summary", graph, "--limit", wrong))


def test_summary_suggests_how_to_get_missing_parts(tvmdbg: Run) -> None:
    done = tvmdbg("summary", samples.resnet20_cifar / "graph.json")
    assert done.returncode == 0
    assert "missing" in done.stdout
    assert "output_tensors.params" in done.stderr.replace("\n", " ")


def test_table_matches_as_text_csv_and_json(tvmdbg: Run) -> None:
    sample = samples.resnet20_cifar
    rows = json.loads(tvmdbg("table", sample, "--json").stdout)
    lines = list(csv.DictReader(io.StringIO(tvmdbg("table", sample, "--csv").stdout)))
    text = tvmdbg("table", sample).stdout.splitlines()
    labels = {row.node: row.label for row in tvmdbg_widgets.open(sample).top(100)}
    assert len(rows["operators"]) == len(lines) == len(text) - 1 == 27
    for row, line, shown in zip(rows["operators"], lines, text[1:], strict=True):
        assert float(line["time_ns"]) == row["time_ns"]
        assert line["name"] == row["name"]
        assert shown.startswith(f"#{row['node']} {labels[row['node']]}  ")
    times = [row["time_ns"] for row in rows["operators"]]
    assert times == sorted(times, reverse=True)
    assert sum(row["share"] for row in rows["operators"]) == pytest.approx(1)


def test_table_is_sorted_and_cut(tvmdbg: Run) -> None:
    sample = samples.resnet20_cifar

    def nodes(*arguments: str) -> list[int]:
        done = tvmdbg("table", sample, "--json", *arguments)
        return [row["node"] for row in json.loads(done.stdout)["operators"]]

    top = nodes("--top", "5")
    assert len(top) == 5
    assert nodes("--top", "5", "--sort", "node") == sorted(top)
    assert nodes("--sort", "node") == sorted(nodes())
    assert tvmdbg("table", sample, "--json", "--csv").returncode == 2


def test_unknown_times_are_null_and_empty(tvmdbg: Run) -> None:
    graph = samples.resnet20_cifar / "graph.json"
    rows = json.loads(tvmdbg("table", graph, "--json").stdout)["operators"]
    assert {row["time_ns"] for row in rows} == {None}
    lines = list(csv.DictReader(io.StringIO(tvmdbg("table", graph, "--csv").stdout)))
    assert {line["time_ns"] for line in lines} == {""}


def test_memory_shows_peak_slots_and_parameters(tvmdbg: Run) -> None:
    done = tvmdbg("memory", samples.resnet20_cifar)
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "peak 204.0 KiB (208,896) live while #9 conv2d" in said
    assert "parameters 1.0 MiB (1,086,760) in 44 slots" in said
    assert "64.0 KiB (65,536) storage_id 3 on cpu" in said
    told = json.loads(tvmdbg("memory", samples.resnet20_cifar, "--json").stdout)
    assert told["allocated"] + told["parameters"] == sum(each["bytes"] for each in told["slots"])
    assert told["peak"]["nodes"][0] == 9
    assert told["lost"] == []


def test_memory_without_a_graph_suggests_how_to_get_one(tvmdbg: Run) -> None:
    done = tvmdbg("memory", samples.resnet20_cifar / "run_stdout.txt")
    assert done.returncode == 2
    assert "lib.get_graph_json()" in done.stderr or "--graph" in done.stderr


def test_compare_lists_differences_and_fails_as_requested(tvmdbg: Run, corpus: Path) -> None:
    plain, devices = (corpus / f"tvm/resnet20_{name}" for name in ("cifar", "two_devices"))
    done = tvmdbg("compare", plain, devices)
    assert done.returncode == 0
    assert "3 of 75 only in B" in done.stdout
    told = json.loads(tvmdbg("compare", plain, devices, "--json").stdout)
    assert told["only_b"] == [22, 45, 68]
    assert len(told["pairs"]) == 72
    assert tvmdbg("compare", plain, devices, "--fail-on", "structure").returncode == 1
    assert tvmdbg("compare", plain, plain, "--fail-on", "any").returncode == 0


def test_compare_times_separates_changes_from_noise(tvmdbg: Run, corpus: Path) -> None:
    plain, unfused = (str(corpus / "tvm" / f"resnet20_cifar{each}") for each in ("", "_unfused"))
    done = tvmdbg("compare", plain, unfused, "--times")
    assert done.returncode == 0
    assert "B is 1.32× slower (+12.58 ms)" in done.stdout
    assert "24 slower, 1 faster, 2 noise" in done.stdout
    kinds = tvmdbg("compare", plain, unfused, "--times", "--by-kind").stdout
    assert "convolution" in kinds
    told = json.loads(tvmdbg("compare", plain, unfused, "--times", "--json").stdout)
    assert len(told["rows"]) == 27
    assert told["total"]["verdict"] == "slower"
    assert tvmdbg("compare", plain, unfused, "--times", "--fail-on", "slower").returncode == 1
    assert tvmdbg("compare", unfused, plain, "--times", "--fail-on", "slower").returncode == 0
    for wrong in (["--times", "--fail-on", "any"], ["--fail-on", "slower"], ["--by-kind"]):
        assert tvmdbg("compare", plain, plain, *wrong).returncode == 2
