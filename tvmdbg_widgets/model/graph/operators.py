"""Operators in the names of fused functions; orders and reachability of a graph."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.ranges import frozen
from tvmdbg_widgets.model.executorch.etdump import xnnpack_family
from tvmdbg_widgets.model.graph.operator_names import family_by_name

OP_KINDS: Final = (
    *("convolution", "matmul", "elementwise", "activation", "normalization", "pooling/reduction"),
    *("layout/copy", "reshape", "cast/quantize", "gather/split", "delegate", "other"),
    *("input", "parameter", "buffer"),
)
"""Families of operators, in the order of legends."""

_DOMINANCE: Final = (
    *("convolution", "matmul", "normalization", "pooling/reduction", "activation"),
    *("cast/quantize", "elementwise", "gather/split", "layout/copy", "reshape"),
)
_NULL_KINDS: Final = {0: "input", 1: "parameter"}
_SHARED_KINDS: Final = {"__nop": "reshape", "__copy": "layout/copy"}

_PREFIX: Final = re.compile(r"_*(?:fused_|fuse_)?_*")
#: A number, behind the hash of a name that was cut at 80 letters, decimal or hexadecimal.
#: Both of the name from its end on: from the front each digit would be tried as the first.
_NUMBERS: Final = re.compile(r"_*(?:\d+_)*")
_HASHED: Final = re.compile(r"_*(?:\d+_)*_[0-9a-f]{6,20}_")
_TOKEN: Final = re.compile(r"[^_]+")
_FAMILY_OF: Final = family_by_name("tvm")
_BARE_FAMILY_OF: Final = {name.rpartition(".")[2]: family for name, family in _FAMILY_OF.items()}
_TORCH_FAMILY_OF: Final = _BARE_FAMILY_OF | family_by_name("torch")
#: ``aten.addmm.default``, ``aten::addmm``, ``aten::addmm.out``.
_TORCH: Final = re.compile(r"\w+(?:::|\.(?=\w+\.))(\w+)(?:\.\w+)?")
_SPELLINGS: Final = {name: name for name in _BARE_FAMILY_OF} | {
    name.replace(".", "_"): name for name in _FAMILY_OF
}
#: Kernels of cuDNN, cuBLAS and CUTLASS: ``cutlass_tensorop_s1688fprop_…``, ``ampere_sgemm_…``.
_VENDORS: Final = (
    ("convolution", re.compile(r"(?i)fprop|dgrad|wgrad|implicit_gemm|winograd|conv(?:olve|\d?d)")),
    ("matmul", re.compile(r"(?i)(?:(?<![a-z])[a-z]?|\d)gem[mv]|cublas|splitk")),
)
_MOST_LETTERS: Final = max(map(len, _SPELLINGS))
_LONGEST: Final = max(spelling.count("_") for spelling in _SPELLINGS) + 1


def _known(tokens: list[str]) -> str | None:
    """Return the operator that tokens spell, with or without a number at its end."""
    spelling = "_".join(tokens)
    least = len(spelling)
    while least > 1 and spelling[least - 1].isdigit():
        least -= 1
    ends = range(min(len(spelling), _MOST_LETTERS), least - 1, -1)
    return next((_SPELLINGS[spelling[:end]] for end in ends if spelling[:end] in _SPELLINGS), None)


def _match(tokens: list[str], at: int) -> tuple[str, int] | None:
    """Return the longest operator that starts at token `at`, and the token behind it."""
    # Relax puts tir_ before names that would shadow a builtin of TVMScript.
    start = at + 1 if tokens[at] == "tir" else at
    for end in range(min(len(tokens), start + _LONGEST), start, -1):
        operator = _known(tokens[start:end])
        if operator is not None:
            return operator, end
    return None


@lru_cache(maxsize=16_384)
def parts(func_name: str, modules: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Split the name of a fused function into its operators, longest first, without prefixes."""
    if not func_name or func_name in _SHARED_KINDS:
        return (func_name,) if func_name else ()
    prefix = _PREFIX.match(func_name, len(module_prefix(func_name, modules)))
    start = prefix.end() if prefix else 0
    last = func_name[:start:-1]
    variants = filter(None, (_NUMBERS.match(last), _HASHED.match(last)))
    stop = len(func_name) - max(variant.end() for variant in variants)
    operators = _split(func_name[start:stop])
    known = all(part in _FAMILY_OF or part in _BARE_FAMILY_OF for part in operators)
    return operators if operators and (start > 0 or known) else (func_name,)


