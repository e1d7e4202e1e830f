"""Logged values of a run, indexed by debug handle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from tvmdbg_widgets.model.executorch.etrecord import ExportedProgram, ProgramValue
from tvmdbg_widgets.model.executorch.event_nodes import kernel_operator

Handles: TypeAlias = tuple[int, ...]


class HandleIndex:
    """Distinct tuples of handles, in their order."""

    def __init__(self, keys: Iterable[Handles]) -> None:
        self._order = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        self._having: dict[int, list[Handles]] = {}
        for key in self._order:
            for handle in set(key):
                self._having.setdefault(handle, []).append(key)

    def overlapping(self, handles: Iterable[int]) -> list[Handles]:
        """Return the keys with any of these handles."""
        keys = {key for handle in handles for key in self._having.get(handle, ())}
        return sorted(keys, key=self._order.__getitem__)

    def within(self, handles: Iterable[int]) -> list[Handles]:
        """Return the keys whose handles are all among these."""
        wanted = set(handles)
        return [key for key in self.overlapping(wanted) if wanted.issuperset(key)]


@dataclass(frozen=True, slots=True)
class OutputPair:
    """A reference value, its runtime value, and the handles of both."""

    handles: Handles
    reference: Any
    runtime: Any


def paired_outputs(
    reference: Mapping[Handles, Any], runtime: Mapping[Handles, RuntimeOutput]
) -> Iterator[OutputPair]:
    """Yield the pairs that the Inspector compares, in the order of the reference."""
    ours, theirs = HandleIndex(reference), HandleIndex(runtime)
    done: set[Handles] = set()
    for start in reference:
        if start in done:
            continue
        keys, events = _overlapping_keys(start, ours, theirs)
        done.update(keys)
        if len(events) > 1:
            values_of = [(key, runtime[key].values, runtime[key].num_outputs) for key in events]
            raise ValueError(
                f"Expected only one runtime debug handle, but found {len(events)}: {values_of}"
            )
        for key in events:
            yield from _of_event({key: reference[key] for key in keys}, key, runtime[key])


def _overlapping_keys(
    start: Handles, ours: HandleIndex, theirs: HandleIndex
) -> tuple[list[Handles], list[Handles]]:
    keys, events = [start], list[Handles]()
    size = 0
    while size < len(keys) + len(events):
        size = len(keys) + len(events)
        events = theirs.overlapping({handle for key in keys for handle in key})
        keys = [start, *ours.overlapping({handle for key in events for handle in key})]
    return list(dict.fromkeys(keys)), events


def _of_event(
    ours: Mapping[Handles, Any], handles: Handles, output: RuntimeOutput
) -> Iterable[OutputPair]:
    if not {key[0] for key in ours}.issubset(handles):
        return ()
    pairs: dict[Handles, OutputPair] = {}
    for place in range(1, output.num_outputs + 1):
        key = (handles[-place],)
        if key not in ours:
            continue
        value = ours[key]
        if is_list(value):
            pairs[key] = OutputPair(handles, list(value), _list_of(output.values, place))
        else:
            pairs[key] = OutputPair(handles, value, _one_of(value, output, place))
    return pairs.values()


def is_list(value: Any) -> bool:
    """Return whether a value is a list of values."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _list_of(values: list[Any], place: int) -> list[Any]:
    last = values[-place]
    if isinstance(last, list):
        return last
    if isinstance(last, np.ndarray):
        return values
    raise ValueError(
        "The last element of runtime argument list must be a tensor or a list of tensors when aot "
        "intermediate output is a sequence"
    )


def _one_of(value: Any, output: RuntimeOutput, place: int) -> Any:
    values = output.values
    last = values[-place]
    if output.num_outputs != 1 or len(values) == 1 or not isinstance(value, np.ndarray):
        return last
    alike = [
        array for array in values if isinstance(array, np.ndarray) and array.shape == value.shape
    ]
    if len(alike) > 1:
        alike = [array for array in alike if array.dtype == value.dtype]
    return alike[0] if len(alike) == 1 else values[-1]


