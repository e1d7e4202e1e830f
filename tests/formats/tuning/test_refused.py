"""Logs of other lines: they are counted, and the first of them told."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.graph.calls import calls
from tvmdbg_widgets.formats.tuning import assemble, json_line, record

_RECORD = (
    b'{"i": [["[\\"k\\", 1]", "llvm", [4, 64, 64, 0, 0, 0, 0, 0], "", 0, []], [[], []]], '
    b'"r": [[0.1], 0, 0.1, 1], "v": "v0.6"}\n'
)
_OTHERS = (b"{}\n", b"[1]\n", b"x y z\n", b'{"i": [\n', b"1\n", b'"abc"\n', b"[1,,2]\n")


@pytest.mark.parametrize("other", _OTHERS)
def test_unlisted_refused_lines_cost_few_calls(
    other: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (record, assemble):
        monkeypatch.setattr(module, "MOST_REFUSED", 5)

    def opened(lines: int) -> int:
        return calls(lambda: tvmdbg.open(_RECORD + other * lines + _RECORD))

    opened(10)
    assert opened(1_100) - opened(100) < 40 * 1_000
    log: Any = tvmdbg.open(_RECORD + other * 20 + _RECORD)
    assert (log.parts.num_refused, len(log.parts.refused), len(log.trials)) == (20, 5, 2)


@pytest.mark.parametrize(
    "line",
    [
        *(b"[NaN, 1]", b'["\\ud83d\\ude00", 1]', b'{"i": 1, "r": 2, "v": "3"}', b"[1e999, 2]"),
        *(b' {"input": 1, "config": 2}', b"\t[1, 2]", b'["1", "QUJD"]', b'{"a": Infinity, "b": 1}'),
    ],
)
def test_possible_records_are_not_skipped_as_other_lines(line: bytes) -> None:
    json.loads(line)
    assert not json_line.is_other(line)
