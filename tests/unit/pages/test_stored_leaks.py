"""A page given on carries no value of a parameter and no folder of the machine."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tests.make.params import write_params
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.export.page.options import PathEraser
from tvmdbg_widgets.export.page.stored_page import store
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.run import DebugRun

RANDOM = np.random.default_rng(11)
PLANTED: dict[str, np.ndarray[Any, Any]] = {
    "w_single": RANDOM.standard_normal((8, 16)).astype(np.float32),
    "w_double": RANDOM.standard_normal((6, 9)),
    "w_half": RANDOM.standard_normal((16, 16)).astype(np.float16),
    "w_byte": RANDOM.integers(-128, 127, (32, 16), dtype=np.int8),
    "w_long": RANDOM.integers(-(2**62), 2**62, 40),
    "few": RANDOM.standard_normal(7).astype(np.float32),
    "one": RANDOM.standard_normal(()),
}
NAMES = ["data", *PLANTED]
FOLDER = "customers-project-x"  # a folder name
SHARES = ["statistics", "pictures", "tensors"]


def planted(folder: Path, *, told: bool) -> DebugRun:
    """A dump with a parameter of each type, one that only a params file tells, and derived ones."""
    folder = folder / FOLDER / "deep" / "dump"
    folder.mkdir(parents=True)
    nodes = [{**null(each), "attrs": {}} for each in NAMES]
    nodes += [operator("reshape", "reshape", [1]), operator("fused", "fused", [*range(8)])]
    values = {"data": np.arange(12, dtype=np.float32), **PLANTED}
    values["reshape"] = PLANTED["w_single"].reshape(-1)
    values["fused"] = np.linspace(0, 1, 50, dtype=np.float32)
    dtypes = [str(each.dtype) for each in values.values()]
    graph = document(nodes, shapes=[each.shape for each in values.values()], dtypes=dtypes)
    (folder / "graph.json").write_text(json.dumps(graph))
    keys = {
        f"{name}____topo-index:{i}____output-num:0": each
        for i, (name, each) in enumerate(values.items())
    }
    write_params(folder / "output_tensors.params", keys)
    if told:
        write_params(folder / "model.params", PLANTED)
    return tvmdbg.open(folder)


def decoded(data: bytes) -> list[bytes]:
    """Everything in a page's data as it is, and as it is after each step of reading it."""
    assert data[:8] == b"TVMDBGP1"
    (length,) = struct.unpack_from("<I", data, 8)
    head, body = json.loads(data[16 : 16 + length]), data[16 + length :]
    found = [data, json.dumps(head, ensure_ascii=False).encode()]
    for result, *places in head["replies"].values():
        for at, size in places:
            buffer = bytearray(body[at : at + size])
            if "width" in result:
                items = np.frombuffer(bytes(buffer), np.uint8).reshape(result["width"], -1)
                found.append(items.T.tobytes())
                continue
            if "columns" not in result:
                found.append(bytes(buffer))
                continue
            for each in result["columns"]:
                if each["kind"] == "strings":
                    restore(buffer, "i4", each["codes"], each["length"])
                    restore(buffer, "i4", each["offsets"], each["unique"] + 1)
                else:
                    restore(buffer, each["kind"], each["offset"], each["length"])
            columns = wire.unpack(result["columns"], bytes(buffer))
            arrays = [each for each in columns.values() if not isinstance(each, list)]
            found += [bytes(buffer), *(np.asarray(each).tobytes() for each in arrays)]
    return found


def restore(buffer: bytearray, kind: str, offset: int, length: int) -> None:
    width = {"u1": 1, "i4": 4, "f4": 4, "u2": 2, "u4": 4, "f8": 8}[kind]
    part = np.frombuffer(bytes(buffer[offset : offset + length * width]), np.uint8)
    items = part.reshape(width, length).T.tobytes()
    if kind == "i4":
        items = np.cumsum(np.frombuffer(items, "<i4"), dtype=np.int32).astype("<i4").tobytes()
    buffer[offset : offset + length * width] = items


def windows(data: bytes) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """All eight bytes in a row."""
    usable = [data[start : start + (len(data) - start) // 8 * 8] for start in range(8)]
    parts = [np.frombuffer(each, np.uint64) for each in usable if each]
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *parts]))


