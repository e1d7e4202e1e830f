"""Tuning logs, remote runs and messages of which one size grows, for :mod:`benchmarks.growth`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.rpc import write_sides
from benchmarks.tuning.tuning_logs import write_log
from tests.formats.capture_files import ACK, PSH, SYN, Tcp, frame, pcap
from tvmdbg_widgets.formats.rpc.grammar import grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet, handshake

if TYPE_CHECKING:
    from benchmarks.growing import Write

_FEW = 20
_TARGET = "llvm -keys=cpu -mcpu=core-avx2"
_HARDWARE = [8, 64, 64, 0, 0, 0, 0, 0]
_SPLIT = ["SP", 2, 0, 64, [4, 2], 1]
_OWN = grammar("v0.8")
_CHECK = (
    'File "/home/me/tvm/src/runtime/ndarray.cc", line {}\n'
    "TVMError: Check failed: (to_size == from_size) is false: "
    "TVMArrayCopyFromTo: The size must exactly match\n"
)


def record(key: str = "matmul", steps: Iterable[list[Any]] = (), at: int = 0, **how: Any) -> str:
    """Return the line of a trial as Ansor writes it."""
    task = [f'["{key}", 64, 64, 64]', _TARGET, _HARDWARE, "", 0, []]
    costs = how.get("costs", [1e-3 * (1 + at % 7)])
    result = [costs, how.get("error", 0), 1.5, 1_600_000_000 + at]
    return json.dumps({"i": [task, [[], list(steps)]], "r": result, "v": "v0.6"}) + "\n"


def _lines(make: Callable[[int], Iterable[str]]) -> Write:
    def of_size(folder: Path, size: int) -> None:
        (folder / "log.json").write_text("".join(make(size)))

    return of_size


def _steps(size: int) -> Iterable[str]:
    """A few records of many steps, which split one stage again and again."""
    for at in range(_FEW):
        yield record(steps=[["AN", 2, at % 3, 3], *[_SPLIT] * (size // _FEW)], at=at)


def _stages(folder: Path, size: int) -> None:
    """A DAG of many stages, each of which a step of each record annotates."""
    names = [f"T{i}" for i in range(size)]
    dag = "A = PLACEHOLDER [64, 64]\n"
    for last, name in zip(["A", *names], names, strict=False):
        dag += f"{name}(i, j) = ({last}[i, j] + 1f)\n"
    key = '["matmul", 64, 64, 64]'
    (folder / "dags.json").write_text(json.dumps({key: dag}))
    steps = [["CI", stage] for stage in range(size - 1, 0, -1)]
    (folder / "log.json").write_text("".join(record(steps=steps, at=at) for at in range(3)))


def _console(size: int) -> Iterable[str]:
    for at in range(size):
        yield (
            f"No: {at + 1}\tGFLOPS: 1.50 / 1.50\tresults: MeasureResult(cost:[0.0012], "
            f"error_no:0, all_cost:1.20, Tstamp:{1_600_000_000 + at}.55)\n{'=' * 50}\n"
        )


def _autotvm(size: int) -> Iterable[str]:
    args = [["TENSOR", [1, 3, 224, 224], "float32"], [1, 1], "NCHW", None]
    for at in range(size):
        entity = [["tile_x", "sp", [-1, 1 + at % 9]], ["unroll", "ot", True]]
        config = {"index": at, "code_hash": None, "entity": entity}
        fields = {"input": [_TARGET, "conv2d_nchw.x86", args, {}], "config": config}
        fields |= {"result": [[1e-3], 0, 1.5, 1_600_000_000 + at], "version": 0.2}
        yield json.dumps(fields | {"tvm_version": "0.8.dev0"}) + "\n"


def _packets(folder: Path, size: int) -> None:
    write_sides(folder, size, 100 * size)


def _functions(folder: Path, size: int) -> None:
    """A client that looks many functions up and calls each."""
    asked, answered = [handshake("client:grown")], [handshake("server:grown")]
    for at in range(size // 4):
        asked.append(encode_packet(_OWN, "GetGlobalFunc", [("str", f"tests.function{at}")]))
        answered.append(encode_packet(_OWN, "Return", [("handle", 0x5500 + 16 * at)]))
        asked.append(encode_packet(_OWN, "CallFunc", [("int", at)], function=0x5500 + 16 * at))
        answered.append(encode_packet(_OWN, "Return", [("int", 4), ("null", None)]))
    (folder / "client.bin").write_bytes(b"".join(asked))
    (folder / "server.bin").write_bytes(b"".join(answered))


def _arguments(folder: Path, size: int) -> None:
    """A call of very many arguments."""
    call = encode_packet(_OWN, "CallFunc", [("int", at) for at in range(size)], function=0x5500)
    void = encode_packet(_OWN, "Return", [("int", 4), ("null", None)])
    (folder / "client.bin").write_bytes(handshake("client:grown") + call)
    (folder / "server.bin").write_bytes(handshake("server:grown") + void)


def _capture(lost: int = 0, connections: int = 1) -> Write:
    """A capture of calls, a segment each, of which every so many was lost."""
    call = encode_packet(_OWN, "CallFunc", [("int", 3)], function=0x5500)
    void = encode_packet(_OWN, "Return", [("int", 4), ("null", None)])

    def of_size(folder: Path, size: int) -> None:
        segments = []
        for number in range(max(1, size // 20) if connections > 1 else 1):
            ends = (("10.0.0.1", 2_000 + number), ("10.0.0.2", 9090))
            at = [1, 1]
            heads = (handshake("client:grown"), handshake("server:grown"))
            turns = 4 if connections > 1 else size // 2
            for turn in range(turns):
                first = (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 404\r\n\r\n") if number else heads
                for side, sent in enumerate(first if not turn else (call, void)):
                    begins = {} if turn else {"flags": SYN | ACK * side}
                    own, to = ends[side], ends[1 - side]
                    if begins:
                        segments.append(Tcp(b"", 0, source=own, destination=to, **begins))
                    if not lost or turn % lost != lost - 1:
                        segments.append(Tcp(sent, at[side], PSH | ACK, source=own, destination=to))
                    at[side] += len(sent)
        (folder / "run.pcap").write_bytes(pcap(frame(each.ip()) for each in segments))

    return of_size


def _message(make: Callable[[int], Iterable[str]]) -> Write:
    def of_size(folder: Path, size: int) -> None:
        (folder / "message.txt").write_text("".join(make(size)))

    return of_size


def _stack(size: int) -> Iterable[str]:
    """One message with a long stack behind it."""
    yield "Traceback (most recent call last):\n"
    for at in range(size, 0, -1):
        yield f"  {at}: tvm::runtime::PackedFunc::Call{at}(tvm::runtime::TVMArgs, int)\n"
    yield _CHECK.format(127)


LOGS: dict[str, Write] = {
    "tuning tasks": _lines(lambda n: (record(f"task{i}", [_SPLIT], i) for i in range(n))),
    "tuning records": _lines(
        lambda n: (record(steps=[["SP", 2, 0, 64, [1 + i % 64, 1 + i], 1]], at=i) for i in range(n))
    ),
    "records of two tunings": lambda folder, n: write_log(folder / "log.json", n),
    "records of AutoTVM": _lines(_autotvm),
    "steps of a record": _lines(_steps),
    "stages of a DAG": _stages,
    "measured costs of a record": _lines(
        lambda n: (record(at=i, costs=[1e-3] * (n // _FEW)) for i in range(_FEW))
    ),
    "failed records": _lines(
        lambda n: (record(at=i, error=1 + i % 8, costs=[1e10]) for i in range(n))
    ),
    "refused lines of a log": _lines(
        lambda n: [record(), *(record(at=i)[: 20 + i % 90] + "\n" for i in range(n))]
    ),
    "trials of a tuner's output": _lines(_console),
    "packets": _packets,
    "remote functions": _functions,
    "arguments of a call": _arguments,
    "segments of a capture": _capture(),
    "lost segments of a capture": _capture(lost=5),
    "connections of a capture": _capture(connections=2),
    "messages": _message(lambda n: (_CHECK.format(i) for i in range(n))),
    "lines of a message's stack": _message(_stack),
    "lines of a log": _message(
        lambda n: [*(f"[{i}] INFO a line of a log: {i}\n" for i in range(n)), _CHECK.format(1)]
    ),
}
