"""What nodes are called in files for other tools: as the view calls them."""

from pathlib import Path

import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.export.nodes import NodeTexts

GRAPHS = sorted((Path(__file__).parents[2] / "data/graph").iterdir())
SAMPLES = [
    tvmdbg.samples.resnet20_cifar,
    tvmdbg.samples.resnet20_cifar_fp16_overflow,
    tvmdbg.samples.executorch_demo_delegate,
    tvmdbg.samples.executorch_xnnpack,
]


@pytest.mark.parametrize("path", [*SAMPLES, *GRAPHS], ids=lambda path: path.stem)
def test_title_shape_and_time_match_the_view(path: Path) -> None:
    run = tvmdbg.open(path)
    words = NodeTexts(run.graph, run.timeline)
    figure = run.figure("graph", grouped=False, fold_parameters=False, whole=True)
    nodes = figure.description["nodes"]
    assert [each["id"] for each in nodes] == list(range(run.graph.num_nodes))
    for each in nodes:
        node = each["id"]
        assert (each["label"], each["shape_text"], each["time_text"]) == (
            words.title(node),
            words.shape(node),
            words.time(node),
        )
