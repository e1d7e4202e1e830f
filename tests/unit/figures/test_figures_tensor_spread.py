"""Signs, indices and histograms beside the colors of a tensor's picture."""

import json
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.spread import PATH, answers
from tests.unit.figures.figure_checks import NAMESPACE, assert_sound, lines_of, root_of, texts
from tests.unit.figures.test_figures_tensor import run_of
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure

RANDOM = np.random.default_rng(21)


#: What the recorded histograms were made of by numpy, not by what draws them.
RECORDED = ("health", "adapted", "spreads")


def golden() -> dict[str, dict[str, Any]]:
    return {each["why"]: each for each in json.loads(PATH.read_text("utf-8"))}


def test_answers_match_the_recorded_ones() -> None:
    found = {each["why"]: each for each in json.loads(json.dumps(answers()))}
    assert found.keys() == golden().keys()
    for why, each in golden().items():
        for name in RECORDED:
            each.pop(name)
        assert found[why] == each, why


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, ml_dtypes.bfloat16])
def test_zeros_have_their_own_bar_and_do_not_flatten_the_histogram(
    tmp_path: Path, dtype: Any
) -> None:
    values = np.maximum(RANDOM.standard_normal((40, 30)), 0).astype(dtype)
    values[0, :4] = np.nan, np.inf, -np.inf, -0.0
    figure = run_of(tmp_path, a=values).figure("tensor")
    assert_sound(figure)
    spread = figure.description["spread"]
    plain = values.astype(np.float64).ravel()
    zeros = int((plain == 0).sum())
    assert spread["slots"] == [
        {"name": "zero", "count": zeros},
        *({"name": name, "count": 1} for name in ("nan", "negInf", "posInf")),
    ]
    edges = [spread["bars"][0]["from"], *(bar["to"] for bar in spread["bars"])]
    rest = plain[np.isfinite(plain) & (plain != 0)]
    expected, _ = np.histogram(rest, edges)
    assert [bar["likely"] for bar in spread["bars"]] == expected.tolist()
    assert spread["top"] == expected.max()
    shown = texts(figure)
    assert {"zero", f"{zeros:,}", "NaN", "+Inf", "−Inf"} <= set(shown)
    assert f"max count: {expected.max()}" in " ".join(shown)
    lines = figure.text.splitlines()
    assert any(re.fullmatch(rf" +zero \|#+> {zeros}", line) for line in lines)
    assert not any(re.fullmatch(rf".*\|#+ {zeros}", line) for line in lines)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array(-7.5e-12, np.float32), "1 value of −7.5e−12"),
        (np.full((4, 5), 0.25, np.float32), "20 values of 0.25"),
        (np.full(3, 7, np.int32), "3 values of 7"),
        (np.full(3, 7, np.int8), "3 values of 7"),
        (np.ones(3, np.bool_), "3 values of True"),
    ],
)
def test_constant_tensor_shows_single_value_without_range(
    tmp_path: Path, values: Any, said: str
) -> None:
    figure = run_of(tmp_path, a=values).figure("tensor")
    assert_sound(figure)
    lines = lines_of(figure)
    caption = next(line for line in lines if line.text == f"histogram: {said}")
    below = [line.text for line in lines if line.y > caption.y and line.x >= caption.x]
    number = said.split(" of ")[1]
    below = [text for text in below if not text.startswith("max count: ")]
    assert below == [number]
    assert [
        line.split("|")[0].strip() for line in figure.text.splitlines() if "|#" in line
    ] == below


