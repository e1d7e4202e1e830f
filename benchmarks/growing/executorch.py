"""Files of ExecuTorch of which one size grows, for :mod:`benchmarks.growth`."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.executorch_files import write_etdump, write_etrecord
from tests.executorch_cases import case_dir
from tests.formats.executorch.test_program_hostile import call, instruction, tensor
from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ValueType
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, RecordedEvent, etdump_bytes

if TYPE_CHECKING:
    from benchmarks.growing import Write

_FEW, _NS = 20, 1000
_HEADS = ("event_block_name", "event_name", "p50", "avg (ms)", "op_types", "is_delegated_op")


def _events(make: Callable[[int], Iterable[RecordedBlock]]) -> Write:
    def of_size(folder: Path, size: int) -> None:
        (folder / "etdump.etdp").write_bytes(etdump_bytes(make(size)))

    return of_size


def _event(at: int, name: str | None = "native_call_add.out", **more: Any) -> RecordedEvent:
    return RecordedEvent(0, at, name, start=_NS * at, end=_NS * at + 500, **more)


def _calls(size: int) -> Iterable[RecordedBlock]:
    """Calls of as many delegates, with an event in each."""
    events = []
    for at in range(size // 2):
        events.append(_event(at, None, delegate_debug_id=at))
        events.append(_event(at, "DELEGATE_CALL"))
    yield RecordedBlock("Execute", events=events)


def _names(size: int) -> Iterable[RecordedBlock]:
    """One delegate whose events all have names of their own."""
    inner = [
        _event(0, None, delegate_debug_id=f"Convolution (NHWC, F32) #{i}") for i in range(size)
    ]
    yield RecordedBlock("Execute", events=[*inner, _event(0, "DELEGATE_CALL")])


def _logged(size: int) -> Iterable[RecordedBlock]:
    """Logged tensors, which no debug buffer holds."""
    values = [
        DebugValue(ValueType.TENSOR, DebugTensor(6, (2, 3), (3, 1), 24 * i)) for i in range(size)
    ]
    yield RecordedBlock("Execute", events=[_event(i, value=each) for i, each in enumerate(values)])


def _program(make: Callable[[int], dict[str, Any]]) -> Write:
    def of_size(folder: Path, size: int) -> None:
        (folder / "model.pte").write_bytes(program(**make(size)))

    return of_size


def program(
    methods: int = 1, values: int = 3, steps: int = 3, delegates: int = 0, operators: int = 1
) -> bytes:
    """Return a program by hand, nothing of which is shared."""

    def plan(at: int) -> Table:
        calls: list[Thing] = [
            call(i % values, (i + 1) % values, (i + 1) % values, op=i % operators)
            for i in range(steps)
        ]
        calls += [
            instruction(2, {0: number("i", i), 1: numbers("i", i % values, (i + 1) % values)})
            for i in range(delegates)
        ]
        return Table(
            {
                0: text(f"method{at}" if at else "forward"),
                2: Things([tensor(offset=64 * i) for i in range(values)]),
                3: numbers("i", 0),
                4: numbers("i", 1),
                5: Things([Table({2: Things(calls)})]),
                6: Things(
                    [Table({0: text(f"aten::op{i}"), 1: text("out")}) for i in range(operators)]
                ),
                7: Things([_delegate(i) for i in range(delegates)]),
                8: numbers("q", 0, 64 * values + 64),
            }
        )

    payloads = Things([Table({0: numbers("B", 1, 2, 3, 4)}) for _ in range(delegates)])
    fields: dict[int, bytes | Thing] = {
        0: number("I", 0),
        1: Things(list(map(plan, range(methods)))),
    }
    return bytes(file(Table(fields | ({3: payloads} if delegates else {})), b"ET12"))


def _delegate(at: int) -> Table:
    where = Table({0: number("B", 0), 1: number("I", at)})
    return Table({0: text(f"Backend{at}"), 1: where, 2: Things([])})


def _nodes(folder: Path, size: int) -> None:
    write_etrecord(folder / "etrecord.bin", size)


def _executions(folder: Path, size: int) -> None:
    write_etdump(folder / "etdump.etdp", size, max(1, size // _FEW))


def _one_execution(folder: Path, size: int) -> None:
    write_etdump(folder / "etdump.etdp", size, 1)


def _record(change: Callable[[dict[str, bytes], int], None]) -> Write:
    """A real ETRecord and its ETDump, of whose members one grows."""

    def of_size(folder: Path, size: int) -> None:
        case = case_dir("06a_demo_generated_ids")
        with zipfile.ZipFile(case / "etrecord.bin") as small:
            members = {name: small.read(name) for name in small.namelist()}
        change(members, size)
        with zipfile.ZipFile(folder / "etrecord.bin", "w") as large:
            for name, data in members.items():
                large.writestr(name, data)
        (folder / "etdump.etdp").write_bytes((case / "etdump.etdp").read_bytes())

    return of_size


def _delegate_map(members: dict[str, bytes], size: int) -> None:
    """More identifiers of each call than the delegate had."""
    document = json.loads(members["delegate_map"])
    for calls in document.values():
        for each in calls.values():
            handles = next(iter(each["delegate_map"].values()))
            each["delegate_map"] |= {str(1000 + at): handles for at in range(size)}
    members["delegate_map"] = json.dumps(document).encode()


def _handle_map(members: dict[str, bytes], size: int) -> None:
    document = json.loads(members["debug_handle_map"])
    for instructions in document.values():
        instructions |= {str(1000 + at): 1 + at % 9 for at in range(size)}
    members["debug_handle_map"] = json.dumps(document).encode()


def _members(members: dict[str, bytes], size: int) -> None:
    """More programs, as ``generate_etrecord`` takes them, all of them broken."""
    members |= {f"export{at}/forward": b'{"graph_module": {' for at in range(size // 8)}


def _table(folder: Path, size: int) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(_HEADS)
    for at in range(size):
        writer.writerow(["Execute", f"native_call_op{at}.out", 0.25, 0.25, "[]", False])
    (folder / "events.tsv").write_text(out.getvalue())


EXECUTORCH: dict[str, Write] = {
    "events": _one_execution,
    "executions": _executions,
    "delegate calls": _events(_calls),
    "names of a delegate's events": _events(_names),
    "logged tensors": _events(_logged),
    "methods of an ETDump": _events(
        lambda n: (
            RecordedBlock(f"method{i}", events=[_event(0), _event(1, "Method::execute")])
            for i in range(n // 2)
        )
    ),
    "nodes of an ETRecord": _nodes,
    "identifiers of a delegate": _record(_delegate_map),
    "debug handles": _record(_handle_map),
    "members of an ETRecord": _record(_members),
    "methods of a program": _program(lambda n: {"methods": n // 8}),
    "values of a program": _program(lambda n: {"values": n, "steps": n}),
    "delegates of a program": _program(lambda n: {"delegates": n}),
    "operators of a program": _program(lambda n: {"steps": n, "operators": n}),
    "rows of Inspector's table": _table,
}
