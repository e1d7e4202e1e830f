"""Blocks, tables, options and errors, against what the Inspector answered for the same files."""

import builtins
import io
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.executorch_cases import CASES, answers, case_dir, read_json
from tests.unit.executorch import inspector_truth as truth
from tests.unit.executorch.dumps import Logged, dump_of
from tests.unit.executorch.inspector_truth import OPENED, ROUNDED, check_values, opened, plain
from tvmdbg_widgets.analysis.executorch.event_block import EventBlock, EventTable, event_table
from tvmdbg_widgets.analysis.executorch.event_blocks import event_blocks
from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.analysis.executorch.time_scale import PerfData, TimeScale, scale_factor
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.run.executorch.inspector import Inspector

pytest.importorskip("pandas")

FIELDS = (
    *("name", "instruction_id", "delegate_debug_identifier", "is_delegated_op"),
    *("delegate_backend_name", "debug_handles", "num_outputs", "op_types", "stack_traces"),
    *("module_hierarchy", "raw_delegate_debug_metadatas", "delegate_debug_metadatas"),
    "start_time",
)
STATISTICS = ("raw", "p10", "p50", "p90", "avg", "min", "max")


def check_event(case: str, event: Event, told: dict[str, Any]) -> None:
    for name in FIELDS:
        if name in told:
            assert plain(getattr(event, name)) == told[name], (event.name, name)
    perf = event.perf_data and {name: getattr(event.perf_data, name) for name in STATISTICS}
    assert perf == told["perf_data"]
    if (case, event.name) in ROUNDED:
        assert event.debug_data == [ROUNDED[case, event.name]]
    else:
        check_values(case, event.debug_data, told["debug_data"])


def check_blocks(case: str, blocks: Any, told: list[dict[str, Any]]) -> None:
    for block, each in zip(blocks, told, strict=True):
        own = (block.name, block.bundled_input_index)
        own += (block.source_time_scale.value, block.target_time_scale.value)
        names = ("name", "bundled_input_index", "source_time_scale", "target_time_scale")
        assert own == tuple(each[name] for name in names)
        check_values(case, block.run_output, each["run_output"])
        assert (block.reference_output is None) == (each["reference_output"] is None)
        check_values(case, block.reference_output or [], each["reference_output"] or [])
        for event, expected in zip(block.events, each["events"], strict=True):
            check_event(case, event, expected)


VARIANTS = [
    (case, variant)
    for case in CASES
    for variant, told in answers(case).get("variants", {}).items()
    if isinstance(told, list)
]


@pytest.mark.parametrize(("case", "variant"), [*((case, "") for case in OPENED), *VARIANTS])
def test_every_block_matches_inspector(case: str, variant: str) -> None:
    given: dict[str, Any] = {"record": False, "buffer": False, "delegate_metadata_parser": None}
    given = given | truth.VARIANTS[variant] if variant else {}
    found = answers(case)
    told = found["variants"][variant] if variant else found["inspector"]["blocks"]
    check_blocks(case, opened(case, **given).event_blocks, told)


def cell(value: Any) -> Any:
    """Return a cell as the answers have it; a missing one is None."""
    return None if isinstance(value, float) and np.isnan(value) else plain(value)


def marked(value: Any) -> Any:
    if isinstance(value, list):
        return [marked(each) for each in value]
    if isinstance(value, dict) and value.get("__tensor__"):
        return {key: value[key] for key in ("shape", "dtype")}
    return None if value == "nan" else value


def dtypes(frame: Any) -> dict[str, str]:
    return {name: str(kind).replace("str", "object") for name, kind in frame.dtypes.items()}


@pytest.mark.parametrize("case", OPENED)
@pytest.mark.parametrize("metadata", [False, True])
def test_data_frame(case: str, metadata: bool) -> None:
    name = "dataframe_with_delegate_debug_data" if metadata else "dataframe"
    expected = answers(case)["inspector"][name]
    frame = opened(case).to_dataframe(include_delegate_debug_data=metadata)
    for (of, name), value in ROUNDED.items():
        if of == case:
            rows = frame.index[frame["event_name"] == name]
            assert frame.at[rows[0], "debug_data"] == [value]
            frame.at[rows[0], "debug_data"] = [0.0]
    assert [str(name) for name in frame.columns] == expected["columns"]
    assert dtypes(frame) == expected["dtypes"]
    rows = [[cell(value) for value in row] for row in frame.astype(object).to_numpy().tolist()]
    assert rows == [[marked(value) for value in row] for row in expected["rows"]]


