"""What runtime values are compared with: given values, reference outputs, another run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.executorch.gap.handle_components import is_list
from tvmdbg_widgets.analysis.executorch.gap.handle_index import Handles
from tvmdbg_widgets.analysis.executorch.gap.reference_graph import (
    FORWARD,
    ReferenceGraph,
    edge_program,
)
from tvmdbg_widgets.analysis.executorch.gap.values_by_name import ValuesByName
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram
from tvmdbg_widgets.sources.archives import read_numpy_archive
from tvmdbg_widgets.sources.file_source import FileSource

#: A debug handle, several, or the name of a node, a value or a module.
Key: TypeAlias = int | tuple[int, ...] | str
#: Values by key, a ``.npz`` file of them, or the event blocks of another run.
Reference: TypeAlias = Mapping[Any, Any] | str | os.PathLike[str] | Iterable[Any]


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceValue:
    """One value to compare with."""

    key: Key
    handles: Handles
    names: tuple[str, ...]
    value: Any


def given_values(reference: Reference) -> dict[Key, Any]:
    """Return the values of a mapping or a ``.npz`` file by key, as arrays.

    ``"3"`` and ``"(3, 4)"`` are handles as well.
    """
    if isinstance(reference, str | os.PathLike):
        reference = read_numpy_archive(FileSource(reference))
    if not isinstance(reference, Mapping):
        raise TypeError(f"a reference has values by handle or name, found {reference!r:.80}")
    return {_key(key): _plain(value) for key, value in reference.items()}


def reference_values(
    reference: Reference | None,
    etrecord: ETRecord,
    graph: ReferenceGraph,
    blocks: Iterable[Any],
) -> list[ReferenceValue]:
    """Return the values to compare with, in the order of the edge program."""
    program = edge_program(etrecord)
    if reference is None:
        reference = _outputs(etrecord, program, blocks)
    if isinstance(reference, Iterable) and not isinstance(reference, Mapping | str | os.PathLike):
        other = list(reference)
        if all(hasattr(block, "events") for block in other):
            logged = ValuesByName(other, program).values
            reference = {name: each.value for name, each in logged.items()}
    resolve = _Resolver(program, graph)
    found = [resolve(key, value) for key, value in given_values(reference).items()]
    return sorted(found, key=lambda each: program.producers.get("".join(each.names[:1]), (-1, 0)))


class _Resolver:
    def __init__(self, program: ExportedProgram, graph: ReferenceGraph) -> None:
        self.program = program
        self.nodes = {node.name: at for at, node in enumerate(program.nodes)}
        self.traced = {node.name: node.handles for node in graph.nodes}
        self.modules = {
            frame.path: at
            for at, node in enumerate(program.nodes)
            for frame in node.module_stack
            if node.op == "call_function"
        }

    def __call__(self, key: Key, value: Any) -> ReferenceValue:
        if isinstance(key, str) and key in self.program.producers and key not in self.nodes:
            at, _ = self.program.producers[key]
            return ReferenceValue(key, self._handles(at), (key,), value)
        at = self._node(key)
        if at < 0:
            return ReferenceValue(key, (), (), value)
        names = tuple(output.name for output in self.program.nodes[at].outputs)
        wanted = names if isinstance(value, list) else names[:1]
        handles = self._handles(at) if isinstance(key, str) else key
        return ReferenceValue(
            key, handles if isinstance(handles, tuple) else (handles,), wanted, value
        )

    def _node(self, key: Key) -> int:
        if isinstance(key, str):
            if key in self.nodes:
                return self.nodes[key]
            if key not in self.traced:
                return self.modules.get(key, -1)
            key = self.traced[key]
        handles = (key,) if isinstance(key, int) else key
        nodes = [self.program.by_handle.get(handle, (-1,))[-1] for handle in handles]
        return max(nodes, default=-1)

    def _handles(self, at: int) -> Handles:
        handle = self.program.nodes[at].debug_handle
        return (handle,) if isinstance(handle, int) else tuple(handle or ())


def _outputs(etrecord: ETRecord, program: ExportedProgram, blocks: Iterable[Any]) -> dict[str, Any]:
    """Return the reference outputs that the ETRecord holds, by the names of the values."""
    cases = (etrecord.reference_outputs or {}).get(FORWARD, ())
    index = next((block.bundled_input_index for block in blocks if block.run_output), None)
    place = -1 if index is None else int(index)
    if not cases or (place < 0 and len(cases) > 1) or place >= len(cases):
        missing = (
            f"outputs for {counted(len(cases), 'input')}, and which was run is not recorded"
            if cases and place < 0
            else "no outputs for the input that was run"
        )
        raise ValueError(
            f"the ETRecord holds {missing}: give reference=, values by debug handle or node name, "
            "a .npz file of them, or the event blocks of another run"
        )
    outputs = list(cases[place])
    results = program.results[max(0, len(program.results) - len(outputs)) :]
    return dict(zip(results, outputs, strict=False))


def _key(key: Any) -> Key:
    if isinstance(key, str):
        numbers = re.fullmatch(r"\(?\s*(\d{1,18}(?:\s*+,\s*+\d{1,18})*+)\s*+,?\s*+\)?", key)
        if numbers is None:
            return key
        handles = tuple(int(each) for each in numbers[1].split(","))
        return handles[0] if len(handles) == 1 else handles
    if isinstance(key, tuple | list):
        return tuple(int(each) for each in key)
    return int(key)


def _plain(value: Any) -> Any:
    if value is None:
        return None
    return [np.asarray(each) for each in value] if is_list(value) else np.asarray(value)
