"""Pictures of structs, bytes and conversations, light and dark, to look at before a release.

``python -m tests.make.abi_screenshots FOLDER`` (from the repository's root, front ends built)
needs the extra ``png``.
"""

from __future__ import annotations

import argparse
import struct
from pathlib import Path

from tvmdbg_widgets.figures.abi.struct import struct_figure
from tvmdbg_widgets.figures.bytes.byte_map import byte_map_figure
from tvmdbg_widgets.figures.rpc.messages import SequenceMessage
from tvmdbg_widgets.figures.rpc.sequence import sequence_figure
from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.model.abi.structs import STRUCTS, struct_layout
from tvmdbg_widgets.model.byte_map import ByteField

THEMES = ("light", "dark")
#: A DLTensor of float32 with two dimensions in a build with the wide layout.
DUMP = struct.pack("<QiiiHHi4xQQQ", 0x55D0C8A3F2C0, 1, 0, 2, 2, 32, 1, 0x55D0C8A40010, 0, 0)
VALUES = (
    {"dtype.code": ("2 (float)", ""), "dtype.bits": ("0", "no type has 0 bits")},
    {"dtype.code": ("2 (float)", ""), "dtype.bits": ("32", ""), "dtype.lanes": ("1", "")},
)
VERDICTS = ("makes no sense: bits is 0", "makes sense: float32 with 2 dimensions")
PAYLOAD = bytes(range(256)) * 64
FIELDS = (
    ByteField("packet_nbytes", 0, 8, "number", f"{12 + len(PAYLOAD):,}"),
    ByteField("code", 8, 4, "number", "8 (CopyAck)"),
    ByteField("data", 12, len(PAYLOAD), "data", "", "8 bytes more than were asked for"),
)


def conversation() -> list[SequenceMessage]:
    """A session that copies, calls, is called back, and gets out of step."""
    found: list[SequenceMessage] = []

    def add(side: str, label: str, to: int | None = None, status: str = "ok") -> int:
        last = found[-1].time_ns if found else 0
        when = (last or 0) + (4_000_000_000 if label == "Return null" and to else 150_000)
        kind = label.split(maxsplit=1)[0]
        found.append(
            SequenceMessage(side, label, 64, when, status, to, "40 00 00 00", kind=kind)  # type: ignore[arg-type]
        )
        return len(found) - 1

    add("server", "Return null", add("client", "InitServer 0.8.0"))
    for at in range(500):
        add("server", "Return", add("client", f"CopyToRemote float32[256] at {1024 * at}"))
    call = add("client", 'CallFunc 0x55d0c8a3f2c0(DataType float32, str "conv1")')
    add("client", "Return 3", add("server", "CallFunc 0x7f00(3)"))
    add("server", "Return null", call)
    call = add("client", "CallFunc 0x1(int 3)")
    add("server", "TVMError: Check failed: type_code_ == kTVMObjectHandle", call, "exception")
    add("client", "the receiver read 8 bytes of dtype where 4 were sent", None, "desynchronised")
    add("server", "CopyAck", None, "incomplete")
    return found


def main() -> None:
    """Write the pictures into the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    packet = ByteField("CopyAck", 0, 12 + len(PAYLOAD), "group", "server to client", "", FIELDS)
    data = struct.pack("<Qi", 4 + len(PAYLOAD), 8) + PAYLOAD
    for theme in THEMES:
        figures = {
            name: struct_figure(
                [(dtype.name, struct_layout(name, dtype)) for dtype in (NARROW, WIDE)], theme=theme
            )
            for name in STRUCTS
        }
        layouts = [(dtype.name, struct_layout("DLTensor", dtype)) for dtype in (NARROW, WIDE)]
        figures["dump"] = struct_figure(
            layouts, hexdump=DUMP, values=VALUES, verdicts=VERDICTS, theme=theme
        )
        figures["bytes"] = byte_map_figure("Packet 9", packet, data, theme=theme)
        figures["sequence"] = sequence_figure("session.pcap", conversation(), theme=theme)
        for name, figure in figures.items():
            print(figure.save(folder / f"{name}-{theme}.png"), flush=True)


if __name__ == "__main__":
    main()
