"""Evidence for rules: a run, the results of its tensor scan, and wording for both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.analysis.findings.executorch.recorded import DelegateInstruction, RecordedDump
from tvmdbg_widgets.analysis.findings.twins import Twins
from tvmdbg_widgets.analysis.memory.planned import MemoryPlan, memory_plan
from tvmdbg_widgets.analysis.scan_results import Entry, ScanColumns, Scanned
from tvmdbg_widgets.analysis.summary import check
from tvmdbg_widgets.model.base import text
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text
from tvmdbg_widgets.model.base.text import Issue, Issues, one_line
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.graph import LONGEST_LABEL, node_labels, node_title, short_label
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.operators import bare, parts, without_prefix
from tvmdbg_widgets.model.parameters import later_writers
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.timeline.words import TimelineWords, timeline_words

_LONGEST_NAME = 80
_LISTED = 5
_MANY = 3


@lru_cache(maxsize=16_384)
def _bare_parts(func_name: str) -> tuple[str, ...]:
    return tuple(bare(part) for part in parts(func_name))


class OperandRead(NamedTuple):
    """One operand of a node."""

    entry: Entry
    sure: bool


class RunEvidence:
    """Run with all facts that rules need."""

    def __init__(
        self, parts: RunParts, scanned: Scanned, groups: Callable[[], Groups] | None = None
    ) -> None:
        self.parts = parts
        self.scanned = scanned
        self._groups = groups

    @cached_property
    def statistics(self) -> dict[Entry, Statistics]:
        """Statistics of the tensors that hold their own entry's values."""
        return {
            entry: stats
            for entry, stats in self.scanned.statistics.items()
            if entry not in self.overwritten and stats.applicable
        }

    @cached_property
    def columns(self) -> ScanColumns:
        """Statistics as columns, for rules over all tensors."""
        return self.scanned.columns(left_out=self.overwritten)

    @property
    def tensors(self) -> Mapping[Entry, Tensor]:
        """The tensors by entry; empty where the run has none."""
        return self.parts.tensors or {}

    @cached_property
    def issues(self) -> Issues:
        """All issues of ``run.check()``."""
        return check(self.parts)

    @cached_property
    def twins(self) -> Twins | None:
        """Operators at the same place in other instances of a block; None without a graph."""
        graph = self.parts.graph
        if graph is None:
            return None
        return Twins(graph, self._groups() if self._groups is not None else groups(graph))

    def of_rules(self, *rules: str) -> list[Issue]:
        """Return the issues of some rules."""
        return [issue for issue in self.issues if issue.rule in rules]

    @cached_property
    def overwritten(self) -> dict[Entry, int]:
        """Entries whose tensor holds a later node's values, with that node (TVM v0.6, v0.7)."""
        graph, tensors = self.parts.graph, self.parts.tensors
        if graph is None or not tensors or not self.parts.issues.by_rule("buffer-reused"):
            return {}
        return {entry: node for entry, node in later_writers(graph).items() if entry in tensors}

    @cached_property
    def recorded(self) -> RecordedDump | None:
        """The recorded dump of ExecuTorch; None for other runs."""
        return RecordedDump.of(self.parts.executorch)

    @property
    def of_executorch(self) -> bool:
        """Whether ExecuTorch recorded the run: advice on TVM does not apply."""
        return self.parts.executorch is not None

    @cached_property
    def inflated(self) -> str:
        """Why times are longer than usual, as a suffix for sentences; else empty."""
        if not self.parts.issues.by_rule("times-inflated"):
            return ""
        return "; this run also logged values, which is part of its times"

    @cached_property
    def blank(self) -> bool:
        """Whether a debug buffer holds only zeros, in several tensors."""
        recorded, columns = self.recorded, self.columns
        if recorded is None or not self.scanned.complete or np.count_nonzero(columns.size) < _MANY:
            return False
        filled = columns.size > 0
        zero = (columns.low == 0) & (columns.high == 0) & (columns.finite == columns.size)
        return bool(zero[filled].all())

    @property
    def confidence_in_shares(self) -> Confidence:
        """Confidence that a share of time belongs to some nodes."""
        if self.unplaced:
            return Confidence.LOW
        return Confidence.MEDIUM if self.inflated else Confidence.HIGH

    def role(self, node: int) -> str | None:
        """Return a node's role, empty for operators; None without a graph."""
        graph = self.parts.graph
        if graph is None or not 0 <= node < graph.num_nodes:
            return None
        return graph.roles[node]

    def is_operator(self, node: int) -> bool:
        """Return whether a node computes its values; unknown without a graph."""
        return self.role(node) == ""

    def operator_parts(self, node: int) -> tuple[str, ...]:
        """Return the operators fused into a node's function, without name spaces."""
        graph = self.parts.graph
        if graph is None or not 0 <= node < graph.num_nodes:
            return ()
        return _bare_parts(graph.func_names[node])

    def reads(self, node: int) -> list[OperandRead]:
        """Return the operands of a node; not sure where the dump lacks their source."""
        graph = self.parts.graph
        if graph is None:
            return []
        edges = graph.in_edges(node)
        return [
            OperandRead((source, output), source >= 0 and trust != Trust.AMBIGUOUS)
            for source, output, trust in zip(
                graph.edge_source[edges].tolist(),
                graph.edge_output[edges].tolist(),
                graph.edge_trust[edges].tolist(),
                strict=True,
            )
        ]

    @cached_property
    def plan(self) -> MemoryPlan | None:
        """The memory plan of the graph; None where it has none."""
        graph = self.parts.graph
        return None if graph is None or graph.storage_ids is None else memory_plan(graph)

    def probed(self, rule: str) -> dict[Entry, Any]:
        """Return results of a rule's probe, for tensors with their own entry's values."""
        probed = self.scanned.probed.get(rule, {})
        return {entry: probed[entry] for entry in sorted(probed) if entry in self.statistics}

    def of_entries(
        self,
        severity: Severity,
        title: str,
        facts: list[str],
        entries: Sequence[Entry],
        *,
        step: str,
        weight: float,
        joined: tuple[Confidence, str] | None = None,
    ) -> Finding:
        """Return a finding on some entries, by default as sure as their tensors are theirs."""
        nodes, shown = nodes_of(entries), cut(facts)
        sure = joined or self.joined(entries)
        return Finding(severity, title, shown, *sure, nodes, tuple(entries), step, weight)

    def joined(self, entries: Iterable[Entry]) -> tuple[Confidence, str]:
        """Return how surely tensors belong to their entries, and why."""
        tensors = self.tensors
        worst = max((tensors[entry].trust for entry in entries if entry in tensors), default=None)
        if worst is None or worst is Trust.EXACT:
            return Confidence.HIGH, "every value was read"
        if worst is Trust.AMBIGUOUS:
            why = "every value was read, but which node they belong to is ambiguous"
            return Confidence.LOW, why
        how = "order in the file" if worst is Trust.BY_ORDER else "name"
        return Confidence.MEDIUM, f"every value was read; tensors are matched to nodes by {how}"

    @cached_property
    def total_ns(self) -> float:
        """Time that shares refer to; 0 without times."""
        timeline = self.parts.timeline
        return 0.0 if timeline is None else max(0.0, timeline.total_ns)

    @cached_property
    def shares(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Share of the run's time by node, 0 where unknown; empty without times."""
        timeline = self.parts.timeline
        if timeline is None or not self.total_ns:
            return np.zeros(0)
        return np.nan_to_num(timeline.account.node_shares(timeline.num_nodes))

    @cached_property
    def whole(self) -> str:
        """Total that shares refer to: ``"178.8 µs in Method::execute"``; empty without times."""
        timeline, words = self.parts.timeline, self.words
        if timeline is None or words is None:
            return ""
        return f"{duration_text(timeline.total_ns)} {words.together}"

    @cached_property
    def unplaced(self) -> list[int]:
        """Slices of a synthetic timeline without a node."""
        timeline = self.parts.timeline
        if timeline is None or not timeline.synthetic or self.parts.graph is None:
            return []
        return np.flatnonzero((timeline.slice_node < 0) & (timeline.slice_duration_ns > 0)).tolist()

    @cached_property
    def words(self) -> TimelineWords | None:
        """Kind of the times, in words; None without times."""
        timeline = self.parts.timeline
        return None if timeline is None else timeline_words(timeline, self.parts.graph is not None)

    @cached_property
    def timed(self) -> list[int]:
        """Nodes that take time."""
        return np.flatnonzero(self.shares > 0).tolist()

    def name(self, node: int, most: int = LONGEST_LABEL) -> str:
        """Return a node's name: ``"#38 conv2d + add + relu"``, ``"node 38"``, ``"call 38"``."""
        item = self.words.item if self.words is not None and not self.tensors else "node"
        label, numbered = self.label(node), f"{item} {node}"
        return numbered if label in ("", numbered) else node_title(short_label(label, most), node)

    def label(self, node: int) -> str:
        """Return the operators of a node in a few words, else its name, on one line."""
        graph = self.parts.graph
        if graph is None or not 0 <= node < graph.num_nodes:
            return self.short_name(node)
        return text.cut(one_line(self._labels[node]), _LONGEST_NAME)

    @cached_property
    def _labels(self) -> StringColumn:
        graph = self.parts.graph
        return StringColumn.from_strings([]) if graph is None else node_labels(graph)

    @cached_property
    def _recorded_names(self) -> dict[int, str]:
        timeline = self.parts.timeline
        named: dict[int, str] = {}
        if timeline is not None:
            for slice_, node in enumerate(timeline.slice_node.tolist()):
                named.setdefault(node, timeline.slice_names[slice_])
        for (node, _), tensor in self.tensors.items():
            named[node] = tensor.name
        return named

    def short_name(self, node: int) -> str:
        """Return a node's name without a compiler's usual prefix; ``""`` without name."""
        graph = self.parts.graph
        known = graph is not None and 0 <= node < graph.num_nodes
        name = (
            graph.names[node] if graph is not None and known else self._recorded_names.get(node, "")
        )
        modules = () if graph is None else graph.module_prefixes
        return text.cut(one_line(without_prefix(name, modules)), _LONGEST_NAME)

    def entry_name(self, entry: Entry, most: int = LONGEST_LABEL) -> str:
        """Return an output's name: the node's, with ``:1`` behind the id beyond the first."""
        node, output = entry
        name = self.name(node, most)
        if output and name.startswith(f"#{node}"):
            return node_title(short_label(self.label(node), most), node, output)
        return name + (f":{output}" if output else "")

    def list(self, nodes: Sequence[int], most: int = _LISTED) -> str:
        """List the first nodes and count the rest."""
        return _listed([self.name(node) for node in nodes[:most]], len(nodes))

    def call_name(self, call: DelegateInstruction) -> str:
        """Return a delegate call's name: ``"XNNPACK call 1 of 2 (#5 linear, #6 relu)"``."""
        return call.place + (f" ({self.list(call.nodes, 3)})" if call.nodes else "")

    def list_entries(self, entries: Sequence[Entry], most: int = _LISTED) -> str:
        """List the first entries and count the rest."""
        return _listed([self.entry_name(entry) for entry in entries[:most]], len(entries))


def _listed(names: Sequence[str], count: int) -> str:
    shown = ", ".join(names)
    return f"{shown} and {count - len(names):,} more" if count > len(names) else shown


def nodes_of(entries: Iterable[Entry]) -> tuple[int, ...]:
    """Return the nodes of entries, in order, without repeats."""
    return tuple(dict.fromkeys(node for node, _ in entries))


def and_more(count: int, noun: str = "output") -> str:
    """``", and 2 more outputs"``; empty for none."""
    return f", and {counted(count, f'more {noun}')}" if count else ""


def cut(facts: list[str], most: int = 10) -> tuple[str, ...]:
    """Keep the first facts and count the rest."""
    if len(facts) <= most:
        return tuple(facts)
    return (*facts[:most], f"and {len(facts) - most:,} more")
