"""The delegates of a program opened, and the events of a dump on the operators in them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.delegates.edge_nodes import edge_nodes
from tvmdbg_widgets.formats.executorch.delegates.families import family_of, graphs_of, payload_text
from tvmdbg_widgets.formats.executorch.delegates.node_facts import match_facts
from tvmdbg_widgets.formats.limits import SHARES, Budget
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Severity
from tvmdbg_widgets.model.base.numbers import agree
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_alignment import (
    EXACT,
    ORDER,
    Alignment,
    EventMatch,
)
from tvmdbg_widgets.model.executorch.delegate_calls import CALL, DelegateCalls, named, run_of
from tvmdbg_widgets.model.executorch.etdump import EventKind
from tvmdbg_widgets.model.executorch.event_nodes import (
    MATCHED,
    MATCHED_BY_ORDER,
    MATCHED_UNSURE,
    WHOLE_INSTRUCTION,
    EventNodes,
    Facts,
    kernel_operator,
)
from tvmdbg_widgets.model.executorch.insides import CallEvents, Inside, Insides
from tvmdbg_widgets.model.executorch.program_instructions import DelegateCall, KernelCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tvmdbg_widgets.model.executorch.etdump import ETDump
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord
    from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram
    from tvmdbg_widgets.model.executorch.program import Plan, Program, Span
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

Instruction = tuple[int, int]
Ints = npt.NDArray[np.int64]

#: What a call costs that the method does not make there, as an event without an operator does.
_OTHER_CALL: Final = 5
#: Operators that may be opened, and compared with events, in any file.
_FEW_NODES: Final = 50_000
#: Different lists of events of a delegate; real ones log the same in all calls.
_MOST_LISTS: Final = 4
#: Methods times runs and events, where the method that ran is looked for.
_MOST_COMPARED: Final = 2_000_000
_SHARED: Final = "delegates-shared"
_SURE: Final = (EXACT, ORDER)
#: What lowering inserted, by the type of the operator.
_INSERTED: Final = {
    "StaticTranspose": "layout transposes",
    "StaticReshape": "reshapes",
    "Convert": "type conversions",
}


def insides_of(program: Program, source: ByteSource) -> tuple[Insides, list[Issue]]:
    """Return the calls of delegates of all methods, with the graphs in their payloads."""
    graphs = graphs_of(program, source)
    issues = list(graphs.issues)
    texts: dict[tuple[str, Span], str] = {}
    found = []
    # A program calls each delegate once; instructions may share one that is as large as the file.
    sizes = sum(len(each.nodes) + len(each.values) for each in graphs.graphs.values())
    opened = Budget(_FEW_NODES + SHARES * sizes, program.file, "operators of delegates")
    for plan, chain, at, step in _delegate_calls(program):
        delegate = plan.delegates[step.delegate_index]
        key = delegate.id, delegate.payload
        if key not in texts:
            texts[key] = payload_text(source, delegate)
        graph = graphs.of(delegate)
        try:
            opened.spend(0 if graph is None else len(graph.nodes) + len(graph.values), "delegates")
        except FormatError as problem:
            if not issues or issues[-1].rule != _SHARED:
                issues.append(Issue(_SHARED, Severity.ERROR, str(problem), file=program.file))
            graph = None
        found.append(Inside(plan.name, chain, at, step.delegate_index, delegate, texts[key], graph))
    return Insides(tuple(found)), issues


def _delegate_calls(program: Program) -> Iterator[tuple[Plan, int, int, DelegateCall]]:
    for plan in program.plans:
        for chain, each in enumerate(plan.chains):
            for at, step in enumerate(each.instructions):
                known = range(len(plan.delegates))
                if isinstance(step, DelegateCall) and step.delegate_index in known:
                    yield plan, chain, at, step


def with_events(
    insides: Insides, dump: ETDump, program: Program, method: str | None
) -> tuple[Insides, list[Issue]]:
    """Return the same with the events of a dump aligned to the operators of each call.

    The method of a run is the one whose calls fit best, kernels and delegates' events alike.

    Parameters
    ----------
    insides
    dump
    program
    method
        The method that ran, where the caller said so.
    """
    aligner = _Aligner(insides, dump)
    names = program.methods
    if len(names) * (dump.num_runs + dump.num_events) > _MOST_COMPARED and len(names) > 1:
        return insides, []
    costs = np.zeros((dump.num_runs, len(names)), np.int64)
    for at, name in enumerate(names if len(names) > 1 else ()):
        costs[:, at] = _kernel_costs(dump, program.plan(name)) + aligner.costs(name)
    ran = {*run_of(dump)[dump.chain_index >= 0].tolist()}
    methods: list[tuple[str, ...]] = [()] * dump.num_runs
    for run in sorted(ran):
        row = costs[run].tolist()
        best = tuple(name for name, cost in zip(names, row, strict=True) if cost == min(row))
        methods[run] = (method,) if method is not None and method in best else best
    made = replace(insides, calls=aligner.calls(methods), methods=tuple(methods))
    return made, _misfits(dump, made)


class _Aligner:
    """Aligns the events of each call of a dump; equal lists of events once."""

    def __init__(self, insides: Insides, dump: ETDump) -> None:
        self._insides, self._dump = insides, dump
        self._known: dict[tuple[int, tuple[str, ...]], Alignment] = {}
        of = DelegateCalls.of(dump).call
        inner: dict[int, list[int]] = defaultdict(list)
        for event in np.flatnonzero(of >= 0).tolist():
            inner[int(of[event])].append(event)
        called = np.flatnonzero(named(dump, CALL) & (dump.kind == EventKind.PROFILE))
        self._events = {call: tuple(inner[call]) for call in called.tolist()}
        self._run = run_of(dump)
        # Each delegate logs the same events in all its calls.
        nodes = sum(len(each.graph.nodes) for each in insides.insides if each.graph is not None)
        self._left = _FEW_NODES + _MOST_LISTS * (nodes + dump.num_events)

    def costs(self, method: str) -> Ints:
        """Return what the calls of each run cost as those of a method."""
        own = self._insides.of(method)
        costs = np.zeros(self._dump.num_runs, np.int64)
        for call, events in self._events.items():
            inside = own.get(_at(self._dump, call))
            alignment = None if inside is None else self._aligned(inside, events)
            cost = 0 if alignment is None else alignment.cost
            costs[self._run[call]] += cost if inside is not None else _OTHER_CALL
        return costs

    def calls(self, methods: Sequence[tuple[str, ...]]) -> dict[int, CallEvents]:
        """Return the events of each call, by the methods that its run may be of."""
        by_method = {name: self._insides.of(name) for each in methods for name in each}
        found: dict[int, CallEvents] = {}
        for call, events in self._events.items():
            at = _at(self._dump, call)
            may_be = [by_method[name].get(at) for name in methods[self._run[call]]]
            candidates = tuple(
                (each, self._aligned(each, events)) for each in may_be if each is not None
            )
            if len(candidates) == 1:
                found[call] = CallEvents(events, *candidates[0])
            else:
                found[call] = CallEvents(events, candidates=candidates)
        return found

    def _aligned(self, inside: Inside, events: tuple[int, ...]) -> Alignment | None:
        family = family_of(inside.delegate.id)
        if inside.graph is None or family is None or family.align is None:
            return None
        names = tuple(self._dump.delegate_id_str[event] for event in events)
        key = id(inside.graph), names
        if key not in self._known:
            self._left -= len(inside.graph.nodes) + len(names)
            if self._left < 0:
                return Alignment.unknown(
                    len(names), "too many different lists of events to compare"
                )
            self._known[key] = family.align(inside.graph, names)
        return self._known[key]


def _at(dump: ETDump, event: int) -> Instruction:
    return int(dump.chain_index[event]), int(dump.instruction_id[event])


def _kernel_costs(dump: ETDump, plan: Plan) -> Ints:
    """Return what the kernels of each run cost that the method does not call there."""
    costs = np.zeros(dump.num_runs, np.int64)
    run = run_of(dump)
    kernels = np.array([name.startswith("native_call_") for name in dump.names.unique] or [False])
    for event in np.flatnonzero(kernels[dump.names.codes] & (dump.chain_index >= 0)).tolist():
        chain, at = _at(dump, event)
        steps = plan.chains[chain].instructions if chain < len(plan.chains) else ()
        step = steps[at] if 0 <= at < len(steps) else None
        own = ""
        if isinstance(step, KernelCall) and 0 <= step.op_index < len(plan.operators):
            own = plan.operators[step.op_index].name.rpartition("::")[2]
        if own != kernel_operator(dump.names[event]):
            costs[run[event]] += _OTHER_CALL
    return costs


def _misfits(dump: ETDump, insides: Insides) -> list[Issue]:
    """Return what to say of the calls whose events are not those of the program's delegates."""
    wrong: dict[int, None] = {}
    lost: dict[int, None] = {}
    for call, each in insides.calls.items():
        at = int(dump.instruction_id[call])
        if not each.fits:
            wrong[at] = None
        elif each.inside is None and not each.candidates:
            lost[at] = None
    issues = []
    for places, what in (
        (wrong, "the program's delegate there runs other operators than were logged"),
        (lost, "the program calls no delegate there"),
    ):
        if places:
            text = (
                f"delegates logged events in {agree(len(places), 'instruction')} "
                f"{listed(places)}, but "
                f"{what}: dump and program are not of the same export, and those events are of no "
                "operator"
            )
            issues.append(Issue("executorch-disagree", Severity.WARNING, text, file=dump.file))
    return issues


