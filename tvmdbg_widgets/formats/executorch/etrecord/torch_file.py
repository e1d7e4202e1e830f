"""Reader of what ``torch.save`` writes: tensors in a zip archive, told by a pickle in it.

``torch/serialization.py``, ``torch/_utils.py`` @ v2.13.0. The archive has one folder with
``data.pkl``, ``data/<key>`` (the bytes of each storage) and ``byteorder``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tvmdbg_widgets.formats.executorch.etrecord.pickle_values import Global, read_pickle
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.torch_tensor import MOST_DIMENSIONS, TorchTensor
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.unpacking import read_directory

_PICKLE = "/data.pkl"
_LARGEST_PICKLE = 64 << 20
_UNTYPED = "torch.storage UntypedStorage"
_STORAGES: Final = {
    "torch BoolStorage": "bool",
    "torch ByteStorage": "uint8",
    "torch CharStorage": "int8",
    "torch ShortStorage": "int16",
    "torch IntStorage": "int32",
    "torch LongStorage": "int64",
    "torch HalfStorage": "float16",
    "torch BFloat16Storage": "bfloat16",
    "torch FloatStorage": "float32",
    "torch DoubleStorage": "float64",
    "torch ComplexFloatStorage": "complex64",
    "torch ComplexDoubleStorage": "complex128",
    _UNTYPED: "uint8",
}
#: Types without a class of storages.
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
    """Read what was saved, without torch and without running its pickle."""
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
    """The functions that a pickle of ``torch.save`` calls."""

    def __init__(self, file: str, storages: Mapping[str, ByteSource], *, big_endian: bool) -> None:
        self._file = file
        self._storages = storages
        self._big_endian = big_endian

    def storage(self, told: Any) -> _Storage:
        """``("storage", class, key, device, number of elements)``."""
        match told:
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
            # The same long tuple may be passed to each call: it is refused by its length.
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
