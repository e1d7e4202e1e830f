"""Figures of tensors: each choice changes the picture as it says, and true to numpy."""

import base64
import io
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tests.unit.figures.color_scale import OVER, SPECIAL, UNDER, ColorScale, channels
from tests.unit.figures.figure_checks import assert_sound, drawn, texts
from tests.unit.findings.findings_dump import Op, plant
from tvmdbg_widgets import engine as host
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.messages import SAMPLE
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures import choose
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.pictures import picture
from tvmdbg_widgets.model.statistics.contrast import BINS, linear_zone
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.run import DebugRun

RANDOM = np.random.default_rng(4)


def run_of(tmp_path: Path, **arrays: np.ndarray[Any, Any]) -> DebugRun:
    write_params(tmp_path / "some.params", arrays)
    return tvmdbg.open(tmp_path / "some.params")


def pixels(figure: Figure, at: int = 0) -> np.ndarray[Any, Any]:
    """RGB of the cells of an image in a figure, ``uint8 [rows, cols, 3]``."""
    image = pytest.importorskip("PIL.Image")
    data = re.findall(r'href="data:image/png;base64,([^"]+)"', figure.svg)[at]
    return np.asarray(image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def colors(values: np.ndarray[Any, Any], scale: ColorScale) -> np.ndarray[Any, Any]:
    flat = [channels(scale.color(float(share))) for share in scale.share(values).ravel()]
    return np.array(flat, np.uint8).reshape(*values.shape, 3)


def test_colors_match_the_values(tmp_path: Path) -> None:
    array = RANDOM.standard_normal((12, 9)).astype(np.float32)
    run = run_of(tmp_path, a=array)
    low, high = float(array.min()), float(array.max())
    spread = run.tensors["a"].statistics(BINS).distribution
    zone = linear_zone(spread, zeros=0)
    for name in ("linear", "symlog"):
        figure = run.figure("tensor", color_scale=name, color_map="sequential")
        assert_sound(figure)
        scale = ColorScale.of(low, high, name, "sequential", linear=zone)
        assert (pixels(figure) == colors(array, scale)).all()


def test_values_outside_color_range_have_separate_colors(tmp_path: Path) -> None:
    array = np.linspace(-2, 2, 60, dtype=np.float32).reshape(6, 10)
    array[0, 0] = np.nan
    run = run_of(tmp_path, a=array)
    figure = run.figure("tensor", color_range=(-0.5, 1.0))
    found = pixels(figure)
    below, above = array < -0.5, array > 1.0
    assert (found[below] == channels(UNDER)).all()
    assert (found[above] == channels(OVER)).all()
    assert (found[0, 0] == channels(SPECIAL["nan"])).all()
    inside = ~below & ~above & ~np.isnan(array)
    assert not (found[inside] == channels(UNDER)).all(1).any()
    shown = " ".join(texts(figure))
    assert "below −0.5 (" in shown
    assert "above 1 (" in shown
    assert "below" not in " ".join(texts(run.figure("tensor")))


def test_robust_range_excludes_outliers(tmp_path: Path) -> None:
    array = RANDOM.standard_normal((50, 40)).astype(np.float32)
    array[0, :2] = -90, 80
    figure = run_of(tmp_path, a=array).figure("tensor", color_range="robust")
    assert (pixels(figure)[0, :2] == [channels(UNDER), channels(OVER)]).all()
    assert "below" in " ".join(texts(figure))


def test_log_scale_marks_zero_and_negative_values_as_below_range(tmp_path: Path) -> None:
    array = np.array([[-1, 0, 1e-9, 1e-3], [1, 10, 100, 1000]], np.float32)
    figure = run_of(tmp_path, a=array).figure("tensor", color_scale="log")
    assert_sound(figure)
    found = pixels(figure)
    assert (found[0, :3] == channels(UNDER)).all()
    assert (found[1, 3] == channels(ColorScale.of(0, 1000, "log").color(1))).all()
    assert "including zero and negative" in " ".join(texts(figure))
    negative = run_of(tmp_path, a=-np.ones((2, 2), np.float32) - np.eye(2, dtype=np.float32))
    assert "no positive values, so not log" in " ".join(
        texts(negative.figure("tensor", color_scale="log", width=900))
    )


def test_a_region_is_a_part_of_the_whole_picture(tmp_path: Path) -> None:
    array = RANDOM.standard_normal((30, 40)).astype(np.float32)
    run = run_of(tmp_path, a=array)
    whole, part = run.figure("tensor"), run.figure("tensor", region=(5, 7, 11, 13))
    assert (pixels(part) == pixels(whole)[5:16, 7:20]).all()
    assert part.description["region"] == [5, 7, 11, 13]
    assert "rows 5 to 15, columns 7 to 19" in " ".join(texts(part))
    assert run.figure("tensor", region=(0, 0, 99, 99)).description["region"] is None
    assert run.figure("tensor", region=(28, 38, 9, 9)).description["region"] == [28, 38, 2, 2]


def test_packed_layout_is_unfolded_and_named(tmp_path: Path) -> None:
    logical = RANDOM.standard_normal((1, 16, 12, 10)).astype(np.float32)
    packed = logical.reshape(1, 2, 8, 12, 10).transpose(0, 1, 3, 4, 2).copy()
    run = run_of(tmp_path, packed=packed)
    figure = run.figure("tensor", data_layout="NCHW8c", index=[0, 11, 0, 0])
    assert_sound(figure)
    scale = ColorScale.of(float(packed.min()), float(packed.max()))
    assert (pixels(figure) == colors(logical[0, 11], scale)).all()
    shown = " ".join(texts(figure))
    assert "rows: H (12), columns: W (10); C at 11 of 16" in shown
    assert "layout NCHW8c (custom)" in shown
    assert run.figure("tensor", data_layout="").description["layout"] == ""
    misfit = run.figure("tensor", data_layout="NCHW4c")
    assert misfit.description["layout"] == ""
    assert "axes as stored: " in " ".join(texts(misfit))
    with pytest.raises(ValueError, match="not a layout"):
        run.figure("tensor", data_layout="8c?")


def test_channels_are_drawn_as_separate_pictures(tmp_path: Path) -> None:
    array = RANDOM.standard_normal((1, 6, 8, 8)).astype(np.float32)
    figure = run_of(tmp_path, a=array).figure("tensor", show="channels")
    assert_sound(figure)
    scale = ColorScale.of(float(array.min()), float(array.max()))
    for channel in range(6):
        assert (pixels(figure, channel) == colors(array[0, channel], scale)).all()
    assert "channels along axis 1 (6)" in " ".join(texts(figure))
    flat = run_of(tmp_path, a=array[0, 0]).figure("tensor", show="channels")
    assert (pixels(flat) == colors(array[0, 0], ColorScale.of(*ends(array[0, 0])))).all()


def ends(array: np.ndarray[Any, Any]) -> tuple[float, float]:
    return float(array.min()), float(array.max())


def test_profile_names_its_axis(tmp_path: Path) -> None:
    array = RANDOM.standard_normal((3, 7, 4, 5)).astype(np.float32)
    array[0, 3, 0, 0] = np.inf
    figure = run_of(tmp_path, a=array).figure("tensor", show="line plot")
    assert_sound(figure)
    assert "<image" not in figure.svg
    assert "along axis 1 (7), over all other axes" in " ".join(texts(figure))


@pytest.mark.parametrize("show", ["heatmap", "channels", "line plot"])
@pytest.mark.parametrize("width", [300, 480, 720, 1400])
def test_every_show_mode_is_legible(tmp_path: Path, show: str, width: int) -> None:
    arrays = {
        "scalar": np.float32(3),
        "vector": np.arange(300, dtype=np.int8),
        "wide": RANDOM.standard_normal((2, 900)).astype(np.float16),
        "many": RANDOM.standard_normal((1, 100, 3, 3)).astype(np.float32),
        "five": RANDOM.integers(0, 9, (2, 3, 4, 5, 6)),
        "nothing": np.zeros((0, 4), np.float32),
        "complex": np.ones((3, 4), np.complex64),
        "nan": np.full((3, 3, 3), np.nan, np.float32),
    }
    run = run_of(tmp_path, **{name: np.asarray(each) for name, each in arrays.items()})
    for node in range(len(arrays)):
        options = {"show": show, "color_scale": "log", "color_range": "robust"}
        assert_sound(run.figure("tensor", entry=(node, 0), width=width, **options))


def test_integers_at_type_limits_are_reported_as_saturated(tmp_path: Path) -> None:
    array = RANDOM.integers(-128, 128, 1000).astype(np.int8)
    array[:300] = 127
    figure = run_of(tmp_path, a=array).figure("tensor")
    assert figure.description["verdict"] == "saturated"
    count = int((array == 127).sum() + (array == -128).sum())
    assert f"{count} at −128 or 127" in " ".join(texts(figure))


def test_picture_of_a_huge_plane_is_sampled_and_marked(tmp_path: Path) -> None:
    figure = run_of(tmp_path, a=np.ones((8200, 8200), np.int8)).figure("tensor")
    shown = " ".join(texts(figure))
    assert "sampled values" in shown
    assert "values, sampled" in shown
    assert figure.description["exact"] is True
    assert figure.description["counts"]["size"] == 8200**2
    histogram = figure.description["histogram"]
    assert len(histogram["edges"]) == len(histogram["counts"]) + 1


class _Limited(Answers):
    """Answers that take every tensor for a huge one."""

    def answer(self, message: object) -> Reply:
        assert isinstance(message, dict)
        reply = super().answer(message)
        return replace(reply, result={**reply.result, "nbytes": 1 << 30})


def test_values_of_a_huge_tensor_are_sampled_until_they_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = RANDOM.standard_normal((3000, 3000)).astype(np.float32)
    run = run_of(tmp_path, a=array)
    monkeypatch.setattr(choose, "Answers", _Limited)
    figure = run.figure("tensor")
    assert f"all finite in a sample of {SAMPLE:,}" in " ".join(texts(figure))
    assert figure.description["exact"] is False
    run.findings(progress=False)
    after = run.figure("tensor")
    assert after.description["exact"] is True
    assert after.description["statistics"]["minimum"] == str(array.min())


@pytest.mark.parametrize("show", ["heatmap", "channels", "line plot"])
def test_withheld_values_are_not_drawn(show: str) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    view = tvmdbg.TensorInspector(run, entry=(38, 0), show=show)
    bare = view.redacted_figure(Redaction(lambda _: ("its values stay here", False)))
    for part in ("<image", "across", "along"):
        assert part not in bare.svg
    assert bare.description["percentiles"] == []
    assert "its values stay here" in bare.text
    few = view.redacted_figure(Redaction(lambda _: ("its values stay here", True)))
    assert few.description["statistics"]["minimum"] == "none"
    assert few.description["counts"]["atLowest"] is None
    assert "its values stay here" not in view.figure().text


def test_data_sizes_hide_padding_in_picture_and_text(tmp_path: Path) -> None:
    packed = RANDOM.standard_normal((1, 2, 4, 5, 8)).astype(np.float32)
    logical = packed.transpose(0, 1, 4, 2, 3).reshape(1, 16, 4, 5)[:, :3]
    run = run_of(tmp_path, a=packed)
    options = {"data_layout": "NCHW8c", "data_sizes": {"C": 3}}
    figure = run.figure("tensor", show="channels", **options)
    assert_sound(figure)
    scale = ColorScale.of(*ends(packed))
    assert figure.svg.count("<image") == 3
    for channel in range(3):
        assert (pixels(figure, channel) == colors(logical[0, channel], scale)).all()
    assert "channels along C (3)" in " ".join(texts(figure))
    told = figure.description
    assert (told["sizes"], told["view_shape"], told["along"]) == ({"C": 3}, [1, 3, 4, 5], 1)
    whole = run.figure("tensor", data_layout="NCHW8c", data_sizes={}).description
    assert (whole["sizes"], whole["view_shape"]) == ({}, [1, 16, 4, 5])
    large = run.figure("tensor", data_layout="NCHW8c", data_sizes={"C": 17})
    assert "axes as stored: size 17 of C, of which 16 are stored" in " ".join(texts(large))
    with pytest.raises(ValueError, match="D is not an axis of NCHW8c"):
        run.figure("tensor", data_layout="NCHW8c", data_sizes={"D": 3})
    with pytest.raises(ValueError, match="upper-case letter"):
        run.figure("tensor", data_sizes={"c": 3})


def test_known_axis_sizes_are_kept_unless_overridden() -> None:
    packed = np.arange(1, 73, dtype=np.float32).reshape(1, 2, 3, 3, 4)
    attrs = {"src_layout": "NCHW", "dst_layout": "NCHW4c"}
    x = Op("x", np.zeros((1, 6, 3, 3), np.float32))
    run = plant(x, Op("t", packed, "fused_layout_transform", [(0, 0)], attrs))
    for layout in (None, "NCHW4c"):
        for sizes, count in ((None, 6), ({}, 8), ({"C": 5}, 5), ({"Z": 1}, 8)):
            if layout and sizes == {"Z": 1}:
                continue
            options = {"entry": (1, 0), "data_layout": layout, "data_sizes": sizes}
            told = run.figure("tensor", **options).description
            assert told["view_shape"] == [1, count, 3, 3], options


@pytest.mark.parametrize("cells", ["mean", "least", "largest", "extreme"])
def test_cells_show_the_number_that_was_asked_for(tmp_path: Path, cells: str) -> None:
    blocks = RANDOM.standard_normal((30, 20, 30, 20)).astype(np.float32)
    run = run_of(tmp_path, a=blocks.reshape(600, 600))
    figure = run.figure("tensor", cells=cells, width=400)
    assert_sound(figure, 64 * 1024)
    shown = picture(run.tensors[0, 0].values(), Plane((600, 600), (0, 1), (0, 0)), *side(figure))
    least, most = shown.minimum, shown.maximum
    expected = {
        "mean": shown.mean,
        "least": least,
        "largest": most,
        "extreme": np.where(-least > most, least, most),
    }[cells]
    scale = ColorScale.of(*ends(blocks))
    assert (pixels(figure) == colors(expected.reshape(side(figure)), scale)).all()
    named = {"mean": "mean", "least": "min", "largest": "max", "extreme": "max abs"}[cells]
    assert f"each cell: {named} of " in " ".join(texts(figure))
    assert figure.description["cells"] == cells


def side(figure: Figure) -> tuple[int, int]:
    rows, cols = pixels(figure).shape[:2]
    return rows, cols


def test_channels_and_line_plot_use_requested_axis(tmp_path: Path) -> None:
    run = run_of(tmp_path, a=RANDOM.standard_normal((5, 3, 9, 8)).astype(np.float32))
    for show, along, found in [
        *(("line plot", None, 1), ("line plot", 3, 3), ("line plot", 7, 1), ("channels", None, 1)),
        *(("channels", 0, 0), ("channels", 3, 1), ("heatmap", 0, None)),
    ]:
        figure = run.figure("tensor", show=show, along=along)
        assert figure.description["along"] == found
        said = {"line plot": "along axis", "channels": "channels along axis"}.get(show, "")
        assert not said or f"{said} {found} (" in " ".join(texts(figure))
    flat = run_of(tmp_path, a=np.zeros((4, 4), np.float32))
    assert "no axis is left for channels" in " ".join(texts(flat.figure("tensor", show="channels")))
    with pytest.raises(ValueError, match="along: expected at least 0, found -1"):
        run.figure("tensor", along=-1)


def test_missing_tensor_is_named(tmp_path: Path) -> None:
    run = run_of(tmp_path, a=np.zeros(3, np.float32))
    figure = drawn(run.facts, "tensor", entry=(7, 1))
    assert figure.description["missing"] == "This run has no tensor for node 7, output 1."
    assert figure.text.endswith(figure.description["missing"])
    empty = run_of(tmp_path).figure("tensor")
    assert empty.description["missing"] == "This run's params file has no tensors."
    without = DebugRun(replace(run.parts, tensors=None)).figure("tensor", entry=(0, 0))
    assert without.description["missing"].startswith("This run has no tensors. ")


def test_numbers_of_numpy_are_options(tmp_path: Path) -> None:
    run = run_of(tmp_path, a=np.zeros((3, 4), np.float32))
    ends = np.array([0, 1, 2, 3])
    options = {"axes": ends[1::-1], "index": ends[:2], "region": ends[[0, 0, 2, 2]]}
    told = run.figure("tensor", color_range=(np.float32(-1), ends[1]), **options).description
    assert (told["axes"], told["region"], told["color_range"]) == ([1, 0], [0, 0, 2, 2], [-1, 1])


def test_text_shows_counts_without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    monkeypatch.setattr(host, "_threads", threading.local())
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    told = drawn(run.facts, "tensor", entry=(38, 0)).text
    assert "#38" in told
    assert "59 +Inf" in told
    assert "pip install quickjs-ng" in told
    redacted = drawn(
        run.facts, "tensor", entry=(38, 0), redaction=Redaction(lambda _: ("Not shown.", True))
    ).text
    assert "Not shown." in redacted
    assert "59" not in redacted
