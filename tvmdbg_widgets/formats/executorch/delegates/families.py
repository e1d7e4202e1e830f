"""The known backends, and the readers of their payloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.delegates import event_order, xnnpack_events
from tvmdbg_widgets.formats.executorch.delegates.vulkan import read_vulkan
from tvmdbg_widgets.formats.executorch.delegates.xnnpack import read_xnnpack
from tvmdbg_widgets.formats.executorch.program.tensors import NamedFile
from tvmdbg_widgets.formats.limits import SHARES, WorkBudget, named_bytes
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueLog, IssueSeverity, listed
from tvmdbg_widgets.model.executorch.delegate_graph import (
    Alignment,
    CallEvents,
    DelegateConstant,
    DelegateGraph,
    Inside,
    Insides,
)
from tvmdbg_widgets.model.executorch.etdump import DelegateCalls, ETDump, run_of
from tvmdbg_widgets.model.executorch.etdump import explain_name as explain_kernel
from tvmdbg_widgets.model.executorch.event_nodes import kernel_operator, of_kernels
from tvmdbg_widgets.model.executorch.program import Delegate, FileSpan, Plan, Program
from tvmdbg_widgets.model.executorch.program_instructions import CallDelegate, KernelCall
from tvmdbg_widgets.model.executorch.vulkan_names import explain_name
from tvmdbg_widgets.sources.byte_source import ByteSource

_HEAD = 64
_SHOWN = 16


@dataclass(frozen=True)
class DelegateFamily:
    """Names, readers and magic bytes of a backend's payloads."""

    backend: str
    title: str
    magics: bytes | tuple[bytes, ...] = b""
    read: Callable[..., DelegateGraph] | None = None
    align: Callable[[DelegateGraph, Sequence[str]], Alignment] | None = None
    explain: Callable[[str], tuple[tuple[str, str], ...]] | None = None
    times: str = ""
    magic_at: int = 4


_OF_CORE_ML: Final = (
    "estimated: the time of a whole prediction, shared out by Core ML's estimate of what each "
    "operator costs"
)
_QNN: Final = 0x5678ABCD.to_bytes(4, "little")
_XNN: Final = (b"XH00", b"XN00", b"XN01")
#: Known delegates; a backend whose payload holds a graph has a reader.
FAMILIES: tuple[DelegateFamily, ...] = (
    DelegateFamily(
        "XnnpackBackend", "XNNPACK graph", _XNN, read_xnnpack, xnnpack_events.align, explain_kernel
    ),
    DelegateFamily(
        "VulkanBackend", "Vulkan graph", b"VH00", read_vulkan, event_order.align, explain_name
    ),
    DelegateFamily("CoreMLBackend", "Core ML package", times=_OF_CORE_ML),
    DelegateFamily("QnnBackend", "Qualcomm QNN context binary (closed)", _QNN, magic_at=0),
    DelegateFamily(
        "EthosUBackend", "Ethos-U command stream, vela_bin_stream", b"vela_bin_stream", magic_at=0
    ),
    DelegateFamily("VgfBackend", "VGF container"),
    DelegateFamily("TOSABackend", "TOSA flatbuffer", b"TOSA"),
    DelegateFamily("NeutronBackend", "NXP Neutron program"),
    DelegateFamily("MPSBackend", "MPS graph", b"MP00"),
    DelegateFamily("MLXBackend", "MLX graph", b"MLX0"),
    DelegateFamily("OpenvinoBackend", "OpenVINO model"),
    DelegateFamily("EnnBackend", "Samsung ENN model (closed)"),
    DelegateFamily("NeuropilotBackend", "MediaTek Neuron model (closed)"),
)
_BY_BACKEND = {family.backend: family for family in FAMILIES}


def family_of(backend: str) -> DelegateFamily | None:
    """Return the family of a backend, None if unknown."""
    return _BY_BACKEND.get(backend)


def payload_text(source: ByteSource, delegate: Delegate) -> str:
    """Describe a delegate's payload in a phrase, by its first bytes if unknown."""
    offset, size = delegate.payload
    head = source.read(offset, min(size, _HEAD))
    family = family_of(delegate.id)
    if family is not None and head[family.magic_at :].startswith(family.magics):
        return f"{family.title}, {counted(size, 'byte')}"
    if not size:
        return "empty payload"
    return f"unknown payload, {counted(size, 'byte')}, first {head[:_SHOWN].hex(' ')}"


