"""A dump opens as one run, and every part of it agrees with what TVM recorded beside it."""

import hashlib
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.model.base.numbers import Trust

SAMPLE = tvmdbg.samples.resnet20_cifar
DUMP = SAMPLE / "_tvmdbg_device_CPU_0"
GRAPH = DUMP / "_tvmdbg_graph_dump.json"
PARAMS = DUMP / "output_tensors.params"
TRACE = DUMP / "_tvmdbg_execution_trace.json"


def cases(corpus: Path) -> list[Path]:
    """Folders of the corpus with a dump and TVM's own index of its tensors."""
    return sorted(
        index.parent
        for index in corpus.glob("tvm/**/output_tensors.index.json")
        if (index.parent / "tvmdbg").is_dir()
    )


def entries_of(
    index: dict[str, Any], run: tvmdbg.DebugRun
) -> list[tuple[int, int, dict[str, Any]]]:
    """The entry that each key of the index speaks of, by the rule its own writer followed."""
    found = []
    for key, truth in index.items():
        match = re.fullmatch(r"(.*)____topo-index:(\d+)____output-num:(\d+)", key, re.DOTALL)
        match = match or re.fullmatch(r"(.*)\|node (\d+)\|output (\d+)", key, re.DOTALL)
        if match:
            found.append((int(match[2]), int(match[3]), truth))
            continue
        match = re.fullmatch(r"(.*)\|output (\d+)\|order (\d+)", key, re.DOTALL)
        assert match, key
        order = int(match[3])
        graph = run.graph
        entries = [(i, k) for i in range(graph.num_nodes) for k in range(len(graph.entry_range(i)))]
        node, output = entries[order]
        assert (graph.names[node], output) == (match[1], int(match[2]))
        found.append((node, output, truth))
    return found


def test_every_tensor_matches_the_entry_recorded_by_tvm(corpus: Path) -> None:
    checked = 0
    for case in cases(corpus):
        run = tvmdbg.open(case)
        index = json.loads((case / "output_tensors.index.json").read_text("utf-8"))
        lost = {node for issue in run.check().by_rule("tensor-overwritten") for node in issue.nodes}
        for node, output, truth in entries_of(index, run):
            if node in lost:  # TVM itself overwrote it in the file; the index is of its memory
                assert (node, output) not in run.tensors
                continue
            tensor = run.tensors[node, output]
            assert list(tensor.shape) == truth["shape"], (case, node, output)
            checked += 1
            if not tensor.complete:  # TVM's writer stored a part; the index is of its memory
                assert tensor.notes
                continue
            assert hashlib.sha256(tensor.raw().tobytes()).hexdigest() == truth["sha256"], (
                case,
                node,
            )
    assert checked > 1000


def test_counts_match_the_producer(corpus: Path) -> None:
    for meta in sorted(corpus.glob("tvm/*/meta.json")):
        truth = json.loads(meta.read_text("utf-8"))
        run = tvmdbg.open(meta.parent)
        assert run.graph.num_nodes == truth["nodes"], meta
        assert len(run.table()) == truth["op_nodes"]
        assert len(run.graph.parameters) == truth["parameters"]
        assert len(run.tensors) == truth["tensors"]
        assert [run.graph.names[node] for node, _ in run.graph.outputs] == truth["heads"]
        assert {name for name, *_ in truth["layer_of_node"].items()} == {
            row.name for row in run.table()
        }


def test_times_match_the_producer(corpus: Path) -> None:
    for times in sorted(corpus.glob("tvm/**/time_list.json")):
        if not (times.parent / "tvmdbg").is_dir():
            continue
        run = tvmdbg.open(times.parent)
        truth = json.loads(times.read_text("utf-8"))
        assert len(run.timeline.node_ns) == len(truth)
        expected = [np.mean(repeats) * 1e9 for repeats in truth]
        np.testing.assert_allclose(run.timeline.node_ns, expected, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ("case", "producer"),
    [
        ("resnet20_cifar", "TVM v0.9 to v0.19"),
        ("resnet20_cifar_v0.8", "TVM v0.8"),
        ("resnet20_cifar_v0.6", "TVM v0.6"),
    ],
)
def test_tvm_release_is_inferred_from_the_dump(corpus: Path, case: str, producer: str) -> None:
    run = tvmdbg.open(corpus / "tvm" / case)
    assert run.provenance.releases == producer
    assert run.provenance.device == "CPU:0"


