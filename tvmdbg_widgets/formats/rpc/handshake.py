"""What each side sends before the first packet.

Client: i32 magic, i32 length, key; server: i32 code (the magic, +1 duplicate key, +2 no match), i32
length, key. python/tvm/rpc/server.py and src/runtime/rpc/rpc_socket_impl.cc, all releases.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.formats.rpc.encode import MAGIC
from tvmdbg_widgets.model.base.errors import FormatError

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

_HEAD = struct.Struct("<ii")
#: Keys are such as ``server:rasp3b`` and ``client:rasp3b -timeout=10``.
_LONGEST_KEY = 4096
_ANSWERS = {MAGIC: "accepted", MAGIC + 1: "refused: duplicate key", MAGIC + 2: "refused: no match"}


class Handshake(NamedTuple):
    """The first bytes of a connection."""

    answer: str
    key: str
    size: int

    @property
    def side(self) -> str | None:
        """Who sent it, by the key: ``"client"`` or ``"server"``; None where it does not say.

        ``"client:" + key`` and ``"server:" + key``: python/tvm/rpc/server.py,
        src/runtime/rpc/rpc_socket_impl.cc @ v0.7.
        """
        head = self.key.partition(":")[0]
        return head if head in ("client", "server") else None


def sniff(head: bytes) -> bool:
    """Tell from its start whether a stream begins with a handshake."""
    if len(head) < _HEAD.size:
        return False
    code, length = _HEAD.unpack_from(head)
    key = head[_HEAD.size : _HEAD.size + max(0, length)]
    return code in _ANSWERS and 0 <= length <= _LONGEST_KEY and len(key) == length and _text(key)


def read_handshake(source: ByteSource) -> Handshake | None:
    """Return the handshake that a stream begins with, None where it begins with something else."""
    head = source.read(0, min(source.size, _HEAD.size + _LONGEST_KEY))
    if not sniff(head):
        return None
    code, length = _HEAD.unpack_from(head)
    key = head[_HEAD.size : _HEAD.size + length].decode()
    return Handshake(_ANSWERS[code], key, _HEAD.size + length)


def read_stream_head(source: ByteSource) -> Handshake:
    """Return the handshake of a stream that :func:`sniff` knows."""
    found = read_handshake(source)
    if found is None:
        raise FormatError(
            "no handshake of TVM's RPC",
            file=source.name,
            offset=0,
            expected=f"{MAGIC:#x}, then the length of a key",
            found=source.read(0, min(8, source.size)).hex(" ") or "an empty file",
            hint="open_rpc(client, server) reads streams that begin later.",
        )
    return found


def _text(key: bytes) -> bool:
    try:
        return key.decode().isprintable()
    except UnicodeDecodeError:
        return False