def graphs_of(
    program: Program, source: ByteSource
) -> tuple[dict[tuple[str, FileSpan], DelegateGraph], list[Issue]]:
    """Read the graphs of a program's delegates, by backend and payload, as far as they can be."""
    graphs: dict[tuple[str, FileSpan], DelegateGraph] = {}
    issues = IssueLog(program.file)
    budget = named_bytes(source)
    delegates = [(item.id, item.payload) for plan in program.plans for item in plan.delegates]
    for backend, payload in dict.fromkeys(delegates):
        try:
            budget.spend(payload.size, "delegates", payload.offset)
        except FormatError as problem:
            issues.error("delegate-payload", str(problem))
            break
        family = family_of(backend)
        if family is None or family.read is None:
            continue
        try:
            graph = family.read(source, payload, backend, file=program.file)
        except FormatError as problem:
            issues.error("delegate-payload", str(problem))
            continue
        graphs[backend, payload] = graph
        issues += graph.issues
    return graphs, issues


class ConstantBytes:
    """Byte ranges of the constants of a program's delegates."""

    def __init__(
        self, program: Program, source: ByteSource, named: Sequence[NamedFile] = ()
    ) -> None:
        self._source = source
        self._known: dict[str, tuple[ByteSource, FileSpan]] = {}
        for item in program.named_data:
            self._known.setdefault(item.key, (source, program.segments[item.segment_index]))
        for data, file in named:
            for tensor in data.tensors:
                self._known.setdefault(tensor.name, (file, FileSpan(tensor.offset, tensor.nbytes)))

    def of(self, constant: DelegateConstant) -> tuple[ByteSource, FileSpan] | None:
        """Return file and byte range of a constant, or None if no file has them."""
        if constant.span is not None:
            return self._source, constant.span
        source, span = self._known.get(constant.key, (self._source, FileSpan(0, -1)))
        if not constant.key or constant.size > span.size:
            return None
        return source, FileSpan(span.offset, constant.size)


Instruction = tuple[int, int]
Ints = npt.NDArray[np.int64]

#: Cost of a call that the method does not make there, like an event without an operator.
_OTHER_CALL: Final = 5
#: Operators that may be opened, and compared with events, in any file.
_FEW_NODES: Final = 50_000
#: Different lists of events of a delegate; real ones log the same in all calls.
_MOST_LISTS: Final = 4
#: Methods times runs and events, to search the method that ran.
_MOST_COMPARED: Final = 2_000_000
_SHARED: Final = "delegates-shared"


def opened_insides(
    program: Program | None, source: ByteSource | None, dump: ETDump | None, method: str | None
) -> tuple[Insides, list[Issue]]:
    """Return a program's delegates, aligned with a dump's events; `method` may name the one run."""
    if program is None or source is None:
        return Insides(), []
    graphs, issues = graphs_of(program, source)
    texts: dict[tuple[str, FileSpan], str] = {}
    calls = []
    # A program calls each delegate once; instructions may share one that is as large as the file.
    sizes = sum(len(item.nodes) + len(item.values) for item in graphs.values())
    opened = WorkBudget(_FEW_NODES + SHARES * sizes, program.file, "operators of delegates")
    for plan, chain, at, step in _delegate_calls(program):
        delegate = plan.delegates[step.delegate_index]
        key = delegate.id, delegate.payload
        if key not in texts:
            texts[key] = payload_text(source, delegate)
        graph = graphs.get(key)
        try:
            opened.spend(0 if graph is None else len(graph.nodes) + len(graph.values), "delegates")
        except FormatError as problem:
            if not issues or issues[-1].rule != _SHARED:
                issues.append(Issue(_SHARED, IssueSeverity.ERROR, str(problem), file=program.file))
            graph = None
        calls.append(Inside(plan.name, chain, at, step.delegate_index, delegate, texts[key], graph))
    insides, problems = Insides(tuple(calls)), list[Issue]()
    if dump is not None:
        insides, problems = with_events(insides, dump, program, method)
    return insides, [*problems, *issues]


