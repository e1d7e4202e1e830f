"""Wire formats of packets by release and by layout of ``DLDataType``.

Codes: src/runtime/rpc/rpc_session.h @ v0.6.0; src/runtime/minrpc/rpc_reference.h @ v0.7 to v0.25,
src/runtime/rpc/minrpc/rpc_reference.h @ v0.26. Type indices: include/tvm/ffi/c_api.h of tvm-ffi.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.dtype_layout import DTypeLayout, dtype_layout

#: The first release with it: packets without a length; with one; tensors with ``byte_offset``;
#: sequences of tvm-ffi, where codes precede their values.
Era = Literal["v0.5", "v0.7", "v0.8", "v0.21"]
ERAS: tuple[Era, ...] = ("v0.5", "v0.7", "v0.8", "v0.21")
RELEASES: Mapping[Era, str] = MappingProxyType(
    {"v0.5": "v0.5 and v0.6", "v0.7": "v0.7", "v0.8": "v0.8 to v0.20", "v0.21": "v0.21 and later"}
)


def _numbered(names: str) -> dict[int, str]:
    """Number words from 0 on; a dash is no name."""
    return {number: name for number, name in enumerate(names.split()) if name != "-"}


_V05 = _numbered(
    "- CallFunc Return Exception Shutdown CopyFromRemote CopyToRemote CopyAck - GetGlobalFunc "
    "GetTimeEvaluator FreeFunc DevSetDevice DevGetAttr DevAllocData DevFreeData DevStreamSync "
    "CopyAmongRemote ModuleLoad ModuleImport ModuleFree ModuleGetFunc ModuleGetSource NDArrayFree"
)
_V07 = (
    "- Shutdown InitServer CallFunc Return Exception CopyFromRemote CopyToRemote CopyAck "
    "GetGlobalFunc FreeHandle DevSetDevice DevGetAttr DevAllocData DevFreeData DevStreamSync "
    "CopyAmongRemote"
)
_SINCE_V08 = " DevAllocDataWithScope DevCreateStream DevFreeStream DevSetStream DevGetCurrentStream"
_CODES = {"v0.5": _V05, "v0.7": _numbered(_V07)}
_CODES |= dict.fromkeys(("v0.8", "v0.21"), _numbered(_V07 + _SINCE_V08))
REPLIES = frozenset({"Return", "Exception", "CopyAck"})

_LEGACY_KINDS = _numbered(
    "int uint float handle null dtype device tensor object module function str bytes - - bool"
)
_FFI_KINDS = _numbered("null int bool float handle dtype device tensor str bytes - str bytes")
_FFI_KINDS |= {65: "str", 66: "bytes", 68: "function", 73: "module"}
#: Type indices whose value begins with a second index, all objects among them.
FFI_BOXED = frozenset({11, 12, 65, 66})
#: The first type index of an object whose class is registered as the program runs.
FFI_DYNAMIC = 128
#: ``kRuntimeRPCObjectRefTypeIndex`` in legacy sequences.
OBJECT_REF = 9


@dataclass(frozen=True)
class Grammar:
    """One way to write packets.

    Attributes
    ----------
    era : str
        ``"v0.5"``, ``"v0.7"``, ``"v0.8"`` or ``"v0.21"``.
    dtype : DTypeLayout
    padding : int
        Zero bytes after a data type in a sequence. TVM's own fills up to 8; a build with 8 bytes
        of its own has none, unless somebody kept the 4.
    """

    era: Era
    dtype: DTypeLayout
    padding: int

    def __reduce__(self) -> tuple[Any, ...]:
        return Grammar, (self.era, self.dtype, self.padding)

    @cached_property
    def codes(self) -> Mapping[int, str]:
        """Names of packet codes."""
        return MappingProxyType(_CODES[self.era])

    @cached_property
    def kinds(self) -> Mapping[int, str]:
        """Kinds of values by type code or index."""
        return MappingProxyType(_FFI_KINDS if self.interleaved else _LEGACY_KINDS)

    @property
    def prefixed(self) -> bool:
        """Whether packets have a length before them."""
        return self.era != "v0.5"

    @property
    def interleaved(self) -> bool:
        """Whether codes of a sequence precede their values; else all codes come first."""
        return self.era == "v0.21"

    @property
    def sends_offsets(self) -> bool:
        """Whether tensors have a ``byte_offset``, and copies name their tensor."""
        return self.era in ("v0.8", "v0.21")

    def __str__(self) -> str:
        kept = self.padding and self.dtype.size + self.padding != 8
        odd = f" and {counted(self.padding, 'byte')} of padding kept" if kept else ""
        return f"packets of TVM {RELEASES[self.era]}, {self.dtype.name} dtypes{odd}"


def grammar(era: Era, dtype: DTypeLayout | str = "narrow", padding: int | None = None) -> Grammar:
    """Return a grammar; its padding fills a data type up to 8 bytes by default.

    Raises
    ------
    ValueError
        No such era or layout, or a padding that is none.
    """
    one_of("era", era, ERAS)
    layout = dtype_layout(dtype)
    if padding is None:
        padding = max(0, 8 - layout.size)
    if not 0 <= padding <= 8:
        raise ValueError(f"padding must be 0 to 8 bytes, not {padding!r}")
    return Grammar(era, layout, padding)
