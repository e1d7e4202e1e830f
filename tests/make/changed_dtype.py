"""Write the sample of a changed DLDataType: ``python -m tests.make.changed_dtype``.

No build of TVM made these files: they are written by our own encoders from the formats of the
releases, as a client whose DLDataType has 8 bytes would have sent them, which kept TVM's padding.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from tests.formats.capture_files import ACK, FIN, PSH, SYN, Tcp, frame, pcap
from tests.make.params import write_params
from tvmdbg_widgets import samples
from tvmdbg_widgets.formats.rpc.grammar import grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet, handshake
from tvmdbg_widgets.model.rpc_packets import Device, TensorMeta
from tvmdbg_widgets.model.tensors.dtypes import DataType

CLIENT = grammar("v0.8", "wide", padding=4)
SERVER = grammar("v0.8")
FLOAT32 = DataType(2, 32)
CPU = Device(1, 0)
START = 1_767_225_600_000_000_000  # ns: 2026-01-01
LOAD, GET, SET_INPUT, RUN, OUTPUT = (0x55D0_0000_1000 + 0x40 * n for n in range(5))
MODULE = 0x55D0_0000_2000
WEIGHTS = np.sin(np.arange(6_000, dtype=np.float32))

#: A DLTensor with an 8-byte DLDataType in a C program of a few lines, as gdb 13.1 prints it.
DUMP = """\
(gdb) x/14xw tensor
0x7fffffffe590:\t0x555592a0\t0x00005555\t0x00000001\t0x00000000
0x7fffffffe5a0:\t0x00000004\t0x00200002\t0x00000001\t0x00000000
0x7fffffffe5b0:\t0xffffe5d0\t0x00007fff\t0x00000000\t0x00000000
0x7fffffffe5c0:\t0x00000000\t0x00000000
"""
LOG = """\
Traceback (most recent call last):
  File "infer.py", line 31, in <module>
    module.run()
  File "tvm/contrib/graph_executor.py", line 208, in run
    self._run()
tvm._ffi.base.TVMError: Traceback (most recent call last):
  1: tvm::runtime::GraphExecutor::Run()
TVMError: Assert fail: (((tir.tvm_struct_get(arg0, 0, 5) == (uint8)2) && \
(tir.tvm_struct_get(arg0, 0, 6) == (uint8)32)) && (tir.tvm_struct_get(arg0, 0, 7) == (uint16)1)), \
arg0.dtype is expected to be float32
[10:15:02] src/runtime/rpc/rpc_endpoint.cc:378: Check failed: pending_request_bytes_ == 0U \
(4 vs. 0) : state=1
"""


def tensor(data: int, *shape: int) -> TensorMeta:
    """A float32 array on the server's CPU."""
    return TensorMeta(data, CPU, FLOAT32, shape, 0)


def talk() -> Iterator[tuple[bytes, bytes | None, float]]:
    """What the client sends, what the server answers, and after how many milliseconds."""

    def call(function: int, *arguments: tuple[str, object]) -> bytes:
        return encode_packet(CLIENT, "CallFunc", arguments, function=function)

    def back(*arguments: tuple[str, object]) -> bytes:
        return encode_packet(SERVER, "Return", arguments)

    void = back(("int", 4), ("null", None))
    names = [("str", "rpc.LocalSession")]
    yield encode_packet(CLIENT, "InitServer", names), back(("null", None)), 0.4
    for name, handle in (("tvm.rpc.server.load_module", LOAD), ("runtime.ModuleGetFunction", GET)):
        asked = encode_packet(CLIENT, "GetGlobalFunc", [("str", name)])
        yield asked, back(("handle", handle)), 0.1
    yield call(LOAD, ("str", "net.tar")), back(("int", 9), ("handle", MODULE)), 38.0
    for name, handle in (("set_input", SET_INPUT), ("run", RUN), ("get_output", OUTPUT)):
        asked = call(GET, ("module", MODULE), ("str", name), ("int", 0))
        yield asked, back(("int", 10), ("handle", handle)), 0.1
    for index in range(3):
        yield call(SET_INPUT, ("str", f"p{index}"), ("int", index)), void, 0.2
    for _ in range(8):
        yield call(RUN), void, 11.5
    found = ("tensor", tensor(0x7F3A_4000_0000, 1, 10))
    yield call(OUTPUT, ("int", 0)), back(("int", 7), found, ("handle", 0x7F3A_4000_1000)), 0.2
    allocated = [("device", CPU), ("int", WEIGHTS.nbytes), ("int", 64), ("dtype", FLOAT32)]
    yield encode_packet(CLIENT, "DevAllocData", allocated), None, 0.0


def streams() -> tuple[bytes, bytes]:
    """Both directions."""
    pairs = list(talk())
    client = handshake("client:rasp") + b"".join(asked for asked, _, _ in pairs)
    server = handshake("server:rasp") + b"".join(back for _, back, _ in pairs if back)
    return client, server


def session() -> bytes:
    """The connection as tcpdump captures it on the loopback device."""
    sides = [Tcp(), Tcp(source=("127.0.0.1", 9090), destination=("127.0.0.1", 40000))]
    at = [1001, 5001]
    found = [(replace(sides[0], sequence=1000, flags=SYN), START)]
    found.append((replace(sides[1], sequence=5000, flags=SYN | ACK), START + 20_000))
    now = START + 60_000

    def send(side: int, payload: bytes) -> None:
        own = replace(sides[side], payload=payload, sequence=at[side], flags=PSH | ACK)
        found.append((own, now))
        at[side] += len(payload)

    send(0, handshake("client:rasp"))
    now += 90_000
    send(1, handshake("server:rasp"))
    for asked, back, late in talk():
        now += 120_000
        send(0, asked)
        now += int(late * 1e6)
        if back is not None:
            send(1, back)
    now += 2_000_000
    found.append((replace(sides[1], sequence=at[1], flags=FIN | ACK), now))
    return pcap([frame(each.ip()) for each, _ in found], times=[time for _, time in found])


def params(layout: str) -> bytes:
    """Three arrays with the dtypes of one layout."""
    out = io.BytesIO()
    arrays = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "weight": WEIGHTS}
    write_params(out, {**arrays, "steps": np.arange(3, dtype=np.int32)}, layout=layout)
    return out.getvalue()


def files() -> Iterable[tuple[str, bytes]]:
    """Name and content of each file."""
    yield "session.pcap", session()
    yield "narrow.params", params("narrow")
    yield "wide.params", params("wide")
    yield "dltensor.txt", DUMP.encode()
    yield "log.txt", LOG.encode()


if __name__ == "__main__":
    samples.changed_dtype.mkdir(parents=True, exist_ok=True)
    for name, content in files():
        (samples.changed_dtype / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes")
