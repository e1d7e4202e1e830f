"""The hash by which workload keys name a compute DAG.

It is the md5 of ``ComputeDAG::PrintDAG(simple_mode=True)`` since January 2021
(src/auto_scheduler/compute_dag.cc, python/tvm/auto_scheduler/compute_dag.py): inputs without
shapes, ``p0 = PLACEHOLDER ``, and a body that is a call as its operator alone,
``Op(tir.if_then_else)``. Hashes printed beside DAGs in the documentation of v0.8 to v0.10 agree.
Earlier keys hash expressions and types that a text does not give.
"""

from __future__ import annotations

import hashlib
import re

# A call stands without outer brackets; sums and the rest do not, and max, select, casts are none.
_CALL = re.compile(r"(?P<head>[^\s(=]+\([^()]*\)(?:\.v\d+)? = )(?:tir|T)\.(?P<name>\w+)\(.*\)")
_PLACEHOLDER = re.compile(r"([^\s(=]+ = PLACEHOLDER) ?\[[^\[\]]*\]")
#: Of the newer style: ``T.max`` and the like are no calls; an operator may follow one that is.
_NO_CALLS = frozenset(
    ("max", "min", "Select", "Cast", "Div", "truncdiv", "truncmod", "floordiv", "floormod")
)


def simple_text(text: str, operator: str = "Op(tir.{})") -> str:
    """Return the text whose md5 names the DAG, from ``repr(task.compute_dag)``."""
    lines = []
    for line in text.splitlines():
        placeholder = _PLACEHOLDER.fullmatch(line)
        if placeholder is not None:
            lines.append(f"{placeholder[1]} ")
            continue
        call = _CALL.fullmatch(line)
        if call is not None and call["name"] not in _NO_CALLS and _is_one_call(line):
            line = call["head"] + operator.format(call["name"])  # noqa: PLW2901
        if line:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def key_hash(text: str) -> str:
    """Return the hash that stands in the workload keys of a DAG, 32 hexadecimal digits."""
    return _md5(simple_text(text))


def hashes_of(text: str) -> tuple[str, str]:
    """Return the hashes of which one may stand in the workload keys of a DAG.

    From v0.11 on bodies are printed in another style; no hash of such a text was at hand, so there
    are two, for two forms of an operator.
    """
    return key_hash(text), _md5(simple_text(text, 'I.Op("tir.{}")'))


def _is_one_call(line: str) -> bool:
    """Tell whether the bracket that the body's call opens is closed by the line's last one."""
    body = line.index(" = ") + 3
    depth = 0
    for at in range(line.index("(", body), len(line)):
        depth += (line[at] == "(") - (line[at] == ")")
        if depth == 0:
            return at == len(line) - 1
    return False


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()