def leaks(data: bytes) -> list[str]:
    """Parameters of which something is in the data that no statistic tells."""
    parts = decoded(data)
    there = np.unique(np.concatenate([windows(each) for each in parts]))
    text = b"\n".join(parts)
    found = []
    for name, array in PLANTED.items():
        told = [array.min(), array.max()] if array.size >= 32 else []
        rest = [each for each in array.ravel() if each not in told]
        allowed = windows(b"".join(np.float64(each).tobytes() + each.tobytes() for each in told))
        forms = [array, array.astype(np.float32)]
        forms += [np.asarray(rest).astype(np.float64)]
        for each in forms:
            mine = windows(each.tobytes())
            if each.dtype.itemsize == 8:
                mine = np.unique(np.ascontiguousarray(each).view(np.uint64))
            if np.setdiff1d(np.intersect1d(mine, there), allowed).size and not whole(each):
                found.append(f"{name} as {each.dtype}")
        texts = [number_text(each) for each in rest if len(number_text(each)) > 6]
        found += [f"{name} as text" for each in texts if each.encode() in text]
    return found


def whole(array: np.ndarray[Any, Any]) -> bool:
    """Small whole numbers as float64: any count of anything looks like them."""
    return bool(
        array.dtype == np.float64
        and (array == np.round(array)).all()
        and np.abs(array).max() < 1000
    )


@pytest.mark.parametrize("told", [True, False], ids=["told", "guessed"])
@pytest.mark.parametrize("share", SHARES)
def test_no_value_of_a_parameter_is_in_the_data(tmp_path: Path, share: Any, *, told: bool) -> None:
    run = planted(tmp_path, told=told)
    stored = store(run.facts, budget=5_000_000, share=share)
    assert leaks(stored.data) == []
    assert any("parameter" in each for each in stored.left_out)
    assert leaks(store(run.facts, budget=5_000_000, share=share, tensors=False).data) == []


@pytest.mark.parametrize("share", ["pictures", "tensors"])
def test_leak_check_detects_requested_parameter_values(tmp_path: Path, share: Any) -> None:
    stored = store(
        planted(tmp_path, told=True).facts, budget=5_000_000, share=share, parameters=True
    )
    found = {each.partition(" as ")[0] for each in leaks(stored.data)}
    assert found >= {"w_single", "w_half", "w_byte", "few"}
    assert not any("parameter values" in each for each in stored.left_out)


def test_params_file_without_graph_leaks_no_parameter_values(tmp_path: Path) -> None:
    write_params(tmp_path / "model.params", PLANTED)
    for share in SHARES:
        stored = store(tvmdbg.open(tmp_path / "model.params").facts, budget=5_000_000, share=share)
        assert leaks(stored.data) == []


@pytest.mark.parametrize("share", SHARES)
def test_stored_data_contains_no_local_folder_names(tmp_path: Path, share: Any) -> None:
    run = planted(tmp_path, told=True)
    folder = tmp_path / FOLDER / "deep" / "dump"
    one = tvmdbg.open([folder / "graph.json", folder / "output_tensors.params"])
    for each in (run, one):
        text = b"\n".join(decoded(store(each.facts, budget=5_000_000, share=share).data))
        assert b"output_tensors.params" in text
        for name in (FOLDER, "deep", *tmp_path.parts[1:]):
            assert name.encode() not in text, name


def test_texts_of_columns_lose_folders_too(tmp_path: Path) -> None:
    eraser = PathEraser(planted(tmp_path, told=True))
    values = StringColumn.from_strings([f"{tmp_path / FOLDER}/model.py", "7", str(tmp_path)])
    columns = {"attrOffsets": np.arange(4, dtype=np.int32), "attrValues": values}
    headers, buffer = pack(columns)
    reply = eraser.reply(Reply({"columns": headers, "info": str(tmp_path)}, (buffer,)))
    found = wire.unpack(reply.result["columns"], reply.buffers[0])
    assert (list(found["attrValues"]), reply.result["info"]) == (["model.py", "7", "…"], "…")
    assert found["attrOffsets"].tolist() == [0, 1, 2, 3]
