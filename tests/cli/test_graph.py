"""graph: the files it writes of real dumps."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from cli.start import Run, refused

from tests.unit.pages.dot_reader import read_dot
from tvmdbg_widgets import samples

DUMP = samples.resnet20_cifar


def test_output_format_follows_the_file_extension(tvmdbg: Run, tmp_path: Path) -> None:
    for name in ("net.svg", "net.dot", "net.json"):
        done = tvmdbg("graph", DUMP, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == str(tmp_path / name)
    ET.fromstring((tmp_path / "net.svg").read_text("utf-8"))  # noqa: S314 (our own)
    assert len(read_dot((tmp_path / "net.dot").read_text("utf-8")).all_nodes()) == 28
    graph = json.loads((tmp_path / "net.json").read_text("ascii"))
    assert len(graph["graphs"][0]["nodes"]) == 72
    data = json.loads((tmp_path / "net.time.json").read_text("ascii"))
    assert list(data) == [graph["graphs"][0]["id"]]


def test_png(tvmdbg: Run, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    done = tvmdbg("graph", DUMP, "-o", tmp_path / "net.png", "--direction", "right")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "net.png").read_bytes()[:4] == b"\x89PNG"


def test_a_selection_in_a_pipe(tvmdbg: Run) -> None:
    done = tvmdbg(
        "graph", DUMP, "-o", "-", "--to", "dot", "--select", "op:softmax", "--color-by", "dtype"
    )
    assert done.returncode == 0, done.stderr
    (node,) = read_dot(done.stdout).all_nodes().values()
    assert "float32" in node["label"]
    every = tvmdbg("graph", DUMP, "-o", "-", "--to", "dot", "--parameters")
    assert len(read_dot(every.stdout).all_nodes()) == 72


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "net.pdf"], "does not tell what to write"),
        (["-o", "-", "--to", "dot", "--select", "op:nothing"], "no node matches"),
        (["-o", "-", "--to", "dot", "--color-by", "tempo"], "known: 'kind'"),
        (["-o", "no/such/net.dot"], "no such folder"),
        (["-o", "net.txt", "--to", "model-explorer"], "is no .json"),
        (["-o", "net.dot", "--select", "op:add (("], "at 9\n       op:add ((\n                ^\n"),
    ],
)
def test_wrong_calls_write_nothing(
    arguments: list[str], said: str, tvmdbg: Run, tmp_path: Path
) -> None:
    done = tvmdbg("graph", DUMP, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())


def test_input_file_is_never_overwritten(tvmdbg: Run, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    shutil.copytree(data / "graph" / "split_multi_v0.19", folder)
    graph = folder / "graph.json"
    before = graph.read_bytes()
    for source in (graph, folder):
        for verb, *how in (("graph", "--to", "dot"), ("html",)):
            assert "never overwritten" in refused(tvmdbg(verb, source, "-o", graph, *how))
    beside = folder / "net.time.json"
    graph.rename(beside)
    how = ("-o", folder / "net.json", "--color-by", "time")
    for source in (beside, f'"{beside}"', f"file://{beside}"):
        assert "never overwritten" in refused(tvmdbg("graph", source, *how))
    beside.rename(graph)
    assert graph.read_bytes() == before
    assert tvmdbg("graph", folder, "-o", folder / "net.dot").returncode == 0