@pytest.mark.parametrize("case", OPENED)
def test_tables_totals_and_programs(case: str, tmp_path: Path) -> None:
    inspector, told = opened(case), answers(case)["inspector"]
    names = told["dataframe_no_units"]
    assert list(inspector.to_dataframe(include_units=False).columns) == names
    assert list(inspector.event_blocks[0].to_dataframe().columns) == names
    file, tsv, path = io.StringIO(), io.StringIO(newline=""), tmp_path / "table.tsv"
    inspector.print_data_tabular(file)
    assert file.getvalue() == told["print_data_tabular"]
    inspector.save_data_to_tsv(tsv)
    inspector.save_data_to_tsv(path)
    assert path.read_bytes().decode() == tsv.getvalue()
    assert tsv.getvalue().replace("\r\n", "\n") == told["save_data_to_tsv"]
    totals = told["find_total_for_module"]
    for each in (inspector, opened(case, compat=False)):
        assert {name: each.find_total_for_module(name) for name in totals} == totals
    program = inspector.get_exported_program()
    assert type(program).__name__ == told["get_exported_program"]
    if program is not None:
        calls = [n["name"] for n in told["etrecord"]["edge_nodes"] if n["op"] == "call_function"]
        known = {value.name for node in program.nodes for value in node.outputs}
        assert set(calls) <= known | {node.name for node in program.nodes}
        assert inspector.get_exported_program("no such graph") is None


def test_text_needs_no_pandas() -> None:
    code = (
        "import sys, io; sys.modules['pandas'] = None\n"
        "from tests.unit.executorch.inspector_truth import opened\n"
        "it = opened('06a_demo_generated_ids')\n"
        "it.print_data_tabular(io.StringIO()); it.save_data_to_tsv(io.StringIO())\n"
        "assert '<td>DELEGATE_CALL</td>' in it._repr_html_()\n"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False)
    assert found.returncode == 0


def table_of(*events: Event, metadata: bool = False) -> EventTable:
    return event_table([("Execute", events)], TimeScale.MS, metadata=metadata)


def event(name: str = "x", raw: list[float] | None = None, **given: Any) -> Event:
    return Event(name, PerfData(raw) if raw else None, is_delegated_op=True, **given)


def test_long_lists_of_operators_and_types_of_time_columns() -> None:
    table = table_of(event(op_types=list("abcd")), event(op_types=list("abcde")))
    column = table.columns[table.names.index("op_types")]
    assert column == [["a", "b", "c", "d"], "['a', 'b' ... 'e'] (5 total)"]
    # Types of times as pandas 3.0 and 2.2 have them for the Inspector's frames of one row each.
    raws: dict[str, list[list[float] | None]] = {"int64": [[1], [2]], "float64": [[1], [0.5]]}
    for kind, given in [*raws.items(), ("object", [[0.5], None]), ("object", [None, None])]:
        frame = table_of(*(event(raw=raw) for raw in given)).to_dataframe()
        assert str(frame["min (ms)"].dtype) == kind


@pytest.mark.parametrize(
    ("parsed", "kinds"),
    [
        (
            [[], {"n": 1, "s": "a"}, {"f": 2, "n": 3}],
            {"n": "float64", "s": "object", "f": "float64"},
        ),
        ([{"b": True}, {"b": False}], {"b": "bool"}),
        ([{"b": True}, {}], {"b": "object"}),
        ([{"n": None}, {"n": 3}], {"n": "float64"}),
        ([[b"a"], {"k": 1}], {"delegate_debug_metadata": "object", "k": "float64"}),
        ([[], None], {}),
    ],
)
def test_types_of_metadata_columns(parsed: list[Any], kinds: dict[str, str]) -> None:
    answered = iter(parsed)
    events = [event(metadata_parser=lambda _: next(answered)) for _ in parsed]
    assert dict([*dtypes(table_of(*events, metadata=True).to_dataframe()).items()][17:]) == kinds
    given = event(metadata_parser=lambda _: "text")
    with pytest.raises(ValueError, match=r"Unexpected type for delegate_debug_metadata: <class"):
        table_of(given, metadata=True)


