"""The tensor that a chart is of, and its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.plots.chart import require_run

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.model.tensors.tensor import Tensor
    from tvmdbg_widgets.model.tensors.tensors import TensorKey


def tensor_of(name: str, run: Derived, key: TensorKey) -> Tensor:
    """Return a tensor of a run."""
    from tvmdbg_widgets.analysis.summary import how_to_get

    require_run(name, run)
    if run.tensors is None:
        raise ValueError(how_to_get("tensors", run.parts))
    return run.tensors[key]


def called(run: Derived, tensor: Tensor) -> str:
    """``"conv2d + add + relu #38"``, of an output beyond the first ``"split #7:1"``."""
    from tvmdbg_widgets.model.base.text import one_line
    from tvmdbg_widgets.model.graph.node_words import tensor_title

    return one_line(tensor_title(tensor, run.graph))
