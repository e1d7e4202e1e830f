from __future__ import annotations

import copy
import io
import json
import pickle
import warnings
import zipfile
from typing import Any

import numpy as np
import pytest
from executorch_cases import answers, case_dir
from formats.executorch.etrecord_files import RECORDS, members, read, record, record_bytes, zipped

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.executorch.etrecord import is_etrecord, sniff
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.sources import byte_source
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.unpacking import read_directory

EDGE = "edge_dialect_exported_program/forward"
CASE = "06a_demo_generated_ids"
READ = (EDGE, "exported_program", "debug_handle_map", "delegate_map", "reference_outputs")


def told(case: str) -> dict[str, Any]:
    """What ExecuTorch's own reader found in the file; {} where the case has no Inspector."""
    found = answers(case)["inspector"]
    return found.get("etrecord", {}) if isinstance(found, dict) else {}


@pytest.mark.parametrize("case", RECORDS)
def test_handle_and_delegate_maps_match_the_recording(case: str) -> None:
    expected, found = told(case), record(case)
    if not expected:
        expected = {name: json.loads(members(case)[name]) for name in READ[2:4]}
        expected["instruction_id_to_num_outs_map"] = {"forward": {}}
        expected["export_graph_id"] = int(members(case)["export_graph_id"])
    assert found.debug_handle_map == expected["debug_handle_map"]
    assert found.num_outputs == expected["instruction_id_to_num_outs_map"]
    assert found.export_graph_id == expected["export_graph_id"]
    assert found.delegate_map is not None
    calls = {
        method: {
            at: {
                "name": call.name,
                "delegate_map": call.identifiers
                if call.identifiers is None
                else {key: list(handles) for key, handles in call.identifiers.items()},
            }
            for at, call in each.items()
        }
        for method, each in found.delegate_map.items()
    }
    assert calls == {
        method: {
            at: {name: call.get(name) for name in ("name", "delegate_map")}
            for at, call in each.items()
        }
        for method, each in expected["delegate_map"].items()
    }
    assert found.methods == ("forward",)
    assert not found.issues
    assert not found.unread


@pytest.mark.parametrize("case", [case for case in RECORDS if told(case)])
def test_reference_outputs_and_inputs(case: str) -> None:
    expected, found = told(case), record(case)
    with np.load(case_dir(case) / "inspector_tensors.npz") as arrays:

        def same(tensor: Any, item: dict[str, Any]) -> None:
            array = arrays[item["npz"]]
            values = np.asarray(tensor)
            assert values.dtype == array.dtype
            assert values.shape == array.shape
            assert values.tobytes() == array.tobytes()

        assert found.reference_outputs is not None
        assert found.reference_outputs.keys() == expected["reference_outputs"].keys()
        for method, cases in expected["reference_outputs"].items():
            assert len(found.reference_outputs[method]) == len(cases)
            for outputs, items in zip(found.reference_outputs[method], cases, strict=True):
                for tensor, item in zip(outputs, items, strict=True):
                    same(tensor, item)
        assert found.representative_inputs is not None
        pairs = zip(found.representative_inputs, expected["representative_inputs"], strict=True)
        for tensor, item in pairs:
            same(tensor, item)


@pytest.mark.parametrize("case", RECORDS)
def test_members(case: str) -> None:
    found = read_directory(BytesSource(record_bytes(case), "etrecord.bin"))
    assert list(found.members) == [each["name"] for each in answers(case)["etrecord_zip"]]
    for name, member in found.members.items():
        assert member.read() == members(case)[name]


@pytest.mark.parametrize("case", RECORDS)
def test_etrecord_is_recognized_by_content(case: str) -> None:
    data = record_bytes(case)
    assert sniff(data[: 1 << 16])
    assert is_etrecord(BytesSource(data, "x"))


def test_etrecord_is_recognized_with_its_identifier_last() -> None:
    content = dict(members(CASE))
    content["ETRECORD_V0"] = content.pop("ETRECORD_V0")
    data = zipped(content)
    assert sniff(data)
    assert is_etrecord(BytesSource(data, "x"))
    assert read(data).methods == ("forward",)


