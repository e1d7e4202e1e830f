"""Pictures of structs, bytes and conversations, light and dark, to look at before a release.

``python -m tests.make.abi_screenshots FOLDER`` (from the repository's root, front ends built)
needs the extras ``png`` and ``rpc``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import tvmdbg_widgets as tvmdbg
from tests.make.changed_dtype import SERVER, tensor
from tvmdbg_widgets import abi
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.rpc import encode_packet

SAMPLE = tvmdbg.samples.changed_dtype
COPIES = 500


def copies() -> tuple[bytes, bytes]:
    """A session that copies 500 times, calls back, and ends within a packet."""
    copied = tensor(0x7F00, 64)
    call = encode_packet(SERVER, "CallFunc", [("int", 1), ("str", "conv1")], function=0x5500)
    back = encode_packet(SERVER, "Return", [("int", 4), ("null", None)])
    copy = encode_packet(SERVER, "CopyToRemote", copied=copied, payload=bytes(256))
    failed = encode_packet(SERVER, "Exception", [("str", "TVMError: Check failed: false")])
    client = copy * COPIES + call + back + call + copy[:100]
    return client, back * COPIES + call + back + failed


def figures(theme: str) -> Iterator[tuple[str, Figure]]:
    """Each picture with its name."""
    for name in abi.STRUCTS:
        yield name, abi.struct(name).figure(theme=theme)
    dump = (SAMPLE / "dltensor.txt").read_text()
    yield "dump", abi.struct("DLTensor", hex=dump).figure(theme=theme)
    log = tvmdbg.open_rpc(SAMPLE / "session.pcap")
    yield "session", log.figure(theme=theme)
    yield "packet", log[-1].figure(theme=theme)
    long = tvmdbg.open_rpc(*copies())
    yield "copies", long.figure(theme=theme)
    yield "copy", long[0].figure(theme=theme)


def main() -> None:
    """Write the pictures into the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        for name, figure in figures(theme):
            print(figure.save(folder / f"{name}-{theme}.png"), flush=True)


if __name__ == "__main__":
    main()
