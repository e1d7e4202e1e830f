"""Instructions of a program: what a chain does, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class KernelCall:
    """Call of an operator; `args` are indexes of values, the returned ones last, once more."""

    op_index: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CallDelegate:
    """Call of a delegate; `args` are indexes of values, inputs first."""

    delegate_index: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MoveCall:
    """`move_to` becomes `move_from`: the same memory, nothing is copied."""

    move_from: int
    move_to: int


@dataclass(frozen=True, slots=True)
class JumpFalseCall:
    """Go on at another instruction of the chain where the condition is false."""

    cond_value_index: int
    destination_instruction: int


@dataclass(frozen=True, slots=True)
class FreeCall:
    """Free the memory of a tensor."""

    value_index: int


@dataclass(frozen=True, slots=True)
class UnknownCall:
    """An instruction of a kind that is not known, by its number."""

    kind: int


Instruction: TypeAlias = (
    KernelCall | CallDelegate | MoveCall | JumpFalseCall | FreeCall | UnknownCall
)


def kind_of(instruction: Instruction) -> str:
    """Return what the schema calls an instruction: ``"DelegateCall"``."""
    delegate = isinstance(instruction, CallDelegate)
    return "DelegateCall" if delegate else type(instruction).__name__


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One frame of the Python stack that an instruction comes from."""

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
