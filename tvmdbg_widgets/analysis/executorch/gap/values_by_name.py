"""Which value of the edge program each logged value is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tvmdbg_widgets.analysis.executorch.gap.handle_index import Handles
from tvmdbg_widgets.analysis.executorch.gap.intermediate_outputs import (
    DELEGATE_CALL,
    handles_of,
    instruction_of,
    operator_events,
)
from tvmdbg_widgets.model.executorch.event_nodes import kernel_operator
from tvmdbg_widgets.model.executorch.exported_program import (
    ExportedProgram,
    ProgramNode,
    ProgramValue,
)

#: Operators whose elements are those of their input, in its order: memory planning leaves most out.
_VIEWS: Final = frozenset(
    ("view_copy", "view", "_unsafe_view", "reshape", "unsqueeze_copy", "squeeze_copy", "alias_copy")
)


@dataclass(frozen=True, slots=True, eq=False)
class NamedValue:
    """A value that an event logged; None where no debug buffer holds it."""

    event: Any
    handles: Handles
    value: Any


class ValuesByName:
    """The logged values by their names in the edge program.

    A kernel's event stands for the operator of its name among those with its handle, in the order
    of the instructions. A delegate call logs its inputs, then its outputs: what the operators in
    it hand to others, in the order of its handles. Where operators of one name and handle run
    beside delegates, or those of one handle in several calls, which is which is not known. An event
    inside a delegate stands for the last operator of its handles; what the call itself logged of
    that one counts more, since an operator may run in several parts.
    """

    def __init__(self, blocks: Iterable[Any], program: ExportedProgram) -> None:
        self.program = program
        self.values: dict[str, NamedValue] = {}
        self._inside: set[int] = set()
        self._unsure: set[int] = set()
        self._readers: dict[str, list[int]] = {}
        for at, node in enumerate(program.nodes):
            for _, name in node.inputs:
                self._readers.setdefault(name, []).append(at)
        for block in blocks:
            self.values = {**dict(self._of_block(block)), **self.values}

    def find(self, name: str) -> NamedValue | None:
        """Return what was logged of a value, or of the value that it is a view of."""
        for _ in self.program.nodes:
            if name in self.values:
                return self.values[name]
            at, _ = self.program.producers.get(name, (-1, 0))
            node = self.program.nodes[at]
            if at < 0 or _operator(node) not in _VIEWS or not node.inputs:
                return None
            name = node.inputs[0][1]
        return None

    def why_not(self, name: str) -> str:
        """Say why no value of that name was logged."""
        at, _ = self.program.producers.get(name, (-1, 0))
        if at in self._unsure:
            return f"{name} shares its handle, and which operators a delegate ran is not known"
        if at in self._inside:
            return f"{name} is computed inside a delegate, which did not log it"
        return f"no event logged {name}"

    def _of_block(self, block: Any) -> Iterator[tuple[str, NamedValue]]:
        events = sorted(operator_events([block]), key=instruction_of)
        calls = [event for event in events if event.name == DELEGATE_CALL]
        inner = [event for event in events if event.is_delegated_op]
        kernels = [event for event in events if event not in calls and event not in inner]
        taken = set()
        for event, at in self._kernels(kernels):
            taken.add(at)
            if calls and len(self._alike(at)) > 1:
                self._unsure.update(self._alike(at))
            else:
                yield from _named(event, self.program.nodes[at].outputs, _flat(event.debug_data))
        for event in inner:
            nodes = [at for handle in handles_of(event) for at in self._with(handle)]
            if nodes:
                outputs = self.program.nodes[max(nodes)].outputs
                yield from _named(event, outputs, _fitting(outputs, event.debug_data))
        for event in calls:
            inside = self._inside_of(event, taken)
            rest = {at for handle in handles_of(event) for at in self._with(handle)} - taken
            self._inside.update(inside)
            if rest.difference(inside):
                self._unsure |= rest
                continue
            outputs = tuple(self._leaving(inside))
            count = len(event.debug_data)
            data = event.debug_data[max(0, count - max(0, event.num_outputs)) :]
            yield from _named(event, outputs, _fitting(outputs, data))

    def _with(self, handle: int) -> tuple[int, ...]:
        return self.program.by_handle.get(handle, ())

    def _alike(self, at: int) -> list[int]:
        """Return the operators that have the name and the handle of one."""
        node = self.program.nodes[at]
        handle = node.debug_handle
        handles = (handle,) if isinstance(handle, int) else handle or ()
        nodes = {other for each in handles for other in self._with(each)}
        return [each for each in nodes if _operator(self.program.nodes[each]) == _operator(node)]

    def _kernels(self, events: list[Any]) -> Iterator[tuple[Any, int]]:
        """Yield each kernel's event with the position of its operator."""
        last: dict[Handles, int] = {}
        for event in events:
            handles, operator = handles_of(event), kernel_operator(event.name)
            nodes = sorted(at for handle in set(handles) for at in self._with(handle))
            for at in nodes:
                if at > last.get(handles, -1) and _operator(self.program.nodes[at]) == operator:
                    last[handles] = at
                    yield event, at
                    break

    def _inside_of(self, event: Any, taken: set[int]) -> list[int]:
        """Return the operators that a delegate call runs, in the order of its subgraph.

        Its handles are those of each, in order; an operator with several outputs is followed by
        the getitem of each that is used, with the same handle.
        """
        places: dict[int, list[int]] = {}
        for place, handle in enumerate(handles_of(event)):
            places.setdefault(handle, []).append(place)
        inside: dict[int, int] = {}
        for handle, left in places.items():
            for at in self._with(handle):
                if at not in taken and left:
                    inside[at] = left[0]
                    outputs = self.program.nodes[at].outputs
                    used = sum(each.name in self._readers for each in outputs)
                    del left[: 1 + used * (len(outputs) > 1)]
        return sorted(inside, key=inside.__getitem__)

    def _leaving(self, inside: list[int]) -> Iterator[ProgramValue]:
        """Yield the values that operators in a delegate hand to others."""
        results = set(self.program.results)
        within = set(inside)
        for at in inside:
            for value in self.program.nodes[at].outputs:
                readers = self._readers.get(value.name, ())
                if value.name in results or any(reader not in within for reader in readers):
                    yield value


