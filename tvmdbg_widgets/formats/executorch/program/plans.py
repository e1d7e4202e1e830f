"""The methods of a program (``ExecutionPlan`` of ``schema/program.fbs`` @ v1.4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from tvmdbg_widgets.formats.executorch.program.chains import read_chains
from tvmdbg_widgets.formats.executorch.program.values import read_values
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables, Ragged
from tvmdbg_widgets.model.executorch.program import (
    BufferDevice,
    CompileSpec,
    DataLocation,
    Delegate,
    FileSpan,
    OperatorName,
    Plan,
)

Item = TypeVar("Item")


def read_plans(
    plans: FlatTables, inline: Sequence[FileSpan], segments: Sequence[FileSpan]
) -> list[Plan]:
    """Return the methods of some tables ``ExecutionPlan``."""
    meta, rows = plans.child(1, "ContainerMetadata", "container_meta_type")
    encoded = dict(
        zip(
            rows.tolist(),
            zip(
                meta.strings(0, "encoded_inp_str").column,
                meta.strings(1, "encoded_out_str").column,
                strict=True,
            ),
            strict=True,
        )
    )
    values, value_tables = plans.children(2, "EValue", "values")
    chains, chain_tables = plans.children(5, "Chain", "chains")
    operators, operator_tables = plans.children(6, "Operator", "operators")
    delegates, delegate_tables = plans.children(7, "BackendDelegate", "delegates")
    devices, device_tables = plans.children(9, "NonConstBufferDevice", "non_const_buffer_device")
    columns = zip(
        plans.strings(0, "name").column,
        _shared(values, read_values(value_tables)),
        plans.vector(3, np.int32, "inputs").tuples(),
        plans.vector(4, np.int32, "outputs").tuples(),
        _shared(chains, read_chains(chain_tables)),
        _shared(operators, _operators(operator_tables)),
        _shared(delegates, _delegates(delegate_tables, inline, segments)),
        plans.vector(8, np.int64, "non_const_buffer_sizes").tuples(),
        _shared(devices, _devices(device_tables)),
        strict=True,
    )
    return [
        Plan(name, *encoded.get(row, ("", "")), *rest) for row, (name, *rest) in enumerate(columns)
    ]


def _shared(owners: Ragged, items: list[Item]) -> list[tuple[Item, ...]]:
    return [tuple(items[start:end]) for start, end in pairwise(owners.offsets.tolist())]


def _operators(tables: FlatTables) -> list[OperatorName]:
    names = tables.strings(0, "name").column
    return list(map(OperatorName, names, tables.strings(1, "overload").column))


def _devices(tables: FlatTables) -> list[BufferDevice]:
    return list(
        map(
            BufferDevice,
            tables.scalar(0, np.int32, 0, "buffer_idx").tolist(),
            tables.scalar(1, np.int8, 0, "device_type").tolist(),
            tables.scalar(2, np.int8, 0, "device_index").tolist(),
        )
    )


def _delegates(
    tables: FlatTables, inline: Sequence[FileSpan], segments: Sequence[FileSpan]
) -> list[Delegate]:
    processed, rows = tables.child(1, "BackendDelegateDataReference", "processed")
    locations, indexes = np.zeros(len(tables), np.int8), np.full(len(tables), -1, np.int64)
    locations[rows] = processed.scalar(0, np.int8, 0, "location")
    indexes[rows] = processed.scalar(1, np.uint32, 0, "index")
    specs, spec_tables = tables.children(2, "CompileSpec", "compile_specs")
    found = []
    for row, (name, own, location, index) in enumerate(
        zip(
            tables.strings(0, "id").column,
            _shared(specs, _compile_specs(spec_tables)),
            locations.tolist(),
            indexes.tolist(),
            strict=True,
        )
    ):
        held = segments if location == DataLocation.SEGMENT else inline
        if not 0 <= index < len(held):
            raise tables.buffer.broken(
                "a delegate names a payload that is not there",
                "BackendDelegate.processed.index",
                int(tables.places[row]),
                expected=f"below {len(held)}",
                found=index if index >= 0 else "nothing",
            )
        found.append(Delegate(name, own, location, index, held[index]))
    return found


def _compile_specs(tables: FlatTables) -> list[CompileSpec]:
    starts, lengths = tables.spans(1, "value")
    return [
        CompileSpec(key, tables.buffer.data[max(0, start) : max(0, start) + length])
        for key, start, length in zip(
            tables.strings(0, "key").column, starts.tolist(), lengths.tolist(), strict=True
        )
    ]
