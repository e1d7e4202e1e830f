"""What each node is by its structure: numbers that no name of a node goes into."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.labels import label
from tvmdbg_widgets.model.graph.short_names import number_at_end

Hashes = npt.NDArray[np.uint64]

#: Attributes that tell a node's name, where it is from, or what its entries and edges tell anyway.
_NAMING: Final = frozenset(
    {
        "func_name",
        "global_symbol",
        "hash",
        "name",
        "nn_module_stack",
        "num_inputs",
        "num_outputs",
        "relax_fused_ops",
        "source_fn_stack",
        "stack_trace",
    }
)
#: Beyond so many different functions their names are taken as they are, without their variant.
_SPLIT: Final = 20_000


def signatures(graph: Graph, entries: Hashes | None = None) -> Hashes:
    """Return a number for each node; nodes of one number may stand for each other.

    Into it go the operators of its function (not the variant number at the end of its name), its
    attributes, and shape and data type of each output. Inputs and parameters count as the same,
    since only names tell them apart. The same in every process and on every machine.
    """
    entries = entry_signatures(graph) if entries is None else entries
    output = np.arange(graph.num_entries) - np.repeat(
        graph.entry_offsets[:-1], np.diff(graph.entry_offsets)
    )
    outputs = segment_sums(mixed(entries, output), graph.entry_offsets)
    return mixed(_functions(graph) + _attributes(graph), outputs)


def entry_signatures(graph: Graph) -> Hashes:
    """Return a number for shape and data type of each entry (uint64 [E])."""
    counts = np.diff(graph.shape_offsets)
    axis = np.arange(len(graph.shape_dims)) - np.repeat(graph.shape_offsets[:-1], counts)
    sizes = segment_sums(mixed(graph.shape_dims, axis), graph.shape_offsets)
    shapes = mixed(sizes, np.where(graph.shape_known, counts, -1))
    return mixed(shapes, hashed(graph.dtypes))


def mixed(a: npt.ArrayLike, b: npt.ArrayLike) -> Hashes:
    """Return one well spread number for each pair (uint64); the order of a pair counts.

    The last steps are those of splitmix64.
    """
    first = np.asarray(a).astype(np.uint64)
    second = np.asarray(b).astype(np.uint64)
    x = first * np.uint64(0x9E3779B97F4A7C15) + (
        second ^ np.uint64(0x2545F4914F6CDD1D)
    ) * np.uint64(0xD1B54A32D192ED03)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Hashes = x ^ (x >> np.uint64(31))
    return found


def segment_sums(values: Hashes, offsets: npt.NDArray[np.integer]) -> Hashes:
    """Return the sum of ``values[offsets[i]:offsets[i + 1]]`` for each i, modulo 2**64."""
    total = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values, out=total[1:])
    found: Hashes = total[offsets[1:]] - total[offsets[:-1]]
    return found


def hashed(strings: StringColumn) -> Hashes:
    """Return a number for each string of a column (uint64)."""
    return _hash_table(strings.unique)[strings.codes]


def _hash_table(texts: Iterable[str]) -> Hashes:
    digests = [blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def _functions(graph: Graph) -> Hashes:
    """Return a number for the operators in each node's function (uint64 [N])."""
    stems = [_stem(name) or name for name in graph.func_names.unique]
    if len(set(stems)) <= _SPLIT:
        stems = [label(stem) for stem in stems]
    table = _hash_table(stems)
    return table[graph.func_names.codes] if len(table) else np.zeros(0, np.uint64)


def _stem(name: str) -> str:
    bare = name.rstrip("_")
    number = number_at_end(bare)
    return bare.removesuffix(number) if number else name


def _attributes(graph: Graph) -> Hashes:
    """Return a number for the attributes of each node (uint64 [N])."""
    codes: dict[tuple[tuple[str, str], ...], int] = {}
    rows = [codes.setdefault(tuple(attrs.items()), len(codes)) for attrs in graph.attrs]
    texts = (
        "\0".join(f"{key}\0{value}" for key, value in sorted(items) if key not in _NAMING)
        for items in codes
    )
    return _hash_table(texts)[np.asarray(rows, np.intp)] if rows else np.zeros(0, np.uint64)
