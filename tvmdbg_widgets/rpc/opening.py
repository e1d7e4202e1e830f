"""Open a captured connection of TVM's RPC."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.rpc.grammar import Era
    from tvmdbg_widgets.formats.tvm.params_layout import LayoutLike
    from tvmdbg_widgets.model.sources_given import SourceLike
    from tvmdbg_widgets.rpc.log import RpcLog


def open_rpc(
    client: SourceLike | None,
    server: SourceLike | None = None,
    *,
    dtype_layout: LayoutLike = "auto",
    era: Era | None = None,
) -> RpcLog:
    """Open what the two sides of a connection sent.

    Parameters
    ----------
    client : path, URL, bytes, file object or None
        The bytes that the client sent, in order.
    server : path, URL, bytes, file object or None
        The bytes that the server sent. With one direction alone nothing is paired.
    dtype_layout : str, DTypeLayout or list of these
        Layout of ``DLDataType``: ``"narrow"`` (TVM's own), ``"wide"``, a declaration such as
        ``"code:u8 bits:u8 lanes:u32"``, a list to choose from, or ``"auto"``: narrow or wide, for
        each side by what it sent.
    era : str or None
        The first release with such packets: ``"v0.5"``, ``"v0.7"``, ``"v0.8"`` or ``"v0.21"``;
        None tells it by the packets.

    Raises
    ------
    FormatError
        No packets are found.
    ValueError
        Both are None, or an option has no such value.
    OSError
        A path cannot be read.

    Examples
    --------
    >>> import tvmdbg_widgets as tvmdbg
    >>> log = tvmdbg.open_rpc("client.bin", "server.bin")  # doctest: +SKIP
    >>> log.desync  # doctest: +SKIP
    """
    from tvmdbg_widgets.formats.rpc.connection import Stream, read_connection
    from tvmdbg_widgets.formats.rpc.grammar import ERAS
    from tvmdbg_widgets.formats.tvm.params_layout import layouts_to_try
    from tvmdbg_widgets.model.sources_given import as_source
    from tvmdbg_widgets.rpc.log import RpcLog

    if client is None and server is None:
        raise ValueError("pass what the client sent, what the server sent, or both")
    if era is not None and era not in ERAS:
        raise ValueError(f"era must be one of {', '.join(ERAS)}, not {era!r}")
    given = {"client": client, "server": server}
    streams = [Stream(name, as_source(each)) for name, each in given.items() if each is not None]
    title = " and ".join(stream.source.name for stream in streams)
    eras = ERAS if era is None else (era,)
    return RpcLog(
        read_connection(streams, title=title, eras=eras, layouts=layouts_to_try(dtype_layout))
    )
