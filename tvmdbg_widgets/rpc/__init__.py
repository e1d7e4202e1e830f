"""Captured RPC connections, and packets to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import lazily
from tvmdbg_widgets.rpc.log import RpcLog as RpcLog
from tvmdbg_widgets.rpc.opening import open_rpc as open_rpc

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.rpc.grammar import Grammar as Grammar
    from tvmdbg_widgets.formats.rpc.grammar import grammar as grammar
    from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet as encode_packet
    from tvmdbg_widgets.formats.rpc.packet_bytes import handshake as handshake
    from tvmdbg_widgets.formats.rpc.packets import CopyRange as CopyRange
    from tvmdbg_widgets.model.rpc_packets import Device as Device
    from tvmdbg_widgets.model.rpc_packets import PackedArgument as Argument
    from tvmdbg_widgets.model.rpc_packets import TensorMeta as TensorMeta

_HOMES = {
    "Argument": "model.rpc_packets:PackedArgument",
    "CopyRange": "formats.rpc.packets",
    "Device": "model.rpc_packets",
    "Grammar": "formats.rpc.grammar",
    "TensorMeta": "model.rpc_packets",
    "encode_packet": "formats.rpc.packet_bytes",
    "grammar": "formats.rpc.grammar",
    "handshake": "formats.rpc.packet_bytes",
}

__all__ = [
    "Argument",
    "CopyRange",
    "Device",
    "Grammar",
    "RpcLog",
    "TensorMeta",
    "encode_packet",
    "grammar",
    "handshake",
    "open_rpc",
]


__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
