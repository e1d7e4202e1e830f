"""Files of the recorded cases, read, and what the Inspector said of their values."""

from functools import cache
from typing import Any

import numpy as np

from tests.executorch_cases import FOLDER, case_dir
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.formats.executorch.program.instruction_graph import InstructionGraph, graph_of
from tvmdbg_widgets.formats.executorch.program.instruction_sources import read_bundled_program
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.executorch.etdump import DebugValue, ETDump
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.sources.file_source import FileSource

PTE = FOLDER / "pte"
PROGRAMS = tuple(sorted(path.stem for path in PTE.glob("*.pte")))


def dump_of(name: str, *, strict: bool = False) -> ETDump:
    return read_etdump(FileSource(case_dir(name) / "etdump.etdp"), strict=strict)


def buffer_of(name: str) -> DebugBufferFile:
    return DebugBufferFile(FileSource(case_dir(name) / "debug_buffer.bin"))


@cache
def arrays_of(name: str, file: str = "inspector_tensors.npz") -> dict[str, Any]:
    with np.load(case_dir(name) / file) as arrays:
        return dict(arrays)


def program_of(name: str) -> Program:
    if name == "14_bundled":
        return read_bundled_program(FileSource(FOLDER / name / "model.bpte")).program
    return read_program(FileSource(PTE / f"{name}.pte", name))


def graph_of_program(name: str, method: str = "forward", **more: Any) -> InstructionGraph:
    return graph_of(program_of(name).plan(method), file=name, **more)


def values_of(dump: ETDump, run: int, event: dict[str, Any]) -> list[DebugValue]:
    """Values that a run logged for an event of the Inspector, found by instruction and name."""
    identifier = event["delegate_debug_identifier"]
    found = []
    for at in dump.events_of(run):
        value = dump.values.get(at)
        if value is None or value.output or dump.instruction_id[at] != event["instruction_id"]:
            continue
        number, text = int(dump.delegate_id_int[at]), dump.delegate_id_str[at]
        if identifier == (number if number != -1 else text or None):
            found.append(value)
    return found


def recorded(told: Any, arrays: Any) -> Any:
    """Return the values that were recorded; without arrays, zeros in their shapes."""
    if isinstance(told, list):
        return [recorded(each, arrays) for each in told]
    if "npz" not in told:
        return told["value"]
    if arrays is None:
        return np.zeros(told["shape"], told["dtype"].removeprefix("torch."))
    return arrays[told["npz"]]
