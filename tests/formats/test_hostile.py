"""Damaged files of every format: FormatError, or what is readable is shown; never anything else.

Seeds are those of the fuzzer. A format without a seed fails here, so that a new one is attacked
at once. What one damage must give, that format's own tests say.
"""

import gzip
import json
import tracemalloc
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

import pytest
from hypothesis import settings

import tvmdbg_widgets as tvmdbg
from tests.counted_source import CountedSource
from tests.executorch_cases import FOLDER
from tests.formats.capture_files import conversation, enhanced_packet, frame, interface, section
from tests.formats.damages import damages, inflated
from tests.formats.executorch import delegate_payloads, etrecord_files, test_torch_file
from tests.formats.executorch.test_delegate_families import (
    VULKAN_CALLS,
    VULKAN_VALUES,
    vulkan_payload,
)
from tests.formats.executorch.test_program import of_v06
from tests.formats.tvm.graph_truth import mutate, valid
from tests.formats.tvm.test_exported_library import blob
from tests.formats.tvm.test_graph_symbol import SYMBOL
from tests.make.fuzz.files import tarred, zipped
from tests.make.fuzz.seeds import DATA, seeds
from tests.make.fuzz.using import check_message, use_opened
from tvmdbg_widgets.formats.executorch.exported_program import read_program as read_exported
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.formats.executorch.torch_file import read_torch_file
from tvmdbg_widgets.formats.families import FAMILIES, KINDS
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource

#: A name that no page may take for HTML.
NAME = '<img src=x onerror=alert(1)>&".bin'
#: Bytes of a typical seed: large enough for each section, and small enough to be read often.
TYPICAL = 1_200
#: Bytes that may be read, and allocated, for each byte of a file, and for any file.
READ_A_BYTE, READ_ALWAYS = 60, 1 << 18
TAKEN_A_BYTE, TAKEN_ALWAYS = 60, 4 << 20
#: `make test` damages every fifth byte of those that `make test-all` does.
STEP = 5 if settings().max_examples < 1000 else 1
#: Formats whose rows before a cut are kept; files of all others are refused where they are cut.
KEEP_ROWS = {
    *("table of ExecuTorch's Inspector", "params file", "execution trace", "profiling report"),
    *("VM profiler's table", "Chrome trace", "network capture", "RPC stream", "tuning log"),
    *("printed table of node times", "output of a tuning", "file of DAG texts"),
    *("library with a graph", "pcapng", "tar", "gzip", "zip", "pickle of torch"),
}
Read = Callable[[ByteSource], Any]


@cache
def sound_files() -> dict[str, bytes]:
    """Return a file of each format that opens."""
    found: dict[str, bytes] = {}
    own = [each for each in seeds(corpus=False) if each.opener == "open"]
    for each in sorted(own, key=lambda each: abs(each.size - TYPICAL)):
        content, *more = each.contents.values()
        if not more and each.kind not in found and is_read(content):
            found[each.kind] = content
    return found


def is_read(data: bytes, read: Read = tvmdbg.open) -> bool:
    """Return whether a file is read and used, or is refused by name; all else is raised."""
    source = CountedSource(data, NAME)
    try:
        found = read(source)
    except tvmdbg.FormatError as problem:
        check_message(str(problem))
        if read is tvmdbg.open and not problem.problem.startswith("nothing of"):
            assert NAME in problem.file  # noqa: PT017 (a file that is read is as good)
        return False
    finally:
        assert source.taken <= READ_ALWAYS + READ_A_BYTE * len(data), "read again and again"
    use_opened(found)
    return True


def faults(what: str, seed: bytes, read: Read = tvmdbg.open) -> list[str]:
    """Return what went wrong, a line for each damage."""
    wrong = [] if is_read(seed, read) else ["the seed is refused"]
    for at, (damage, data) in enumerate(damages(seed)):
        if at % STEP and "byte" in damage:
            continue
        try:
            if is_read(data, read) and damage.startswith("cut") and what not in KEEP_ROWS:
                wrong.append(f"{damage}: is read")
        except Exception as problem:  # noqa: BLE001 (each kind is a fault)
            wrong.append(f"{damage}: {problem!r:.300}")
    return wrong


def allocated(seed: bytes, read: Read = tvmdbg.open) -> list[str]:
    """Return where an integer made a reader take more memory than files of such a size need."""
    wrong = []
    for damage, data in islice(inflated(seed), 0, 12, STEP):
        tracemalloc.start()
        try:
            is_read(data, read)
            peak = tracemalloc.get_traced_memory()[1]
            if peak > TAKEN_ALWAYS + TAKEN_A_BYTE * len(data):
                wrong.append(f"{damage}: {peak:,} bytes")
        except Exception as problem:  # noqa: BLE001 (each kind is a fault)
            wrong.append(f"{damage}: {problem!r:.300}")
        finally:
            tracemalloc.stop()
    return wrong


