"""A minute of hard inputs; ``python -m tests.make.fuzz`` takes as many as asked."""

import mmap
import os
import signal
import time
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz import running
from tests.make.fuzz.containers import container
from tests.make.fuzz.files import Files
from tests.make.fuzz.flatbuffers import etdump, program
from tests.make.fuzz.inputs import WAYS, Inputs
from tests.make.fuzz.packets import session
from tests.make.fuzz.running import Outcome, fuzz, try_input
from tests.make.fuzz.seeds import seeds
from tests.make.fuzz.sizes import attack
from tests.make.fuzz.tensors import record
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.sources.byte_source import BytesSource

SECONDS = 60


@cache
def inputs() -> Inputs:
    return Inputs(seeds(corpus=False))


@pytest.mark.slow
def test_fuzzing_finds_no_fault() -> None:
    """Other inputs every day; a fault names its number, which shows it again."""
    day = int(time.time()) // 86_400
    found = fuzz(10**9, first=day * 10**6, seconds=SECONDS, jobs=os.cpu_count())
    assert list(map(str, found.faults)) == []
    assert found.opened
    assert found.used


def test_every_opener_has_a_seed() -> None:
    """Also without the corpus; test_hostile.py asks for a seed of every format."""
    assert {each.opener for each in inputs().files} >= {"open_rpc", "explain", "LLVM IR"}


def test_inputs_are_reproducible() -> None:
    again = Inputs(inputs().files)
    for number in (*range(60), 2**40):
        assert inputs()[number] == again[number]


def test_generated_inputs_are_sometimes_valid() -> None:
    """A kit that makes noise finds nothing: some of each kind are what they say."""
    random = Random(3)
    dumps = [etdump(random) for _ in range(20)]
    few = [_read(read_etdump, BytesSource(data)) for data in dumps if len(data) < 600]
    assert any(few)
    assert any(_read(read_program, BytesSource(program(random))) for _ in range(20))
    sides = [each for each in _many(session, 15) if "streams" in each.kind and each.size < 2_000]
    logs = [_read(each.read, list(each.contents.values())) for each in sides]
    assert any(isinstance(log, tvmdbg.RpcLog) for log in logs)
    found = [_read(each.read, list(each.contents.values())) for each in _many(record, 6)]
    records = [run.parts.executorch.record for run in found if run is not None]
    assert any("reference_outputs" not in each.unread for each in records)


def _many(make: Callable[[Random], Files], count: int) -> list[Files]:
    random = Random(5)
    return [make(random) for _ in range(count)]


def _read(ask: Callable[[Any], Any], given: Any) -> Any:
    """Return what is read, None where it is refused."""
    try:
        return ask(given)
    except tvmdbg.FormatError:
        return None


def test_container_packs_one_file_in_a_small_archive() -> None:
    made = [container([b"a log\n"], Random(number)) for number in (1, 2, 4)]
    assert all(len(each.contents) == 1 for each in made)
    assert min(each.size for each in made) < 100_000


@pytest.mark.parametrize("data", [b'{"a": [1, "text", {}]}', b"PK\3\4" + bytes(60), b"a 1\nb 2\n"])
def test_attack_makes_varied_inputs(data: bytes) -> None:
    made = {attack(data, Random(number)) for number in range(60)}
    assert len(made) > 5


#: New pages, at once: a process that has freed much takes memory without growing.
POPULATED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE


@pytest.mark.parametrize(
    ("does", "told"),
    [
        (lambda: [None for _ in iter(int, 1) if _], "TooSlowError"),
        (lambda: mmap.mmap(-1, 16 << 20, flags=POPULATED).close(), "TooLargeError"),
        (lambda: {}["key"], "KeyError"),
    ],
)
def test_faults_are_recorded(
    monkeypatch: pytest.MonkeyPatch, does: Callable[[], object], told: str
) -> None:
    before = signal.signal(signal.SIGPROF, running._too_slow)
    monkeypatch.setattr(running, "SECONDS", 0.1)
    monkeypatch.setattr(running, "MEMORY_MB", 1)
    monkeypatch.setattr(running, "_end_after", lambda _seconds: None)
    monkeypatch.setattr(Files, "read", lambda *_: does())
    try:
        outcome = Outcome()
        try_input(1, {1: Files("text", {"a": b"x"})}, outcome)
    finally:
        signal.signal(signal.SIGPROF, before)
    (fault,) = outcome.faults
    assert fault.kind.startswith(told)
    assert sum(WAYS.values()) == 100