def _delegate_calls(program: Program) -> Iterator[tuple[Plan, int, int, CallDelegate]]:
    for plan in program.plans:
        for chain, steps in enumerate(plan.chains):
            for at, step in enumerate(steps.instructions):
                known = range(len(plan.delegates))
                if isinstance(step, CallDelegate) and step.delegate_index in known:
                    yield plan, chain, at, step


def with_events(
    insides: Insides, dump: ETDump, program: Program, method: str | None
) -> tuple[Insides, list[Issue]]:
    """Align a dump's events with the operators of each call, by the method that fits best."""
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
    def __init__(self, insides: Insides, dump: ETDump) -> None:
        self._insides, self._dump = insides, dump
        self._known: dict[tuple[int, tuple[str, ...]], Alignment] = {}
        self._events = DelegateCalls.of(dump).events(dump)
        self._run = run_of(dump)
        # A delegate logs the same events in all its calls.
        nodes = sum(len(item.graph.nodes) for item in insides.insides if item.graph is not None)
        self._left = _FEW_NODES + _MOST_LISTS * (nodes + dump.num_events)

    def costs(self, method: str) -> Ints:
        """Return the cost per run of reading its calls as those of a method."""
        own = self._insides.of(method)
        costs = np.zeros(self._dump.num_runs, np.int64)
        for call, events in self._events.items():
            inside = own.get(self._dump.place(call))
            alignment = None if inside is None else self._aligned(inside, events)
            cost = 0 if alignment is None else alignment.cost
            costs[self._run[call]] += cost if inside is not None else _OTHER_CALL
        return costs

    def calls(self, methods: Sequence[tuple[str, ...]]) -> dict[int, CallEvents]:
        by_method = {name: self._insides.of(name) for inside in methods for name in inside}
        calls: dict[int, CallEvents] = {}
        for call, events in self._events.items():
            at = self._dump.place(call)
            may_be = [by_method[name].get(at) for name in methods[self._run[call]]]
            candidates = tuple(
                (inside, self._aligned(inside, events)) for inside in may_be if inside is not None
            )
            if len(candidates) == 1:
                calls[call] = CallEvents(events, *candidates[0])
            else:
                calls[call] = CallEvents(events, candidates=candidates)
        return calls

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


def _kernel_costs(dump: ETDump, plan: Plan) -> Ints:
    """Return the cost per run of kernels that the method does not call there."""
    costs = np.zeros(dump.num_runs, np.int64)
    run = run_of(dump)
    for event in np.flatnonzero(of_kernels(dump.names) & (dump.chain_index >= 0)).tolist():
        chain, at = dump.place(event)
        steps = plan.chains[chain].instructions if chain < len(plan.chains) else ()
        step = steps[at] if 0 <= at < len(steps) else None
        own = ""
        if isinstance(step, KernelCall) and 0 <= step.op_index < len(plan.operators):
            own = plan.operators[step.op_index].name.rpartition("::")[2]
        if own != kernel_operator(dump.names[event]):
            costs[run[event]] += _OTHER_CALL
    return costs


def _misfits(dump: ETDump, insides: Insides) -> list[Issue]:
    wrong: dict[int, None] = {}
    lost: dict[int, None] = {}
    partly: dict[int, None] = {}
    for call, events in insides.calls.items():
        at = int(dump.instruction_id[call])
        if not events.fits:
            wrong[at] = None
        elif events.inside is None and not events.candidates:
            lost[at] = None
        elif events.events and events.alignment is not None and events.alignment.left_over:
            partly[at] = None
    other = (
        "delegates logged events in {}, but {}: dump and program are not of the same export, and "
        "those events are of no operator"
    )
    damaged = (
        "the events that delegates logged in {} do not fit the program's operators there: the dump "
        "is damaged, or of another export; its events are matched by order at best"
    )
    runs = "the program's delegate there runs other operators than were logged"
    return [
        Issue(
            "executorch-disagree",
            IssueSeverity.WARNING,
            text.format(f"{agree(len(places), 'instruction')} {listed(places)}", why),
            file=dump.file,
        )
        for places, text, why in (
            (wrong, other, runs),
            (lost, other, "the program calls no delegate there"),
            (partly, damaged, ""),
        )
        if places
    ]