def _operator(node: ProgramNode) -> str:
    """Return the name of a node's operator without library and overload: ``addmm``."""
    parts = node.op_type.split(".")
    return parts[-2] if len(parts) > 1 else node.op_type


def _named(
    event: Any, outputs: tuple[ProgramValue, ...], values: list[Any]
) -> Iterator[tuple[str, NamedValue]]:
    if len(outputs) == len(values):
        for output, value in zip(outputs, values, strict=True):
            yield output.name, NamedValue(event, handles_of(event), value)


def _flat(values: list[Any]) -> list[Any]:
    """Return the outputs of a kernel: those of a list, where it has but that one."""
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def _fitting(outputs: tuple[ProgramValue, ...], values: list[Any]) -> list[Any]:
    """Return a value for each output: all in order where they fit, else the only one that does.

    Empty where that leaves a doubt.
    """
    if len(outputs) == len(values) and all(map(_fits, outputs, values)):
        return values
    fitting = [[value for value in values if _fits(output, value)] for output in outputs]
    return [fits[0] for fits in fitting] if all(len(fits) == 1 for fits in fitting) else []


def _fits(output: ProgramValue, value: Any) -> bool:
    if value is None or output.sizes is None:
        return value is None
    if not isinstance(value, np.ndarray) or value.ndim != len(output.sizes):
        return False
    dtype = None if output.dtype is None else output.dtype.numpy_dtype
    sizes = zip(output.sizes, value.shape, strict=True)
    return dtype in (None, value.dtype) and all(a == b for a, b in sizes if isinstance(a, int))