def test_overwritten_tensors_of_v06_match_tvm_exactly(corpus: Path) -> None:
    case = corpus / "tvm" / "resnet20_cifar_v0.6"
    truth = json.loads((case / "meta.json").read_text("utf-8"))["overwritten_tensors"]["nodes"]
    run = tvmdbg.open(case)
    (issue,) = run.check().by_rule("buffer-reused")
    assert {run.graph.names[node] for node in issue.nodes} == set(truth)
    noted = {
        t.name for t in run.tensors.values() if any("same storage" in note for note in t.notes)
    }
    assert noted == set(truth)


@pytest.mark.parametrize(
    "case", ["resnet20_cifar_own_storage_v0.6", "resnet20_cifar_v0.8", "resnet20_cifar"]
)
def test_intact_tensors_are_not_reported_overwritten(corpus: Path, case: str) -> None:
    run = tvmdbg.open(corpus / "tvm" / case)
    assert not run.check().by_rule("buffer-reused")


def test_v08_reports_tensors_overwritten_by_a_later_name(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.8/odd_names")
    (issue,) = run.check().by_rule("tensor-overwritten")
    same = [node.id for node in run.graph.nodes_named("same")]
    assert list(issue.nodes) == same[:-1]
    assert run.tensors[same[-1]].trust is Trust.BY_NAME
    assert (same[0], 0) not in run.tensors


def test_two_devices_are_two_tracks(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_two_devices")
    assert len(run.timeline.tracks) == 2
    first = run.graph.entry_offsets[:-1]
    types = run.graph.device_types[first]
    by_track = {run.timeline.tracks[t] for t in run.timeline.slice_track}
    assert by_track == {"cpu", "cuda"} if set(types) == {1, 2} else by_track


def test_captures_of_newer_releases_open_and_agree(corpus: Path) -> None:
    captures = sorted(corpus.glob("relax/*/capture"))
    assert captures
    for capture in captures:
        run = tvmdbg.open(capture)
        truth = np.load(capture / "tensors.npz")
        names = list(run.graph.names)
        for key in truth.files:
            if key not in names:
                continue
            np.testing.assert_array_equal(run.tensors[names.index(key)].numpy(), truth[key])


class TestSources:
    """Folders, files, bytes, file objects, in any order and under any name."""

    def test_single_files_give_their_part(self) -> None:
        assert tvmdbg.open(GRAPH).graph is not None
        assert len(tvmdbg.open(PARAMS).tensors) == 72
        assert tvmdbg.open(TRACE).timeline.num_slices == 72
        table = tvmdbg.open(SAMPLE / "run_stdout.txt")
        assert table.graph is None
        assert len(table.table()) == 27

    def test_file_names_do_not_matter(self, tmp_path: Path) -> None:
        for number, file in enumerate((GRAPH, PARAMS, TRACE)):
            shutil.copy(file, tmp_path / f"{number}.bin")
        run = tvmdbg.open(*(tmp_path / f"{number}.bin" for number in (2, 0, 1)))
        assert (run.graph.num_nodes, len(run.tensors), run.timeline.num_slices) == (72, 72, 72)

    def test_bytes_and_file_objects(self) -> None:
        with PARAMS.open("rb") as file:
            run = tvmdbg.open(GRAPH.read_bytes(), file, io.BytesIO(TRACE.read_bytes()))
            whole = tvmdbg.open(SAMPLE)
            np.testing.assert_array_equal(run.tensors[62].numpy(), whole.tensors[62].numpy())

    def test_brackets_in_a_folder_name(self, tmp_path: Path) -> None:
        remote = tmp_path / "dump" / "_tvmdbg_device_REMOTE[0]_CPU_0"
        shutil.copytree(DUMP, remote)
        run = tvmdbg.open(tmp_path / "dump")
        assert run.provenance.device == "REMOTE[0]_CPU:0"
        assert len(run.tensors) == 72

    def test_several_dumps_are_never_mixed(self, tmp_path: Path) -> None:
        shutil.copytree(DUMP, tmp_path / "_tvmdbg_device_CPU_0")
        shutil.copytree(
            tvmdbg.samples.resnet20_cifar_fp16_overflow / "_tvmdbg_device_CPU_0",
            tmp_path / "_tvmdbg_device_CUDA_0",
        )
        with pytest.raises(tvmdbg.FormatError, match="2 dumps") as caught:
            tvmdbg.open(tmp_path)
        assert "_tvmdbg_device_CPU_0" in str(caught.value)
        assert "device=" in str(caught.value)
        assert tvmdbg.open(tmp_path, device="CUDA_0").graph.num_nodes == 74
        assert tvmdbg.open(tmp_path, device="cpu").graph.num_nodes == 72
        with pytest.raises(tvmdbg.FormatError, match="no dump of device"):
            tvmdbg.open(tmp_path, device="VULKAN")

    def test_raw_graph_as_text_settles_ambiguous_edges(self, corpus: Path) -> None:
        case = corpus / "tvm/edge_cases/v0.19/split_multi"
        dump = next((case / "tvmdbg").iterdir())
        alone = tvmdbg.open(dump)
        assert (alone.graph.edge_trust == Trust.AMBIGUOUS).any()
        assert alone.check().by_rule("edge-ambiguous")
        raw = (case / "graph.json").read_text("utf-8")
        settled = tvmdbg.open(dump, graph=raw)
        assert (settled.graph.edge_trust == Trust.EXACT).all()
        truth = json.loads(raw)
        for node, item in zip(settled.graph.nodes, truth["nodes"], strict=True):
            assert [list(entry) for entry in node.inputs] == [i[:2] for i in item["inputs"]]

    def test_params_distinguish_parameters_from_inputs(self, corpus: Path) -> None:
        capture = corpus / "relax/mlp_cpu"
        run = tvmdbg.open(capture / "capture", params=capture / "params/params.bin")
        assert [node.name for node in run.graph.inputs] == ["x"]
        assert len(run.graph.parameters) == 4


class TestDoubts:
    """What disagrees is said, and what can be read is shown."""

    def test_tensors_of_another_graph(self, corpus: Path) -> None:
        other = next((corpus / "tvm/resnet20_cifar_int8/tvmdbg").iterdir())
        run = tvmdbg.open(GRAPH, other / "output_tensors.params")
        rules = {issue.rule for issue in run.check()}
        assert {"tensor-names", "tensor-disagrees", "tensor-outside-graph"} <= rules

    def test_times_of_another_run(self, corpus: Path) -> None:
        table = corpus / "tvm/resnet20_cifar_fp16/run_stdout.txt"
        run = tvmdbg.open(DUMP, table=table)
        assert run.check().by_rule("times-disagree")

    def test_a_log_of_two_runs_means_stale_tensors(self, corpus: Path, tmp_path: Path) -> None:
        case = corpus / "tvm/edge_cases/v0.19/run_twice"
        log = tmp_path / "log.txt"
        first, second = (case / name for name in ("run_stdout.txt", "run2_stdout.txt"))
        log.write_text(first.read_text("utf-8") + second.read_text("utf-8"), "utf-8")
        run = tvmdbg.open(next((case / "tvmdbg").iterdir()), table=log)
        assert run.check().by_rule("stale-tensors")

    def test_truncated_params_file_keeps_the_tensors_before_the_cut(self, tmp_path: Path) -> None:
        cut = tmp_path / "cut"
        cut.write_bytes(PARAMS.read_bytes()[:1_000_000])
        run = tvmdbg.open(GRAPH, cut)
        assert 0 < len(run.tensors) < 72
        assert run.check().by_rule("params-incomplete")
        whole = tvmdbg.open(GRAPH, PARAMS)
        for entry, tensor in run.tensors.items():
            np.testing.assert_array_equal(tensor.numpy(), whole.tensors[entry].numpy())

    def test_folder_without_a_run_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(tvmdbg.FormatError, match="nothing of a run"):
            tvmdbg.open(tmp_path)
        (tmp_path / "notes.txt").write_text("hello", "utf-8")
        with pytest.raises(tvmdbg.FormatError):
            tvmdbg.open(tmp_path / "notes.txt")
        with pytest.raises(FileNotFoundError):
            tvmdbg.open(tmp_path / "absent")
