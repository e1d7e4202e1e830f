"""Instructions of a program: the steps of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class KernelCall:
    """Call of an operator; `args` are indexes of values, the returned ones last, repeated."""

    op_index: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CallDelegate:
    """Call of a delegate; `args` are indexes of values, inputs first."""

    delegate_index: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MoveCall:
    """Alias `move_to` to the memory of `move_from`."""

    move_from: int
    move_to: int


@dataclass(frozen=True, slots=True)
class JumpFalseCall:
    """Jump to another instruction of the chain if the condition is false."""

    cond_value_index: int
    destination_instruction: int


@dataclass(frozen=True, slots=True)
class FreeCall:
    """Free the memory of a tensor."""

    value_index: int


@dataclass(frozen=True, slots=True)
class UnknownCall:
    """An instruction of an unknown kind, by its number."""

    kind: int


Instruction: TypeAlias = (
    KernelCall | CallDelegate | MoveCall | JumpFalseCall | FreeCall | UnknownCall
)


def kind_of(instruction: Instruction) -> str:
    """Return the schema's name of an instruction: ``"DelegateCall"``."""
    delegate = isinstance(instruction, CallDelegate)
    return "DelegateCall" if delegate else type(instruction).__name__


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One Python stack frame of an instruction's origin."""

    filename: str
    lineno: int
    name: str
    context: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Instructions in order; an ETDump names them by their position here."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    stacktraces: tuple[tuple[StackFrame, ...], ...]
