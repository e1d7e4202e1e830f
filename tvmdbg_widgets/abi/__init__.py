"""The structs that compiled code and TVM's runtime share, byte by byte.

>>> from tvmdbg_widgets import abi
>>> view = abi.struct("DLTensor", "narrow", "wide")
>>> [layout.size for layout in view.structs]
[48, 56]
"""

from __future__ import annotations

from tvmdbg_widgets.abi.checking import assertions as assertions
from tvmdbg_widgets.abi.checking import check as check
from tvmdbg_widgets.abi.checking import layout_of_ir as layout_of_ir
from tvmdbg_widgets.abi.view import StructView as StructView
from tvmdbg_widgets.abi.view import decode as decode
from tvmdbg_widgets.abi.view import struct as struct

_LAZY = {
    "STRUCTS": "tvmdbg_widgets.model.struct_layout",
    "DTypeLayout": "tvmdbg_widgets.model.dtype_layout",
    "Machine": "tvmdbg_widgets.model.struct_layout",
}

__all__ = [
    "STRUCTS",
    "DTypeLayout",
    "Machine",
    "StructView",
    "assertions",
    "check",
    "decode",
    "layout_of_ir",
    "struct",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
