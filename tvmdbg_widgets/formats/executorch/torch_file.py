"""Reader of ``torch.save`` files: tensors in a zip archive, described by a pickle in it.

``torch/serialization.py``, ``torch/_utils.py`` @ v2.13.0. The archive has one folder with
``data.pkl``, ``data/<key>`` (the bytes of each storage) and ``byteorder``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.model.executorch.scalar_types import MOST_DIMENSIONS, TorchTensor
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.unpacking import read_directory

_PICKLE = "/data.pkl"
_LARGEST_PICKLE = 64 << 20
_STORAGES: Final = {
    f"torch {name}Storage": dtype
    for name, dtype in (
        *(("Bool", "bool"), ("Byte", "uint8"), ("Char", "int8"), ("Short", "int16")),
        *(("Int", "int32"), ("Long", "int64"), ("Half", "float16"), ("BFloat16", "bfloat16")),
        *(("Float", "float32"), ("Double", "float64"), ("ComplexFloat", "complex64")),
        ("ComplexDouble", "complex128"),
    )
} | {"torch.storage UntypedStorage": "uint8"}
_NEW_TYPES: Final = {
    f"torch {name}": name
    for name in (
        *("uint16", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz"),
        *("float8_e4m3fnuz", "float8_e8m0fnu"),
    )
}


@dataclass(frozen=True, slots=True)
class _Storage:
    dtype: DataType
    bytes: ByteSource


def read_torch_file(source: ByteSource) -> Any:
    """Read a saved value without torch and without running its pickle."""
    members = read_directory(source).members
    pickles = [name for name in members if name.endswith(_PICKLE)]
    if len(pickles) != 1:
        raise FormatError(
            "this zip archive was not written by torch.save",
            file=source.name,
            expected="one member data.pkl in a folder",
            found=f"{len(pickles)} of them",
        )
    content = members[pickles[0]].source
    if content.size > _LARGEST_PICKLE:
        raise FormatError(
            "the pickle of this file is larger than is read",
            file=content.name,
            expected=f"at most {_LARGEST_PICKLE:,} bytes",
            found=f"{content.size:,}",
        )
    folder = pickles[0].removesuffix(_PICKLE)
    order = members.get(f"{folder}/byteorder")
    big = order is not None and order.source.read(0, min(3, order.source.size)) == b"big"
    storages = {
        name.removeprefix(f"{folder}/data/"): member.source
        for name, member in members.items()
        if name.startswith(f"{folder}/data/")
    }
    tensors = _PickledTensors(source.name, storages, big_endian=big)
    return read_pickle(
        content.read(0, content.size),
        content.name,
        named={*_STORAGES, *_NEW_TYPES},
        called={
            "collections OrderedDict": tensors.ordered_dict,
            "torch._utils _rebuild_tensor_v2": tensors.tensor,
            "torch._utils _rebuild_tensor_v3": tensors.tensor_of_new_type,
            "torch._utils _rebuild_parameter": tensors.parameter,
        },
        persistent=tensors.storage,
    )


class _PickledTensors:
    def __init__(self, file: str, storages: Mapping[str, ByteSource], *, big_endian: bool) -> None:
        self._file, self._storages, self._big_endian = file, storages, big_endian

    def storage(self, reference: Any) -> _Storage:
        """``("storage", class, key, device, number of elements)``."""
        match reference:
            case ("storage", Global(name), str(key), str(), int(count)) if name in _STORAGES:
                dtype, content = DataType.parse(_STORAGES[name]), self._storages.get(key)
                if content is None or not 0 <= count * dtype.itemsize <= content.size:
                    raise self._wrong(
                        f"{counted(count, 'element')} of {dtype} in data/{one_line(key)}",
                        "no such member" if content is None else counted(content.size, "byte"),
                    )
                return _Storage(dtype, content)
        raise self._wrong("a storage of torch")

    def tensor(self, arguments: tuple[Any, ...]) -> TorchTensor:
        """``_rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, …)``."""
        match arguments:
            case (_Storage() as storage, offset, shape, strides, *_):
                return self._view(storage, storage.dtype, (offset, shape, strides))
        raise self._wrong("a storage, an offset, sizes and strides")

    def tensor_of_new_type(self, arguments: tuple[Any, ...]) -> TorchTensor:
        """``_rebuild_tensor_v3(…, dtype, metadata)``: as v2, of bytes and a type."""
        match arguments:
            case (_Storage() as storage, offset, shape, strides, _, _, Global(name), *_) if (
                name in _NEW_TYPES
            ):
                dtype = DataType.parse(_NEW_TYPES[name])
                return self._view(storage, dtype, (offset, shape, strides))
        raise self._wrong("a storage and a type of torch")

    def parameter(self, arguments: tuple[Any, ...]) -> TorchTensor:
        """``_rebuild_parameter(data, requires_grad, hooks)``."""
        match arguments:
            case (TorchTensor() as tensor, *_):
                return tensor
        raise self._wrong("a tensor")

    def ordered_dict(self, arguments: tuple[Any, ...]) -> dict[Any, Any]:
        """``OrderedDict()``, filled afterwards."""
        if arguments:
            raise self._wrong("no arguments")
        return {}

    def _view(self, storage: _Storage, dtype: DataType, place: tuple[Any, Any, Any]) -> TorchTensor:
        match place:
            # The same long tuple may be passed to many calls: it is refused by its length.
            case (int(offset), tuple(shape), tuple(strides)) if max(
                len(shape), len(strides)
            ) > MOST_DIMENSIONS or all(type(number) is int for number in (*shape, *strides)):
                try:
                    return TorchTensor(
                        dtype, shape, strides, offset, storage.bytes, self._big_endian
                    )
                except ValueError as problem:
                    raise self._wrong("a view within its storage", str(problem)) from None
        raise self._wrong("offset, sizes and strides")

    def _wrong(self, expected: str, found: str = "something else") -> FormatError:
        return FormatError(
            "this tensor cannot be read", file=self._file, expected=expected, found=found
        )


_MOST_STEPS = 2_000_000
#: Limit of values in a pickle; reused values count again.
_ALWAYS, _A_BYTE = 10_000, 16
_DEEPEST = 64
_LONGEST_INT = 8
_STOP: Final = 0x2E


@dataclass(frozen=True, slots=True)
class Global:
    """A class or function that a pickle names; it is never imported."""

    name: str


_Called = Mapping[str, Callable[[tuple[Any, ...]], Any]]
_Persistent = Callable[[Any], Any]


def read_pickle(
    data: bytes, file: str, *, named: Collection[str], called: _Called, persistent: _Persistent
) -> Any:
    """Return the value that a pickle holds."""
    value = _PickleMachine(data, file, {*named, *called}, called, persistent).run()
    _require_shallow(value, file, min(_MOST_STEPS, _ALWAYS + _A_BYTE * len(data)))
    return value


def _require_shallow(value: Any, file: str, most: int) -> None:
    """Refuse values that are nested deeper than any real file, or unfold endlessly."""
    level: list[Any] = [value]
    seen = depth = 0
    while level:
        depth += 1
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list | tuple):
                inner += item
            if depth > _DEEPEST or seen + len(inner) > most:
                raise FormatError(
                    "this pickle is nested too deeply, or within itself",
                    file=file,
                    expected=f"at most {_DEEPEST} levels and {most:,} values",
                )
        seen += len(inner)
        level = inner


class _PickleMachine:
    def __init__(
        self,
        data: bytes,
        file: str,
        known: Collection[str],
        called: _Called,
        persistent: _Persistent,
    ) -> None:
        self._data, self._file, self._at = data, file, 0
        self._known, self._called, self._persistent = known, called, persistent
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self._steps: dict[int, Callable[[], object]] = {
            ord(b"\x80"): lambda: self._take(1),
            ord("("): lambda: self._marks.append(len(self._stack)),
            ord("N"): lambda: self._push(None),
            ord(b"\x88"): lambda: self._push(True),
            ord(b"\x89"): lambda: self._push(False),
            ord("J"): lambda: self._push(self._number("<i")),
            ord("K"): lambda: self._push(self._number("B")),
            ord("M"): lambda: self._push(self._number("<H")),
            ord("G"): lambda: self._push(self._number(">d")),
            ord(b"\x8a"): self._long,
            ord("X"): self._text,
            ord("]"): lambda: self._push([]),
            ord("}"): lambda: self._push({}),
            ord(")"): lambda: self._push(()),
            ord(b"\x85"): lambda: self._push(tuple(self._pop_many(1))),
            ord(b"\x86"): lambda: self._push(tuple(self._pop_many(2))),
            ord(b"\x87"): lambda: self._push(tuple(self._pop_many(3))),
            ord("t"): lambda: self._push(tuple(self._pop_mark())),
            ord("a"): lambda: self._append([self._pop()]),
            ord("e"): lambda: self._append(self._pop_mark()),
            ord("s"): lambda: self._set(self._pop_many(2)),
            ord("u"): lambda: self._set(self._pop_mark()),
            ord("c"): self._global,
            ord("R"): self._reduce,
            ord("Q"): lambda: self._push(self._persistent(self._pop())),
            ord("q"): lambda: self._put("B"),
            ord("r"): lambda: self._put("<I"),
            ord("h"): lambda: self._get("B"),
            ord("j"): lambda: self._get("<I"),
        }

    def run(self) -> Any:
        for _ in range(_MOST_STEPS):
            opcode = self._take(1)[0]
            if opcode == _STOP:
                return self._pop()
            step = self._steps.get(opcode)
            if step is None:
                raise self._wrong(f"an opcode of plain data, found {opcode:#04x}")
            step()
        raise self._wrong(f"at most {_MOST_STEPS:,} opcodes")

    def _wrong(self, expected: str) -> FormatError:
        return FormatError(
            "this pickle cannot be read",
            file=self._file,
            offset=self._at,
            expected=expected,
            hint="Only tensors, numbers and text in lists, tuples and dicts are read; nothing in a "
            "pickle is run.",
        )

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise self._wrong(f"{counted(count, 'byte')}, found {len(self._data) - self._at:,}")
        data = self._data[self._at : end]
        self._at = end
        return data

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _pop(self) -> Any:
        if len(self._stack) <= (self._marks[-1] if self._marks else 0):
            raise self._wrong("a value on the stack")
        return self._stack.pop()

    def _pop_many(self, count: int) -> list[Any]:
        return [self._pop() for _ in range(count)][::-1]

    def _pop_mark(self) -> list[Any]:
        if not self._marks:
            raise self._wrong("a mark on the stack")
        mark = self._marks.pop()
        items = self._stack[mark:]
        del self._stack[mark:]
        return items

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _text(self) -> None:
        try:
            self._push(self._take(self._number("<I")).decode("utf-8"))
        except UnicodeDecodeError:
            raise self._wrong("text in UTF-8") from None

    def _long(self) -> None:
        count = self._number("B")
        if count > _LONGEST_INT:
            raise self._wrong(f"a number of at most {_LONGEST_INT} bytes, found {count}")
        self._push(int.from_bytes(self._take(count), "little", signed=True))

    def _global(self) -> None:
        words = []
        for _ in range(2):
            end = self._data.find(b"\n", self._at, self._at + 256)
            if end < 0:
                raise self._wrong("the name of a class or function")
            words.append(self._data[self._at : end].decode("utf-8", "replace"))
            self._at = end + 1
        name = " ".join(words)
        if name not in self._known:
            raise self._wrong(f"a class or function of torch's tensors, found {one_line(name)}")
        self._push(Global(name))

    def _reduce(self) -> None:
        function, arguments = self._pop_many(2)
        action = self._called.get(function.name) if isinstance(function, Global) else None
        if action is None or not isinstance(arguments, tuple):
            raise self._wrong(f"a call of {', '.join(sorted(self._called))}")
        self._push(action(arguments))

    def _put(self, form: str) -> None:
        key, value = self._number(form), self._pop()
        self._memo[key] = value
        self._push(value)

    def _get(self, form: str) -> None:
        key = self._number(form)
        if key not in self._memo:
            raise self._wrong(f"a value kept as {key}")
        self._push(self._memo[key])

    def _append(self, values: list[Any]) -> None:
        target = self._pop()
        if not isinstance(target, list):
            raise self._wrong("a list to append to")
        target += values
        self._push(target)

    def _set(self, items: list[Any]) -> None:
        target = self._pop()
        keys = items[::2]
        plain = all(isinstance(key, str | int | None) for key in keys)
        if not isinstance(target, dict) or len(items) % 2 or not plain:
            raise self._wrong("a dict, and pairs of a text or integer and a value")
        target.update(zip(keys, items[1::2], strict=True))
        self._push(target)
