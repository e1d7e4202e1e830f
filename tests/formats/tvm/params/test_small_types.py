"""Types below one byte, whose lie in memory depends on the release, and the spellings of bool."""

import io

import ml_dtypes
import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tests.unit.findings.findings_dump import Op, graph_json, params
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.model.tensors.array_record import storage_notes
from tvmdbg_widgets.model.tensors.dtypes import DataType

CODE_6, UINT1 = b"\x06\x08\x01\x00", b"\x01\x01\x01\x00"
NIBBLES = np.arange(8, dtype=np.int8).astype(ml_dtypes.int4)
OPS = (Op("x", np.arange(8, dtype=np.float32)), Op("q", NIBBLES, "fused_cast", [(0, 0)]))


def nodes_of_truth(dtype: str) -> bytes:
    truth = np.array([True, False, True, True])
    ops = [
        Op("x", np.arange(4, dtype=np.float32)),
        Op("c", truth, "fused_greater", [(0, 0)]),
        Op("n", ~truth, "fused_logical_not", [(1, 0)]),
    ]
    return graph_json(ops).replace('"bool"', f'"{dtype}"').encode()


TRUTH = params(
    [
        Op("x", np.arange(4, dtype=np.float32)),
        Op("c", np.array([True, False, True, True]), "f"),
        Op("n", np.array([False, True, False, False]), "f"),
    ]
)


def test_debugger_dump_note_mentions_one_byte_per_element() -> None:
    run = tvmdbg.open(params(OPS), graph=graph_json(OPS).encode())
    (note,) = run.tensors[1, 0].notes
    assert "beyond" not in note
    assert "this TVM (up to 0.20) has a byte of memory" in note
    assert "in an order that is not known" in note
    (issue,) = run.check().by_rule("below-one-byte")
    assert note in issue.message


def test_params_file_note_reports_unknown_release() -> None:
    file = io.BytesIO()
    write_params(file, [("w", NIBBLES)])
    (record,) = read_params(file.getvalue()).records
    (note,) = record.notes
    assert "the file does not tell whether TVM <= 0.20 wrote it" in note
    assert "in the first 4 of 8 bytes (the others would be no values)" in note
    assert "in an order that is not known" in note


def test_type_codes_identify_the_release() -> None:
    # 8 is float4 in TVM 0.20 alone, 17 from TVM 0.21 on.
    for dtype, words in (
        (DataType(8, 4), "this TVM (up to 0.20) has a byte of memory"),
        (DataType(17, 4), "the last 4 bytes are memory read beyond the data"),
    ):
        (note,) = storage_notes(dtype, (8,), 8)
        assert words in note


@pytest.mark.parametrize("stored", [CODE_6, UINT1])
@pytest.mark.parametrize("said", ["bool", "uint1"])
def test_bool_and_uint1_are_one_type(stored: bytes, said: str) -> None:
    run = tvmdbg.open(TRUTH.replace(CODE_6, stored), graph=nodes_of_truth(said))
    assert not run.check().by_rule("tensor-disagrees")
    assert not run.tensors[1, 0].notes


def test_runs_with_bool_and_uint1_compare_equal() -> None:
    a, b = (tvmdbg.open(TRUTH, graph=nodes_of_truth(said)) for said in ("bool", "uint1"))
    assert not len(tvmdbg.compare(a, b))
    assert "3 of 3 nodes matched: 3 exact" in repr(a.match(b))


def test_report_with_bool_matches_graph_with_uint1() -> None:
    shapes = ("float32[4], bool[4]", "bool[4], bool[4]")
    calls = ",".join(
        f'{{"Name":{{"string":"{name}"}},"Duration (us)":{{"microseconds":1.0}},"Count":'
        f'{{"count":1}},"Device":{{"string":"cpu0"}},"Argument Shapes":{{"string":"{each}"}}}}'
        for name, each in zip(("fused_greater", "fused_logical_not"), shapes, strict=True)
    )
    report = f'{{"calls":[{calls}],"device_metrics":{{}},"configuration":{{}}}}'
    run = tvmdbg.open(nodes_of_truth("uint1"), report=report.encode())
    assert not run.check().by_rule("report-shapes-disagree")
    assert run.timeline.node(1).mean == 1000
