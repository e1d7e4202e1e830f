"""Events with the Inspector's attributes, made of its recorded answers."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.executorch_cases import CASES, answers, case_dir
from tests.formats.executorch.case_files import arrays_of, buffer_of, dump_of, recorded
from tests.formats.executorch.case_files import values_of as values_of_event
from tvmdbg_widgets.formats.executorch.debug_buffer import inflated
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
    found = {("gap.auto", metric): table for metric, table in told.get("numeric_gap", {}).items()}
    edge = told.get("numeric_gap_edge_MSE")
    return found | ({("gap.edge_dialect_exported_program", "MSE"): edge} if edge else {})


COMPARED = tuple(
    name
    for name in CASES
    if "blocks" in answers(name)["inspector"]
    and gaps_of(name)
    and all("rows" in gap for gap in gaps_of(name).values())
)


@cache
def record_of(name: str) -> ETRecord:
    return read_etrecord(FileSource(case_dir(name) / "etrecord.bin"))


def blocks_of(name: str, *, compat: bool = False) -> list[Block]:
    """The recorded blocks; their values as recorded, or as they are read by default."""
    dump, arrays = dump_of(name), arrays_of(name)
    blocks = []
    for told in answers(name)["inspector"]["blocks"]:
        events = []
        for each in told["events"]:
            taken = {key: each[key] for key in Event.__dataclass_fields__}
            taken["debug_data"] = recorded(each["debug_data"], arrays)
            if each["debug_data"] and not compat:
                logged = (values_of_event(dump, run, each) for run in range(dump.num_runs))
                found = next(filter(None, logged))
                taken["debug_data"] = [inflated(value, buffer_of(name)) for value in found]
            events.append(Event(**taken))
        output = recorded(told["run_output"] or [], arrays)
        blocks.append(Block(events, told["bundled_input_index"], output))
    return blocks
