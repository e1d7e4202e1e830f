"""Names of groups, from their operators and wiring."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from tvmdbg_widgets.analysis.blocks.repeats import RepeatedBlock
from tvmdbg_widgets.analysis.blocks.sequence import Sequence
from tvmdbg_widgets.model.base.text import cut
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.operators import bare, family, label, parts

_ADDS: Final = frozenset({"add", "broadcast_add", "elemwise_add", "elemwise_sum", "add_n"})
_JOINS: Final = frozenset({"concatenate", "concat", "stack"})
_SOFTMAX: Final = frozenset({"softmax", "fast_softmax"})
_ATTENTION: Final = frozenset({"attention", "attention_bias", "multi_head_attention"})
_CLIPS: Final = frozenset({"clip", "max", "maximum"})
_ROOTS: Final = frozenset({"sqrt", "rsqrt"})
_LISTED = 4  # longest chain of operators that is spelled out, and longest name
_LENGTH = 48


@dataclass(eq=False)
class GroupNames:
    """Names of groups; groups of equal structure share one."""

    graph: Graph
    sequence: Sequence
    _known: dict[bytes, str] = field(default_factory=dict, init=False)

    def of(self, block: RepeatedBlock, start: int) -> str:
        """Return the name of the group that starts at a place of the sequence."""
        name = self._known.get(block.content)
        if name is None:
            end = start + block.end - block.start
            # The first block may read inputs of the graph where later ones read each other.
            last = end - (block.end - block.start) // block.repeats
            parallel = block.repeats > 1 and not self._blocks_are_chained(start, block)
            name = _NamedBlock(self.graph, self.sequence, last, end).name(parallel)
            self._known[block.content] = name
            if block.inside and block.repeats > 1:
                self._known.setdefault(block.inside[0].content, name)
        return name

    def _blocks_are_chained(self, start: int, run: RepeatedBlock) -> bool:
        sequence = self.sequence
        period = (run.end - run.start) // run.repeats
        slots = slice(sequence.slot[start + period], sequence.slot[start + run.end - run.start])
        reader, source = sequence.reader[slots], sequence.source[slots]
        block = (reader - start) // period
        return bool(((source >= start) & ((source - start) // period < block)).any())


class _NamedBlock:
    def __init__(self, graph: Graph, sequence: Sequence, start: int, end: int) -> None:
        self._sequence = sequence
        self._start = start
        self._functions = [graph.func_names[node] for node in sequence.nodes[start:end].tolist()]
        self._modules = graph.module_prefixes
        self._parts = [
            tuple(map(bare, parts(function, self._modules))) for function in self._functions
        ]
        self._counts = Counter(part for each in self._parts for part in each)
        self._families = Counter(
            kind for each in self._parts for kind in {family(part) for part in each}
        )

    def name(self, parallel: bool) -> str:
        return self._known(parallel) or self._listed()

    def _known(self, parallel: bool) -> str | None:
        counts, matmuls = self._counts, self._families["matmul"]
        joins, wide = self._joins()
        if "topk" in counts and matmuls >= 2:
            return "mixture of experts"
        if self._families["convolution"]:
            joined = {2: "dense block"}.get(wide, "inception block" if wide else None)
            return "residual block" if joins else joined
        if counts.keys() & _ATTENTION or (counts.keys() & _SOFTMAX and matmuls >= 2):
            if joins >= 2 or (joins and matmuls >= 5):
                return "transformer block"
            return "attention head" if parallel else "attention"
        if matmuls >= 2 and (self._families["activation"] or counts.keys() & _CLIPS):
            if parallel:
                return "expert"
            return "feed-forward block" if joins else "feed-forward"
        if matmuls:
            return "residual block" if joins else None
        normal = "mean" in counts and counts.keys() & _ROOTS and len(self._parts) > 2
        return "layer norm" if normal else None

    def _joins(self) -> tuple[int, int]:
        """Return the number of operators that add computed values, and the most operands of one."""
        sequence = self._sequence
        adds = wide = 0
        for place, each in enumerate(self._parts, self._start):
            adding = _ADDS.intersection(each)
            joined = _JOINS.intersection(each)
            if not adding and not joined:
                continue
            slots = slice(int(sequence.slot[place]), int(sequence.slot[place + 1]))
            computed = sequence.source[slots] >= 0
            read = len(set(sequence.entry[slots][computed].tolist()))
            adds += bool(adding) and read >= 2
            wide = max(wide, read if joined else 0)
        return adds, wide

    def _listed(self) -> str:
        words = [
            each[0] if len(each) == 1 else label(name, self._modules)
            for name, each in zip(self._functions, self._parts, strict=True)
        ]
        shown = words if len(words) <= _LISTED else [*words[:2], "…", words[-1]]
        text = " → ".join(shown)
        if len(text) > _LENGTH:
            shown = [word.split(" + ")[0] for word in shown]
            text = " → ".join(shown)
        return cut(text, _LENGTH)
