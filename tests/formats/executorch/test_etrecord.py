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
from tests.formats.executorch.case_files import arrays_of
from tvmdbg_widgets.formats.executorch.etrecord import is_etrecord, sniff
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
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


def changed(**content: bytes) -> dict[str, bytes]:
    return {**members(CASE), **content}


def recognized(data: bytes) -> set[bool]:
    return {sniff(data[: 1 << 16]), is_etrecord(BytesSource(data, "x"))}


@pytest.mark.parametrize("case", RECORDS)
def test_members_and_maps_match_the_recording(case: str) -> None:
    expected, found = told(case), record(case)
    if not expected:
        expected = {name: json.loads(members(case)[name]) for name in READ[2:4]}
        expected["instruction_id_to_num_outs_map"] = {"forward": {}}
        expected["export_graph_id"] = int(members(case)["export_graph_id"])
    assert found.debug_handle_map == expected["debug_handle_map"]
    assert found.num_outputs == expected["instruction_id_to_num_outs_map"]
    assert found.export_graph_id == expected["export_graph_id"]
    calls = {
        (method, at): (call.name, call.identifiers)
        for method, each in found.delegate_map.items()
        for at, call in each.items()
    }
    assert calls == {
        (method, at): (
            call.get("name"),
            call.get("delegate_map") and {k: tuple(v) for k, v in call["delegate_map"].items()},
        )
        for method, each in expected["delegate_map"].items()
        for at, call in each.items()
    }
    assert (found.methods, [*found.issues], {**found.unread}) == (("forward",), [], {})
    data = record_bytes(case)
    assert recognized(data) == {True}
    held = read_directory(BytesSource(data, "etrecord.bin")).members
    assert list(held) == [each["name"] for each in answers(case)["etrecord_zip"]]
    assert {name: member.read() for name, member in held.items()} == members(case)


@pytest.mark.parametrize("case", [case for case in RECORDS if told(case)])
def test_reference_outputs_and_inputs(case: str) -> None:
    expected, found = told(case), record(case)

    def same(tensors: Any, items: list[dict[str, Any]]) -> None:
        for tensor, item in zip(tensors, items, strict=True):
            array, values = arrays_of(case)[item["npz"]], np.asarray(tensor)
            assert (values.dtype, values.shape) == (array.dtype, array.shape)
            assert values.tobytes() == array.tobytes()

    assert found.reference_outputs.keys() == expected["reference_outputs"].keys()
    for method, cases in expected["reference_outputs"].items():
        for outputs, items in zip(found.reference_outputs[method], cases, strict=True):
            same(outputs, items)
    same(found.representative_inputs, expected["representative_inputs"])


def test_etrecord_is_recognized_with_its_identifier_last() -> None:
    content = dict(members(CASE))
    content["ETRECORD_V0"] = content.pop("ETRECORD_V0")
    data = zipped(content)
    assert recognized(data) == {True}
    assert read(data).methods == ("forward",)


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
    assert recognized(data) == {False}


def test_other_files_are_refused() -> None:
    bare = record_bytes("09n_no_identifier")
    assert is_etrecord(BytesSource(bare, "x"))
    for data in (bare, b"", b"no zip", record_bytes(CASE)[:-30]):
        with pytest.raises(FormatError) as problem:
            read(data)
        assert problem.value.hint
        assert data is not bare or "ETRECORD_V0" in str(problem.value.expected)
    for content in ({}, {"debug_handle_map": b"[]"}, {"x_state_dict": b""}):
        with pytest.raises(FormatError, match="nothing in this ETRecord"):
            read(zipped({"ETRECORD_V0": b"", **content}))


@pytest.mark.spec_only
def test_records_of_other_releases() -> None:
    program = json.loads(members(CASE)[EDGE])
    for node in program["graph_module"]["graph"]["nodes"]:
        del node["name"]
    edge = EDGE.partition("/")[0]
    before_1_2 = {name.replace(EDGE, edge): data for name, data in members(CASE).items()}
    before_1_0 = {"ETRECORD_V0": b"", edge: json.dumps(program).encode()}
    before_1_0 |= {f"{edge}_state_dict": b""} | {name: members(CASE)[name] for name in READ[2:4]}
    for content in (before_1_2, before_1_0):
        found = read(zipped(content))
        assert list(found.edge_programs) == ["forward"]
        assert found.edge_programs["forward"].nodes == record(CASE).edge_programs["forward"].nodes
        assert not found.issues
    assert (found.exported_program, found.num_outputs, found.export_graph_id) == (None,) * 3