#: Operators whose elements are those of their input, in order: memory planning omits most.
_VIEWS: Final = frozenset(
    ("view_copy", "view", "_unsafe_view", "reshape", "unsqueeze_copy", "squeeze_copy", "alias_copy")
)


@dataclass(frozen=True, slots=True, eq=False)
class NamedValue:
    """A logged value by name; None where no debug buffer holds it."""

    event: Any
    handles: Handles
    value: Any


class ValuesByName:
    """Logged values by name in the edge program.

    A kernel's event belongs to the operator of its name and handle, a delegate call's outputs to
    values that leave it, an event inside a delegate to the last operator of its handles.
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
        """Return the logged value of a name, or of the value that it is a view of."""
        for _ in self.program.nodes:
            if name in self.values:
                return self.values[name]
            at, _ = self.program.producers.get(name, (-1, 0))
            node = self.program.nodes[at]
            if at < 0 or node.operator not in _VIEWS or not node.inputs:
                return None
            name = node.inputs[0][1]
        return None

    def why_not(self, name: str) -> str:
        """Return why no value of that name was logged."""
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
        kernels = [e for e in events if e.name != DELEGATE_CALL and not e.is_delegated_op]
        taken = set()
        for event, at in self._kernels(kernels):
            taken.add(at)
            if calls and len(self._alike(at)) > 1:
                self._unsure.update(self._alike(at))
            else:
                data = event.debug_data
                # The outputs of a kernel that only has a list are those of the list.
                values = data[0] if len(data) == 1 and isinstance(data[0], list) else data
                yield from _named(event, self.program.nodes[at].outputs, values)
        for event in inner:
            nodes = [at for handle in handles_of(event) for at in self._with(handle)]
            if nodes:
                outputs = self.program.nodes[max(nodes)].outputs
                yield from _named(event, outputs, _fitting_values(outputs, event.debug_data))
        for event in calls:
            inside = self._operators_of_call(event, taken)
            rest = {at for handle in handles_of(event) for at in self._with(handle)} - taken
            self._inside.update(inside)
            if rest.difference(inside):
                self._unsure |= rest
                continue
            outputs = tuple(self._values_leaving(inside))
            count = len(event.debug_data)
            data = event.debug_data[max(0, count - max(0, event.num_outputs)) :]
            yield from _named(event, outputs, _fitting_values(outputs, data))

    def _with(self, handle: int) -> tuple[int, ...]:
        return self.program.by_handle.get(handle, ())

    def _alike(self, at: int) -> list[int]:
        node = self.program.nodes[at]
        nodes = {other for handle in node.handles for other in self._with(handle)}
        return [
            position for position in nodes if self.program.nodes[position].operator == node.operator
        ]

    def _kernels(self, events: list[Any]) -> Iterator[tuple[Any, int]]:
        last: dict[Handles, int] = {}
        for event in events:
            handles, operator = handles_of(event), kernel_operator(event.name)
            nodes = sorted(at for handle in set(handles) for at in self._with(handle))
            for at in nodes:
                if at > last.get(handles, -1) and self.program.nodes[at].operator == operator:
                    last[handles] = at
                    yield event, at
                    break

    def _operators_of_call(self, event: Any, taken: set[int]) -> list[int]:
        places: dict[int, list[int]] = {}
        for place, handle in enumerate(handles_of(event)):
            places.setdefault(handle, []).append(place)
        inside: dict[int, int] = {}
        for handle, left in places.items():
            for at in self._with(handle):
                if at not in taken and left:
                    inside[at] = left[0]
                    outputs = self.program.nodes[at].outputs
                    used = sum(output.name in self._readers for output in outputs)
                    del left[: 1 + used * (len(outputs) > 1)]
        return sorted(inside, key=inside.__getitem__)

    def _values_leaving(self, inside: list[int]) -> Iterator[ProgramValue]:
        results = set(self.program.results)
        within = set(inside)
        for at in inside:
            for value in self.program.nodes[at].outputs:
                readers = self._readers.get(value.name, ())
                if value.name in results or any(reader not in within for reader in readers):
                    yield value


def _named(
    event: Any, outputs: tuple[ProgramValue, ...], values: list[Any]
) -> Iterator[tuple[str, NamedValue]]:
    if len(outputs) == len(values):
        for output, value in zip(outputs, values, strict=True):
            yield output.name, NamedValue(event, handles_of(event), value)


def _fitting_values(outputs: tuple[ProgramValue, ...], values: list[Any]) -> list[Any]:
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


OPERATOR_CALL: Final = "OPERATOR_CALL"  # logs the same values as the kernel inside it
DELEGATE_CALL: Final = "DELEGATE_CALL"


@dataclass(frozen=True, slots=True)
class RuntimeOutput:
    """Values of one event."""

    instruction: int
    values: list[Any]
    num_outputs: int


def handles_of(event: Any) -> Handles:
    """Return the debug handles of an event in their order, repeats kept."""
    handles = event.debug_handles
    if handles is None:
        return ()
    return (handles,) if isinstance(handles, int) else tuple(handles)


def instruction_of(event: Any) -> int:
    """Return the instruction of an event, -1 where it has none."""
    name = "_instruction_id" if hasattr(event, "_instruction_id") else "instruction_id"
    instruction = getattr(event, name, None)
    return -1 if instruction is None else int(instruction)


def operator_events(blocks: Iterable[Any]) -> Iterator[Any]:
    """Yield the events of operators, one per kernel."""
    for block in blocks:
        for event in block.events:
            if event.op_types and event.name != OPERATOR_CALL:
                yield event


def runtime_outputs(
    blocks: Iterable[Any],
) -> tuple[dict[Handles, RuntimeOutput], dict[Handles, list[str]]]:
    """Return the Inspector's runtime values and event names, merged by overlapping handles."""
    events = list(operator_events(blocks))
    inner: dict[str | None, set[int]] = {}
    for event in events:
        if event.is_delegated_op and event.debug_data and event.debug_handles is not None:
            inner.setdefault(event.delegate_backend_name, set()).update(handles_of(event))
    by_handles: dict[Handles, RuntimeOutput] = {}
    names: dict[Handles, list[str]] = {}
    for event in events:
        handles = handles_of(event)
        covered = inner.get(event.delegate_backend_name, set())
        if event.name == DELEGATE_CALL and not covered.isdisjoint(handles):
            continue
        instruction = instruction_of(event)
        if instruction > (by_handles[handles].instruction if handles in by_handles else -1):
            by_handles[handles] = RuntimeOutput(instruction, event.debug_data, event.num_outputs)
            names[handles] = [event.name]
    return _merged(by_handles), names


def _merged(outputs: dict[Handles, RuntimeOutput]) -> dict[Handles, RuntimeOutput]:
    merged: dict[Handles, RuntimeOutput] = {}
    born: dict[Handles, int] = {}
    owner: dict[int, Handles] = {}
    for at, (own, output) in enumerate(outputs.items()):
        handles, last = own, output
        overlapping = {owner[handle] for handle in own if handle in owner}
        for other in sorted(overlapping, key=born.__getitem__):
            value = merged.pop(other)
            if value.instruction < output.instruction:
                handles = _joined(other, handles)
            else:
                handles, last = _joined(handles, other), value
        merged[handles], born[handles] = last, at
        owner |= dict.fromkeys(handles, handles)
    return merged


def _joined(first: Handles, last: Handles) -> Handles:
    ordered = dict.fromkeys(last)
    return (*(handle for handle in first if handle not in ordered), *ordered)
