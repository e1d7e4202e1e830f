"""Edge operators that are on no node of a delegate's graph: the neighbors that took them in.

A fused activation, a batch norm, a dequantization have no operator of their own in the delegate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from tvmdbg_widgets.formats.limits import WorkBudget
from tvmdbg_widgets.model.executorch.delegate_edges import DelegateNodeId, EdgeNode
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph
from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram

Owners = tuple[DelegateNodeId, ...]

#: Starts of the operators that a neighbor takes in, by whether that is a producer or a user.
_TAKEN_IN: Final = {
    "relu": True,
    "hardtanh": True,
    "clamp": True,
    "_native_batch_norm": True,
    "native_batch_norm": True,
    "clone": True,
    "_clone_dim_order": True,
    "quantize_": True,
    "dequantize_": False,
    "choose_qparams": False,
}
#: Steps between neighbors for each operator and each value read.
_STEPS = 20


@lru_cache(maxsize=1024)
def goes_up(operator: str) -> bool | None:
    """Whether a producer takes an operator in; False for a user, None for neither."""
    return next((up for start, up in _TAKEN_IN.items() if operator.startswith(start)), None)


class _DelegateNeighbors:
    """The delegates' nodes nearest to operators that are on none, before and behind them."""

    def __init__(
        self,
        program: ExportedProgram,
        owners: Mapping[int, Sequence[DelegateNodeId]],
        inside: set[int],
    ) -> None:
        self._program = program
        producers = program.producers
        self._reads: dict[int, list[int]] = {}
        self._users: dict[int, list[int]] = {}
        for at, node in enumerate(program.nodes):
            for name in dict.fromkeys(name for _, name in node.inputs):
                source = producers[name][0] if name in producers else at
                if source < at and (source in inside or at in inside):
                    self._reads.setdefault(at, []).append(source)
                    self._users.setdefault(source, []).append(at)
        links = sum(map(len, self._reads.values())) + len(owners) + len(inside)
        self._budget = WorkBudget(10_000 + _STEPS * links, program.name, "steps between operators")
        on = {at: (0, tuple(sorted(found))) for at, found in owners.items()}
        self._before = self._walked(sorted(inside), self._reads, on)
        self._behind = self._walked(sorted(inside, reverse=True), self._users, on)

    def owners_of(self, at: int, calls: set[int]) -> Owners:
        """Return the nearest nodes in these calls, first on the side that takes such nodes in."""
        sides = [self._before, self._behind]
        if not goes_up(self._program.nodes[at].operator):
            sides.reverse()
        for near in sides:
            _, owners = near.get(at, (0, ()))
            self._budget.spend(len(owners))
            found = tuple(owner for owner in owners if owner[0] in calls)
            if found:
                return found
        return ()

    def _walked(
        self,
        order: Iterable[int],
        neighbors: Mapping[int, Sequence[int]],
        on: Mapping[int, tuple[int, Owners]],
    ) -> dict[int, tuple[int, Owners]]:
        found = dict(on)
        for at in order:
            reached = [found[each] for each in neighbors.get(at, ()) if each in found]
            if not reached:
                continue
            steps = min(far for far, _ in reached)
            owners = list({id(own): own for far, own in reached if far == steps}.values())
            if len(owners) > 1:
                self._budget.spend(sum(map(len, owners)))
                owners = [tuple(sorted({each for own in owners for each in own}))]
            found[at] = (steps + 1, owners[0])
        return found


def taken_in_by(
    graphs: Mapping[int, DelegateGraph],
    program: ExportedProgram,
    listed: Mapping[int, Counter[int]],
    of: Mapping[DelegateNodeId, EdgeNode],
) -> tuple[dict[int, Owners], dict[int, Owners]]:
    """Return the nodes that took in the operators of delegates which are on none."""
    calls: dict[int, list[int]] = {}
    left: Counter[int] = Counter()
    for instruction, own in listed.items():
        left.update(own)
        for handle in own:
            calls.setdefault(handle, []).append(instruction)
    named = {
        (instruction, node.handle) for instruction in listed for node in graphs[instruction].nodes
    }
    owners: dict[int, list[DelegateNodeId]] = {}
    for owner, edge in of.items():
        owners.setdefault(edge.node, []).append(owner)
    for at in owners:
        left.subtract(program.nodes[at].handles)
    # By handle, the operators that a neighbor may have taken in.
    inside = {
        handle: [
            at
            for at in dict.fromkeys(program.by_handle.get(handle, ()))
            if at not in owners and goes_up(program.nodes[at].operator) is not None
        ]
        for handle in calls
    }
    near = _DelegateNeighbors(program, owners, {at for nodes in inside.values() for at in nodes})
    part_of: dict[int, Owners] = {}
    beside: dict[int, Owners] = {}
    for handle, nodes in inside.items():
        # More of them than the calls have nodes: some are of kernels, and none knows which.
        if len(nodes) > left[handle]:
            continue
        within = set(calls[handle])
        alone = all((instruction, handle) not in named for instruction in within)
        for nth, at in enumerate(nodes):
            found = near.owners_of(at, within)
            if found:
                (part_of if alone and nth == 0 else beside)[at] = found
    return part_of, beside
