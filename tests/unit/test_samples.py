"""The samples: each opens whole; those of ExecuTorch are recorded cases, the log is generated."""

import math
import re

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import FOLDER
from tests.make.changed_dtype import files
from tests.make.tuning_story import story
from tvmdbg_widgets import samples

MOST_BYTES_OF_EXECUTORCH = 300_000
MOST_BYTES_OF_THE_LOG = 650_000
MOST_BYTES_OF_CHANGED_DTYPE = 200_000
GENERATED = ("ansor_starved", "changed_dtype")


@pytest.mark.parametrize("name", [name for name in samples.__all__ if name not in GENERATED])
def test_a_sample_has_graph_tensors_and_times(name: str) -> None:
    run = tvmdbg.open(getattr(samples, name))
    assert run.graph is not None
    assert run.tensors is not None
    assert run.timeline is not None
    assert {issue.severity.value for issue in run.check()} <= {"note"}


def test_samples_of_executorch_are_recorded_cases() -> None:
    """So what ExecuTorch's own tools said of the cases is said of the samples."""
    cases = {
        samples.executorch_demo_delegate: FOLDER / "06b_demo_manual_ids",
        samples.executorch_xnnpack: FOLDER / "08_conv_xnnpack_quant",
    }
    program = FOLDER / "pte/08_conv_xnnpack_quant.pte"
    paths = [path for sample in cases for path in sample.iterdir()]
    for path in paths:
        recorded = program if path.name == "model.pte" else cases[path.parent] / path.name
        assert path.read_bytes() == recorded.read_bytes(), path
    assert sum(path.stat().st_size for path in paths) <= MOST_BYTES_OF_EXECUTORCH


def test_samples_contain_no_recording_folder() -> None:
    for folder in (samples.executorch_demo_delegate, samples.executorch_xnnpack):
        content = b"".join(path.read_bytes() for path in folder.iterdir())
        assert not re.search(rb"/(?:home|root|tmp|Users)/", content)


def test_starved_log_matches_generator() -> None:
    (path,) = samples.ansor_starved.iterdir()
    content = path.read_bytes()
    assert len(content) <= MOST_BYTES_OF_THE_LOG
    assert content == "".join(story("starved", rounds=16)).encode()


def test_starved_log_fails_only_in_first_half() -> None:
    log = tvmdbg.open(samples.ansor_starved)
    assert isinstance(log, tvmdbg.TuningLog)
    assert (len(log), len(log.tasks), log.effective_trials) == (1_024, 6, 731)
    assert not list(log.issues)
    failed = [int(log.trials.failed[log.rounds == number].sum()) for number in range(16)]
    assert min(failed[:8]) >= 29
    assert failed[8:] == [0] * 8
    (finding,) = log.findings()
    assert finding.rule == "build-starvation"
    assert finding.confidence.value == "high"
    assert finding.tasks == (0, 1, 2, 3, 4, 5)


def test_schedules_of_the_log_are_legal() -> None:
    log = tvmdbg.open_tuning(samples.ansor_starved)
    for row in range(0, len(log), 16):
        schedule = log.schedule(row)
        assert schedule.inferred is not None, schedule.refused
        assert not any("not inferred" in note for note in schedule.notes)
        for tile in schedule.structure.tiles:
            if tile.extent is not None:
                assert math.prod(tile.factors) == tile.extent, (row, tile)


def test_changed_dtype_files_match_generator() -> None:
    written = {path.name: path.read_bytes() for path in samples.changed_dtype.iterdir()}
    assert written == dict(files())
    assert sum(map(len, written.values())) <= MOST_BYTES_OF_CHANGED_DTYPE


def test_changed_dtype_session_desyncs_at_dev_alloc_data() -> None:
    log = tvmdbg.open(samples.changed_dtype / "session.pcap")
    assert isinstance(log, tvmdbg.RpcLog)
    assert (log.desync.name, log.desync.too_many) == ("DevAllocData", -4)
    narrow = tvmdbg.load_params(samples.changed_dtype / "narrow.params")
    wide = tvmdbg.load_params(samples.changed_dtype / "wide.params")
    assert [each.tobytes() for each in narrow.values()] == [
        each.tobytes() for each in wide.values()
    ]
    dump = (samples.changed_dtype / "dltensor.txt").read_text()
    assert tvmdbg.abi.struct("DLTensor", hex=dump).verdict.startswith("wide makes sense: float32")
    found = tvmdbg.explain((samples.changed_dtype / "log.txt").read_bytes())
    assert [each.message.id for each in found] == ["argument-dtype", "rpc-pending-bytes"]
