from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.block_graphs import Draft, isomorphic, networks, random_drafts, require_sound
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.model.groups import Groups, GroupSource

drafts = st.one_of(random_drafts(), networks())


@given(drafts, st.lists(st.booleans(), min_size=1, max_size=7), st.randoms())
def test_groups_nest_and_close_without_a_cycle(
    draft: Draft, closed: list[bool], chance: random.Random
) -> None:
    for graph in (draft.graph(), draft.graph(chance)):
        require_sound(graph, groups(graph), closed)


@given(drafts)
def test_groups_of_one_number_are_isomorphic(draft: Draft) -> None:
    graph = draft.graph()
    found = groups(graph)
    first: dict[int, int] = {}
    for group in found:
        other = first.setdefault(int(found.alike[group.id]), group.id)
        assert isomorphic(graph, found[other], group), (found[other].nodes, group.nodes)


@given(drafts, st.randoms())
def test_names_find_nothing(draft: Draft, chance: random.Random) -> None:
    plain = groups(draft.graph())
    draft.names = {node: f"{chance.getrandbits(64):016x}" for node in range(len(draft.nodes))}
    other = groups(draft.graph())
    for column in ("order", "start", "end", "parent", "alike", "source", "repeats"):
        assert np.array_equal(getattr(plain, column), getattr(other, column)), column
    assert plain.names == other.names


@given(st.integers(2, 9), st.randoms())
def test_a_stage_is_found_in_any_order_of_its_nodes(count: int, chance: random.Random) -> None:
    draft = Draft()
    x = draft.op("fused_stem", draft.null(1, 8))
    planted: list[set[int]] = []
    for _ in range(count):
        first = len(draft.nodes)
        x = draft.residual(x)
        planted.append(set(range(first, len(draft.nodes))))
    draft.op("fused_nn_softmax", x)
    found = groups(draft.graph())
    assert [(group.title, len(group)) for group in found.top] == [
        (f"residual block × {count}", 7 * count)
    ]
    assert [set(child.nodes.tolist()) for child in found[0].children] == planted
    shuffled = groups(draft.graph(chance))
    for column in ("start", "end", "parent", "alike", "source", "repeats"):
        assert np.array_equal(getattr(found, column), getattr(shuffled, column)), column