def test_integers_and_bools_do_not_mention_nan_or_inf(tmp_path: Path) -> None:
    for dtype in (np.bool_, np.int8, np.uint8, np.int32, np.uint64, ml_dtypes.int4):
        run = run_of(tmp_path, a=np.arange(6).astype(dtype))
        figure = run.figure("tensor")
        for said in (figure.text, " ".join(texts(figure)), figure.svg):
            assert not re.search(r"NaN|Inf", said), dtype
        assert not re.search(r"NaN|Inf", repr(run.tensors[0, 0].statistics())), dtype
    for dtype, said in (
        (np.float32, "0 NaN; 0 +Inf; 0 −Inf; "),
        (ml_dtypes.float8_e4m3fn, "all finite; 0 NaN; 1 zero"),
        (np.complex64, "0 NaN; 0 +Inf; 0 −Inf; "),
    ):
        assert said in run_of(tmp_path, a=np.arange(6).astype(dtype)).figure("tensor").text
    counts = run_of(tmp_path, a=np.arange(6, dtype=np.int8)).figure("tensor").description["counts"]
    assert (counts["nan"], counts["posInf"], counts["negInf"]) == (0, 0, 0)


def test_limits_of_the_type_are_marked(tmp_path: Path) -> None:
    values = np.array([-128, -128, 5, 90, 127], np.int8)
    shown = texts(run_of(tmp_path, a=values).figure("tensor"))
    assert {"2 saturated (−128)", "1 saturated (127)"} <= set(shown)


def test_withheld_tensor_keeps_bins_only_when_allowed() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    view = tvmdbg.TensorInspector(run, entry=(38, 0))
    whole = view.figure().description["spread"]
    bare = view.redacted_figure(Redaction(lambda _: ("they stay here", False))).description
    assert [each["likely"] for each in bare["spread"]["bars"]] == [
        each["likely"] for each in whole["bars"]
    ]
    few = view.redacted_figure(Redaction(lambda _: ("they stay here", True)))
    assert few.description["spread"] is None


CHANCE = np.random.default_rng(22)


def drawn(figure: Figure, **look: str) -> str:
    """The paths of one look, which a group may give them."""
    wanted = {name.replace("_", "-"): value for name, value in look.items()}
    return "".join(
        path.attrib["d"]
        for group in root_of(figure).iter()
        for path in group.iterfind(f"{NAMESPACE}path")
        if wanted.items() <= {**group.attrib, **path.attrib}.items()
    )


def hatching(figure: Figure) -> str:
    return drawn(figure, stroke="#ffffff", fill="none")


def triangles(figure: Figure) -> list[tuple[float, float]]:
    """Middle of each triangle and how far it points down (negative: up)."""
    path = drawn(figure, fill="#000000")
    pattern = r"M([\d.]+) ([\d.]+)l-[\d.]+ ?(-?[\d.]+)h[\d.]+"
    found = re.findall(pattern, path)
    assert len(found) == path.count("M")
    # From the tip to the base.
    return [(float(x), -float(base)) for x, _, base in found]


def cells(special: tuple[int, int, int]) -> np.ndarray[Any, Any]:
    values = CHANCE.standard_normal((8, 6)).astype(np.float32)
    order = CHANCE.permutation(values.size)
    for value, count in zip((np.nan, np.inf, -np.inf), special, strict=True):
        values.flat[order[:count]] = value
        order = order[count:]
    return values


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_non_finite_values_are_marked_in_cells_and_legend(tmp_path: Path, theme: str) -> None:
    plain = run_of(tmp_path, a=cells((0, 0, 0))).figure("tensor", theme=theme)
    assert hatching(plain) == ""
    assert triangles(plain) == []
    # Each of a kind has a sign, and so have its legend and its bar.
    figure = run_of(tmp_path, a=cells((0, 3, 2))).figure("tensor", theme=theme)
    assert_sound(figure)
    assert hatching(figure) == ""
    up = [middle for middle, down in triangles(figure) if down < 0]
    assert (len(up), len(triangles(figure))) == (3 + 2, 3 + 2 + 2 + 2)
    some = run_of(tmp_path, a=cells((1, 0, 0))).figure("tensor", theme=theme)
    more = run_of(tmp_path, a=cells((9, 0, 0))).figure("tensor", theme=theme)
    assert 0 < hatching(some).count("M") < hatching(more).count("M")
    assert triangles(more) == []