def test_names_with_control_characters_stay_on_one_line() -> None:
    text = EventTable(("a\x1b[1m", "b"), (["宽a\n", "x"], [1e-05, float("nan")])).text()
    assert text.splitlines() == [
        "╒════╤════════════╤═════════╕",
        "│    │ a\\x1b[1m   │       b │",
        "╞════╪════════════╪═════════╡",
        "│  0 │ 宽a\\n      │   1e-05 │",
        "├────┼────────────┼─────────┤",
        "│  1 │ x          │ nan     │",
        "╘════╧════════════╧═════════╛",
    ]
    # Without rows as tabulate 0.10 draws it: without the column that numbers them.
    lines = table_of().printed().text().splitlines()
    assert lines[0].startswith("╒════════════════════╤═")
    assert [line[0] for line in lines] == ["╒", "│", "╞", "╘"]


# Options and errors ------------------------------------------------------------------------------

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
    block: EventBlock
    (block,) = event_blocks(recorded_run(), compat=True, **options)
    for event, (name, delegated, raw) in zip(block.events, told[2:], strict=True):
        found = event.perf_data.raw
        assert (event.name, event.is_delegated_op) == (name, delegated)
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
    calls: list[list[str]] = []

    def convert(name: str, ticks: int) -> float:
        calls.append([repr(name), repr(ticks)])
        return ticks

    event_blocks(recorded_run(), converter=convert)
    assert calls[:4] == TOLD["converter_first_calls"]


UNKNOWN: dict[str, Any] = {"etrecord": RECORD, "reference_graph_name": "nope"}
ERRORS: dict[str, Callable[[], object]] = {
    "both_path_and_data": lambda: inspector(DUMP, Path(DUMP).read_bytes()),
    "neither": inspector,
    "etrecord_wrong_type": lambda: inspector(DUMP, etrecord=1),
    "etrecord_pathlike": lambda: inspector(DUMP, etrecord=Path(RECORD)),
    "reference_graph_name_unknown": lambda: inspector(DUMP, **UNKNOWN),
    "missing_file": lambda: inspector("/nonexistent"),
    "numeric_gap_no_etrecord": lambda: inspector(DUMP).calculate_numeric_gap("MSE"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_match_inspector(name: str) -> None:
    with raises(TOLD[name]):
        ERRORS[name]()


def test_files_that_inspector_refuses() -> None:
    folder = case_dir("09n_no_identifier")
    dump, record = folder / "etdump.etdp", str(folder / "etrecord.bin")
    with raises(answers("09n_no_identifier")["inspector"]):
        inspector(dump, etrecord=record)
    with pytest.raises(FormatError, match="ETRECORD_V0"):
        Inspector(dump, etrecord=record)
    with pytest.raises(RuntimeError, match=r"^Invalid etrecord file passed in\.$"):
        inspector(DUMP, etrecord=DUMP)
    for case in ("09l_empty", "09l_truncated", "17a_half_debug"):
        for compat in (True, False):
            with pytest.raises(FormatError):
                Inspector(case_dir(case) / "etdump.etdp", compat=compat)
    other = "05c_multirun_debug_different_inputs"
    dump, buffer = case_dir(other) / "etdump.etdp", case_dir(other) / "debug_buffer.bin"
    with raises(answers(other)["inspector"]):
        inspector(dump, debug_buffer_path=buffer)


def test_remaining_options_and_methods_match_inspector() -> None:
    found = inspector(etdump_data=Path(DUMP).read_bytes())
    assert len(found.event_blocks) == TOLD["etdump_data_bytes"]
    assert str(found.get_exported_program()) == TOLD["get_exported_program_no_etrecord"]
    assert found.get_op_list("Execute") == TOLD["get_op_list"]
    with pytest.warns(UserWarning, match=r"^Output Buffer not found\. Tensor Debug Data"):
        Inspector(DUMP, compat=True)
    with pytest.raises(TypeError, match="another name of debug_buffer_path"):
        Inspector(DUMP, debug_buffer_path=DUMP, buffer_path=DUMP)