def placed_on_edges(
    insides: Insides, record: ETRecord, method: str, program: ExportedProgram
) -> Insides:
    """Return the same with the operators of a method's delegates placed on the edge graph."""
    graphs = {
        at[1]: each.graph for at, each in insides.of(method).items() if at[0] == 0 and each.graph
    }
    calls = (record.delegate_map or {}).get(method, {})
    told = {
        at: each.identifiers for at in graphs if (each := calls.get(str(at))) and each.identifiers
    }
    handles = (record.debug_handle_map or {}).get(method, {})
    edges = edge_nodes(graphs, program, handles, told)
    placed = {
        (at, node.index): edges.nodes_of(at, node.index)
        for at, graph in graphs.items()
        for node in graph.nodes
    }
    return replace(insides, edges=edges, placed=placed)


def placed_in_program(
    insides: Insides, method: str, opened: Mapping[Instruction, tuple[int, ...]]
) -> Insides:
    """Return the same with the operators of a method's delegates placed on its opened graph."""
    placed = {
        (at[1], node.index): (place,)
        for at, inside in insides.of(method).items()
        if inside.graph is not None
        for node, place in zip(inside.graph.nodes, opened.get(at, ()), strict=False)
    }
    return replace(insides, placed=placed)


class _Sets:
    """Sets of nodes under construction."""

    def __init__(self, joined: EventNodes) -> None:
        self.sets = list(joined.sets)
        self._numbers = {nodes: number for number, nodes in enumerate(self.sets)}
        self.titles: dict[int, str] = {}
        self._titled: dict[tuple[tuple[int, ...], str], int] = {}
        self.apart: set[int] = set()

    def of(self, nodes: tuple[int, ...]) -> int:
        """Return the number of the set of some nodes."""
        if nodes not in self._numbers:
            self._numbers[nodes] = len(self.sets)
            self.sets.append(nodes)
        return self._numbers[nodes]

    def titled(self, nodes: tuple[int, ...], title: str, key: object = "") -> int:
        """Return the number of a set apart, of a call's nodes and a title."""
        known = (nodes, f"{title}{key}")
        if known not in self._titled:
            self._titled[known] = len(self.sets)
            if title:
                self.titles[len(self.sets)] = title
                self.apart.add(len(self.sets))
            self.sets.append(nodes)
        return self._titled[known]


