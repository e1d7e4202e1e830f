"""extract: a part of a run that is a run, and the same as far as it goes."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli.start import Run, refused
from conftest import corpus_path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tvmdbg_widgets
from tvmdbg_widgets import samples
from tvmdbg_widgets.export.extract import Extracted
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.run import DebugRun

FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def _dumps() -> list[tuple[Path, ...]]:
    """Real dumps, each with and without the graph that TVM was given."""
    found: list[tuple[Path, ...]] = [
        (samples.resnet20_cifar,),
        (samples.resnet20_cifar_fp16_overflow,),
    ]
    corpus = corpus_path()
    for folder in sorted(corpus.glob("tvm/**/tvmdbg")) if corpus else ():
        found += [(folder,), (folder, folder.parent / "graph.json")]
    return found


_RUNS: dict[tuple[Path, ...], DebugRun] = {}


def _run(sources: tuple[Path, ...]) -> DebugRun:
    if sources not in _RUNS:
        _RUNS[sources] = tvmdbg_widgets.open(*sources)
    return _RUNS[sources]


@given(st.data())
@FOLDER
@pytest.mark.filterwarnings("ignore")
def test_extracted_part_matches_the_original_run(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    run = _run(data.draw(st.sampled_from(_dumps())))
    graph = run.graph
    ids = st.integers(0, graph.num_nodes - 1)
    nodes = data.draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    hops, parameters = data.draw(st.integers(0, 2)), data.draw(st.booleans())
    target = tmp_path_factory.mktemp("part") / "mini"
    made = run.extract(nodes, target, hops=hops, parameters=parameters)
    part = tvmdbg_widgets.open(target)
    assert {issue.rule for issue in part.check()} <= {issue.rule for issue in run.check()}
    assert set(nodes) <= made.nodes.keys()
    _same_graph(run, part, made)
    _same_tensors(run, part, made, parameters)
    _same_times(run, part, made)


def _same_graph(run: DebugRun, part: DebugRun, made: Extracted) -> None:
    old, new = run.graph, part.graph
    assert new.num_nodes == len(made.nodes) + len(made.inputs)
    for before, after in made.nodes.items():
        mine, its = new.nodes[after], old.nodes[before]
        for what in ("name", "func_name", "shapes", "dtypes", "num_outputs"):
            assert getattr(mine, what) == getattr(its, what)
        assert dict(mine.attrs) == dict(its.attrs)
        if set(old.edge_trust[old.in_edges(before)].tolist()) <= {0, 2}:
            places = {(node, 0): entry for entry, node in made.inputs.items()}
            back = {node: entry for entry, node in made.nodes.items()}
            read = tuple(
                places.get((node, output), (back.get(node), output)) for node, output in mine.inputs
            )
            assert read == tuple(tuple(entry) for entry in its.inputs)
    for entry, node in made.inputs.items():
        assert new.shape(node) == old.shape(*entry)
        assert new.dtype(node) == old.dtype(*entry)
    if old.storage_ids is not None:
        for before, after in made.nodes.items():
            entries = (old.entry_range(before), new.entry_range(after))
            for mine, its in zip(*entries, strict=True):
                assert old.storage_ids[mine] == new.storage_ids[its]


def _same_tensors(run: DebugRun, part: DebugRun, made: Extracted, parameters: bool) -> None:
    whole, found = run.tensors or {}, part.tensors or {}
    pairs = {entry: (node, 0) for entry, node in made.inputs.items()}
    for before, after in made.nodes.items():
        outputs = range(run.graph.nodes[before].num_outputs)
        pairs |= {(before, output): (after, output) for output in outputs}
    for entry, place in pairs.items():
        is_parameter = run.graph.kinds[entry[0]] == NodeKind.PARAMETER
        if is_parameter and not parameters:
            assert entry[0] in made.parameters_left_out
            assert place not in found
        elif entry in whole:
            mine, its = found[place], whole[entry]
            assert (mine.dtype, mine.shape) == (its.dtype, its.shape)
            assert np.array_equal(mine.raw(), its.raw())


def _same_times(run: DebugRun, part: DebugRun, made: Extracted) -> None:
    if run.timeline is None:
        assert part.timeline is None
        return
    for before, after in made.nodes.items():
        assert part.timeline.node_ns[after] == run.timeline.node_ns[before]


def test_extract_writes_the_selected_nodes(tvmdbg: Run, tmp_path: Path) -> None:
    target = tmp_path / "mini"
    done = tvmdbg(
        "extract", samples.resnet20_cifar, "--nodes", "38,40:42", "--hops", "1", "-o", target
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{target}\n"
    assert "parameters are left out" in done.stderr.replace("\n", " ")
    files = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    dump = "_tvmdbg_device_CPU_0"
    assert files == {
        "README.txt",
        "graph.json",
        f"{dump}/_tvmdbg_graph_dump.json",
        f"{dump}/_tvmdbg_execution_trace.json",
        f"{dump}/output_tensors.params",
    }
    assert tvmdbg("check", target).returncode == 0
    assert json.loads(tvmdbg("check", target, "--json").stdout)["ok"] is True


def test_readme_maps_new_node_ids_to_old(tmp_path: Path) -> None:
    run = _run((samples.resnet20_cifar,))
    made = run.extract([40], tmp_path / "mini")
    text = (tmp_path / "mini/README.txt").read_text("utf-8")
    assert "resnet20_cifar" in text
    assert "the values of 2 parameters" in text
    told = {int(new): old for new, old in re.findall(r"^ *(\d+) <- ([\d:]+)", text, re.MULTILINE)}
    expected = {new: str(old) for old, new in made.nodes.items()}
    expected |= {new: f"{node}:{output}" for (node, output), new in made.inputs.items()}
    assert told == expected


def test_parameters_are_written_only_on_request(tmp_path: Path) -> None:
    run = _run((samples.resnet20_cifar,))
    secret = run.tensors[38, 0].raw().tobytes()[:64]
    run.extract([40], tmp_path / "without")
    run.extract([40], tmp_path / "with", parameters=True)
    written = {
        name: b"".join(p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file())
        for name in ("without", "with")
    }
    assert secret not in written["without"]
    assert secret in written["with"]


def test_wide_dump_is_extracted_in_the_wide_layout(tmp_path: Path) -> None:
    from tvmdbg_widgets.formats.tvm.params.file import read_params
    from tvmdbg_widgets.formats.tvm.params.survey import conversion
    from tvmdbg_widgets.sources.given import as_source

    dump = samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
    with (tmp_path / "wide.params").open("wb") as file:
        conversion(as_source(dump / "output_tensors.params"), "wide").write(file)
    run = tvmdbg_widgets.open(dump / "_tvmdbg_graph_dump.json", tmp_path / "wide.params")
    run.extract([40], tmp_path / "mini")
    (path,) = (tmp_path / "mini").rglob("*.params")
    assert read_params(path).layout == "wide"


def test_notes_on_overwritten_tensors_are_kept(tmp_path: Path, corpus: Path) -> None:
    run = _run((corpus / "tvm/resnet20_cifar_v0.6/tvmdbg",))
    reused = run.check().by_rule("buffer-reused")[0].entries[0]
    made = run.extract([reused[0]], tmp_path / "mini")
    assert [note for note in made.notes if f"Tensor {reused[0]}:{reused[1]} of the run" in note]


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ("900", "no node 900"),
        ("nowhere", "no node is named 'nowhere'"),
        ("60:90", "no nodes 60:90"),
        (",", "names no node"),
    ],
)
def test_invalid_node_selections_are_refused(
    nodes: str, told: str, tvmdbg: Run, tmp_path: Path
) -> None:
    assert told in refused(
        tvmdbg("extract", samples.resnet20_cifar, "--nodes", nodes, "-o", tmp_path / "mini")
    )
    assert list(tmp_path.iterdir()) == []


def test_existing_folder_is_not_overwritten(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")
    assert "exists already" in refused(
        tvmdbg("extract", samples.resnet20_cifar, "--nodes", "3", "-o", tmp_path)
    )
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
