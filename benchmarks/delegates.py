"""What it costs to open a program with its delegates' graphs, and to tie a dump's events to them.

    python -m benchmarks.delegates

2,000 operators of XNNPACK and 20,000 events, in one delegate and in many: CPU time of opening both
beyond that of opening them without looking into the payloads.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tvmdbg_widgets as tvmdbg
from benchmarks.measure import machine, measure, sized
from tests.formats.executorch.delegate_payloads import graph, node, with_header
from tests.formats.executorch.delegate_payloads import value as tensor_of
from tests.formats.executorch.test_program_hostile import instruction, tensor
from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tvmdbg_widgets.formats.executorch import assemble
from tvmdbg_widgets.model.executorch.delegate_graph import Insides
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, RecordedEvent, etdump_bytes

NODES, EXECUTIONS = sized(2_000, 200), 10
BEYOND_S = 0.5
_US = 1000
#: Types of nodes by turns, and what XNNPACK calls their operators.
_TURNS = ((4, "Sigmoid (NC)"), (30, "Abs (NC)"), (43, "TanH (NC)"), (27, "Negate (NC)"))


def write(
    folder: Path,
    calls: int,
    *,
    nodes: int = NODES,
    executions: int = EXECUTIONS,
    methods: tuple[str, ...] = ("forward",),
    repeats: int = 1,
    another: bool = False,
) -> Path:
    """Write a program whose methods have so many delegates each, and a dump of its executions.

    The methods call all of them so many times; every execution logs another event if asked for.
    """
    each = nodes // calls
    folder.mkdir()
    payloads = [_payload(each, first * each) for first in range(calls)]

    def plan(name: str) -> Table:
        fields: dict[int, bytes | Thing] = {
            0: text(name),
            2: Things([tensor(offset=64 * at) for at in range(calls + 1)]),
            3: numbers("i", 0),
            4: numbers("i", calls),
            5: Things([Table({2: Things([_call(at) for at in range(calls)] * repeats)})]),
            7: Things([_delegate(at) for at in range(calls)]),
            8: numbers("q", 0, 1 << 20),
        }
        return Table(fields)

    held: list[Thing] = [Table({0: numbers("B", *payload)}) for payload in payloads]
    root = Table({1: Things([plan(name) for name in methods]), 3: Things(held)})
    (folder / "model.pte").write_bytes(bytes(file(root, b"ET12")))
    events = (_events(calls, each, 10**9 * run, another * run) for run in range(executions))
    blocks = [RecordedBlock("Execute", events=list(own)) for own in events]
    (folder / "etdump.etdp").write_bytes(etdump_bytes(blocks))
    return folder


def _payload(count: int, handle: int) -> bytes:
    values = [
        tensor_of(at, 2, 3, external={0: 0, count: 1}.get(at, 0xFFFFFFFF))
        for at in range(count + 1)
    ]
    nodes = [
        node(_TURNS[at % len(_TURNS)][0], at, at + 1, handle=(handle + at) % 60_000)
        for at in range(count)
    ]
    return with_header(graph(nodes, values, (0,), (count,)))


def _call(at: int) -> Table:
    return instruction(2, {0: number("i", at), 1: numbers("i", at, at + 1)})


def _delegate(at: int) -> Table:
    return Table({0: text("XnnpackBackend"), 1: Table({0: number("b", 0), 1: number("I", at)})})


def _events(calls: int, each: int, start: int, more: int) -> Iterator[RecordedEvent]:
    now = start
    for call in range(calls):
        begin, seen = now, dict[str, int]()
        for at in range(each):
            name = _TURNS[at % len(_TURNS)][1]
            seen[name] = seen.get(name, 0) + 1
            told: dict[str, Any] = {"delegate_debug_id": f"{name} #{seen[name]}", "metadata": b""}
            yield RecordedEvent(0, call, start=now, end=now + _US, **told)
            now += _US
        if more:
            told = {"delegate_debug_id": f"Floor (NC) #{more}", "metadata": b""}
            yield RecordedEvent(0, call, start=now, end=now, **told)
        yield RecordedEvent(0, call, "DELEGATE_CALL", start=begin, end=now + 500)
        now += 600
    yield RecordedEvent(-1, 0, "Method::execute", start=start, end=now)


def opened(files: list[Path]) -> None:
    """Print what opening these files takes, and beyond leaving the payloads alone."""
    calls = tvmdbg.open(*files).delegate_calls()
    matched = [event.match for call in calls for event in call.events]
    assert matched == ["exact"] * (NODES * EXECUTIONS)
    with patch.object(assemble, "opened_insides", lambda *_: (Insides(), [])):
        without = measure("  open, payloads left alone", lambda: tvmdbg.open(*files))
    inside = measure("  open", lambda: tvmdbg.open(*files))
    beyond = inside.cpu_median - without.cpu_median
    verdict = "kept" if beyond <= BEYOND_S else "MISSED"
    print(f"  beyond that: {beyond:.3f} s CPU; promised {BEYOND_S:g} s: {verdict}")


def main() -> None:
    """Print all figures."""
    machine()
    with tempfile.TemporaryDirectory() as name:
        for calls in (1, 20, 200):
            files = sorted(write(Path(name) / str(calls), calls).iterdir())
            sizes = ", ".join(f"{each.name} {each.stat().st_size / 1e6:.1f} MB" for each in files)
            print(f"{NODES:,} operators, {calls} calls, {EXECUTIONS} executions: {sizes}")
            opened(files)


if __name__ == "__main__":
    main()
