"""Which operation a read means: texts name operations, and names repeat.

Before v0.9 every input of a Relay function is called ``placeholder``. The order of a DAG's
operations says more than names: an operation follows what it alone reads (``TopoSortOps``,
src/auto_scheduler/compute_dag.cc), so that an input nobody has read yet is the one that is read
next. Where that leaves several, the read stays without operation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from tvmdbg_widgets.model.tuning.dag import Operation
from tvmdbg_widgets.model.tuning.expressions import Expression, TensorRead, reads, rebuilt


class KnownOperations:
    """Operations seen so far, by the names under which later ones read them."""

    def __init__(self) -> None:
        self._named: dict[str, list[int]] = defaultdict(list)
        self._ranks: list[int] = []
        self._outputs: dict[str, int] = {}
        self._read: set[int] = set()

    def add(self, operation: Operation) -> None:
        """Take the next operation, after its own reads."""
        at = len(self._ranks)
        is_input = operation.is_placeholder
        self._ranks.append(len(operation.shape if is_input else operation.axes))
        if operation.outputs == 1:
            self._named[operation.name].append(at)
        for output in range(operation.outputs if operation.outputs > 1 else 0):
            self._named[f"{operation.name}.v{output}"].append(at)
            self._outputs[f"{operation.name}.v{output}"] = output

    def resolved(self, bodies: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Return bodies whose reads say which operation they read, as far as that is clear."""
        chosen = self._chosen(dict.fromkeys(read for body in bodies for read in reads(body)))
        self._read.update(at for at in chosen.values() if at >= 0)

        def change(expression: Expression) -> Expression:
            whole = rebuilt(expression, change)
            if not (isinstance(expression, TensorRead) and isinstance(whole, TensorRead)):
                return whole
            output = self._outputs.get(expression.name, 0)
            return replace(whole, operation=chosen[expression], output=output)

        return tuple(map(change, bodies))

    def _chosen(self, found: Iterable[TensorRead]) -> dict[TensorRead, int]:
        """Return the operation of each distinct read."""
        alternatives: dict[tuple[str, int], list[TensorRead]] = defaultdict(list)
        for read in found:
            alternatives[read.name, len(read.indices)].append(read)
        chosen: dict[TensorRead, int] = {}
        for (name, rank), group in alternatives.items():
            candidates = [at for at in self._named[name] if self._ranks[at] == rank]
            chosen.update(zip(group, self._matched(len(group), candidates), strict=True))
        return chosen

    def _matched(self, wanted: int, candidates: list[int]) -> list[int]:
        if len(candidates) == 1:
            return candidates * wanted
        unread = [at for at in candidates if at not in self._read]
        if len(unread) == 1:
            return unread * wanted
        return unread[len(unread) - wanted :] if len(unread) >= wanted else [-1] * wanted