def with_matches(joined: EventNodes, dump: ETDump, insides: Insides, method: str) -> EventNodes:
    """Return the nodes of events, of matched ones those of the delegate's operators.

    What is left of a call is a set apart, and so is the time of what lowering inserted and no node
    of the graph stands for. A call whose events are those of another program has no nodes.
    """
    sets = _Sets(joined)
    set_of, how = joined.set_of.copy(), joined.how.copy()
    unmatched: set[int] = set()
    rests: set[int] = set()
    foreign = DelegateCalls.of(dump).foreign
    fitting = {_at(dump, call) for call, each in insides.calls.items() if each.fits}
    calls = {
        at: number
        for at, number in joined.calls.items()
        if at in fitting or not insides.calls or at not in insides.of(method)
    }
    about: dict[int, Facts] = {}
    known: dict[int, tuple[Facts, ...]] = {}
    for call, each in insides.calls.items():
        inside, alignment = each.inside, each.alignment
        if inside is None or inside.graph is None or alignment is None or joined.set_of[call] < 0:
            continue
        if inside.method == method and not each.fits:
            set_of[[call, *each.events]] = -1
            continue
        if inside.method != method or not any(m.match in _SURE for m in alignment.events):
            continue
        whole = joined.sets[int(joined.set_of[call])]
        rest = int(joined.set_of[call])
        if not any(foreign[event] for event in each.events):
            # Times of another clock are no part of the call's.
            rest = sets.titled(whole, "", _at(dump, call))
            rests.add(rest)
        set_of[call] = rest
        if id(alignment) not in known:
            known[id(alignment)] = match_facts(inside.graph, alignment)
        about |= dict(zip(each.events, known[id(alignment)], strict=True))
        for event, match in zip(each.events, alignment.events, strict=True):
            if match.match not in _SURE:
                set_of[event], how[event] = rest, WHOLE_INSTRUCTION
                unmatched.add(rest)
                continue
            nodes, how[event] = _placed(insides, inside, match)
            main = match.nodes[0] if match.main is None else match.main
            if nodes:
                set_of[event] = sets.of(nodes)
            else:
                node = inside.graph.nodes[main]
                title = "operators that no node of the graph stands for"
                if node.inserted:
                    title = f"{_INSERTED.get(node.type, 'operators')} inserted by lowering"
                set_of[event] = sets.titled(whole, title, _at(dump, call))
    alone = {each for each in rests if len(sets.sets[each]) == 1}
    apart = frozenset(sets.apart | (rests - unmatched) | alone)
    made = tuple(sets.sets)
    elsewhere = {
        event: each.inside.method
        for call, each in insides.calls.items()
        if each.inside is not None and each.inside.method != method
        for event in (call, *each.events)
    }
    return replace(
        joined,
        set_of=set_of,
        sets=made,
        how=how,
        calls=calls,
        titles=sets.titles,
        apart=apart,
        elsewhere=elsewhere,
        about=about,
    )


def _placed(insides: Insides, inside: Inside, match: EventMatch) -> tuple[tuple[int, ...], int]:
    """Return the nodes of a matched event, and how sure they are."""
    at = inside.instruction
    nodes = {
        node
        for index in match.nodes
        for node in (
            *insides.placed.get((at, index), ()),
            *insides.beside.get((at, index), ()),
        )
    }
    how = MATCHED if match.match == EXACT else MATCHED_BY_ORDER
    if insides.edges is not None:
        of = insides.edges.of
        if any((at, n) in of and of[at, n].alternatives > 1 for n in match.nodes):
            how = MATCHED_UNSURE
    return tuple(sorted(nodes)), how
