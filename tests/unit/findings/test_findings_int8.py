"""Wrong scales in networks of 8 bits, and faults within some channels of an output."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, found, plant
from tests.unit.findings.int8_network import IMAGE, Network
from tvmdbg_widgets.model.findings import Severity
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.run import DebugRun

Values = np.ndarray[Any, Any]
CONV = "fused_nn_conv2d_add_cast_multiply_round_clip_cast"
CHANCE = np.random.default_rng(3)
CHANNELS, RANGE = "narrow-channels", "narrow-range"
LAYOUT = {"data_layout": "NCHW", "out_layout": ""}


def full(low: int = -127, high: int = 127, dtype: str = "int8") -> Values:
    values = CHANCE.normal((low + high) / 2, (high - low) / 8, (1, 8, 8, 8))
    values.flat[:2] = low, high
    return np.clip(values, low, high).astype(dtype)


def network(*outputs: Values, func: str = CONV, image: Values | None = None) -> DebugRun:
    """Four sound convolutions, and one by one what is judged, each of the first's output."""
    data = full() if image is None else image
    ops = [Op("x", data.astype(np.float32)), Op("q", data, "fused_round_clip_cast", [(0, 0)])]
    ops += [Op(f"c{at}", full(), CONV, [(1, 0)]) for at in range(4)]
    ops += [Op(f"n{at}", each, func, [(1, 0)]) for at, each in enumerate(outputs)]
    return plant(*ops)


