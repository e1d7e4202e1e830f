"""Which TVM releases may have written a dump, from what its files look like.

The ranges are those of the tags of apache/tvm between which the debugger's writers changed
(``python/tvm/contrib/debugger/debug_result.py``, ``debug_executor.py`` @ v0.5 … v0.19.0).
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST, LAST = 5, 19


@dataclass(frozen=True)
class VersionEvidence:
    """A fact and the minor releases (0.x) it was seen in, both ends included."""

    fact: str
    first: int
    last: int


def releases(evidence: tuple[VersionEvidence, ...]) -> tuple[int, int] | None:
    """Return the range that every fact allows, None where two contradict each other."""
    first = max((each.first for each in evidence), default=FIRST)
    last = min((each.last for each in evidence), default=LAST)
    return (first, last) if first <= last else None


def in_words(found: tuple[int, int] | None) -> str:
    """Name a range of releases."""
    if found is None:
        return "no single TVM release: the evidence contradicts itself"
    first, last = found
    if (first, last) == (FIRST, LAST):
        return "unknown TVM release"
    return f"TVM v0.{first}" if first == last else f"TVM v0.{first} to v0.{last}"


def of_folder(name: str) -> VersionEvidence | None:
    """Evidence of the dump folder's name."""
    if name.startswith("_tvmdbg_ctx_"):
        return VersionEvidence(f"the folder is named {name}", 5, 7)
    if name.startswith("_tvmdbg_device_"):
        return VersionEvidence(f"the folder is named {name}", 8, 19)
    return None


def of_key_style(style: str) -> VersionEvidence:
    """Evidence of the keys in ``output_tensors.params``."""
    first, last = {"v0.5": (5, 7), "v0.8": (8, 8), "v0.9": (9, 19)}[style]
    form = {
        "v0.5": "<name>_<output>__<time>",
        "v0.8": "<name>____<output>",
        "v0.9": "<name>____topo-index:<node>____output-num:<output>",
    }
    return VersionEvidence(f"tensor keys have the form {form[style]}", first, last)


def of_graph_form(form: str) -> VersionEvidence | None:
    """Evidence of the form of ``_tvmdbg_graph_dump.json``."""
    if form == "string":
        return VersionEvidence("the graph dump is a JSON string that holds the graph", 5, 6)
    if form == "mutated":
        return VersionEvidence("the graph dump is the graph as the debugger changed it", 7, 19)
    return None


def of_library(fact: str) -> VersionEvidence:
    """A fact of Model Library Format, which came with v0.8 and went with v0.19."""
    return VersionEvidence(fact, 8, 18)


def of_table_style(style: str) -> VersionEvidence:
    """Evidence of the columns of the printed table."""
    first, last = {"v0.5": (5, 5), "v0.6": (6, 8), "v0.9": (9, 19)}[style]
    columns = {
        "v0.5": "start and end times",
        "v0.6": "neither start times nor measurements",
        "v0.9": "a Measurements column",
    }
    return VersionEvidence(f"the table has {columns[style]}", first, last)
