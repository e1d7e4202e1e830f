"""A captured RPC connection of 1 GB in 200,000 packets, 98 % of its bytes in copies.

Promise: open it in 10 s of CPU, in memory that does not grow with what is copied: what the process
had and 25 MB more, 8 of them columns. What a small packet takes stands beside it.

The limit is reading every byte. The copies are holes of a sparse file, so that the limit is that of
a file in memory; nothing here reads them.
``python -m benchmarks.rpc [--packets 200000] [--gigabytes 1]``
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import tvmdbg_widgets as tvmdbg
from benchmarks.graph_view import verdict
from benchmarks.measure import limit, load, machine, measure, sized
from tvmdbg_widgets.formats.rpc.grammar import grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet, handshake
from tvmdbg_widgets.formats.rpc.streams import read_stream
from tvmdbg_widgets.model.rpc_packets import Device, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.rpc import RpcLog
from tvmdbg_widgets.sources.file_source import FileSource

OPEN_S, MEMORY_MB = 10, 25
COPIED, COPY_EVERY = 0.98, 5
OWN = grammar("v0.8")
FLOAT32 = DataType(2, 32)
#: Peak memory of opening a connection, less what the process had when it had opened a small one, in
#: MB. VmHWM begins anew with the program, which ru_maxrss does not: it keeps its parent's.
PEAK = """
import pathlib, sys
import tvmdbg_widgets as tvmdbg
def status(name):
    text = pathlib.Path("/proc/self/status").read_text()
    return int(text.partition(name + ":")[2].split()[0])
tvmdbg.open_rpc(sys.argv[1], sys.argv[2])
before = status("VmRSS")
log = tvmdbg.open_rpc(sys.argv[3], sys.argv[4])
print((status("VmHWM") - before) / 1024)
"""


def write_sides(folder: Path, packets: int, size: int) -> tuple[Path, Path]:
    """Write both directions of a connection: one request in five copies, to and fro in turn."""
    client, server = folder / "client.bin", folder / "server.bin"
    requests = packets // 2
    each = int(size * COPIED) // max(1, requests // COPY_EVERY)
    tensor = TensorMeta(0x7F0010, Device(1, 0), FLOAT32, (each // 4,), 0)
    call = encode_packet(
        OWN, "CallFunc", [("tensor", tensor), ("dtype", FLOAT32), ("int", 3)], function=0x5500
    )
    void = encode_packet(OWN, "Return", [("int", 4), ("null", None)])
    ask = encode_packet(OWN, "CopyFromRemote", copied=tensor, payload=bytes(each))
    to_remote = encode_packet(OWN, "CopyToRemote", copied=tensor, payload=bytes(each))[:-each]
    copy_ack = encode_packet(OWN, "CopyAck", payload=bytes(each))[:-each]
    with client.open("wb") as asking, server.open("wb") as answering:
        asking.write(handshake("client:benchmark"))
        answering.write(handshake("server:benchmark"))
        for number in range(requests):
            if number % COPY_EVERY:
                asking.write(call)
                answering.write(void)
            elif number % (2 * COPY_EVERY):
                asking.write(ask)
                answering.write(copy_ack)
                answering.seek(each, 1)
            else:
                asking.write(to_remote)
                asking.seek(each, 1)
                answering.write(void)
        for file in (asking, answering):
            file.truncate(file.tell())
    return client, server


def _read(path: Path) -> int:
    size = 0
    buffer = bytearray(1 << 24)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            size += count
    return size


def _rows(log: RpcLog) -> Callable[[], object]:
    return lambda: [row.about for row in log[:20_000]]


def main() -> None:
    """Print what is promised beside what is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=sized(200_000, 2_000))
    parser.add_argument("--gigabytes", type=float, default=sized(1.0, 0.02))
    asked = parser.parse_args()
    machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = folder / "few"
        few.mkdir()
        small = write_sides(few, 2_000, 10_000_000)
        paths = write_sides(folder, asked.packets, int(asked.gigabytes * 1e9))
        size = sum(path.stat().st_size for path in paths)
        log = tvmdbg.open_rpc(*paths)
        copied = sum(int(each.packets.payloads.sum()) for each in log.connection.directions)
        print(f"{len(log):,} packets, {size:,} bytes, {copied / size:.1%} in copies; {load()}")
        fast = measure("limit: reading the bytes", lambda: list(map(_read, paths)), 3)
        source = FileSource(paths[0])
        start = log.connection.directions[0].handshake
        begin = start.size if start else 0
        one = measure("read_stream, the client's", lambda: read_stream(source, OWN, start=begin), 3)
        ours = measure("open_rpc", lambda: tvmdbg.open_rpc(*paths), 3)
        limit(ours, OPEN_S)
        print(f"  {ours.cpu_median / max(fast.cpu_median, 1e-9):.1f} x {fast.what}")
        count = len(log.connection.directions[0].packets)
        print(f"  {one.cpu_median / count * 1e6:.1f} µs a packet of the client")
        print(f"  {ours.cpu_median / len(log) * 1e6:.1f} µs a packet, both ways")
        measure("open_rpc, and packets paired", lambda: tvmdbg.open_rpc(*paths).conversation, 1)
        rows = measure("what 20,000 packets say", _rows(log), 3)
        print(f"  {rows.cpu_median / min(20_000, len(log)) * 1e6:.1f} µs a packet")
        command = [sys.executable, "-c", PEAK, *map(str, small), *map(str, paths)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peak = float(printed.split()[0])
        print(f"  peak memory {peak:.0f} MB; {verdict(peak, MEMORY_MB)}", flush=True)


if __name__ == "__main__":
    main()
