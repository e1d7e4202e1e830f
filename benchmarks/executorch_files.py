"""ETDumps and an ETRecord of a given size, as ExecuTorch writes them for real programs.

Deterministic. An execution calls kernels and, every 16th instruction, a delegate: by turns one that
numbers its events and logs metadata with some of them, and XNNPACK, which names them and counts in
microseconds. Executions differ in their times only. The ETRecord is that of a small transformer
whose block is repeated with weights and modules of its own.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.executorch_cases import case_dir
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, RecordedEvent, etdump_bytes

_KERNELS = ("permute_copy.out", "addmm.out", "gelu.out", "add.out", "_softmax.out", "bmm.out")
_XNNPACK = (
    "Transpose (ND, X32) Transpose #1",
    "Convolution (NHWC, F32) IGEMM #1",
    "Clamp (NC) #1",
    "Fully Connected (NC, F32) GEMM #1",
    "Add (ND) #1",
    "Softmax (NC, F32) #1",
)
_DELEGATE_EVERY, _NUMBERED, _US = 16, 8, 1000
_BEGIN, _APART_NS = 8_962_768_053, 250_000
_SIZE_PREFIX, _RUN_DATA = 4, 1
#: What both writes of an execution differ by: so the words that hold times are found.
_MARK = 1 << 40
#: Nodes and debug handles of the transformer's block.
_NODES, _HANDLES = slice(1, 47), range(2, 25)
_EDGE, _MAP = "edge_dialect_exported_program/forward", "debug_handle_map"
_MEMBERS = ("ETRECORD_V0", _EDGE, _MAP, "delegate_map", "instruction_id_to_num_outs_map")


def write_etdump(path: Path, events: int, executions: int, seed: int = 1) -> None:
    """Write an ETDump of so many events, all executions together, and of loading before them.

    An execution is written once and repeated with its times changed: every offset in a FlatBuffer
    is relative, so the bytes of one can stand anywhere after the root.
    """
    wanted = events // executions
    once = np.frombuffer(_execution(wanted, seed, 0), np.uint64)
    moved = np.frombuffer(_execution(wanted, seed, _MARK), np.uint64)
    times = np.flatnonzero(once != moved)
    assert len(times) == 2 * wanted
    since = (once[times] - once[times].min()).astype(np.float64)
    every = np.tile(once, (executions, 1))
    slower = np.random.default_rng(seed).uniform(1, 1.2, executions)
    begin = _BEGIN + np.arange(1, executions + 1) * (int(1.2 * since.max()) + _APART_NS)
    every[:, times] = begin[:, None].astype(np.uint64) + (slower[:, None] * since).astype(np.uint64)
    path.write_bytes(_root([_loading(), *(each.tobytes() for each in every)]))


def _root(parts: list[bytes]) -> bytes:
    """Return a dump whose runs are the only ones of other dumps, which it holds as they are."""
    head = np.zeros(10 + (len(parts) + 1) // 2 * 2, np.uint32)
    # Size, root, identifier; the table's vtable, of two fields, and the table, of one; the vector.
    head[1] = 20 - _SIZE_PREFIX
    head[2] = int.from_bytes(b"ED00", "little")
    head[3:5].view(np.uint16)[:] = 8, 8, 0, 4
    head[5:8] = 8, 4, len(parts)
    place = 4 * len(head)
    for at, part in enumerate(parts):
        head[8 + at] = place + _run_of(part) - 4 * (8 + at)
        place += len(part)
    head[0] = place - _SIZE_PREFIX
    return b"".join((head.tobytes(), *parts))


def _run_of(dump: bytes) -> int:
    """Return where the only run of a dump is."""

    def number(place: int, dtype: str) -> int:
        return int(np.frombuffer(dump, dtype, 1, place)[0])

    table = _SIZE_PREFIX + number(_SIZE_PREFIX, "<u4")
    vtable = table - number(table, "<i4")
    field = table + number(vtable + 4 + 2 * _RUN_DATA, "<u2")
    first = field + number(field, "<u4") + 4
    return first + number(first, "<u4")


def _loading() -> bytes:
    events = [
        RecordedEvent(-1, 0, "Method::init", start=_BEGIN + 516, end=_BEGIN + 40_730),
        RecordedEvent(-1, 0, "Program::load_method", start=_BEGIN, end=_BEGIN + 44_202),
    ]
    return _aligned(etdump_bytes([RecordedBlock("Default", events=events)]))


def _execution(events: int, seed: int, begin: int) -> bytes:
    calls = _Calls(random.Random(seed), begin + 735)
    found: list[RecordedEvent] = []
    for instruction in range(events):
        call = list(calls.next(instruction))
        if len(found) + len(call) > events - 1:
            break
        found += call
    while len(found) < events - 1:
        found.append(calls.jump(instruction))
        instruction += 1
    found.append(RecordedEvent(-1, 0, "Method::execute", start=begin + 1, end=calls.now + 351))
    return _aligned(etdump_bytes([RecordedBlock("Execute", events=found)]))


def _aligned(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 8)


class _Calls:
    """The events of one instruction after the other."""

    def __init__(self, chance: random.Random, now: int) -> None:
        self._chance = chance
        self.now = now

    def next(self, instruction: int) -> Iterator[RecordedEvent]:
        """Yield the events of a call of a kernel or a delegate."""
        start = self.now
        self.now += 120 + self._chance.randrange(700)
        if instruction % _DELEGATE_EVERY == _DELEGATE_EVERY - 1:
            turn = instruction // _DELEGATE_EVERY % 2
            yield from (self._numbered, self._named)[turn](instruction)
            name = "DELEGATE_CALL"
        else:
            name = "OPERATOR_CALL"
            kernel = f"native_call_{self._chance.choice(_KERNELS)}"
            yield self._took(400 + self._chance.randrange(20_000), 0, instruction, name=kernel)
        self.now += 150 + self._chance.randrange(200)
        yield RecordedEvent(0, instruction, name, start=start, end=self.now)
        self.now += 100

    def jump(self, instruction: int) -> RecordedEvent:
        """Return the one event of control flow."""
        return self._took(80, 0, instruction, name="JF_CALL")

    def _took(self, time: int, chain: int, instruction: int, **more: Any) -> RecordedEvent:
        start, self.now = self.now, self.now + time
        return RecordedEvent(chain, instruction, start=start, end=self.now, **more)

    def _numbered(self, instruction: int) -> Iterator[RecordedEvent]:
        for number in range(_NUMBERED):
            told = b'{"kernel": "relu_v2", "cycles": 101}' if number % 4 == 1 else b""
            time = 200 + self._chance.randrange(5_000)
            yield self._took(time, 0, instruction, delegate_debug_id=number, metadata=told)

    def _named(self, instruction: int) -> Iterator[RecordedEvent]:
        self.now += 4 * _US
        for name in _XNNPACK:
            time = _US * self._chance.randrange(20)
            yield self._took(time, 0, instruction, delegate_debug_id=name, metadata=b"")


def write_etrecord(path: Path, nodes: int) -> int:
    """Write an ETRecord of a program of about so many nodes; return how many it has."""
    with zipfile.ZipFile(case_dir("04_transformer_portable") / "etrecord.bin") as small:
        members = {each: small.read(each) for each in _MEMBERS}
    module = json.loads(members[_EDGE])
    times = nodes // len(range(_NODES.stop)[_NODES])
    graph = _repeated(module["graph_module"], times)
    members[_EDGE] = json.dumps(module).encode()
    members[_MAP] = json.dumps({"forward": _handle_map(members[_MAP], times)}).encode()
    with zipfile.ZipFile(path, "w") as large:
        for name, data in members.items():
            large.writestr(name, data)
    return len(graph["nodes"])


def _repeated(module: dict[str, Any], times: int) -> dict[str, Any]:
    """Repeat the block, its weights and what it makes; return the graph."""
    graph = module["graph"]
    nodes = graph["nodes"]
    block, made = nodes[_NODES], nodes[_NODES.stop - 1]["name"]
    own = {each["as_tensor"]["name"] for each in graph["inputs"]}
    own = {each for each in own if each.startswith("p_block_")}
    own |= {name for node in block for output in node["outputs"] for name in _names(output)}

    def copied(part: Any, number: int) -> Any:
        """Return JSON under the names of a block, which reads the one before it."""
        names = {each: each.replace("block", "blocks") + f"_b{number}" for each in own}
        names[nodes[0]["name"]] = f"{made}_b{number - 1}" if number else nodes[0]["name"]
        text = re.sub(
            r'"(\w+)"', lambda found: f'"{names.get(found[1], found[1])}"', json.dumps(part)
        )
        found: Any = json.loads(re.sub(r"\bblock(?=[.,])", f"blocks.{number}", text))
        return found

    def moved(node: dict[str, Any], number: int) -> dict[str, Any]:
        handle = int(node["metadata"]["debug_handle"]) + number * len(_HANDLES)
        return {**node, "metadata": {**node["metadata"], "debug_handle": str(handle)}}

    numbers = range(times)
    after = [moved(copied(each, times - 1), times - 1) for each in nodes[_NODES.stop :]]
    repeated = [moved(copied(each, number), number) for number in numbers for each in block]
    graph["nodes"] = [*nodes[:1], *repeated, *after]
    for holder, key in ((graph, "inputs"), (module["signature"], "input_specs")):
        few = [each for each in holder[key] if "p_block_" in json.dumps(each)]
        others = [each for each in holder[key] if each not in few]
        holder[key] = [copied(each, number) for number in numbers for each in few] + others
    values = {name: value for name, value in graph["tensor_values"].items() if name in own}
    for number in numbers:
        graph["tensor_values"] |= copied(values, number)
    return dict(graph)


def _names(output: dict[str, Any]) -> list[str]:
    several = output.get("as_tensors") or [output["as_tensor"]]
    return [each["name"] for each in several]


def _handle_map(data: bytes, times: int) -> dict[str, int]:
    small = list(json.loads(data)["forward"].values())
    first, block = [each for each in small if each < _HANDLES.start], _HANDLES
    inner = [each for each in small if each in block]
    found = first + [each + at * len(block) for at in range(times) for each in inner]
    found += [each + (times - 1) * len(block) for each in small if each >= block.stop]
    return {str(at): handle for at, handle in enumerate(found)}
