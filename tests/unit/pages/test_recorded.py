"""Replies recorded for a page: by question, up to a budget, and each buffer once."""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.export.page.pack import BinaryParts


def record(*given: Any) -> tuple[bytes, int]:
    binary = BinaryParts()
    count = binary.record(*given)
    return binary.to_bytes(), count


GROUPS = [[{"kind": "tiles", "task": 0}], *([{"kind": "noise", "seed": at}] for at in range(9))]


def answer(question: Mapping[str, Any]) -> Reply:
    if question["kind"] == "tiles":
        rows = np.arange(4, dtype=np.int32)
        costs = np.ones(4)
        columns = {"rows": rows, "values": costs.astype(np.float32), "costs": costs}
        return Reply.of("tuningTiles", columns, {"axes": []})
    return Reply("told", (np.random.default_rng(question["seed"]).bytes(900),))


def opened(data: bytes) -> tuple[dict[str, Any], bytes]:
    (size,) = struct.unpack_from("<I", data, 8)
    return json.loads(data[16 : 16 + size])["replies"], data[16 + size :]


def test_questions_are_recorded_up_to_the_budget() -> None:
    data, count = record(GROUPS, answer, 3000)
    assert count == 3, "9 replies of 1,200 characters do not fit"
    replies, body = opened(data)
    assert [json.loads(question) for question in replies] == [group[0] for group in GROUPS[:3]]
    result, (at, size) = replies['{"kind": "noise", "seed": 1}']
    assert result == "told"
    assert body[at : at + size] == answer({"kind": "noise", "seed": 1}).buffers[0]
    _, least = record(GROUPS, answer, 0)
    assert least == 1, "the first group is there in any case"


def test_each_question_is_asked_once_and_each_buffer_stored_once() -> None:
    asked = []

    def counted(question: Mapping[str, Any]) -> Reply:
        asked.append(question)
        return Reply(None, (b"same bytes",))

    one, two = {"kind": "a", "task": 1}, {"task": 2, "kind": "a"}
    data, count = record([[one, two], [dict(reversed(one.items()))]], counted, 1e6)
    assert (asked, count) == ([one, two], 2)
    replies, body = opened(data)
    assert list(replies.values()) == [[None, [0, 10]]] * 2
    assert body == b"same bytes"