@pytest.mark.parametrize(
    ("factor", "told"), [(1, False), (2, False), (4, False), (8, True), (16, True), (40, True)]
)
@pytest.mark.parametrize(("low", "high"), [(-127, 127), (0, 127)])
def test_too_large_scale_is_found(factor: int, told: bool, low: int, high: int) -> None:
    findings = found(network(full(low, high) // factor), RANGE)
    assert [each.nodes for each in findings] == ([(6,)] if told else [])
    if told:
        assert findings[0].severity is Severity.WARNING
        assert f": {low // factor} … {high // factor}, " in findings[0].evidence[0]
        assert findings[0].evidence[0].startswith("#6 conv2d + ")


@pytest.mark.parametrize(
    ("values", "func"),
    [
        (full() // 16, "fused_nn_max_pool2d"),
        (full() // 16, "fused_layout_transform"),
        (full() // 16, "fused_nn_softmax_cast"),
        (full() // 16, "fused_multiply_sigmoid_round_cast"),
        (full() // 16, "fused_take"),
        (full() > 0, "fused_greater"),
        ((full() > 0).astype(np.int8), "fused_nn_conv2d_cast"),
        ((full() // 16)[:, :, :1, :1], CONV),  # 8 values
        (full().astype(np.int32) // 16, CONV),  # an accumulator
        (full().astype(np.int64) // 16, CONV),
        (full(0, 127), CONV),  # ReLU leaves the upper half
        (full(-128, 0), CONV),  # and with a zero point, the lower one
        (full(0, 255, "uint8") // 16, "fused_image_resize2d_cast"),  # another type: no peers
        (full(-30, 30), CONV),  # a quarter of the range
    ],
)
def test_sound_outputs_with_narrow_range_are_not_reported(values: Values, func: str) -> None:
    assert not found(network(values, func=func), RANGE)


def test_dark_input_image_is_not_reported_as_wrong_scale() -> None:
    assert not found(network(full() // 16, image=full() // 16), RANGE)


def test_narrow_output_is_reported_only_at_its_origin() -> None:
    narrow = full() // 16
    ops = [Op("x", full().astype(np.float32))]
    ops += [Op(f"c{at}", full(), CONV, [(0, 0)]) for at in range(6)]
    ops += [Op("n", narrow, CONV, [(1, 0)]), Op("after", narrow, CONV, [(7, 0)])]
    (told,) = found(plant(*ops), RANGE)
    assert told.nodes == (7,)


def test_recorded_runs_have_no_scale_findings(corpus: Path) -> None:
    for case in sorted((corpus / "tvm").glob("*/tvmdbg")):
        run = tvmdbg.open(case)
        assert not found(run, RANGE), case
        assert not found(run, CHANNELS), case


def test_wrong_scales_of_real_network_are_found(corpus: Path, tmp_path: Path) -> None:
    real = Network(corpus / "tvm/resnet20_cifar_int8")
    last = next(node for node in range(113, 0, -1) if "conv2d" in real.graph.func_names[node])
    assert (real.computed(last, real.values) == real.values[last]).all()
    for node in (36, last):
        for factor, told in ((2, []), (8, [node]), (16, [node])):
            run = real.with_scale(node, factor, tmp_path / f"{node}_{factor}.params")
            assert [each.nodes[0] for each in found(run, RANGE)] == told
            assert len(found(run, RANGE)) <= 1


def test_wrong_scales_of_some_channels_of_real_network_are_found(
    corpus: Path, tmp_path: Path
) -> None:
    real = Network(corpus / "tvm/resnet20_cifar_int8")
    for node, where in ((14, [3]), (80, [3, 41]), (110, [63])):
        run = real.with_scale(node, 16, tmp_path / f"{node}.params", where)
        (told,) = found(run, CHANNELS)
        assert told.nodes == (node,)
        words = "channel 3 of 16 uses" if node == 14 else "channels 3 and 41 of 64 use"
        assert (words if node != 110 else "channel 63 of 64 uses") in told.title
        assert not found(run, RANGE)


def test_other_input_images_are_not_reported_as_wrong_scales(corpus: Path, tmp_path: Path) -> None:
    real = Network(corpus / "tvm/resnet20_cifar_int8")
    image = real.values[IMAGE]
    noise = np.random.default_rng(3).integers(-127, 128, image.shape)
    for at, each in enumerate((image[..., ::-1], -image, image // 8, noise, image * 0)):
        run = real.with_image(each, tmp_path / f"{at}.params")
        assert not found(run, CHANNELS), at
        assert not found(run, RANGE), at


MULTIPLIERS = np.linspace(0.8, 1.2, 8, dtype=np.float32).reshape(8, 1, 1) / 500


def narrowed(factor: int, where: tuple[int, ...] = (), dtype: str = "int8") -> Values:
    """Values of which some channels use a part of what the others do."""
    values = np.random.default_rng(3).integers(0, 101, (1, 8, 8, 8))
    values[:, :, 0, :2] = 0, 100
    values[:, list(where)] //= factor
    return values.astype(dtype)


def rescaled(*outputs: tuple[Values, Values], peers: int = 3) -> DebugRun:
    """Sound convolutions, and those that are judged, each with the multipliers of its channels."""
    ops = [Op("x", full().astype(np.float32)), Op("q", full(), "fused_round_clip_cast", [(0, 0)])]
    for at, (values, multipliers) in enumerate(((narrowed(1), MULTIPLIERS),) * peers + outputs):
        ops.append(Op(f"m{at}", multipliers))
        ops.append(Op(f"c{at}", values, CONV, [(1, 0), (len(ops) - 1, 0)], LAYOUT))
    return plant(*ops)


def smaller(factor: float, where: tuple[int, ...]) -> Values:
    multipliers = MULTIPLIERS.copy()
    multipliers[list(where)] /= factor
    return multipliers


@pytest.mark.parametrize(
    ("factor", "where", "told"),
    [
        (2, (3,), ""),
        (8, (3,), "cast: channel 3 of 8 uses at most 12.0 %"),
        (8, (0, 7), "cast: channels 0 and 7 of 8 use at most 12.0 %"),
        (16, (1, 2, 6), ""),  # more than some
        (256, (3,), "cast: channel 3 of 8 uses at most 0 %"),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_too_large_scale_of_some_channels_is_found(
    factor: int, where: tuple[int, ...], told: str, dtype: str
) -> None:
    run = rescaled((narrowed(factor, where, dtype), smaller(factor, where)))
    findings = found(run, CHANNELS)
    assert [each.nodes for each in findings] == ([(9,)] if told else [])
    if told:
        assert told in findings[0].title
        assert findings[0].severity is Severity.WARNING
        shares = smaller(factor, where) / np.median(smaller(factor, where))
        most = float(findings[0].title.split()[-6])
        assert most == pytest.approx(100 * shares[list(where)].max(), rel=5e-3)
        assert "multipliers in #8 m3: " in findings[0].evidence[0]


@pytest.mark.parametrize(
    ("values", "multipliers"),
    [
        (narrowed(16, (3,)), MULTIPLIERS),  # by the input
        (narrowed(1), smaller(16, (3,))),  # another scale makes up for it
        (narrowed(16, (3,)) // 8, smaller(16, (3,))),
        (narrowed(16, (3,)), -smaller(16, (3,))),  # no multipliers
        (narrowed(16, (3,)), smaller(16, (3,))[:7]),
        (narrowed(16, (3,)), smaller(16, (3,)).astype(np.int32)),
        (narrowed(16, (3,)).astype(np.int32), smaller(16, (3,))),
        (np.zeros((1, 8, 8, 8), np.int8), smaller(16, (3,))),
        (narrowed(16, (3,))[:, :, :2, :2], smaller(16, (3,))),  # 4 values a channel
    ],
)
def test_sound_channels_are_not_reported(values: Values, multipliers: Values) -> None:
    assert not found(rescaled((values, multipliers)), CHANNELS)


def test_output_with_unreadable_multipliers_is_still_scanned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = rescaled((narrowed(16, (3,)), smaller(16, (3,))))
    numpy = Tensor.numpy

    def refused(tensor: Tensor, *args: Any) -> Any:
        if tensor.name.startswith("m"):
            raise OSError("Input/output error")
        return numpy(tensor, *args)

    monkeypatch.setattr(Tensor, "numpy", refused)
    assert not found(run, CHANNELS)
    assert all(each.statistics().finite for each in run.tensors.values())
    assert not run.health(progress=False).unread


def test_channels_are_compared_with_other_functions() -> None:
    wrong = narrowed(16, (3,)), smaller(16, (3,))
    assert found(rescaled(wrong), CHANNELS)
    assert not found(rescaled(wrong, peers=2), CHANNELS)
    assert not found(rescaled(wrong, (narrowed(1), smaller(12, (5,)))), CHANNELS), "weak filters"
    both = narrowed(64, (3, 6)), smaller(64, (3,)) * smaller(3, (6,)) / MULTIPLIERS
    (told,) = found(rescaled(both, (narrowed(1), smaller(3, (2,)))), CHANNELS)
    assert "channel 3 of 8 uses" in told.title


def channels(values: Values, func: str, where: tuple[int, ...], value: float, **attrs: str) -> Any:
    values = values.copy()
    for channel in where:
        values[:, channel, 1:4] = value
    return plant(Op("x", full()), Op("a", values, func, [(0, 0)], {**LAYOUT, **attrs}))


@pytest.mark.parametrize(
    ("where", "words"),
    [((3,), "all in channel 3 of 8"), ((1, 6), "all in channels 1 and 6 of 8"), ((1, 2, 6), "")],
)
def test_overflow_within_some_channels_names_them(where: tuple[int, ...], words: str) -> None:
    run = channels(full().astype(np.float32), "fused_nn_conv2d_add", where, np.inf)
    title = found(run, "first-nonfinite")[0].title
    assert title.endswith(f"values, {words}" if words else " values")


def test_channels_of_unknown_layout_are_not_named() -> None:
    values = full().astype(np.float32)
    values[:, 2, 0] = np.nan
    run = plant(Op("x", full()), Op("a", values, "fused_nn_softmax", [(0, 0)]))
    assert "channel" not in str(found(run, "first-nonfinite")[0].evidence)


def test_few_saturated_channels_are_named() -> None:
    values = CHANCE.normal(0, 20, (1, 64, 8, 8)).astype(np.int8)
    run = channels(values, CONV, (3, 17), 127)
    (told,) = found(run, "saturated")
    assert told.title.endswith("saturates a third or more of channels 3 and 17 of 64 at 127")
    assert told.evidence[0].endswith("in channels 3 and 17 of 64")
    values[0, 3, 0, :5] = 127
    assert not found(channels(values, CONV, (), 0), "saturated")


def test_timing_notes_rank_below_value_faults() -> None:
    noisy = (1000.0, 9000.0, 1000.0, 8000.0, 1000.0, 9000.0)
    slow_first = (9000.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0)
    mask = np.full((4, 4), -np.inf, np.float32)
    for repeats in (noisy, slow_first):
        ops = [Op("x", full().astype(np.float32))]
        ops += [Op(f"c{at}", full(), CONV, [(0, 0)], ns=repeats) for at in range(4)]
        ops += [Op("n", full() // 16, CONV, [(0, 0)], ns=repeats)]
        ops += [Op("m", mask, "fused_add", [(0, 0)], ns=repeats)]
        rules = [each.rule for each in plant(*ops).findings(progress=False)]
        times = min(rules.index(each) for each in ("noisy-times", "warm-up") if each in rules)
        assert max(rules.index(RANGE), rules.index("first-nonfinite")) < times
