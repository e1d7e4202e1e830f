"""A recorded ResNet-20 in int8, computed again with one scale changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tvmdbg_widgets.run import DebugRun

Values = np.ndarray[Any, Any]
#: The node that quantises the picture.
IMAGE = 2


class Network:
    """The run of ``resnet20_cifar_int8``; ``with_scale`` makes another one of it."""

    def __init__(self, case: Path) -> None:
        run = tvmdbg.open(case)
        self.graph = run.graph
        self._json = (case / "graph.json").read_bytes()
        self.values = [run.tensors[node, 0].numpy() for node in range(run.graph.num_nodes)]
        self._reads = [[read.node for read in node.inputs] for node in run.graph.nodes]

    def with_scale(
        self, node: int, factor: float, file: Path, channels: Sequence[int] | None = None
    ) -> DebugRun:
        """Open the dump of the run in which the scale of one convolution is larger.

        What follows it was told nothing of it. All its channels, or only some.
        """
        values = list(self.values)
        multiplier = self._reads[node][3]
        scales = values[multiplier].copy()
        scales[slice(None) if channels is None else list(channels)] /= factor
        values[multiplier] = scales
        return self._opened(values, node, file)

    def with_image(self, image: Values, file: Path) -> DebugRun:
        """Open the dump of the run with another picture, quantised."""
        values = list(self.values)
        values[IMAGE] = np.ascontiguousarray(image, np.int8)
        return self._opened(values, IMAGE + 1, file)

    def _opened(self, values: list[Values], first: int, file: Path) -> DebugRun:
        """Open the dump in which all from a node on is computed again."""
        for each in range(first, self.graph.num_nodes):
            if self.graph.kinds[each] >= 2 and values[each].dtype == np.int8:
                values[each] = self.computed(each, values)
        with file.open("wb") as target:
            write_params(
                target,
                [
                    (f"{name}____topo-index:{at}____output-num:0", array)
                    for at, (name, array) in enumerate(zip(self.graph.names, values, strict=True))
                ],
            )
        return tvmdbg.open(file, graph=self._json)

    def computed(self, node: int, values: list[Values]) -> Values:
        """Compute one int8 output as its kernel does."""
        a, b, c, d = (values[read] for read in self._reads[node])
        if "nn_conv2d" not in self.graph.func_names[node]:
            return _to_int8(np.maximum(a * b + c.astype(np.float32) * d, 0))
        out = self.graph.shape(node) or ()
        total = _convolved(a[0], b, a.shape[2] // out[2]) + c
        if "relu" in self.graph.func_names[node]:
            total = np.maximum(total, 0)
        return _to_int8(total.astype(np.float32) * d)


def _to_int8(values: Values) -> Values:
    return np.clip(np.round(values), -127, 127).astype(np.int8)


def _convolved(data: Values, weight: Values, stride: int) -> Values:
    kernel = weight.shape[2]
    around = kernel // 2
    padded = np.pad(data.astype(np.float32), ((0, 0), (around, around), (around, around)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (1, 2))
    windows = windows[:, ::stride, ::stride]
    return np.einsum("chwij,ocij->ohw", windows, weight.astype(np.float32), optimize=True)[None]
