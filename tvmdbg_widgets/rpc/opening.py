"""``open_rpc``: a captured connection of TVM's RPC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import public

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.rpc.grammar import Era
    from tvmdbg_widgets.formats.tvm.params.list import LayoutLike
    from tvmdbg_widgets.rpc.log import RpcLog
    from tvmdbg_widgets.sources.given import SourceLike


@public
def open_rpc(
    client: SourceLike | None,
    server: SourceLike | None = None,
    *,
    connection: int | str | None = None,
    dtype_layout: LayoutLike = "auto",
    era: Era | None = None,
) -> RpcLog:
    """Open the two directions of a connection.

    Parameters
    ----------
    client : path, URL, bytes, file object or None
        The bytes that the client sent, in order; or a network capture (pcap, pcapng) of both
        directions, which needs ``pip install "tvmdbg-widgets[rpc]"``.
    server : path, URL, bytes, file object or None
        The bytes that the server sent. With one direction alone nothing is paired.
    connection : int, str or None
        Which connection of a capture, by number or part of its addresses, where it holds several.
    dtype_layout : str, DTypeLayout or list of these
        Layout of ``DLDataType``: ``"narrow"`` (TVM's own), ``"wide"``, a declaration such as
        ``"code:u8 bits:u8 lanes:u32"``, a list to choose from, or ``"auto"``: narrow or wide, for
        each side by what it sent.
    era : str or None
        The first release with such packets: ``"v0.5"``, ``"v0.7"``, ``"v0.8"`` or ``"v0.21"``;
        By default the release that the packets follow.

    Raises
    ------
    FormatError
        No packets are found, or a capture holds several connections.
    ValueError
        Both are None, or an option has no such value.
    OSError
        A path cannot be read.
    ImportError
        A capture needs a package that is not installed.

    Examples
    --------
    >>> import tvmdbg_widgets as tvmdbg
    >>> log = tvmdbg.open_rpc("client.bin", "server.bin")  # doctest: +SKIP
    >>> log.desync  # doctest: +SKIP
    """
    from tvmdbg_widgets.formats.rpc.capture import read_capture
    from tvmdbg_widgets.formats.rpc.connection import (
        RpcStream,
        connection_in,
        read_connection,
        title_of,
    )
    from tvmdbg_widgets.formats.rpc.frames import sniff
    from tvmdbg_widgets.formats.rpc.grammar import ERAS
    from tvmdbg_widgets.formats.tvm.params.list import layouts_to_try
    from tvmdbg_widgets.model.base.slips import one_of
    from tvmdbg_widgets.rpc.log import RpcLog
    from tvmdbg_widgets.sources.given import as_source

    if client is None and server is None:
        raise ValueError("pass what the client sent, what the server sent, or both")
    given = {"client": client, "server": server}
    sources = {side: as_source(source) for side, source in given.items() if source is not None}
    first = next(iter(sources.values()))
    is_capture = sniff(first.read(0, min(12, first.size)))
    if is_capture and len(sources) == 2:
        raise ValueError("a network capture holds both directions; pass it alone")
    capture = read_capture(first) if is_capture else None
    if era is not None:
        one_of("era", era, ERAS)
    eras, layouts = ERAS if era is None else (era,), layouts_to_try(dtype_layout)
    if capture is not None:
        return RpcLog(connection_in(capture, connection, eras=eras, layouts=layouts))
    streams = [RpcStream(name, source) for name, source in sources.items()]
    return RpcLog(read_connection(streams, title=title_of(streams), eras=eras, layouts=layouts))
