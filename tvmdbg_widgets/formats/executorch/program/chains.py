"""The chains of instructions of a program (``schema/program.fbs`` @ v1.4.1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tvmdbg_widgets.formats.executorch.program.unions import members
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    Chain,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    StackFrame,
    UnknownCall,
)


def read_chains(chains: FlatTables) -> list[Chain]:
    """Return the chains of some tables ``Chain``."""
    owners, tables = chains.children(2, "Instruction", "instructions")
    instructions = _instructions(tables)
    traced, lists = chains.children(3, "FrameList", "stacktrace")
    traces = _traces(lists)
    counts, traced_counts = np.diff(owners.offsets), np.diff(traced.offsets)
    wrong = np.flatnonzero((traced_counts > 0) & (traced_counts != counts))
    if len(wrong):
        raise chains.buffer.broken(
            "not as many stack traces as instructions",
            "Chain.stacktrace",
            int(chains.places[wrong[0]]),
            expected=int(counts[wrong[0]]),
            found=int(traced_counts[wrong[0]]),
        )
    return [
        Chain(inputs, outputs, tuple(instructions[own]), tuple(traces[theirs]))
        for inputs, outputs, own, theirs in zip(
            chains.vector(0, np.int32, "inputs").tuples(),
            chains.vector(1, np.int32, "outputs").tuples(),
            [slice(*each) for each in pairwise(owners.offsets.tolist())],
            [slice(*each) for each in pairwise(traced.offsets.tolist())],
            strict=True,
        )
    ]


def _instructions(tables: FlatTables) -> list[Instruction]:
    kinds = tables.scalar(0, np.uint8, 0, "instr_args_type")
    found: list[Instruction] = list(map(UnknownCall, kinds.tolist()))

    def numbers(kind: int, name: str, *fields: str) -> tuple[list[int], list[list[int]]]:
        rows, held = members(tables, kinds, kind, name, "instr_args")
        columns = enumerate(fields)
        return rows, [held.scalar(id_, np.int32, 0, field).tolist() for id_, field in columns]

    for kind, call, name, field in (
        (1, KernelCall, "KernelCall", "op_index"),
        (2, CallDelegate, "DelegateCall", "delegate_index"),
    ):
        rows, held = members(tables, kinds, kind, name, "instr_args")
        indexes = held.scalar(0, np.int32, 0, field).tolist()
        args = held.vector(1, np.int32, "args").tuples()
        for row, index, each in zip(rows, indexes, args, strict=True):
            found[row] = call(index, each)
    rows, (origins, targets) = numbers(3, "MoveCall", "move_from", "move_to")
    for row, origin, target in zip(rows, origins, targets, strict=True):
        found[row] = MoveCall(origin, target)
    rows, (conditions, destinations) = numbers(
        4, "JumpFalseCall", "cond_value_index", "destination_instruction"
    )
    for row, condition, destination in zip(rows, conditions, destinations, strict=True):
        found[row] = JumpFalseCall(condition, destination)
    rows, (freed,) = numbers(5, "FreeCall", "value_index")
    for row, value in zip(rows, freed, strict=True):
        found[row] = FreeCall(value)
    return found


def _traces(lists: FlatTables) -> list[tuple[StackFrame, ...]]:
    owners, tables = lists.children(0, "Frame", "items")
    frames = list(
        map(
            StackFrame,
            tables.strings(0, "filename").column,
            tables.scalar(1, np.int32, 0, "lineno").tolist(),
            tables.strings(2, "name").column,
            tables.strings(3, "context").column,
        )
    )
    return [tuple(frames[start:end]) for start, end in pairwise(owners.offsets.tolist())]
