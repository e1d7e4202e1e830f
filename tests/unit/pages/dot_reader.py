"""A reader of the DOT language, by its grammar (https://graphviz.org/doc/info/lang.html).

Shares nothing with the writer; statements that the writer has no use for are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][A-Za-z_0-9]*|-?[.0-9]+|\#\w+)'
    r"|(?P<sign>->|[{}\[\];,=]))",
    re.DOTALL,
)


@dataclass
class Cluster:
    """What is inside a subgraph."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    clusters: list[Cluster] = field(default_factory=list)

    def all_nodes(self) -> dict[str, dict[str, str]]:
        found = dict(self.nodes)
        for each in self.clusters:
            inner = each.all_nodes()
            assert not found.keys() & inner.keys()
            found |= inner
        return found

    def all_clusters(self) -> dict[str, Cluster]:
        found = {}
        for each in self.clusters:
            found |= {each.name: each} | each.all_clusters()
        return found


@dataclass
class Dot(Cluster):
    """A whole graph."""

    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


def shown(text: str) -> str:
    """Return the letters that Graphviz shows for the value of a label."""
    plain = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)
    assert not re.search(r"(?<!\\)(?:\\\\)*\\[NGETHLlr]", text), f"an escape of Graphviz in {text}"
    return unescape(plain)


def read_dot(source: str) -> Dot:
    tokens = _tokens(source)
    assert tokens[:1] == ["digraph"]
    found = Dot(tokens[1])
    end = _block(tokens, 3, found, found)
    assert end == len(tokens)
    return found


def _tokens(source: str) -> list[str]:
    found, at = [], 0
    source = source.rstrip()
    while at < len(source):
        match = _TOKEN.match(source, at)
        assert match, f"no token of DOT: {source[at : at + 60]!r}"
        text = match["text"]
        found.append(match[0].strip() if text is None else text[1:-1].replace('\\"', '"'))
        at = match.end()
    return found


def _block(tokens: list[str], at: int, here: Cluster, top: Dot) -> int:
    assert tokens[at - 1] == "{"
    while tokens[at] != "}":
        if tokens[at] == "subgraph":
            inner = Cluster(tokens[at + 1])
            here.clusters.append(inner)
            at = _block(tokens, at + 3, inner, top)
            continue
        name, sign = tokens[at], tokens[at + 1]
        if sign == "=":
            here.attributes[name] = tokens[at + 2]
            at += 3
        elif sign == "->":
            told, at_end = _attributes(tokens, at + 3)
            top.edges.append((name, tokens[at + 2], told))
            at = at_end
        else:
            told, at = _attributes(tokens, at + 1)
            if name not in ("graph", "node", "edge"):
                here.nodes[name] = told
        if tokens[at] == ";":
            at += 1
    return at + 1


def _attributes(tokens: list[str], at: int) -> tuple[dict[str, str], int]:
    assert tokens[at] == "["
    found = {}
    at += 1
    while tokens[at] != "]":
        assert tokens[at + 1] == "="
        found[tokens[at]] = tokens[at + 2]
        at += 3 + (tokens[at + 3] == ",")
    return found, at + 1
