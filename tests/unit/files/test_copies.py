"""Runs, tuning logs and captures go to another process, and are copied, as they are."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from formats.capture_files import frame, pcap
from formats.rpc.captured import segments
from formats.rpc.rpc_cases import conversation

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz.seeds import made_tunings
from tvmdbg_widgets.formats.rpc.grammar import ERAS, grammar
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE

OWN = grammar("v0.8")


def tuning(kind: str) -> Callable[[], tvmdbg.TuningLog]:
    def opened() -> tvmdbg.TuningLog:
        files = next(each for each in made_tunings() if each.kind == kind)
        with files.opened() as given:
            return tvmdbg.open_tuning(given)

    return opened


def captured() -> bytes:
    return pcap([frame(each.ip()) for each in segments(*conversation(OWN), OWN)])


OPENED: dict[str, Callable[[], Any]] = {
    "sample": lambda: tvmdbg.open(tvmdbg.samples.resnet20_cifar),
    "ansor": tuning("Ansor log"),
    "autotvm": tuning("AutoTVM log"),
    "metaschedule": tuning("MetaSchedule"),
    "weighted": lambda: tvmdbg.open_tuning(
        tvmdbg.samples.ansor_starved, weights=[1, 2, 3, 4, 5, 6]
    ),
    "streams": lambda: tvmdbg.open_rpc(*conversation(OWN)),
    "capture": lambda: tvmdbg.open_rpc(captured()),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301 (our own)
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def told(made: Any) -> str:
    """What is told of it, in words."""
    parts: list[Any] = [made]
    if isinstance(made, tvmdbg.DebugRun):
        parts += [made.findings(), made.summary()]
    elif isinstance(made, tvmdbg.TuningLog):
        parts += [made.findings(), made.task_table(), made.record(0), made.schedule(-1)]
    else:
        parts += [made.issues, *made, made.timeline, made.desync]
    return "\n".join(map(repr, parts))


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", OPENED)
def test_copy_reports_the_same_as_the_original(kind: str, way: str) -> None:
    made = OPENED[kind]()
    fresh = COPIES[way](made)
    assert type(fresh) is type(made)
    assert fresh is not made
    assert told(fresh) == told(made)
    assert told(COPIES[way](made)) == told(made), "what was derived meanwhile is in nobody's way"


@pytest.mark.parametrize("kind", ["ansor", "capture"])
def test_a_shown_log_is_copied_without_its_views(kind: str) -> None:
    made = OPENED[kind]()
    if kind == "ansor":
        made.view()._repr_mimebundle_()
        assert COPIES["pickle"](made)._view is None
    else:
        made.flamechart()._repr_mimebundle_()
    assert told(COPIES["pickle"](made)) == told(made)


@pytest.mark.slow
def test_logs_survive_round_trip_through_another_process(tmp_path: Path) -> None:
    path = tmp_path / "ansor.json"
    (line, *_) = next(iter(made_tunings())).contents.values()
    path.write_bytes(line)
    made = [tvmdbg.open_tuning(path), tvmdbg.open_rpc(captured())]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there, back = pool.map(told, made), pool.map(copy.copy, made)
    assert there == [told(each) for each in made]
    assert [told(each) for each in back] == there


@pytest.mark.parametrize("layout", [NARROW, WIDE])
@pytest.mark.parametrize("era", ERAS)
def test_packets_and_grammars_are_copied(era: Any, layout: Any) -> None:
    own = grammar(era, layout)
    assert own.codes
    assert COPIES["pickle"](own) == own
    assert hash(COPIES["pickle"](layout)) == hash(layout)
    packet = tvmdbg.open_rpc(*conversation(own))[0]
    assert repr(COPIES["pickle"](packet)) == repr(packet)