@pytest.mark.spec_only
@pytest.mark.parametrize("name", ["reference_outputs", "representative_inputs"])
def test_pickles_are_not_read(name: str) -> None:
    found = read(zipped(changed(**{name: pickle.dumps({"forward": [[1]]})})))
    assert "pickle" in found.unread[name]
    assert getattr(found, name) is None
    assert [issue.rule for issue in found.issues] == ["etrecord-pickle"]


@pytest.mark.spec_only
def test_other_members_are_read_as_programs() -> None:
    program = members(CASE)[EDGE]
    more = {f"edge_after_transform/forward{end}": program for end in ("", "_state_dict")}
    found = read(zipped(changed(**more, et_dialect_graph_module=program)))
    assert list(found.graph_map) == ["edge_after_transform/forward", "et_dialect_graph_module"]
    assert not found.issues
    found = read(zipped(changed(**{EDGE.replace("forward", "encode"): program})))
    assert found.methods == ("forward", "encode")


@pytest.mark.spec_only
def test_delegate_identifiers_equal_in_json_are_reported() -> None:
    told = b'{"forward": {"0": {"name": "b", "delegate_map": {"0": [1], "1": [2], "0": [[3], 4]}}}}'
    found: Any = read(zipped(changed(delegate_map=told)))
    assert found.delegate_map["forward"]["0"].identifiers == {"0": (3, 4), "1": (2,)}
    (issue,) = found.issues
    assert issue.rule == "delegate-identifiers-collide"
    assert "'0'" in issue.message


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b'{"forward": 1}', b'{"a": "\xff"}'])
def test_damaged_member_does_not_affect_the_others(name: str, data: bytes) -> None:
    found = read(zipped(changed(**{name: data})))
    assert list(found.unread) == [name]
    (issue,) = found.issues
    assert (issue.rule, issue.severity) == ("etrecord-member-unread", IssueSeverity.ERROR)
    assert name in issue.message
    assert (found.exported_program is None) == (name == "exported_program")


def test_changed_bytes_and_members_sharing_bytes_are_refused() -> None:
    data = bytearray(record_bytes(CASE))
    data[data.index(b"aten.tan.default")] ^= 1
    assert "damaged" in " ".join(read(bytes(data)).unread.values())


def test_deflated_members_and_zip_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    def deflated(**more: bytes) -> ETRecord:
        data = zipped(changed(**more), method=zipfile.ZIP_DEFLATED)
        assert sniff(data)
        return read(data)

    found = deflated()
    assert found.edge_programs["forward"].nodes == record(CASE).edge_programs["forward"].nodes
    assert found.reference_outputs is not None
    monkeypatch.setattr(byte_source, "SMALL_TEXT", 1 << 20)
    found = deflated(delegate_map=b" " * (2 << 20), x=b" " * (2 << 20))
    assert (list(found.unread), list(found.edge_programs)) == (["delegate_map", "x"], ["forward"])

    file = io.BytesIO(zipped({"ETRECORD_V0": b"", "a": b"x" * 1000}))
    with zipfile.ZipFile(file, "a") as archive:
        archive.filelist += [archive.getinfo("a")] * 50
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
    data[data.rindex(b"export_graph_id") - 46 + 8] |= 1
    found = read(bytes(data))
    assert list(found.unread) == ["export_graph_id", "../../out", "/etc/passwd"]
    assert "encrypted" in found.unread["export_graph_id"]
    assert found.debug_handle_map == {"forward": {"0": 9}}
    assert [issue.rule for issue in found.issues].count("etrecord-member-twice") == 1


def test_calls_sharing_a_handle_of_many_nodes_are_refused() -> None:
    """Each of many calls names one handle, which is that of many nodes: all of them, each time."""
    held = members("01_mlp_portable")
    program = json.loads(held[EDGE])
    nodes = program["graph_module"]["graph"]["nodes"]
    node = next(each for each in nodes if "debug_handle" in each["metadata"])
    for at in range(700):
        other = copy.deepcopy(node)
        other["metadata"] = {"debug_handle": "1"}
        for output in other["outputs"]:
            output["as_tensor"]["name"] = f"n{at}"
        nodes.append(other)
    handles = json.dumps({"forward": {str(at): [1] for at in range(700)}}).encode()
    data = zipped({**held, EDGE: json.dumps(program).encode(), "debug_handle_map": handles})
    assert read(data)
    with pytest.raises(FormatError, match=r"debug_handle_map: its parts refer .* nodes for the"):
        tvmdbg.open(data, (case_dir("01_mlp_portable") / "etdump.etdp").read_bytes())
