"""The table of operators: a sequence of rows that are made when they are looked at."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.times import operator_rows
from tvmdbg_widgets.run import DebugRun


def test_operator_table_behaves_like_a_sequence(run: DebugRun) -> None:
    table, top = run.table(), run.top(5)
    rows = list(table)
    assert len(table) == len(rows) == len(set(rows)) > len(top) == 5
    assert [table[at] for at in range(-len(table), len(table))] == rows * 2
    assert list(table[3:20:4]) == rows[3:20:4]
    assert list(reversed(table)) == rows[::-1]
    assert all(each in table and table.index(each) == at for at, each in enumerate(rows))
    times = [row.time_ns for row in rows]
    assert [row.time_ns for row in top] == sorted(times, reverse=True)[:5]
    with pytest.raises(IndexError):
        table[len(table)]


def test_operator_table_can_be_pickled(run: DebugRun) -> None:
    copy = pickle.loads(pickle.dumps(run.top(50)))  # noqa: S301 (written just now)
    assert (repr(copy), copy._repr_html_()) == (repr(run.top(50)), run.top(50)._repr_html_())
    assert len(copy.to_dataframe()) == len(copy) == len(run.table())


def test_rows_are_built_only_when_accessed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = operator_rows._RowBuilder.row

    def counting(self: Any, key: int) -> Any:
        made.append(key)
        return make(self, key)

    monkeypatch.setattr(operator_rows._RowBuilder, "row", counting)
    run = tvmdbg.open(json.dumps([[1e-6 * node] for node in range(1, 3001)]).encode())
    assert "and 2,960 more" in repr(run.table())
    assert len(made) == 40
    run.figure("timeline")
    assert len(made) < 100
