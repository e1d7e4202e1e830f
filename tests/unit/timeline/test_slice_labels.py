"""What names of slices read where they are drawn."""

from __future__ import annotations

import pytest

from tvmdbg_widgets.model.timeline.timeline import slice_labels

CONV = "tvmgen_default_fused_nn_conv2d_add_nn_relu"


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ([CONV, "kernel_0"], ["conv2d + add + relu", "kernel_0"]),
        ([CONV, f"{CONV}_1"], ["conv2d + add + relu", "conv2d + add + relu_1"]),
        ([f"{CONV}_1", "nn_softmax"], ["conv2d + add + relu", "softmax"]),
        (["nn_relu", "fused_nn_relu"], ["nn_relu", "fused_nn_relu"]),
        (["model.blocks.0.attention", "model.blocks.1.mlp"], ["0.attention", "1.mlp"]),
        (["main.a", "main.b"], ["main.a", "main.b"]),
        (["model.blocks.", "model.blocks.0"], ["model.blocks.", "model.blocks.0"]),
        (["run"], ["run"]),
        ([""], [""]),
        ([], []),
    ],
)
def test_slice_labels_omit_uninformative_parts(names: list[str], read: list[str]) -> None:
    assert slice_labels(names) == read