@lru_cache(maxsize=16_384)
def _split(name: str) -> tuple[str, ...]:
    """Split a name without prefix and number; cached, as thousands share it."""
    spans = [match.span() for match in _TOKEN.finditer(name)]
    tokens = [name[first:last] for first, last in spans]
    operators: list[str] = []
    at = unknown = 0
    while at < len(tokens):
        match = _match(tokens, at)
        if match is None:
            at += 1
            continue
        if unknown < at:
            operators.append(name[spans[unknown][0] : spans[at - 1][1]])
        operators.append(match[0])
        at = unknown = match[1]
    if unknown < at:
        operators.append(name[spans[unknown][0] : spans[at - 1][1]])
    return tuple(operators)


def bare(part: str) -> str:
    """Return an operator's bare name: ``"relu"`` of ``nn.relu`` and ``aten.relu.default``."""
    torch = _TORCH.fullmatch(part)
    return torch[1] if torch else part.rpartition(".")[2] or part


def family(part: str) -> str:
    """Return the family of one part of a function name, or ``"other"``."""
    known = _FAMILY_OF.get(part) or _SHARED_KINDS.get(part) or xnnpack_family(part)
    if known is None and "." in part:
        known = _FAMILY_OF.get(part.rpartition(".")[2])
    known = known or _BARE_FAMILY_OF.get(part)
    torch = None if known else _TORCH.fullmatch(part)
    if torch:
        known = _TORCH_FAMILY_OF.get(torch[1].strip("_").removesuffix("_copy"))
    return known or "other"


@lru_cache(maxsize=16_384)
def op_kind(func_name: str, kind: int) -> str:
    """Return the family of the part that dominates a function."""
    if kind in _NULL_KINDS:
        return _NULL_KINDS[kind]
    if (known := xnnpack_family(func_name)) is not None:
        return known
    if func_name == "DELEGATE_CALL":
        return "delegate"
    # ExecuTorch's kernels: "native_call_addmm.out".
    if func_name.startswith("native_call_"):
        func_name = f"aten::{func_name.removeprefix('native_call_')}"
    families = {family(part) for part in parts(func_name)}
    known = next((name for name in _DOMINANCE if name in families), None)
    return known or next((name for name, of in _VENDORS if of.search(func_name)), "other")


_SHARED = {"__nop": "reshape (zero-copy)", "__copy": "device copy"}


@lru_cache(maxsize=65_536)
def label(func_name: str, modules: tuple[str, ...] = ()) -> str:
    """Return a short label of a function: ``"conv2d + add + relu"``."""
    return label_of(parts(func_name, modules))


def label_of(operators: tuple[str, ...]) -> str:
    """Return a short label of the operators from :func:`parts`."""
    if len(operators) == 1 and operators[0] in _SHARED:
        return _SHARED[operators[0]]
    return " + ".join(map(bare, operators))


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Edges grouped by one end."""

    offsets: npt.NDArray[np.int64]
    edges: npt.NDArray[np.int32]

    @classmethod
    def by(cls, ends: npt.NDArray[np.int32], num_nodes: int) -> Adjacency:
        """Group edges by `ends` (int32 [M], the node at one end, -1 for none)."""
        order = np.argsort(ends, kind="stable").astype(np.int32)
        order = order[int((ends < 0).sum()) :]
        offsets = np.zeros(num_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(ends[ends >= 0], minlength=num_nodes), out=offsets[1:])
        offsets.flags.writeable = False
        order.flags.writeable = False
        return cls(offsets, order)

    def __getitem__(self, node: int) -> npt.NDArray[np.int32]:
        return self.edges[self.offsets[node] : self.offsets[node + 1]]


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Neighbors of every node as plain lists, which pure Python walks fastest."""

    offsets: list[int]
    nodes: list[int]

    @classmethod
    def of(
        cls, near: npt.NDArray[np.int32], far: npt.NDArray[np.int32], num_nodes: int
    ) -> Neighbors:
        """Return the `far` ends of the edges of the `near` ends (int32 [M] both, none -1)."""
        grouped = Adjacency.by(near, num_nodes)
        return cls(grouped.offsets.tolist(), far[grouped.edges].tolist())

    def __getitem__(self, node: int) -> list[int]:
        return self.nodes[self.offsets[node] : self.offsets[node + 1]]

    def reach(self, starts: Iterable[int]) -> frozenset[int]:
        """Return every node reachable from `starts` by at least one edge."""
        offsets, nodes = self.offsets, self.nodes
        seen: set[int] = set()
        stack = list(starts)
        while stack:
            node = stack.pop()
            for other in nodes[offsets[node] : offsets[node + 1]]:
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return frozenset(seen)


