"""The table of events, printed and as a data frame, against the Inspector's own."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.executorch_cases import answers
from tests.unit.executorch.inspector_truth import OPENED, ROUNDED, opened, plain
from tvmdbg_widgets.analysis.executorch.event_block import EventTable, event_table
from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.analysis.executorch.time_scale import PerfData, TimeScale

pd = pytest.importorskip("pandas")


def told(case: str) -> dict[str, Any]:
    found: dict[str, Any] = answers(case)["inspector"]
    return found


def check_frame(frame: Any, expected: dict[str, Any]) -> None:
    assert [str(name) for name in frame.columns] == expected["columns"]
    kinds = {name: str(kind).replace("str", "object") for name, kind in frame.dtypes.items()}
    assert kinds == expected["dtypes"]
    rows = [[cell(value) for value in row] for row in frame.astype(object).to_numpy().tolist()]
    assert rows == [[marked(value) for value in row] for row in expected["rows"]]


def cell(value: Any) -> Any:
    """Return a cell as the answers have it; a missing one is None."""
    if isinstance(value, float) and np.isnan(value):
        return None
    return plain(value)


def marked(value: Any) -> Any:
    """Return a recorded cell without the marks of tensors."""
    if isinstance(value, list):
        return [marked(each) for each in value]
    if isinstance(value, dict) and value.get("__tensor__"):
        return {key: value[key] for key in ("shape", "dtype")}
    return None if value == "nan" else value


@pytest.mark.parametrize("case", OPENED)
@pytest.mark.parametrize("metadata", [False, True])
def test_data_frame(case: str, metadata: bool) -> None:
    expected = told(case)["dataframe_with_delegate_debug_data" if metadata else "dataframe"]
    frame = opened(case).to_dataframe(include_delegate_debug_data=metadata)
    for (of, name), value in ROUNDED.items():
        if of == case:
            rows = frame.index[frame["event_name"] == name]
            assert frame.at[rows[0], "debug_data"] == [value]
            frame.at[rows[0], "debug_data"] = [0.0]
    check_frame(frame, expected)


@pytest.mark.parametrize("case", OPENED)
def test_names_without_units(case: str) -> None:
    inspector = opened(case)
    expected = told(case)["dataframe_no_units"]
    assert list(inspector.to_dataframe(include_units=False).columns) == expected
    assert list(inspector.event_blocks[0].to_dataframe().columns) == expected


@pytest.mark.parametrize("case", OPENED)
def test_printed_table(case: str) -> None:
    file = io.StringIO()
    opened(case).print_data_tabular(file)
    assert file.getvalue() == told(case)["print_data_tabular"]


@pytest.mark.parametrize("case", OPENED)
def test_tsv(case: str, tmp_path: Path) -> None:
    path, file = tmp_path / "table.tsv", io.StringIO(newline="")
    opened(case).save_data_to_tsv(file)
    opened(case).save_data_to_tsv(path)
    assert path.read_bytes().decode() == file.getvalue()
    assert file.getvalue().replace("\r\n", "\n") == told(case)["save_data_to_tsv"]


def test_text_needs_no_pandas() -> None:
    """Neither the printed table nor the TSV imports it."""
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


def test_long_lists_of_operators_are_shortened() -> None:
    table = table_of(event(op_types=list("abcd")), event(op_types=list("abcde")))
    column = table.columns[table.names.index("op_types")]
    assert column == [["a", "b", "c", "d"], "['a', 'b' ... 'e'] (5 total)"]


@pytest.mark.parametrize(
    ("raws", "kind"),
    [
        ([[0.5], None], "object"),
        ([[1], [2]], "int64"),
        ([[1], [0.5]], "float64"),
        ([None, None], "object"),
    ],
)
def test_types_of_time_columns(raws: list[list[float] | None], kind: str) -> None:
    """As pandas 3.0 and 2.2 have it for the Inspector's frames of one row each."""
    frame = table_of(*(event(raw=raw) for raw in raws)).to_dataframe()
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
    frame = table_of(*events, metadata=True).to_dataframe()
    found = {name: str(kind).replace("str", "object") for name, kind in frame.dtypes[17:].items()}
    assert found == kinds


def test_metadata_of_other_types_is_refused() -> None:
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


def test_grid_without_rows() -> None:
    """As tabulate 0.10 draws it: without the column that numbers them."""
    file = io.StringIO()
    print(table_of().printed().text(), file=file)
    assert file.getvalue().splitlines()[0].startswith("╒════════════════════╤═")
    assert [line[0] for line in file.getvalue().splitlines()] == ["╒", "│", "╞", "╘"]