def test_nonfinite_values_in_tiny_cells_are_ringed_or_hatched(tmp_path: Path) -> None:
    values = CHANCE.standard_normal((600, 800)).astype(np.float32)
    values[300, 400] = np.nan
    values[:, 600:] = np.inf
    figure = run_of(tmp_path, a=values).figure("tensor")
    assert_sound(figure, 64 * 1024)
    assert drawn(figure, stroke="#e312b4", stroke_width="2").count("M") == 1
    assert 20 < len(triangles(figure)) < 400
    sprinkled = CHANCE.standard_normal((600, 800)).astype(np.float32)
    sprinkled[CHANCE.random(sprinkled.shape) < 1e-3] = np.nan
    figure = run_of(tmp_path, a=sprinkled).figure("tensor")
    assert drawn(figure, stroke="#e312b4", stroke_width="2") == ""


@pytest.mark.parametrize("show", ["heatmap", "channels", "line plot"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_figures_with_many_nonfinite_marks_stay_small(
    tmp_path: Path, show: str, share: float
) -> None:
    values = CHANCE.standard_normal((4, 34, 60)).astype(np.float32)
    kinds = CHANCE.choice([np.nan, np.inf, -np.inf], values.shape).astype(np.float32)
    values = np.where(CHANCE.random(values.shape) < share, kinds, values)
    run = run_of(tmp_path, a=values, line=values.reshape(1, -1), few=values[:1, :1])
    for node in range(3):
        for wide in (720, 1400):
            figure = run.figure("tensor", entry=(node, 0), show=show, width=wide)
            assert_sound(figure, 64 * 1024)
    view = tvmdbg.TensorInspector(run, entry=(0, 0), show=show)
    bundle, _ = view._repr_mimebundle_()
    assert sum(len(str(each).encode()) for each in bundle.values()) <= 100 * 1024


def test_values_outside_color_range_have_chevrons(tmp_path: Path) -> None:
    values = np.array([[-3, -2, 0], [1, 2, 0.5]], np.float32)
    figure = run_of(tmp_path, a=values).figure("tensor", color_range=(-1, 1.5))
    under = drawn(figure, stroke="#ffffff", stroke_width="1.5")
    over = drawn(figure, stroke="#000000", stroke_width="1.5")
    assert (under.count("M"), over.count("M")) == (2 + 1, 1 + 1)


@pytest.mark.parametrize("wide", [300, 480, 720, 1400])
@pytest.mark.parametrize(
    "shape", [(8, 6), (40, 30), (100_000, 3), (3, 1000), (300, 12_000), (2, 2, 2, 3, 2, 3, 40, 30)]
)
def test_axes_have_names_and_indices(tmp_path: Path, wide: int, shape: tuple[int, ...]) -> None:
    run = run_of(tmp_path, a=CHANCE.random(shape, np.float32))
    figure = run.figure("tensor", width=wide)
    assert_sound(figure, 90 * 1024)
    down, across = len(shape) - 2, len(shape) - 1
    shown = texts(figure)
    assert f"axis {across} →" in shown
    assert f"← axis {down}" in shown or shape[down] < 4
    image = next(root_of(figure).iter(f"{NAMESPACE}image")).attrib
    x, y, cell = float(image["x"]), float(image["y"]), float(image["width"]) / shape[across]
    lines = lines_of(figure)
    above = [line for line in lines if y - 16 < line.y + 5.5 < y and line.text.isdigit()]
    assert above
    for line in above:
        middle = line.x + line.width / 2
        assert middle == pytest.approx(x + (int(line.text) + 0.5) * cell, abs=0.5)
    beside = [
        line
        for line in lines
        if line.text.isdigit()
        and line.x + line.width < x
        and line.y > y - 8
        and line.y < y + float(image["height"])
    ]
    tall = float(image["height"]) / shape[down]
    for line in beside:
        assert line.y + 4.8 == pytest.approx(y + (int(line.text) + 0.5) * tall, abs=0.6)
    assert beside


def test_a_region_has_the_indices_of_the_whole(tmp_path: Path) -> None:
    run = run_of(tmp_path, a=CHANCE.random((90, 80), np.float32))
    figure = run.figure("tensor", region=(60, 40, 12, 14))
    image = next(root_of(figure).iter(f"{NAMESPACE}image")).attrib
    left, top = float(image["x"]), float(image["y"])
    numbers = [line for line in lines_of(figure) if line.text.isdigit()]
    rows = [int(line.text) for line in numbers if line.x + line.width < left and line.y > top - 8]
    cols = [int(line.text) for line in numbers if top - 16 < line.y + 5.5 < top]
    assert rows
    assert cols
    assert all(60 <= row < 72 for row in rows)
    assert all(40 <= col < 54 for col in cols)


def test_single_row_is_drawn_above_its_index_axis(tmp_path: Path) -> None:
    values = CHANCE.standard_normal((1, 100_000)).astype(np.float32)
    values[0, [500, 99_990]] = np.nan, np.inf
    figure = run_of(tmp_path, a=values).figure("tensor")
    assert_sound(figure)
    shown = texts(figure)
    assert {"0", "20000", "40000", "60000", "80000", "axis 1 →"} <= set(shown)
    assert {"−2", "2"} <= set(shown)
    few = run_of(tmp_path, a=np.array([3, np.nan, 5], np.float32)).figure("tensor")
    assert hatching(few).count("M") > 0
    assert {"0", "1", "2"} <= set(texts(few))


def test_bar_heights_are_proportional_to_values(tmp_path: Path) -> None:
    values = np.random.default_rng(7).standard_normal(20).astype(np.float32)
    figure = run_of(tmp_path, a=values).figure("tensor")
    accent = "#0b5fd0"
    boxes = r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)"
    stems = np.array(re.findall(boxes, drawn(figure, fill=accent, fill_opacity="0.3")), float)
    image = next(root_of(figure).iter(f"{NAMESPACE}image")).attrib
    each = float(image["width"]) / len(values)
    at = np.round((stems[:, 0] - float(image["x"])) / each).astype(int)
    assert set(np.flatnonzero(np.abs(values) > 0.1)) <= set(at)
    tall = stems[:, 3] > 1  # px; what is smaller is drawn all the same
    scale = (np.abs(values[at]) / stems[:, 3])[tall]
    assert np.allclose(scale, np.median(scale), rtol=0.1)
    assert np.ptp(np.where(values[at] > 0, stems[:, 1] + stems[:, 3], stems[:, 1])) <= 0.2
    assert (stems[:, 1] + stems[:, 3] <= float(image["y"])).all()


def test_a_profile_has_values_and_indices(tmp_path: Path) -> None:
    values = CHANCE.standard_normal((1, 30, 4, 4)).astype(np.float32)
    values[0, 7, 1, 1] = np.nan
    figure = run_of(tmp_path, a=values).figure("tensor", show="line plot")
    assert_sound(figure)
    assert {"0", "10", "20", "−2", "2"} <= set(texts(figure))
    assert hatching(figure).count("M") > 0
    nothing = run_of(tmp_path, a=np.full((3, 4), np.nan, np.float32))
    assert_sound(nothing.figure("tensor", show="line plot"))


def test_channels_with_nan_are_labeled(tmp_path: Path) -> None:
    values = CHANCE.standard_normal((1, 20, 12, 10)).astype(np.float32)
    assert hatching(run_of(tmp_path, a=values).figure("tensor", show="channels")) == ""
    values[0, [3, 11], 5, 5] = np.nan
    figure = run_of(tmp_path, a=values).figure("tensor", show="channels")
    assert_sound(figure)
    assert {"3 NaN", "11 NaN", "4"} <= set(texts(figure))


def test_caption_never_wraps_to_a_lone_digit(tmp_path: Path) -> None:
    for rank in range(3, 9):
        shape = (3,) * (rank - 2) + (20, 20)
        run = run_of(tmp_path, a=CHANCE.random(shape, np.float32))
        for wide in range(300, 900, 60):
            figure = run.figure("tensor", width=wide)
            head = [text for text in texts(figure) if " at 0 of " in text or text.endswith(" of")]
            assert head or rank < 3
            assert not [text for text in texts(figure) if re.fullmatch(r"\d+;|of \d+;?", text)]
            for text in head:
                assert re.search(r" of \d+;?$", text), text
