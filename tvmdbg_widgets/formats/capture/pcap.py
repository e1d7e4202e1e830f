"""Records of a pcap file.

Layout: draft-ietf-opsawg-pcap, and dpkt's header classes. Times are read as integers: dpkt's own
reader rounds them to floats.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.capture.records import Frame, load_dpkt
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.formats.capture.records import Damage
    from tvmdbg_widgets.formats.capture.window import Window

#: Microseconds and nanoseconds, big and little endian.
MAGICS = (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d", b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")
_NANOSECONDS = MAGICS[1::2]
_FILE_HEADER = 24
# Above libpcap's MAXIMUM_SNAPLEN (256 KiB) no writer of network frames goes.
_LARGEST = 1 << 18


def pcap_frames(window: Window, damage: Damage) -> Iterator[Frame]:
    """Yield the frames of a pcap file in file order."""
    dpkt = load_dpkt()
    start = window.bytes(0, _FILE_HEADER)
    if len(start) < _FILE_HEADER:
        raise FormatError(
            "the file header is cut off",
            file=window.name,
            offset=0,
            expected=f"{_FILE_HEADER} bytes",
            found=counted(len(start), "byte"),
        )
    little = start[:4] in MAGICS[2:]
    header = (dpkt.pcap.LEFileHdr if little else dpkt.pcap.FileHdr)(start)
    link_type = header.linktype & 0xFFFF  # above it: length of the frame check sequence
    largest = max(header.snaplen, _LARGEST)
    fraction = 1 if start[:4] in _NANOSECONDS else 1000
    record = struct.Struct((dpkt.pcap.LEPktHdr if little else dpkt.pcap.PktHdr).__hdr_fmt__)
    offset, size = _FILE_HEADER, window.size
    while size - offset >= record.size:
        at = window.locate(offset, record.size)
        seconds, part, captured, sent = record.unpack_from(window.buffer, at)
        if captured > largest:
            damage.add(
                "damaged-capture",
                f"record at byte {offset}: captured length {captured:,}, expected at most "
                f"{largest:,}; what follows was not read",
            )
            return
        offset += record.size
        there = min(captured, size - offset)
        if there or not captured:
            time = seconds * 1_000_000_000 + part * fraction
            yield Frame(offset, there, max(captured, sent), time, link_type)
        if there < captured:
            damage.add(
                "truncated-capture",
                f"the file ends inside the record at byte {offset - record.size}: expected "
                f"{counted(captured, 'byte')} of frame, found {there:,}",
            )
            return
        offset += captured
    if offset < size:
        damage.add(
            "truncated-capture",
            f"the file ends inside the record header at byte {offset}: expected "
            f"{counted(record.size, 'byte')}, found {size - offset}",
        )
