"""Groups opened and closed from Python."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.graph.open_groups import open_by_itself


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


def test_one_look_opens_all_of_a_small_graph_and_none_that_is_too_long(
    run: tvmdbg.DebugRun,
) -> None:
    assert run.graph is not None
    assert open_by_itself(run.graph, run.groups).all()
    shown = np.ones(run.graph.num_nodes, bool)
    shown[[62, 65]] = False
    assert open_by_itself(run.graph, run.groups, shown).all()


def test_groups_are_closed_by_id_by_name_by_themselves_and_all(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run)
    assert view.open_groups is None
    view.collapse(0)
    assert view.open_groups == list(range(1, 12))
    view.collapse("residual block × 2")
    assert set(range(12)) - set(view.open_groups) == {0, 5, 9}
    view.collapse(run.groups[1].alike)
    assert {1, 2, 3}.isdisjoint(view.open_groups)
    view.collapse()
    assert view.open_groups == []


def test_what_is_around_an_opened_group_opens_with_it(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run, open_groups=[])
    view.expand(run.groups[11])
    assert view.open_groups == [9, 11]
    view.expand()
    assert view.open_groups == list(range(12))
    view.grouped = False
    view.collapse(11)
    assert view.grouped


def test_unknown_groups_are_told_with_those_that_are_known(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run)
    with pytest.raises(KeyError, match="residual block"):
        view.expand("residul block")
    with pytest.raises(IndexError, match="group 12 of 12"):
        view.collapse(12)
    with pytest.raises(TypeError, match="not True"):
        view.expand(True)
    with pytest.raises(TypeError, match=r"not 1\.5"):
        view.expand(1.5)  # type: ignore[arg-type]
    with pytest.raises(traitlets.TraitError, match="group ids end at 11"):
        view.open_groups = [3, 12]
    with pytest.raises(traitlets.TraitError, match="group ids end at 11"):
        view.group = -1