@dataclass(frozen=True, slots=True)
class TopologicalOrder:
    """A topological order and the cycles in its way."""

    nodes: npt.NDArray[np.int32]
    cycles: tuple[tuple[int, ...], ...]
    settled: int


def topological(
    source: npt.NDArray[np.int32], target: npt.NDArray[np.int32], num_nodes: int
) -> TopologicalOrder:
    """Order nodes by Kahn's method; ids already in order are kept as they are."""
    if bool((source < target).all()):
        return TopologicalOrder(frozen(np.arange(num_nodes, dtype=np.int32)), (), num_nodes)
    followers = Neighbors.of(source, target, num_nodes)
    waiting: list[int] = np.bincount(target, minlength=num_nodes).tolist()
    ready = deque(node for node, count in enumerate(waiting) if count == 0)
    done: list[int] = []
    while ready:
        node = ready.popleft()
        done.append(node)
        for other in followers[node]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    left = sorted(set(range(num_nodes)).difference(done)) if len(done) < num_nodes else []
    nodes = frozen(np.array(done + left, dtype=np.int32))
    return TopologicalOrder(nodes, _cycles(followers, left), len(done))


def _cycles(followers: Neighbors, among: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return strongly connected groups and self-loops by Gabow's path-based method."""
    place: dict[int, int] = {}
    settled: set[int] = set()
    path: list[int] = []
    bounds: list[int] = []
    groups: list[tuple[int, ...]] = []
    for root in among:
        work = [] if root in place else [(root, iter([root]))]
        while work:
            node, ahead = work[-1]
            other = next(ahead, None)
            if other is None:
                work.pop()
                if bounds and len(work) > 0 and bounds[-1] == place[node]:
                    bounds.pop()
                    group = path[place[node] :]
                    del path[place[node] :]
                    settled.update(group)
                    if len(group) > 1 or node in followers[node]:
                        groups.append(tuple(sorted(group)))
            elif other not in place:
                place[other] = len(path)
                path.append(other)
                bounds.append(place[other])
                work.append((other, iter(followers[other])))
            elif other not in settled:
                while bounds[-1] > place[other]:
                    bounds.pop()
    return tuple(sorted(groups))


#: Prefixes of the names of a module.
MODULE: Final = "tvmgen_"
_DEFAULT: Final = ("tvmgen_default_",)
_FUSED: Final = re.compile(r"(?:tvmgen|vm_mod)_(?:.*_)?(?=fused_)", re.DOTALL)
_NO_WORD: Final = re.compile(r"\W", re.ASCII)
#: From its end on: from the front each digit would be tried as the first of the number.
_NUMBER: Final = re.compile(r"(?:\d+_)+")


def number_at_end(name: str) -> str:
    """Return the variant number that a function's name ends with: ``"_1_2"`` of ``"add_1_2"``."""
    match = _NUMBER.match(name[::-1])
    return name[len(name) - match.end() :] if match else ""


def module_prefix(name: str, known: tuple[str, ...] = ()) -> str:
    """Return the module prefix of a function's name, or ``""``."""
    fused = _FUSED.match(name)
    if fused is not None:
        return fused[0]
    fitting = (start for start in (*known, *_DEFAULT) if name.startswith(start) and name != start)
    return max(fitting, key=len, default="")


def module_prefixes(functions: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Learn the module prefixes of function names, longest first."""
    prefixes = set()
    for name, compiler in functions:
        fused = _FUSED.match(name)
        at = name.rfind(f"_{_NO_WORD.sub('_', compiler)}_") if compiler else -1
        if fused is not None:
            prefixes.add(fused[0])
        elif name.startswith(MODULE) and at >= 0:
            prefixes.add(name[: at + 1])
    return tuple(sorted(prefixes, key=lambda prefix: (-len(prefix), prefix)))


def without_prefix(name: str, known: tuple[str, ...] = ()) -> str:
    """Return a name without its prefix: ``"nn_relu"`` for ``"tvmgen_default_fused_nn_relu"``."""
    return name.removeprefix(module_prefix(name, known)).removeprefix("fused_") or name
