"""Events with the Inspector's attributes, made of its recorded answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from tests.executorch_cases import CASES, answers, case_dir
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile, inflated
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.sources.file_source import FileSource


@dataclass
class Event:
    name: str
    debug_handles: int | list[int] | None
    debug_data: list[Any] = field(default_factory=list)
    instruction_id: int = 0
    op_types: list[str] = field(default_factory=lambda: ["aten.add.Tensor"])
    num_outputs: int = 1
    is_delegated_op: bool = False
    delegate_backend_name: str | None = None


@dataclass
class Block:
    events: list[Event]
    bundled_input_index: int = -1
    run_output: Any = None


def gaps_of(name: str) -> dict[tuple[str, str], Any]:
    """Recorded tables, or refusals, by the prefix of their arrays and the metric."""
    told = answers(name)["inspector"]
    found: dict[tuple[str, str], Any] = {
        ("gap.auto", metric): table for metric, table in told.get("numeric_gap", {}).items()
    }
    edge = told.get("numeric_gap_edge_MSE")
    return found | ({("gap.edge_dialect_exported_program", "MSE"): edge} if edge else {})


WITH_GAPS = tuple(
    name for name in CASES if "blocks" in answers(name)["inspector"] and gaps_of(name)
)
COMPARED = tuple(name for name in WITH_GAPS if all("rows" in gap for gap in gaps_of(name).values()))


@cache
def record_of(name: str) -> ETRecord:
    return read_etrecord(FileSource(case_dir(name) / "etrecord.bin"))


@cache
def arrays_of(name: str, file: str = "inspector_tensors.npz") -> dict[str, Any]:
    with np.load(case_dir(name) / file) as arrays:
        return {key: arrays[key] for key in arrays.files}


def blocks_of(name: str, *, compat: bool = False) -> list[Block]:
    """The recorded blocks; their values as recorded, or as they are read by default."""
    arrays = arrays_of(name)
    blocks = []
    for told in answers(name)["inspector"]["blocks"]:
        events = []
        for each in told["events"]:
            taken = {key: each[key] for key in Event.__dataclass_fields__}
            taken["debug_data"] = recorded(each["debug_data"], arrays)
            if each["debug_data"] and not compat:
                taken["debug_data"] = read(name, each)
            events.append(Event(**taken))
        output = recorded(told["run_output"] or [], arrays)
        blocks.append(Block(events, told["bundled_input_index"], output))
    return blocks


def recorded(told: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(told, list):
        return [recorded(each, arrays) for each in told]
    return arrays[told["npz"]] if "npz" in told else told["value"]


def read(name: str, told: dict[str, Any]) -> list[Any]:
    dump = read_etdump(FileSource(case_dir(name) / "etdump.etdp"))
    buffer = DebugBufferFile(FileSource(case_dir(name) / "debug_buffer.bin"))
    identifier = told["delegate_debug_identifier"]
    found: list[Any] = []
    for run in range(dump.num_runs):
        for at in dump.events_of(run):
            value = dump.values.get(at)
            number, text = int(dump.delegate_id_int[at]), dump.delegate_id_str[at]
            own = number if number != -1 else text or None
            place = dump.instruction_id[at], own
            if value and not value.output and place == (told["instruction_id"], identifier):
                found.append(inflated(value, buffer))
        if found:
            break
    return found