def test_record_without_identifier_is_recognized_and_refused() -> None:
    data = record_bytes("09n_no_identifier")
    assert is_etrecord(BytesSource(data, "x"))
    with pytest.raises(FormatError, match="ETRECORD_V0"):
        read(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"PK\x03\x04ETRECORD_V0",
        b"ETRECORD_V0" * 9,
        zipped({"run/etrecord.bin": record_bytes(CASE)}),
        zipped({"note": b"ETRECORD_V0"}),
        record_bytes(CASE)[1:],
    ],
)
def test_other_files_are_not_recognized_as_etrecord(data: bytes) -> None:
    assert not sniff(data[: 1 << 16])
    assert not is_etrecord(BytesSource(data, "x"))


def test_missing_identifier_error_has_a_hint() -> None:
    with pytest.raises(FormatError) as problem:
        read(record_bytes("09n_no_identifier"))
    assert "ETRECORD_V0" in str(problem.value.expected)
    assert problem.value.hint


@pytest.mark.parametrize("data", [b"", b"no zip", record_bytes(CASE)[:-30]])
def test_data_without_a_zip_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError) as problem:
        read(data)
    assert problem.value.hint


def test_record_without_content_is_refused() -> None:
    for content in ({}, {"debug_handle_map": b"[]"}, {"x_state_dict": b""}):
        with pytest.raises(FormatError, match="nothing in this ETRecord"):
            read(zipped({"ETRECORD_V0": b"", **content}))


@pytest.mark.spec_only
def test_edge_program_before_1_2_names_no_method() -> None:
    content = {
        name.replace("/forward", "") if name.startswith(EDGE) else name: data
        for name, data in members(CASE).items()
    }
    found = read(zipped(content))
    assert list(found.edge_programs) == ["forward"]
    assert found.edge_programs["forward"].nodes == record(CASE).edge_programs["forward"].nodes
    assert not found.issues


@pytest.mark.spec_only
def test_record_before_1_0_has_no_exported_program() -> None:
    program = json.loads(members(CASE)[EDGE])
    for node in program["graph_module"]["graph"]["nodes"]:
        del node["name"]
    content = {
        "ETRECORD_V0": b"",
        "edge_dialect_exported_program": json.dumps(program).encode(),
        "edge_dialect_exported_program_state_dict": b"",
        "debug_handle_map": members(CASE)["debug_handle_map"],
        "delegate_map": members(CASE)["delegate_map"],
    }
    found = read(zipped(content))
    assert found.exported_program is None
    assert found.num_outputs is None
    assert found.export_graph_id is None
    assert found.edge_programs["forward"].nodes == record(CASE).edge_programs["forward"].nodes
    assert not found.issues


@pytest.mark.spec_only
@pytest.mark.parametrize("name", ["reference_outputs", "representative_inputs"])
def test_pickles_are_not_read(name: str) -> None:
    found = read(zipped({**members(CASE), name: pickle.dumps({"forward": [[1]]})}))
    assert "pickle" in found.unread[name]
    assert getattr(found, name) is None
    assert [issue.rule for issue in found.issues] == ["etrecord-pickle"]


@pytest.mark.spec_only
def test_other_members_are_read_as_programs() -> None:
    program = members(CASE)[EDGE]
    content = {
        **members(CASE),
        "edge_after_transform/forward": program,
        "edge_after_transform/forward_state_dict": b"",
        "et_dialect_graph_module": program,
    }
    found = read(zipped(content))
    assert list(found.graph_map) == ["edge_after_transform/forward", "et_dialect_graph_module"]
    assert not found.issues


@pytest.mark.spec_only
def test_several_methods() -> None:
    found = read(zipped({**members(CASE), EDGE.replace("forward", "encode"): members(CASE)[EDGE]}))
    assert found.methods == ("forward", "encode")


