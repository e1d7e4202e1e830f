"""Operators inside the names of fused functions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tvmdbg_widgets.model.executorch.xnnpack_names import xnnpack_family
from tvmdbg_widgets.model.graph.operator_names import family_by_name
from tvmdbg_widgets.model.graph.short_names import module_prefix

OP_KINDS: Final = (
    "convolution",
    "matmul",
    "elementwise",
    "activation",
    "normalization",
    "pooling/reduction",
    "layout/copy",
    "reshape",
    "cast/quantize",
    "gather/split",
    "delegate",
    "other",
    "input",
    "parameter",
    "buffer",
)
"""Families of operators, in the order of legends."""

_DOMINANCE: Final = (
    "convolution",
    "matmul",
    "normalization",
    "pooling/reduction",
    "activation",
    "cast/quantize",
    "elementwise",
    "gather/split",
    "layout/copy",
    "reshape",
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


def _spellings() -> dict[str, str]:
    table: dict[str, str] = {}
    for name in _FAMILY_OF:
        table[name.replace(".", "_")] = name
    for name in _FAMILY_OF:
        table.setdefault(name.rpartition(".")[2], name.rpartition(".")[2])
    return table


_SPELLINGS: Final = _spellings()
_MOST_LETTERS: Final = max(map(len, _SPELLINGS))
_LONGEST: Final = max(spelling.count("_") for spelling in _SPELLINGS) + 1


def _known(tokens: list[str]) -> str | None:
    """Return the operator that these tokens spell, with or without a number at its end."""
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
    """Split the name of a fused function into its operators.

    Longest known operator first; what is not known stays together, verbatim, as a part of its
    own. Prefixes (that of a module, ``fused_``, ``fuse_``) and the variant number at the end are
    left out. A name without a prefix that is not all operators is one part, as it is.
    """
    if not func_name or func_name in _SHARED_KINDS:
        return (func_name,) if func_name else ()
    prefix = _PREFIX.match(func_name, len(module_prefix(func_name, modules)))
    start = prefix.end() if prefix else 0
    last = func_name[:start:-1]
    variants = filter(None, (_NUMBERS.match(last), _HASHED.match(last)))
    stop = len(func_name) - max(each.end() for each in variants)
    found = _split(func_name[start:stop])
    fused = start > 0
    if not found or not (fused or all(map(_is_operator, found))):
        return (func_name,)
    return found


def _is_operator(part: str) -> bool:
    return part in _FAMILY_OF or part in _BARE_FAMILY_OF


@lru_cache(maxsize=16_384)
def _split(name: str) -> tuple[str, ...]:
    """Split a name without prefix and number, which functions and nodes by the thousand share."""
    spans = [match.span() for match in _TOKEN.finditer(name)]
    tokens = [name[first:last] for first, last in spans]
    found: list[str] = []
    at = unknown = 0
    while at < len(tokens):
        match = _match(tokens, at)
        if match is None:
            at += 1
            continue
        if unknown < at:
            found.append(name[spans[unknown][0] : spans[at - 1][1]])
        found.append(match[0])
        at = unknown = match[1]
    if unknown < at:
        found.append(name[spans[unknown][0] : spans[at - 1][1]])
    return tuple(found)


def bare(part: str) -> str:
    """Return the name of an operator alone: ``"relu"`` of ``nn.relu`` and ``aten.relu.default``."""
    torch = _TORCH.fullmatch(part)
    return torch[1] if torch else part.rpartition(".")[2] or part


def family(part: str) -> str:
    """Return the family of one part of a function name, ``"other"`` where it is not known."""
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
    return next((name for name in _DOMINANCE if name in families), "other")
