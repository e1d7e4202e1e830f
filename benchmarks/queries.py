"""Queries over the nodes of a graph, evaluated by the views' own code.

Promises: in a graph of 100,000 nodes a first query, which hands over the columns, takes at most
1 s CPU, later ones at most 0.3 s, a regular expression 0.8 s, and a path of three steps 1.5 s.
``python -m benchmarks.queries``
"""

from __future__ import annotations

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from benchmarks.measure import limit, machine, measure, sized

NODES = sized(100_000, 300)
FIRST, LATER, EXPRESSION, PATH = 1.0, 0.3, 0.8, 1.5
#: A word, a shape, numbers, a group, an id.
QUERIES = ("conv2d", "shape:*,6?,...", "rank:4 depth>10", "group:block", "id<10")


def main() -> None:
    """Print what queries take."""
    machine()
    run = tvmdbg.open(network(NODES).encode())
    limit(measure("a first query", lambda: run.select("kind:parameter"), 1), FIRST)
    for query in QUERIES:
        run.select(query)
        limit(measure(query, lambda query=query: run.select(query)), LATER)  # type: ignore[misc]
    limit(measure("/_[0-9]*7$/", lambda: run.select("/_[0-9]*7$/")), EXPRESSION)
    limit(measure("conv2d->add->>relu", lambda: run.select("conv2d->add->>relu")), PATH)


if __name__ == "__main__":
    main()
