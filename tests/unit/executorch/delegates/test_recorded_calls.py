"""What calls of delegates took, against the times that flatc reads of the dumps."""

from __future__ import annotations

import gc
import pickle
import weakref
from pathlib import Path

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import answers, case_dir
from tests.formats.executorch.xnnpack_truth import CASES as RECORDED
from tests.formats.executorch.xnnpack_truth import FOLDER
from tvmdbg_widgets.widgets.run_model import model_of

CORPUS = pytest.mark.skipif(not RECORDED, reason="no TVMDBG_CORPUS")
CASES = (
    "03b_mixed_xnnpack",
    "03d_xnnpack_two_outputs",
    "06a_demo_generated_ids",
    "08_conv_xnnpack_quant",
)


@pytest.mark.parametrize("name", CASES)
def test_events_and_gaps_add_up_to_the_call(name: str) -> None:
    calls = tvmdbg.open(case_dir(name)).delegate_calls()
    (execute,) = answers(name)["etdump_raw_flatc_json"]["run_data"][1:]
    events = [each["profile_event"] for each in execute["events"] if each.get("profile_event")]
    told = [each for each in events if each.get("name") == "DELEGATE_CALL"]
    assert len(calls) == len(told)
    for call, expected in zip(calls, told, strict=True):
        assert call.instruction == expected["instruction_id"]
        assert call.duration_ns == expected["end_time"] - expected["start_time"]
        inner = [
            each
            for each in events
            if each["instruction_id"] == call.instruction
            and (each["delegate_debug_id_int"] != -1 or each.get("delegate_debug_id_str"))
        ]
        assert len(call.events) == len(inner)
        # These delegates log one event after the other.
        assert call.inside_ns == sum(each["end_time"] - each["start_time"] for each in inner)
        assert call.inside_ns + sum(length for _, length in call.gaps) == call.duration_ns


def test_delegate_calls_convert_to_table_and_text() -> None:
    calls = tvmdbg.open(case_dir("08_conv_xnnpack_quant")).delegate_calls()
    assert list(calls.to_dataframe()["backend"]) == ["XnnpackBackend"] * 2
    assert "9 events that cover 68.8 %" in repr(calls)
    with pytest.raises(ValueError, match="neither an ETDump nor a program"):
        tvmdbg.open(tvmdbg.samples.resnet20_cifar).delegate_calls()


def test_call_without_graph_is_not_a_run() -> None:
    calls = tvmdbg.open(case_dir("08_conv_xnnpack_quant")).delegate_calls()
    assert calls[0].events[0].reason.endswith("known: the .pte may have one")
    with pytest.raises(TypeError, match=r"not RecordedCall: pass its \.run"):
        tvmdbg.GraphView(calls[0])
    with pytest.raises(ValueError, match=r"no graph of XnnpackBackend .* open the \.pte, too"):
        _ = calls[0].run


@CORPUS
def test_a_call_of_the_corpus_opens_as_a_run(tmp_path: Path) -> None:
    folder = FOLDER / "residual"
    run = tvmdbg.open(folder / "model.pte", folder / "etdump.etdp")
    (call,) = run.delegate_calls()
    assert isinstance(call.run, tvmdbg.DebugRun)
    assert call.run is call.run
    assert call.run.timeline.total_ns == call.duration_ns
    assert "#1 Conv2d" in call.run.figure("graph").text
    assert call.run.save_html(tmp_path / "delegate.html").stat().st_size > 10_000
    (again,) = pickle.loads(pickle.dumps(run.delegate_calls()))  # noqa: S301
    assert list(again.run.graph.names) == list(call.graph.names)
    with pytest.raises(ValueError, match="save the run that it is a part of"):
        call.run.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


@CORPUS
def test_a_graph_alone_is_shown_and_freed(tmp_path: Path) -> None:
    folder = FOLDER / "residual"
    graph = tvmdbg.open(folder / "model.pte", folder / "etdump.etdp").delegate_calls()[0].graph
    view = tvmdbg.GraphView(graph, focus="Conv2d_1")
    assert view.debug_run.graph is graph
    assert "#1 Conv2d" in view.figure().text
    view.save_html(tmp_path / "graph.html")
    view.close()
    gone = weakref.ref(view.debug_run), weakref.ref(model_of(view.shown))
    del view
    gc.collect()
    assert [each() for each in gone] == [None, None]


@CORPUS
def test_frames_count_matches_and_name_operators() -> None:
    folder = FOLDER / "residual"
    calls = tvmdbg.open(folder / "model.pte", folder / "etdump.etdp").delegate_calls()
    frame, events = calls.to_dataframe(), calls.events()
    row = frame.iloc[0]
    assert calls[0].to_dataframe().equals(events)
    assert (row["method"], row["instruction"], row["operators"]) == ("forward", 0, 6)
    assert (row["events"], row["exact"], row["order"], row["none"]) == (7, 7, 0, 0)
    assert row["payload"].startswith("XNNPACK graph")
    assert list(events["operators"])[:2] == [("StaticTranspose_0",), ("Conv2d_1",)]
    assert set(events["match"]) == {"exact"}
