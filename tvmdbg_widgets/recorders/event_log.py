"""Event blocks and values of a tracer, and their files."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.writing import replacing_all
from tvmdbg_widgets.model.executorch.etdump import UNSET_CHAIN
from tvmdbg_widgets.recorders.etdump_writer import (
    DebugBufferWriter,
    RecordedBlock,
    RecordedEvent,
    etdump_bytes,
)

#: Instruction of events outside of any: ``kUnsetDebugHandle``.
UNSET_INSTRUCTION: Final = 0
_INT32: Final = range(-(2**31), 2**31)


class EventLog:
    """Event blocks with their events, and the current instruction.

    Threads may record at once; the current instruction is one for all of them, as in the runtime,
    since a delegate may log from workers of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: list[RecordedBlock] = []
        self._is_open = False
        self._current = (UNSET_CHAIN, UNSET_INSTRUCTION)
        self._buffer = DebugBufferWriter()

    def create_event_block(self, name: str, bundled_input_index: int = -1) -> None:
        """Begin a block; the runtime has ``"Default"`` for loading and ``"Execute"`` for each run.

        Parameters
        ----------
        name : str
        bundled_input_index : int
            Which test case of a bundled program is run; -1 for none.
        """
        block = RecordedBlock(utf8(name), int32("bundled_input_index", bundled_input_index))
        with self._lock:
            self._blocks.append(block)
            self._is_open = True

    @contextmanager
    def event_block(self, name: str, bundled_input_index: int = -1) -> Iterator[Self]:
        """Record a block; after it events need another one."""
        self.create_event_block(name, bundled_input_index)
        try:
            yield self
        finally:
            self._is_open = False

    @contextmanager
    def instruction(self, instruction_id: int, chain_index: int = 0) -> Iterator[None]:
        """Make an instruction the current one, which events belong to; writes nothing itself.

        Parameters
        ----------
        instruction_id : int
            Position of the instruction in its chain.
        chain_index : int
        """
        before = self._current
        self._current = (int32("chain_index", chain_index), int32("instruction_id", instruction_id))
        try:
            yield
        finally:
            self._current = before

    def to_bytes(self) -> bytes:
        """Return the ETDump; tensors are in :attr:`debug_buffer`.

        Raises
        ------
        ValueError
            There is no event block; the runtime writes no file then.
        ImportError
            flatbuffers is not installed.
        """
        return self._written()[0]

    @property
    def debug_buffer(self) -> bytes:
        """The bytes of all tensors, from multiples of 64 on; empty where there are none."""
        with self._lock:
            return self._buffer.to_bytes()

    def save(
        self, path: str | os.PathLike[str], debug_buffer: str | os.PathLike[str] | None = None
    ) -> Path:
        """Write the ETDump and, where a tensor was logged, the debug buffer.

        Parameters
        ----------
        path : path-like
            The extension is usually ``.etdp``; replaced whole or not at all.
        debug_buffer : path-like, optional
            ``debug_buffer.bin`` beside it where left out.

        Returns
        -------
        Path
            Of the ETDump.

        Raises
        ------
        ValueError
            There is no event block, or both paths are one.
        OSError
            A file cannot be written.
        ImportError
            flatbuffers is not installed.
        """
        path = Path(path)
        beside = Path(debug_buffer or path.with_name("debug_buffer.bin"))
        if beside.resolve() == path.resolve():
            raise ValueError(f"ETDump and debug buffer are two files, found {str(path)!r} for both")
        dump, tensors = self._written()
        contents = {beside: tensors, path: dump} if tensors else {path: dump}
        with replacing_all(contents) as files:
            for file, content in zip(files, contents.values(), strict=True):
                file.write(content)
        return path

    def _written(self) -> tuple[bytes, bytes]:
        with self._lock:
            blocks = [
                RecordedBlock(block.name, block.bundled_input_index, list(block.events))
                for block in self._blocks
            ]
            tensors = self._buffer.to_bytes()
        if not blocks:
            raise ValueError("nothing was recorded; begin with tracer.event_block(name)")
        return etdump_bytes(blocks), tensors

    def _record_value(
        self, value: Any, identifier: int | str | None = None, *, output: bool | None = None
    ) -> None:
        with self._lock:
            block = self._open_block()
            held = self._buffer.add(value, output=output)
            event = RecordedEvent(*self._current, delegate_debug_id=identifier, value=held)
            block.events.append(event)

    def _record(self, event: RecordedEvent) -> None:
        with self._lock:
            self._open_block().events.append(event)

    def _open_block(self) -> RecordedBlock:
        if not self._is_open:
            raise RuntimeError("events belong to a block; begin with tracer.event_block(name)")
        return self._blocks[-1]

    def __repr__(self) -> str:
        with self._lock:
            blocks, size = len(self._blocks), self._buffer.size
            events = [event for block in self._blocks for event in block.events]
        values = sum(event.value is not None for event in events)
        return (
            f"EventTracer: {counted(blocks, 'event block')}, "
            f"{counted(len(events) - values, 'profile event')}, "
            f"{counted(values, 'debug event')}, {counted(size, 'byte')} of tensors"
        )


def utf8(name: str) -> str:
    """Return a name that a file can have."""
    if not isinstance(name, str):
        raise TypeError(f"a name is a text, found {name!r:.80}")
    name.encode()
    return name


def int32(what: str, number: int) -> int:
    """Return a 32-bit integer; ValueError for others."""
    return whole(what, number, _INT32)


def whole(what: str, number: int, known: range) -> int:
    """Return an integer of a range; ValueError for others."""
    integer = operator.index(number)
    if integer not in known:
        raise ValueError(f"{what} is from {known[0]} to {known[-1]}, found {integer!r:.40}")
    return integer
