"""Every pair of time scales, converters and errors, against the Inspector's own answers."""

from __future__ import annotations

import builtins
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.executorch_cases import answers, case_dir, read_json
from tests.unit.executorch.dumps import Logged, dump_of
from tvmdbg_widgets.analysis.executorch.event_blocks import event_blocks
from tvmdbg_widgets.analysis.executorch.time_scale import TimeScale, scale_factor
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.run.executorch.inspector import Inspector

TOLD: dict[str, Any] = read_json("inspector_options.json")
SCALES = [tuple(name.split("->")) for name in TOLD if "->" in name]
CASE = case_dir("01_mlp_portable")
DUMP, RECORD = str(CASE / "etdump.etdp"), str(CASE / "etrecord.bin")
#: Ticks of the delegate's event 0 in its first two runs; those of the others were not recorded.
CALLS = [int(ticks) for _, ticks in TOLD["converter_first_calls"]]


def raises(told: dict[str, Any]) -> Any:
    """Expect an error as it was recorded: its type and whole text."""
    kind, _, text = told["__error__"].partition(": ")
    known = getattr(builtins, kind.removeprefix("builtins."))
    return pytest.raises(known, match=f"^{re.escape(text)}$")


def inspector(*given: Any, **named: Any) -> Inspector:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Inspector(*given, compat=True, **named)


def recorded_run() -> ETDump:
    """Return the run that was recorded, as far as its times tell: an event an instruction."""
    runs = []
    for run in range(4):
        events = []
        for at, (name, delegated, ticks) in enumerate(TOLD["ns->ns"][2:]):
            first = CALLS[2 * run] if name == "0" and run < 2 else CALLS[0]
            identifier = int(name) if delegated else -1
            end = first + int(ticks[run])
            events.append(Logged("" if delegated else name, first, end, at, 0, identifier))
        runs.append(events)
    return dump_of(*runs)


def check_times(told: list[Any], **options: Any) -> None:
    (block,) = event_blocks(recorded_run(), compat=True, **options)
    for event, (name, delegated, raw) in zip(block.events, told[2:], strict=True):
        assert (event.name, event.is_delegated_op) == (name, delegated)
        assert event.perf_data is not None
        found = event.perf_data.raw
        if delegated:
            assert found == pytest.approx(raw, rel=1e-3)
        known = len(raw) if not delegated else 2 if name == "0" else 0
        assert found[:known] == raw[:known]
        assert [type(each) for each in found] == [type(each) for each in raw]


@pytest.mark.parametrize(("source", "target"), SCALES)
def test_time_scales(source: str, target: str) -> None:
    told = TOLD[f"{source}->{target}"]
    scales = TimeScale(source), TimeScale(target)
    if isinstance(told, dict):
        with raises(told):
            Inspector(DUMP, source_time_scale=source, target_time_scale=target)
        with raises(told):
            scale_factor(*scales)
        return
    check_times(told, source_time_scale=scales[0], target_time_scale=scales[1])


def test_converters() -> None:
    check_times(TOLD["converter_x1000"], converter=lambda _, ticks: ticks * 1000)
    check_times(TOLD["converter_div7"], converter=lambda _, ticks: ticks / 7)


def test_a_converter_is_called_with_name_and_ticks() -> None:
    calls: list[list[str]] = []

    def convert(name: str, ticks: int) -> float:
        calls.append([repr(name), repr(ticks)])
        return ticks

    event_blocks(recorded_run(), converter=convert)
    assert calls[:4] == TOLD["converter_first_calls"]


ERRORS: dict[str, Callable[[], object]] = {
    "both_path_and_data": lambda: inspector(DUMP, Path(DUMP).read_bytes()),
    "neither": inspector,
    "etrecord_wrong_type": lambda: inspector(DUMP, etrecord=1),
    "etrecord_pathlike": lambda: inspector(DUMP, etrecord=Path(RECORD)),
    "reference_graph_name_unknown": lambda: inspector(
        DUMP, etrecord=RECORD, reference_graph_name="nope"
    ),
    "missing_file": lambda: inspector("/nonexistent"),
    "numeric_gap_no_etrecord": lambda: inspector(DUMP).calculate_numeric_gap("MSE"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_match_inspector(name: str) -> None:
    with raises(TOLD[name]):
        ERRORS[name]()


def test_an_etrecord_without_its_identifier() -> None:
    folder = case_dir("09n_no_identifier")
    record = str(folder / "etrecord.bin")
    with raises(answers("09n_no_identifier")["inspector"]):
        inspector(folder / "etdump.etdp", etrecord=record)
    with pytest.raises(FormatError, match="ETRECORD_V0"):
        Inspector(folder / "etdump.etdp", etrecord=record)


def test_etrecord_that_is_no_zip_archive_is_rejected() -> None:
    with pytest.raises(RuntimeError, match=r"^Invalid etrecord file passed in\.$"):
        inspector(DUMP, etrecord=DUMP)


@pytest.mark.parametrize("case", ["09l_empty", "09l_truncated", "17a_half_debug"])
@pytest.mark.parametrize("compat", [True, False])
def test_damaged_dumps_are_refused(case: str, compat: bool) -> None:
    with pytest.raises(FormatError):
        Inspector(case_dir(case) / "etdump.etdp", compat=compat)


def test_runs_with_other_outputs_are_refused() -> None:
    case = "05c_multirun_debug_different_inputs"
    folder = case_dir(case)
    buffer = folder / "debug_buffer.bin"
    with raises(answers(case)["inspector"]):
        inspector(folder / "etdump.etdp", debug_buffer_path=buffer)


def test_remaining_options_and_methods_match_inspector() -> None:
    found = inspector(etdump_data=Path(DUMP).read_bytes())
    assert len(found.event_blocks) == TOLD["etdump_data_bytes"]
    assert str(found.get_exported_program()) == TOLD["get_exported_program_no_etrecord"]
    assert found.get_op_list("Execute") == TOLD["get_op_list"]
    with pytest.warns(UserWarning, match=r"^Output Buffer not found\. Tensor Debug Data"):
        Inspector(DUMP, compat=True)
    with pytest.raises(TypeError, match="another name of debug_buffer_path"):
        Inspector(DUMP, debug_buffer_path=DUMP, buffer_path=DUMP)
