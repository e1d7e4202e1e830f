"""Open a captured connection of TVM's RPC."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import public

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.parts import Part
    from tvmdbg_widgets.formats.rpc.connection import RpcStream
    from tvmdbg_widgets.formats.rpc.desync import Capture
    from tvmdbg_widgets.formats.rpc.grammar import Era
    from tvmdbg_widgets.formats.tvm.params.list import LayoutLike
    from tvmdbg_widgets.model.base.text import Issue
    from tvmdbg_widgets.rpc.log import RpcLog
    from tvmdbg_widgets.sources.byte_source import ByteSource
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
    """Open what the two sides of a connection sent.

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
        None tells it by the packets.

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
    from tvmdbg_widgets.formats.rpc.connection import RpcStream
    from tvmdbg_widgets.formats.rpc.desync import read_capture
    from tvmdbg_widgets.formats.rpc.frames import sniff
    from tvmdbg_widgets.sources.given import as_source

    if client is None and server is None:
        raise ValueError("pass what the client sent, what the server sent, or both")
    given = {"client": client, "server": server}
    sources = {name: as_source(each) for name, each in given.items() if each is not None}
    first = next(iter(sources.values()))
    if sniff(first.read(0, min(12, first.size))):
        if len(sources) == 2:
            raise ValueError("a network capture holds both directions; pass it alone")
        return _of_capture(read_capture(first), connection, dtype_layout=dtype_layout, era=era)
    streams = [RpcStream(name, source) for name, source in sources.items()]
    return _log(streams, _names(streams), dtype_layout=dtype_layout, era=era)


def log_of_parts(
    parts: Sequence[Part], issues: Sequence[Issue], *, dtype_layout: LayoutLike
) -> RpcLog:
    """Return the log of files that :func:`tvmdbg_widgets.open` found."""
    from tvmdbg_widgets.formats.rpc.connection import RpcStream
    from tvmdbg_widgets.model.base.numbers import counted
    from tvmdbg_widgets.model.base.text import FormatError

    captures = [part for part in parts if part.kind == "capture"]
    if len(captures) == 1 and len(parts) == 1:
        return _of_capture(captures[0].value, None, dtype_layout=dtype_layout, issues=issues)
    if captures or len(parts) > 2:
        raise FormatError(
            "these are files of several connections",
            file=", ".join(part.source.name for part in parts),
            expected="one network capture, or the two directions of one connection",
            found=counted(len(parts), "file"),
            hint="Open them one by one with open_rpc(client, server).",
        )
    said = [(part.value.side, part.source) for part in parts]
    names = [side for side, _ in said]
    if len(set(names)) < len(names) or None in names:
        names = ["client", "server"][: len(names)]
    found: dict[str, ByteSource] = {
        str(name): source for name, (_, source) in zip(names, said, strict=True)
    }
    streams = [RpcStream(name, found[name]) for name in ("client", "server") if name in found]
    return _log(streams, _names(streams), dtype_layout=dtype_layout, issues=issues)


def _of_capture(
    capture: Capture,
    wanted: int | str | None,
    *,
    dtype_layout: LayoutLike,
    era: Era | None = None,
    issues: Sequence[Issue] = (),
) -> RpcLog:
    from tvmdbg_widgets.formats.rpc.connection import choose_connection, streams_of

    chosen = choose_connection(capture, wanted)
    found = [*issues, *capture.issues, *chosen.issues]
    title = f"{PurePath(capture.name).name}, {chosen}"
    return _log(streams_of(chosen), title, dtype_layout=dtype_layout, era=era, issues=found)


def _names(streams: Sequence[RpcStream]) -> str:
    return " and ".join(PurePath(stream.source.name).name for stream in streams)


def _log(
    streams: Sequence[RpcStream],
    title: str,
    *,
    dtype_layout: LayoutLike,
    era: Era | None = None,
    issues: Sequence[Issue] = (),
) -> RpcLog:
    from tvmdbg_widgets.formats.rpc.connection import read_connection
    from tvmdbg_widgets.formats.rpc.grammar import ERAS
    from tvmdbg_widgets.formats.tvm.params.list import layouts_to_try
    from tvmdbg_widgets.model.base.ranges import one_of
    from tvmdbg_widgets.rpc.log import RpcLog

    if era is not None:
        one_of("era", era, ERAS)
    return RpcLog(
        read_connection(
            streams,
            title=title,
            eras=ERAS if era is None else (era,),
            layouts=layouts_to_try(dtype_layout),
            issues=issues,
        )
    )
