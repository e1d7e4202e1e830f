"""What views are told of a part of a plane, against numpy on the same values."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.widgets import wire
from unit.widgets.test_widgets_answers_tensor import ask, run_of

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.model.base.number_text import number_text

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def check(told: dict[str, Any], buffer: bytes, part: np.ndarray) -> None:
    """Compare an answer with what numpy makes of the values themselves."""
    found = told["statistics"]
    numbers = part.astype(np.float64).ravel()
    finite = numbers[np.isfinite(numbers)]
    assert (found["size"], found["nan"]) == (part.size, np.isnan(numbers).sum())
    assert found["posInf"] == (numbers == np.inf).sum()
    assert (found["negInf"], found["zero"]) == ((numbers == -np.inf).sum(), (numbers == 0).sum())
    if not finite.size:
        assert {found[name]["text"] for name in ("minimum", "maximum", "mean")} == {"none"}
        assert told["histogram"] is None
        assert told["distribution"] is None
        return
    whole = part.ravel()[np.isfinite(numbers)]
    assert found["minimum"]["text"] == number_text(whole[finite.argmin()])
    assert found["maximum"]["text"] == number_text(whole[finite.argmax()])
    assert found["mean"]["value"] == pytest.approx(finite.mean(), rel=1e-12, abs=1e-300)
    counts, edges = told["histogram"]["counts"], told["histogram"]["edges"]
    assert told["histogram"]["exact"]
    if len(edges) == 2:
        edges = np.linspace(*edges, len(counts) + 1)
    np.testing.assert_array_equal(counts, np.histogram(finite, edges)[0])
    spread = wire.unpack(told["distribution"]["columns"], buffer)
    assert spread["count"].sum() == finite.size
    for low, high, count in zip(spread["low"], spread["high"], spread["count"], strict=True):
        assert ((finite >= low) & (finite <= high)).sum() == count


@pytest.mark.parametrize("dtype", [np.float16, np.int8, BFLOAT16, np.float64, np.uint8, np.int64])
def test_region_statistics_match_numpy(dtype: Any) -> None:
    values = np.random.default_rng(1).normal(scale=40, size=(3, 20, 30)).astype(dtype)
    if np.dtype(dtype).kind not in "iu":
        values[1, 4, 5], values[1, 5, 6], values[1, 6, 7] = np.nan, np.inf, -np.inf
    run = run_of(x=values)
    told, buffer = ask(run, "region", axes=[1, 2], index=[1, 0, 0], part=[2, 3, 9, 12])
    check(told, buffer, values[1, 2:11, 3:15])
    turned, buffer = ask(run, "region", axes=[2, 0], index=[0, 7, 0], part=[1, 0, 6, 2])
    check(turned, buffer, values[:2, 7, 1:7].T)


shapes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)


@given(shapes, st.data())
@settings(max_examples=60, deadline=None)
def test_any_region_is_cut_at_the_end_of_its_plane(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    values = np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)
    order = data.draw(st.permutations(range(len(shape))))
    axes = [order[0], order[1]] if len(shape) > 1 else [None, 0]
    index = [data.draw(st.integers(0, size - 1)) for size in shape]
    row, col, rows, cols = part = [data.draw(st.integers(int(i > 1), 12)) for i in range(4)]
    told, buffer = ask(run_of(x=values), "region", axes=axes, index=index, part=part)
    taken = tuple(slice(None) if i in axes else at for i, at in enumerate(index))
    plane = values[taken].reshape(1, -1) if axes[0] is None else values[taken]
    if axes[0] is not None and axes[0] > axes[1]:
        plane = plane.T
    row, col = min(row, plane.shape[0] - 1), min(col, plane.shape[1] - 1)
    check(told, buffer, plane[row : row + rows, col : col + cols])


@pytest.mark.parametrize("name", ["resnet20_cifar_fp16_overflow", "resnet20_cifar_int8"])
def test_regions_of_recorded_tensors(corpus: Path, name: str) -> None:
    run = tvmdbg.open(corpus / "tvm" / name)
    for tensor in run.tensors.values():
        array = np.asarray(tensor)
        if array.ndim != 4 or min(array.shape[2:]) < 6:
            continue
        told, buffer = ask(
            run,
            "region",
            entry=[tensor.node, tensor.output],
            axes=[2, 3],
            index=[0, array.shape[1] - 1, 0, 0],
            part=[1, 2, 4, 3],
        )
        check(told, buffer, array[0, -1, 1:5, 2:5])


def test_a_region_without_values_is_refused() -> None:
    run = run_of(x=np.zeros((4, 4), np.float32), c=np.zeros((4, 4), np.complex64))
    with pytest.raises(ValueError, match="part has no values"):
        ask(run, "region", part=[0, 0, 0, 2])
    with pytest.raises(ValueError, match="part must have 4 items"):
        ask(run, "region", part=[0, 0, 2])


def test_region_of_whole_plane_matches_tensor_statistics() -> None:
    values = np.random.default_rng(2).integers(-20, 20, (64, 64)).astype(np.int32)
    values[5, 7] = 2_000_000_000
    told, buffer = ask(run_of(x=values), "region", part=[0, 0, 64, 64])
    whole, other = ask(run_of(x=values), "statistics", exact=True)
    names = ("robust", "linear", "scale", "crowd", "limits")
    assert {name: told[name] for name in names} == {name: whole[name] for name in names}
    assert told["robust"]["beyond"] == 1
    one, two = (
        wire.unpack(told["distribution"]["columns"], buffer),
        wire.unpack(whole["distribution"]["columns"], other),
    )
    assert all((one[name] == two[name]).all() for name in ("low", "high", "count"))
