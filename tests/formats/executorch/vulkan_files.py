"""Vulkan's programs and dumps, written as its sources say: no recorded file is at hand."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.formats.executorch.delegate_payloads import with_header
from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text

PHASES = ("ETVK_EXECUTE", "ETVK_COPY_INPUTS", "ETVK_COMPUTE_GRAPH_EXECUTE")


def call_of(node_id: int, name: str, *args: int) -> Table:
    return Table({0: number("I", node_id), 1: text(name), 2: numbers("i", *args)})


def tensor_of(*dims: int) -> Table:
    """Return a tensor of float32 without a constant."""
    fields = {0: number("b", 5), 1: numbers("I", *dims), 2: number("i", -1), 3: number("i", -1)}
    return Table({0: number("B", 5), 1: Table({**fields})})


def chain_payload(names: Sequence[str], ids: Sequence[int] | None = None) -> bytes:
    """Return the payload of a graph of unary operators, one after the other."""
    calls: list[Thing] = [
        call_of(at if ids is None else ids[at], name, at, at + 1) for at, name in enumerate(names)
    ]
    values: list[Thing] = [tensor_of(2, 3) for _ in range(len(names) + 1)]
    root = {0: text("0"), 1: Things(calls), 2: Things(values)}
    root |= {3: numbers("I", 0), 4: numbers("I", len(names)), 5: Things([])}
    return with_header(file(Table(root), b"VK00"), b"", b"VH00")


@dataclass
class Runtime:
    """Counts operators and remembers the last one, as a process does across its delegates."""

    count: int = 0
    last: dict[str, Any] | None = None
    with_ids: bool = True

    def names(
        self,
        operators: Sequence[str],
        dispatches: Sequence[int],
        ids: Sequence[int] | None = None,
        outputs: int = 1,
    ) -> tuple[list[str], list[int]]:
        """Return the names of a call's dispatches, and the node of each: -1 of what stages."""
        names: list[str] = []
        nodes: list[int] = []

        def add(kernel: str, node: int) -> None:
            said = {} if self.last is None else {"operator": self.last}
            said |= {"kernel_name": kernel, "operator_id": self.count, "dispatch_id": len(names)}
            names.append(json.dumps(said))
            nodes.append(node)

        add("nchw_to_image_texture3d_float", -1)
        for at, (operator, times) in enumerate(zip(operators, dispatches, strict=True)):
            self.count += 1
            args = [{"type": "TENSOR", "value_ref": 3, "dtype": "Float", "sizes": [2, 3]}]
            self.last = {"name": operator, "args": args}
            if self.with_ids:
                self.last["delegate_node_id"] = at if ids is None else ids[at]
            for part in range(times):
                add(f"{operator.split('.')[-2]}_{part}_float", at)
        for _ in range(outputs):
            self.count += 1
            add("image_to_nchw_texture3d_float", -1)
        return names, nodes


def program_bytes(*delegates: tuple[str, bytes], specs: dict[str, bytes] | None = None) -> bytes:
    """Return a program that calls each of some delegates, one behind the other."""
    keys = [Table({0: text(key), 1: numbers("B", *value)}) for key, value in (specs or {}).items()]
    held: list[Thing] = []
    for at, (backend, _) in enumerate(delegates):
        place = Table({0: number("b", 0), 1: number("I", at)})
        held.append(Table({0: text(backend), 1: place, 2: Things([*keys])}))
    shape = Table({0: number("b", 6), 2: numbers("i", 2, 3), 3: numbers("B", 0, 1)})
    steps: list[Thing] = [
        Table({0: number("B", 2), 1: Table({0: number("i", at), 1: numbers("i", at, at + 1)})})
        for at in range(len(delegates))
    ]
    plan: dict[int, bytes | Thing] = {0: text("forward"), 3: numbers("i", 0)}
    plan[2] = Things([Table({0: number("B", 5), 1: shape})] * (len(delegates) + 1))
    plan |= {4: numbers("i", len(delegates)), 5: Things([Table({2: Things(steps)})])}
    plan |= {7: Things(held), 8: numbers("q", 0, 1 << 10)}
    inline: list[Thing] = [Table({0: numbers("B", *payload)}) for _, payload in delegates]
    root = {0: number("I", 0), 1: Things([Table(plan)]), 3: Things(inline)}
    return bytes(file(Table(root), b"ET12"))


@dataclass
class Event:
    """A profile event; what a delegate logs has an identifier."""

    name: str
    start: int
    end: int
    identifier: str = ""
    instruction: int = 0
    chain: int = 0
    metadata: bytes = b""


def dump_bytes(events: Sequence[Event]) -> bytes:
    rows: list[Thing] = []
    for each in events:
        fields: dict[int, bytes | Thing] = {0: text(each.name), 4: text(each.identifier)}
        numbers_ = (each.chain, each.instruction, -1)
        fields |= {id_: number("i", value) for id_, value in enumerate(numbers_, 1)}
        fields |= {6: number("Q", each.start), 7: number("Q", each.end)}
        if each.metadata:
            fields[5] = numbers("B", *each.metadata)
        rows.append(Table({0: Table(fields)}))
    block = Table({0: text("Execute"), 3: Things(rows)})
    return bytes(file(Table({0: number("I", 0), 1: Things([block])}), b"ED00"))


def recorded(calls: Sequence[Sequence[str]], *, gpu: int = 10**12) -> bytes:
    """Return a dump of one execution in which each instruction logged some names, by the GPU."""
    events, at = [Event("Method::execute", 0, 10_000 * len(calls), "", -1, -1)], 0
    for instruction, names in enumerate(calls):
        start, end = 10_000 * instruction + 100, 10_000 * instruction + 9_000
        inner = [
            Event("", start + 10 * n, end - 10 * n, phase, instruction)
            for n, phase in enumerate(PHASES)
        ]
        inner += [
            Event("", gpu + 100 * (at + n), gpu + 100 * (at + n) + 70, name, instruction)
            for n, name in enumerate(names)
        ]
        at += len(names)
        events += [*inner, Event("DELEGATE_CALL", start, end, "", instruction)]
    return dump_bytes(events)
