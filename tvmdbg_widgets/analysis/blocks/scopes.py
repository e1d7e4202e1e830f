"""Scopes that names or attributes of nodes tell, where the order keeps them together."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from typing import Final, NamedTuple

from tvmdbg_widgets.analysis.blocks.delegates import ATTRIBUTE, operator_of
from tvmdbg_widgets.analysis.blocks.sequence import Sequence
from tvmdbg_widgets.model.executorch.delegate_calls import backend_title
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import GroupSource

_DELEGATE: Final = GroupSource.DELEGATE
#: Attribute of a node that names the module it is in.
STACK: Final = "nn_module_stack"
#: Share of the operators that must have a scope for there to be scopes at all.
_ENOUGH = 0.25
#: Into so many pieces a scope may fall.
_MOST_PIECES = 4
_DEEPEST = 16
_NAMED: Final = re.compile(r"\(\s*'([^']*)'|\(\s*\"([^\"]*)\"")
_SELF: Final = re.compile(r"^L?\[?'?self'?\]?\.?|^L__self___")

Path = tuple[str, ...]


class Scope(NamedTuple):
    """Operators of one scope that follow each other: their places, and what it is called."""

    start: int
    end: int
    name: str
    source: GroupSource


def scopes(graph: Graph, sequence: Sequence) -> list[Scope]:
    """Return the scopes of a sequence of operators, each within or beside the others.

    A scope is a stretch of operators whose paths begin alike: by the call of a delegate that ran
    them, then by ``nn_module_stack``, else by their names, ``layer1/block0/conv`` or
    ``layer1.0.conv1``. One that the order takes apart is several, or none where it would be more
    than a few. One that holds all operators is none, unless a delegate ran them.
    """
    count = len(sequence.nodes)
    paths, source = _paths(graph, sequence)
    calls = [graph.attrs[node].get(ATTRIBUTE) for node in sequence.nodes.tolist()]
    operators = [operator_of(graph, node) for node in sequence.nodes.tolist()]
    paths = _with_operators(paths, calls, operators)
    if not any(paths):
        return []
    found = _stretches(paths)
    whole = Counter(calls)
    pieces: dict[tuple[int, int], Path] = {}
    for path, places in found.items():
        call = path[0] if len(path) == 1 and path[0] in whole else None
        if len(places) <= _MOST_PIECES:
            for start, end in places:
                # Of a call of a delegate all operators are a group, or none are.
                if call is not None and end - start == whole[call] > 1:
                    pieces[start, end] = path
                elif call is None and 1 < end - start < count:
                    # Of scopes around the same operators the innermost came first.
                    pieces.setdefault((start, end), path)

    def source_of(start: int, path: Path) -> GroupSource:
        if path == (calls[start],):
            return _DELEGATE
        whole = bool(operators[start]) and path == paths[start] and path[-1] == operators[start]
        return GroupSource.OPERATOR if whole else source

    def scope(start: int, end: int, path: Path) -> Scope:
        found = source_of(start, path)
        return Scope(start, end, _title(path[-1], found), found)

    return [scope(*where, path) for where, path in pieces.items()]


def _title(name: str, source: GroupSource) -> str:
    """Return what a scope is called; a call of a delegate as in tables of times."""
    backend, comma, instruction = name.partition(", ")
    return backend_title(backend) + comma + instruction if source == _DELEGATE else name


def _stretches(paths: list[Path]) -> dict[Path, list[tuple[int, int]]]:
    """Return where operators that follow each other have a path, or one that begins with it."""
    found: dict[Path, list[tuple[int, int]]] = {}
    open_: list[tuple[Path, int]] = []
    for place, path in enumerate([*paths, ()]):
        kept = 0
        while kept < len(open_) and kept < len(path) and open_[kept][0][-1] == path[kept]:
            kept += 1
        while len(open_) > kept:
            before, start = open_.pop()
            found.setdefault(before, []).append((start, place))
        open_ += [(path[: depth + 1], place) for depth in range(kept, len(path))]
    return found


def _with_operators(paths: list[Path], calls: list[str | None], operators: list[str]) -> list[Path]:
    """Return the paths within the calls of delegates, and within operators that have several nodes.

    An operator stands in the innermost module that all its nodes are in.
    """
    held: dict[tuple[str, str], list[Path]] = {}
    for path, call, operator in zip(paths, calls, operators, strict=True):
        if call and operator:
            held.setdefault((call, operator), []).append(path)
    shared = {
        key: tuple(each[0] for each in takewhile(_equal, zip(*some, strict=False)))
        for key, some in held.items()
        if len(some) > 1
    }
    found: list[Path] = []
    for path, call, operator in zip(paths, calls, operators, strict=True):
        if call and (call, operator) in shared:
            found.append((call, *shared[call, operator], operator))
        else:
            found.append((call, *path) if call else path)
    return found


def _equal(parts: tuple[str, ...]) -> bool:
    return len(set(parts)) == 1


def _paths(graph: Graph, sequence: Sequence) -> tuple[list[Path], GroupSource]:
    """Return the path of each operator, and what tells it."""
    attrs, names = graph.attrs, graph.names
    stacks = [attrs[node].get(STACK) for node in sequence.nodes.tolist()]
    if any(stacks):
        known = {text: module_path(text) for text in set(stacks)}
        paths = [known[text] for text in stacks]
        if sum(map(bool, paths)) >= _ENOUGH * len(paths):
            return paths, GroupSource.MODULE
    codes = names.codes[sequence.nodes].tolist()
    return _of_names([names.unique[code] for code in codes]), GroupSource.SCOPE


def _of_names(names: list[str]) -> list[Path]:
    """Return the path of each name without its last part; empty where names have no scopes."""
    for separator in "/.":
        if sum(separator in name for name in names) < _ENOUGH * len(names):
            continue
        paths = [tuple(filter(None, name.split(separator)))[:-1][:_DEEPEST] for name in names]
        if sum(map(bool, paths)) >= _ENOUGH * len(names):
            return paths
    return [()] * len(names)


def module_path(text: str | None) -> Path:
    """Return the path of the innermost module that a node's stack of modules tells.

    torch.fx writes ``{key: (path, class)}``; as JSON a mapping of key to path, or to a list that
    begins with it. What is neither is taken as a path.
    """
    if not text:
        return ()
    paths: Iterable[str] = (a or b for a, b in _NAMED.findall(text))
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict):
        firsts = (each[0] if isinstance(each, list) and each else each for each in told.values())
        paths = (each for each in firsts if isinstance(each, str))
    elif "{" not in text:
        paths = (text,)
    deepest = max((_SELF.sub("", path) for path in paths), key=len, default="")
    return tuple(filter(None, re.split(r"[./]", deepest)))[:_DEEPEST]
