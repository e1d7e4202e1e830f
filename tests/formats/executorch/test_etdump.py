"""ETDump files, against what flatc reads of them with ExecuTorch's own schema."""

from typing import Any

import pytest

from tests.executorch_cases import CASES, answers, case_dir
from tests.formats.executorch.case_files import dump_of
from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, text
from tvmdbg_widgets.formats.executorch.etdump import read_etdump, sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, ETDump, EventKind, ValueType
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME
from tvmdbg_widgets.sources.byte_source import BytesSource

READ_BY_FLATC = tuple(
    name for name in CASES if "__error__" not in answers(name)["etdump_raw_flatc_json"]
)

SMALL = (case_dir("06a_demo_generated_ids") / "etdump.etdp").read_bytes()


@pytest.mark.parametrize("name", READ_BY_FLATC)
def test_every_field_matches_flatc(name: str) -> None:
    dump, told = dump_of(name, strict=True), answers(name)["etdump_raw_flatc_json"]
    assert dump.version == told.get("version", 0)
    runs = told.get("run_data") or []
    assert dump.num_runs == len(runs)
    for run, expected in enumerate(runs):
        own = dump.run_names[run], dump.bundled_input_index[run], dump.has_events[run]
        has_events = expected.get("events") is not None
        assert own == (expected.get("name"), expected["bundled_input_index"], has_events)
        events = [expected_event(each) for each in expected.get("events") or []]
        assert [event_of(dump, at) for at in dump.events_of(run)] == events


def event_of(dump: ETDump, at: int) -> dict[str, Any]:
    kind = EventKind(dump.kind[at])
    if kind is EventKind.ALLOCATION:
        return {"kind": kind}
    value = dump.values.get(at)
    return {
        "kind": kind,
        "name": dump.names[at],
        "chain": int(dump.chain_index[at]),
        "instruction": int(dump.instruction_id[at]),
        "int": int(dump.delegate_id_int[at]),
        "str": dump.delegate_id_str[at],
        "times": (int(dump.start[at]), int(dump.end[at])),
        "metadata": dump.metadata.get(at, b""),
        "value": None if value is None else (ValueType(value.type), value.value, value.output),
    }


def expected_event(told: dict[str, Any]) -> dict[str, Any]:
    if told.get("allocation_event"):
        return {"kind": EventKind.ALLOCATION}
    kind = EventKind.PROFILE if told.get("profile_event") else EventKind.DEBUG
    each = told.get("profile_event") or told["debug_event"]
    chain = each["chain_index"]
    return {
        "kind": kind,
        "name": each.get("name", ""),
        "chain": chain - 2**64 if chain >= 2**63 else chain,
        "instruction": each["instruction_id"],
        "int": each["delegate_debug_id_int"],
        "str": each.get("delegate_debug_id_str", ""),
        "times": (each.get("start_time", 0), each.get("end_time", 0)),
        "metadata": bytes(each.get("delegate_debug_metadata") or b""),
        "value": expected_value(each.get("debug_entry")),
    }


def expected_value(told: dict[str, Any] | None) -> Any:
    if told is None:
        return None
    kind = ValueType[told["val"].upper().replace("TENSORLIST", "TENSOR_LIST")]
    held: Any = None
    if kind is ValueType.TENSOR:
        held = expected_tensor(told["tensor"])
    elif kind is ValueType.TENSOR_LIST:
        held = tuple(expected_tensor(each) for each in told["tensor_list"]["tensors"])
    elif kind not in (ValueType.NULL, ValueType.STRING):
        word = kind.name.lower()
        held = told[f"{word}_value"][f"{word}_val"]
        # flatc writes some 12 digits of a double: 1e-300 as 0.
        held = pytest.approx(held, abs=1e-9) if isinstance(held, float) else held
    output = told.get("output")
    return kind, held, None if output is None else output["bool_val"]


def expected_tensor(told: dict[str, Any]) -> DebugTensor:
    number = next(at for at, (name, _) in RUNTIME.items() if name == told["scalar_type"])
    sizes, strides = tuple(told.get("sizes") or ()), tuple(told.get("strides") or ())
    return DebugTensor(number, sizes, strides, told["offset"])


def test_a_double_is_exact() -> None:
    values = dump_of("09a_all_values").values.values()
    assert 1e-300 in [value.value for value in values if value.type == ValueType.DOUBLE]


def test_etdump_that_flatc_refuses_is_refused() -> None:
    for name in set(CASES) - set(READ_BY_FLATC):
        with pytest.raises(FormatError, match=r"etdump\.etdp"):
            dump_of(name, strict=True)
    with pytest.raises(FormatError, match="float16 or bfloat16"):
        dump_of("17a_half_debug")


def test_size_prefix_is_optional() -> None:
    bare = read_etdump(BytesSource(SMALL[4:]))
    assert (sniff(SMALL), sniff(SMALL[4:])) == (True, True)
    assert list(bare.names) == list(dump_of("06a_demo_generated_ids").names)
    assert read_etdump(BytesSource(SMALL + b"\1" * 9)).num_events == bare.num_events


def test_events_before_the_damage_are_kept() -> None:
    whole = bytearray((case_dir("01_mlp_portable") / "etdump.etdp").read_bytes())
    at = whole.index(b"native_call_addmm.out", whole.index(b"native_call_addmm.out") + 1)
    whole[at] = 0xFF
    dump, sound = read_etdump(BytesSource(whole, "broken.etdp")), dump_of("01_mlp_portable")
    assert 0 < dump.num_events < sound.num_events
    kept = int(dump.run_offsets[1])
    assert list(dump.names)[:kept] == list(sound.names)[:kept]
    (issue,) = dump.issues
    assert ("run 1" in issue.message, "UTF-8" in issue.message) == (True, True)
    with pytest.raises(FormatError, match=r"at byte \d+"):
        read_etdump(BytesSource(whole), strict=True)


def test_a_damaged_name_leaves_the_others() -> None:
    runs = Things([Table({0: text(name)}) for name in (b"Default", b"\xff", b"Execute")])
    dump = read_etdump(BytesSource(file(Table({1: runs}), b"ED00")))
    assert dump.run_names == ("Default", None, "Execute")
    assert "the name of run 1 cannot be read" in dump.issues[0].message


def test_runs_sharing_damaged_events_are_refused_at_once() -> None:
    """Each run leads to the same events, of which the last is damaged: all are refused at once."""
    times: dict[int, bytes | Thing] = {6: number("Q", 1), 7: number("Q", 2)}
    sound = [Table({0: Table({0: text("OPERATOR_CALL")} | times)}) for _ in range(500)]
    events = Things([*sound, Table({})])

    def dump(runs: int) -> BytesSource:
        each = Things([Table({0: text("forward"), 3: events}) for _ in range(runs)])
        return BytesSource(file(Table({1: each}), b"ED00"))

    assert read_etdump(dump(1)).num_events == 500
    with pytest.raises(FormatError, match="decoded to find the damage"):
        read_etdump(dump(200))
