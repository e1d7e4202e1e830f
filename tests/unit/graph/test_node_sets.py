"""Times that several nodes have together, and groups around them."""

import numpy as np
import pytest

from tests.executorch_cases import case_dir
from tvmdbg_widgets import open as open_run
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.timeline.node_sets import NodeSets


def sets() -> NodeSets:
    return NodeSets([-1, 0, 1, 1], [0, 3, 5], [1, 2, 3, 1, 2], [40.0, 10.0])


def groups(*spans: tuple[int, int, int]) -> Groups:
    start, end, parent = zip(*spans, strict=True)
    names = StringColumn.from_strings(map(str, spans))
    count = len(spans)
    return Groups([0, 1, 2, 3], start, end, parent, names, range(count), [2] * count, [1] * count)


def test_a_group_has_the_time_of_the_sets_within_it() -> None:
    found = sets().within_groups(groups((0, 4, -1), (1, 4, 0), (1, 3, 1)))
    assert found.tolist() == [50.0, 50.0, 10.0]


def test_time_of_some_nodes_counts_only_whole_sets() -> None:
    assert sets().within(np.array([False, True, True, False])) == 10.0
    assert sets().within(np.ones(4, np.bool_)) == sets().total_ns == 50.0


def test_the_smallest_set_of_a_node() -> None:
    assert sets().smallest(4).tolist() == [-1, 1, 1, 0]


@pytest.mark.parametrize(
    "columns",
    [
        ([0], [0, 2], [1, 2], [1.0, 2.0]),
        ([0], [0, 1], [1], [1.0]),
        ([2], [0, 2], [1, 2], [1.0]),
        ([-2], [0, 2], [1, 2], [1.0]),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: tuple[list[float], ...]) -> None:
    with pytest.raises(ValueError, match="set"):
        NodeSets(*columns)


def test_timeline_lists_nodes_of_a_slice() -> None:
    timeline = open_run(case_dir("03b_mixed_xnnpack")).timeline
    nodes = {timeline.slice(at).name: timeline.nodes_of(at) for at in range(timeline.num_slices)}
    assert nodes["Method::execute"] == ()
    assert (len(nodes["OPERATOR_CALL"]), len(nodes["DELEGATE_CALL"])) == (1, 2)