@pytest.mark.parametrize("what", [kind.what for kind in KINDS])
def test_damaged_files_are_read_or_refused_by_name(what: str) -> None:
    assert not faults(what, sound_files()[what])


@pytest.mark.parametrize("what", [kind.what for kind in KINDS])
def test_huge_integers_take_no_memory(what: str) -> None:
    assert not allocated(sound_files()[what])


@pytest.mark.parametrize(
    "what", [kind.what for family in FAMILIES[1:4] for kind in family.kinds if kind.part != "graph"]
)
def test_damaged_file_does_not_hide_the_others(what: str) -> None:
    graph = next(tvmdbg.samples.resnet20_cifar.rglob("*graph_dump.json")).read_bytes()
    for damage, data in [*damages(sound_files()[what])][::23]:
        run = tvmdbg.open(graph, BytesSource(data, NAME))
        assert run.graph is not None, damage
        assert "<img" not in run.check()._repr_html_()
        if not is_read(data):
            assert any(NAME in f"{each.file} {each.message}" for each in run.check()), damage


def test_unknown_data_is_refused() -> None:
    for piece in (b"", b'"', b"{", b'\\"', b'{"', b"{ ", b"[", b"\0", b" \n", b"\xff"):
        assert not is_read(b" " + piece * 40_000)


def _whole(read: Callable[[bytes], Any]) -> Read:
    return lambda source: read(source.read(0, source.size))


def _beside_raw(source: ByteSource) -> Graph:
    return read_graph(source, read_graph(BytesSource(RAW, "raw")))


def _members(source: ByteSource) -> Any:
    """Open an archive; what is wrong with a member has the member's name."""
    return tvmdbg.open(source)


def _in_record(name: str) -> tuple[bytes, Read]:
    def read(data: bytes) -> Any:
        record = etrecord_files.read(etrecord_files.zipped({**RECORD, name: data}))
        if name in record.unread:
            raise tvmdbg.FormatError("a member is damaged", file=NAME)

    return RECORD[name], _whole(read)


def _payload() -> bytes:
    source = BytesSource((DATA / "xnnpack_inside/conv_relu/model.pte").read_bytes())
    return source.read(*read_program(source).plans[0].delegates[0].payload)


def _pcapng() -> bytes:
    segments = conversation([b"abc", b"de"], [b"fgh"])
    packets = [enhanced_packet(frame(each.ip()), at) for at, each in enumerate(segments)]
    return section() + interface() + b"".join(packets)


RAW = json.dumps(valid()).encode()
RECORD = etrecord_files.members("06a_demo_generated_ids")
EDGE = "edge_dialect_exported_program/forward"
DUMP = {"graph.json": RAW, "note.txt": b"a log\n"}
#: What lies in other files, and other forms of a format: a sound one, and its reader.
INSIDE: dict[str, tuple[bytes, Read]] = {
    "graph as a string": (json.dumps(RAW.decode()).encode(), _beside_raw),
    "mutated graph": (json.dumps(mutate(valid())).encode(), _beside_raw),
    "commented graph": ((DATA / "graph/commented.json").read_bytes().rstrip(), _beside_raw),
    "graph of NNVM": ((DATA / "graph/nnvm.json").read_bytes().rstrip(), _beside_raw),
    "symbol": (json.dumps(SYMBOL).encode(), read_graph),
    "library with a graph": (b"\x7fELF" + bytes(60) + blob(), tvmdbg.open),
    "payload of XNNPACK": (_payload(), _whole(delegate_payloads.read)),
    "payload of Vulkan": (
        vulkan_payload(VULKAN_CALLS, VULKAN_VALUES),
        _whole(lambda data: delegate_payloads.read(data, vulkan=True)),
    ),
    "program with jumps": ((FOLDER / "pte/zoo_cond.pte").read_bytes(), tvmdbg.open),
    "named data of 0.6": (of_v06(), tvmdbg.open),
    "exported program": (RECORD[EDGE], _whole(lambda data: read_exported(data, EDGE, "edge"))),
    "tensors of torch": (RECORD["reference_outputs"], read_torch_file),
    "pickle of torch": (
        test_torch_file.tensor((3, 4), (4, 1)) + test_torch_file.tensor((2,), (1,)) + b"\x86",
        _whole(lambda data: test_torch_file.read(test_torch_file.saved(data))),
    ),
    **{name: _in_record(name) for name in ("debug_handle_map", "delegate_map")},
    "pcapng": (_pcapng(), tvmdbg.open),
    "tar": (tarred(DUMP, "w"), _members),
    "zip": (zipped(DUMP), _members),
    "gzip": (gzip.compress(RAW, mtime=0), tvmdbg.open),
}


@pytest.mark.parametrize("what", INSIDE)
def test_damaged_embedded_files_are_read_or_refused(what: str) -> None:
    assert not faults(what, *INSIDE[what])


@pytest.mark.parametrize("what", INSIDE)
def test_huge_integers_in_embedded_files_take_no_memory(what: str) -> None:
    assert not allocated(*INSIDE[what])
