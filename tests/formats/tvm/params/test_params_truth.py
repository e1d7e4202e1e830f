"""Every tensor of every recorded dump, against what TVM itself read from it."""

import json
from pathlib import Path

import numpy as np
import pytest
from formats.tvm.params.params_truth import Dump, dumps, sha256

from tvmdbg_widgets.formats.tvm.params.file import load_params, read_params
from tvmdbg_widgets.formats.tvm.params.record import parse_key
from tvmdbg_widgets.model.tensors.tensors import ArrayRecord, Tensor


def numbers_of(record: ArrayRecord, truth: dict) -> np.ndarray:
    """Values as TVM's numpy shows them (bfloat16 as uint16), in float64."""
    values = record.raw().view(np.uint16) if truth["dtype"] == "bfloat16" else record.numpy()
    return values.astype(np.float64).reshape(-1)


def check_damaged(record: ArrayRecord, truth: dict, arrays: dict[str, np.ndarray]) -> None:
    """TVM left values out of the file: what is there is the start of what there was."""
    assert record.notes
    assert not record.complete
    whole = arrays[truth["npz_key"]].tobytes()
    assert record.raw().tobytes() == whole[: record.nbytes]
    assert record.view_shape == (record.nbytes // record.dtype.itemsize,)


def check(record: ArrayRecord, truth: dict) -> None:
    assert record.nbytes == truth["nbytes"]
    assert sha256(record.raw()) == truth["sha256"]
    assert record.view_shape == tuple(truth["shape"])
    values = numbers_of(record, truth)
    assert values.size == truth["size"]
    assert np.isnan(values).sum() == truth["nan"]
    assert np.isinf(values).sum() == truth["inf"]
    np.testing.assert_array_equal(values[:5], np.array(truth["head"], np.float64)[:5])
    if truth["dtype"] != "bfloat16":
        check_statistics(record, truth)


def check_statistics(record: ArrayRecord, truth: dict) -> None:
    found = Tensor(record, 0, 0, name="t").statistics()
    assert (found.nan, found.pos_inf + found.neg_inf) == (truth["nan"], truth["inf"])
    if truth.get("min") is not None:
        assert (float(found.minimum), float(found.maximum)) == (truth["min"], truth["max"])
        assert found.mean == pytest.approx(truth["mean"], rel=1e-12, abs=1e-12)


def matching(record: ArrayRecord, truths: list[dict]) -> dict:
    if len(truths) == 1:
        return truths[0]
    found = [truth for truth in truths if truth["sha256"] == sha256(record.raw())]
    assert found, f"{record.key}: bytes are those of none of {len(truths)} nodes of that name"
    return found[0]


def test_tensors_match_tvm(corpus: Path) -> None:
    compared = damaged = 0
    for dump in dumps(corpus):
        file = read_params(dump.params)
        assert not file.truncated
        arrays = dump.npz()
        for position, record in enumerate(file.records):
            truth = matching(record, dump.truths(position, record.key))
            assert record.dtype.name == truth["dtype"], (dump.name, record.key)
            assert record.shape == tuple(truth["shape"])
            if record.nbytes != truth["nbytes"]:
                check_damaged(record, truth, arrays)
                damaged += 1
                continue
            check(record, truth)
            if truth.get("npz_key") in arrays:
                expected = arrays[truth["npz_key"]]
                assert record.raw().tobytes() == expected.tobytes()
                if truth["dtype"] != "bfloat16":
                    assert record.numpy().dtype == expected.dtype
            compared += 1
    assert compared > 1000
    assert damaged == 2  # the bools of v0.6, the float32x4 of v0.19


def test_all_tensors_are_read(corpus: Path) -> None:
    for dump in dumps(corpus):
        found, expected = len(read_params(dump.params).records), len(dump.index)
        lost = {"odd_names": 1} if dump.folder.parent.name == "v0.8" else {}
        assert found == expected - lost.get(dump.name, 0), dump.folder


def test_keys_name_the_entries_of_the_index(corpus: Path) -> None:
    for dump in dumps(corpus):
        for position, record in enumerate(read_params(dump.params).records):
            key = parse_key(record.key)
            item = f"{key.name}|output {key.output}|order {position}"
            if key.style == "v0.9":
                item = f"{key.name}____topo-index:{key.node}____output-num:{key.output}"
            elif key.style == "v0.8":
                nodes = {i.rsplit("|node ", 1)[0] for i in dump.index}
                assert key.name in nodes
                continue
            assert item in dump.index


def parameters_of(dump: Dump) -> Path | None:
    path = dump.folder / "params.params"
    return path if path.is_file() else None


def test_parameters_match_the_dump(corpus: Path) -> None:
    files = 0
    for dump in dumps(corpus):
        path = parameters_of(dump)
        if path is None:
            continue
        files += 1
        dumped = {parse_key(r.key).name: r for r in read_params(dump.params).records}
        for name, array in load_params(path).items():
            truth = matching(dumped[name], dump.truths(-1, dumped[name].key))
            assert sha256(array) == truth["sha256"]
            # The int8 case was saved with scalars as arrays of one element.
            assert array.shape == (tuple(truth["shape"]) or array.shape)
            assert array.size == truth["size"]
    assert files >= 6


def test_relax_parameters_equal_the_saved_arrays(corpus: Path) -> None:
    files = sorted(corpus.glob("relax/*/params/params.bin"))
    assert files
    for path in files:
        loaded = load_params(path)
        with np.load(path.with_name("params.npz")) as expected:
            assert sorted(loaded) == sorted(expected)
            for name, array in loaded.items():
                assert array.dtype == expected[name].dtype
                assert array.shape == expected[name].shape
                assert array.tobytes() == expected[name].tobytes()


def test_odd_types_match_their_headers(corpus: Path) -> None:
    folder = corpus / "tvm/edge_cases/v0.19/params_zoo"
    odd = json.loads((folder / "meta.json").read_text())["odd"]
    spelled = {"e4m3_float8": "float8_e4m3fn", "e5m2_float8": "float8_e5m2", "handle64": "handle"}
    for name, told in odd.items():
        path = folder / f"odd_{name}.params"
        if "dtype" not in told:
            assert not path.exists()
            continue
        assert path.stat().st_size == told["bytes"]
        (record,) = read_params(path, float8="legacy").records
        assert record.dtype.name == spelled.get(told["dtype"], told["dtype"])
        assert record.shape == tuple(told["shape"])
        assert record.notes or record.dtype.is_bool
        assert record.numpy().size == int(np.prod(record.view_shape))