@pytest.mark.spec_only
def test_delegate_identifiers_equal_in_json_are_reported() -> None:
    told = b'{"forward": {"0": {"name": "b", "delegate_map": {"0": [1], "1": [2], "0": [[3], 4]}}}}'
    found = read(zipped({**members(CASE), "delegate_map": told}))
    assert found.delegate_map is not None
    assert found.delegate_map["forward"]["0"].identifiers == {"0": (3, 4), "1": (2,)}
    (issue,) = found.issues
    assert issue.rule == "delegate-identifiers-collide"
    assert "'0'" in issue.message


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b'{"forward": 1}', b'{"a": "\xff"}'])
def test_damaged_member_does_not_affect_the_others(name: str, data: bytes) -> None:
    found = read(zipped({**members(CASE), name: data}))
    assert list(found.unread) == [name]
    (issue,) = found.issues
    assert (issue.rule, issue.severity) == ("etrecord-member-unread", IssueSeverity.ERROR)
    assert name in issue.message
    assert (found.exported_program is None) == (name == "exported_program")


def test_changed_byte_is_detected_by_the_crc() -> None:
    data = bytearray(record_bytes(CASE))
    data[data.index(b"aten.tan.default")] ^= 1
    found = read(bytes(data))
    assert "damaged" in " ".join(found.unread.values())


def test_deflated_members() -> None:
    data = zipped(members(CASE), zipfile.ZIP_DEFLATED)
    assert sniff(data)
    found = read(data)
    assert found.edge_programs["forward"].nodes == record(CASE).edge_programs["forward"].nodes
    assert found.reference_outputs is not None


def test_zip_bombs_are_left_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_source, "SMALL_TEXT", 1 << 20)
    bomb = {**members(CASE), "delegate_map": b" " * (2 << 20), "x": b" " * (2 << 20)}
    found = read(zipped(bomb, zipfile.ZIP_DEFLATED))
    assert list(found.unread) == ["delegate_map", "x"]
    assert list(found.edge_programs) == ["forward"]


def test_members_sharing_bytes_are_refused() -> None:
    file = io.BytesIO(zipped({"ETRECORD_V0": b"", "a": b"x" * 1000}))
    with zipfile.ZipFile(file, "a") as archive:
        info = archive.getinfo("a")
        archive.filelist += [info] * 50
        archive.writestr("b", b"")
    found = read_directory(BytesSource(file.getvalue(), "r"))
    assert "cannot all lie" in str(found.refused["a"])
    assert len(found.twice) == 50


def test_unsafe_names_and_encrypted_members_are_left_unread() -> None:
    file = io.BytesIO(zipped({**members(CASE), "../../out": b"{}", "/etc/passwd": b"{}"}))
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("debug_handle_map", b'{"forward": {"0": 9}}')
    data = bytearray(file.getvalue())
    at = data.rindex(b"export_graph_id") - 46
    data[at + 8] |= 1
    found = read(bytes(data))
    assert list(found.unread) == ["export_graph_id", "../../out", "/etc/passwd"]
    assert "encrypted" in found.unread["export_graph_id"]
    assert found.debug_handle_map == {"forward": {"0": 9}}
    assert [issue.rule for issue in found.issues].count("etrecord-member-twice") == 1


def test_calls_sharing_a_handle_of_many_nodes_are_refused() -> None:
    """Each of many calls names one handle, which is that of many nodes: all of them, each time."""
    held = members("01_mlp_portable")
    name = next(each for each in held if each.startswith("edge_dialect"))
    program = json.loads(held[name])
    nodes = program["graph_module"]["graph"]["nodes"]
    node = next(each for each in nodes if "debug_handle" in each["metadata"])
    count = 700
    for at in range(count):
        other = copy.deepcopy(node)
        other["metadata"] = {"debug_handle": "1"}
        for output in other["outputs"]:
            output["as_tensor"]["name"] = f"n{at}"
        nodes.append(other)
    handles = {"forward": {str(at): [1] for at in range(count)}}
    changed = {name: json.dumps(program).encode(), "debug_handle_map": json.dumps(handles).encode()}
    data = zipped({**held, **changed})
    dump = (case_dir("01_mlp_portable") / "etdump.etdp").read_bytes()
    assert read(data)
    with pytest.raises(FormatError, match=r"debug_handle_map: its parts refer .* nodes for the"):
        tvmdbg.open(data, dump)
