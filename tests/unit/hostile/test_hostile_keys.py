"""Keys and ids that nothing has: a clear error, never another node's answer."""

from typing import Any

import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.run import DebugRun


@pytest.mark.parametrize(
    "key", [[1], (1, 2, 3), None, slice(1, 2), (None, None), ("x",), 1.5, (1, [2]), (1, 0.0), b"p0"]
)
def test_invalid_tensor_key_error_explains_valid_keys(run: DebugRun, key: Any) -> None:
    with pytest.raises(KeyError, match="no node id, name"):
        run.tensors[key]
    assert run.tensors.get(key) is None
    assert key not in run.tensors


@pytest.mark.parametrize("key", [-1, 10**30, (0, -1), (0, 1), "nope", ("p0", 3)])
def test_unknown_tensor_keys_raise_key_error(run: DebugRun, key: Any) -> None:
    with pytest.raises(KeyError, match=r"no tensor|no node"):
        run.tensors[key]


@pytest.mark.parametrize("key", [1.5, None, "p0"])
def test_node_ids_are_whole_numbers(run: DebugRun, key: Any) -> None:
    with pytest.raises(TypeError):
        run.graph.nodes[key]


@pytest.mark.parametrize(
    ("node", "problem"),
    [(999, IndexError), (-1, IndexError), (1.5, TypeError), (None, TypeError), ("nope", KeyError)],
)
def test_session_refuses_to_select_missing_node(
    run: DebugRun, node: Any, problem: type[Exception]
) -> None:
    session = tvmdbg.Session(run)
    with pytest.raises(problem):
        session.select(node)
    assert session.selected == []


def test_session_error_lists_valid_node_ids(run: DebugRun) -> None:
    with pytest.raises(traitlets.TraitError, match="ids are 0 to 71"):
        tvmdbg.Session(run).selected = [999]
    with pytest.raises(traitlets.TraitError, match="node ids start at 0"):
        tvmdbg.Session().selected = [-1]
