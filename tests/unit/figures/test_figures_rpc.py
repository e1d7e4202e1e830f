"""Sequence diagrams: what is folded, what is left out, and that nothing is lost."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.figures.figure_checks import assert_sound, texts
from tvmdbg_widgets.analysis.abi.folding import SequenceMessage, fold_runs, sequence_rows
from tvmdbg_widgets.figures.sequence import sequence_figure

HOSTILE = "</title></svg><script>alert(1)</script>\"'&\x1b[31m\u202e\x00\n" + "w" * 5000
MOST_BYTES = 60 * 1024


def call(label: str, at: int | None = None, nbytes: int = 64, kind: str = "") -> SequenceMessage:
    return SequenceMessage("client", label, nbytes, at, kind=kind)


def answer(to: int, label: str = "Return null", at: int | None = None) -> SequenceMessage:
    return SequenceMessage("server", label, 24, at, reply_to=to)


def copies(count: int, timed: bool = True) -> list[SequenceMessage]:
    """InitServer, then so many copies, each with its answer."""
    found = [call("InitServer 0.8.0", 0), answer(0, at=1000)]
    for at in range(count):
        when = 2000 + 200 * at
        label = f"CopyToRemote float32[256] at {1024 * at}"
        found.append(call(label, when if timed else None, 1100, "CopyToRemote"))
        found.append(answer(len(found) - 1, at=when + 100 if timed else None))
    return found


def test_figure_draws_zero_and_one_message() -> None:
    for messages in ([], [call("InitServer 0.8.0", 5)], [call("InitServer 0.8.0")]):
        for theme in ("light", "dark"):
            assert_sound(sequence_figure("stream.bin", messages, ["empty"], theme=theme))
    assert "0 messages" in sequence_figure("stream.bin", []).text


def test_calls_answers_and_errors_are_drawn() -> None:
    messages = [
        call("GetGlobalFunc f", 0),
        answer(0, "Return function 0x12", 1_000_000),
        call("CallFunc 0x12(int 3)", 2_000_000),
        SequenceMessage("server", "CallFunc callback", 40, 3_000_000),
        replace(call("Return null", 4_000_000), reply_to=3),
        replace(answer(2, "TVMError: no", 5_000_000), status="exception"),
        replace(call("read 8 bytes of dtype where 4 were sent", 6_000_000), status="out of sync"),
        replace(call("3 bytes at 2,048 are no packet", 7_000_000), status="damaged"),
        replace(answer(2, "CopyAck", 5_007_000_000), status="incomplete"),
    ]
    figure = sequence_figure("capture", messages, ["narrow"], theme="dark")
    assert_sound(figure)
    said = " ".join(texts(figure))
    for words in (
        *("GetGlobalFunc f", "exception: TVMError: no", "incomplete: CopyAck", "5.000 s later"),
        "client → server, out of sync: read 8 bytes of dtype where 4 were sent",
        "client → server, damaged: 3 bytes at 2,048 are no packet",
        *("0.001000", "5.007000", "not to scale", "narrow"),
    ):
        assert words in said, words
    assert figure.description["bars"][:3] == [
        {"side": "server", "from": 0, "to": 1, "depth": 0},
        {"side": "server", "from": 2, "to": 8, "depth": 0},
        {"side": "server", "from": 2, "to": 5, "depth": 1},
    ]
    assert "server → client  exception: TVMError: no  [24 B]" in figure.text


def test_time_axis_is_omitted_for_unknown_times() -> None:
    figure = sequence_figure("stream", [call("InitServer"), answer(0)])
    said = texts(figure)
    assert "time, s" not in said
    assert any("times are not known" in each for each in said)
    assert "time, s" in texts(sequence_figure("stream", [call("InitServer", 7), answer(0)]))


@pytest.mark.parametrize("timed", [True, False])
def test_a_hundred_thousand_messages_are_folded_in_little_time(timed: bool) -> None:
    messages = copies(50_000, timed)
    start = time.process_time()
    figure = sequence_figure("capture", messages)
    assert time.process_time() - start < 5
    assert_sound(figure)
    (loop,) = figure.description["loops"]
    rows = figure.description["rows"]
    assert (loop["first"], loop["end"]) == (2, 4)
    assert (rows[2]["label"], rows[2]["folded"]) == ("CopyToRemote", 50_000)
    assert rows[2]["bytes"] == "52.5 MiB"  # 50,000 × 1,100
    assert "50,000 × these messages" in loop["words"]
    assert (len(rows), rows[3]["replyTo"]) == (4, 2)


def test_failed_message_is_kept_among_many_and_the_rest_counted() -> None:
    messages = [call(f"CallFunc {at}", nbytes=at) for at in range(100_000)]
    messages[50_000] = replace(messages[50_000], status="exception")
    start = time.process_time()
    figure = sequence_figure("capture", messages)
    assert time.process_time() - start < 5
    assert_sound(figure)
    shown = [row for row in figure.description["rows"] if row["kind"] == "message"]
    assert len(shown) <= 60
    assert "exception: CallFunc 50000" in texts(figure)
    assert figure.text.count("not shown") == 2


def test_hostile_messages_stay_text() -> None:
    messages = [
        SequenceMessage("client", HOSTILE, 1, None, status, None, HOSTILE, 1, HOSTILE)
        for status in ("ok", "exception", "damaged", "out of sync", "incomplete")
    ]
    for theme in ("light", "dark", "auto"):
        figure = sequence_figure(HOSTILE, messages, [HOSTILE], theme=theme, width=300)
        assert "<script" not in figure.svg + figure.html
        assert "\x1b" not in figure.text + figure.html
        if theme != "auto":
            assert_sound(figure)


def test_hover_shows_message_bytes() -> None:
    message = replace(call("InitServer"), hover='3c 00 00 "x"\ncode 2')
    figure = sequence_figure("stream", [message])
    assert [each.text for each in figure.hover] == [
        'client → server: InitServer\n3c 00 00 "x"\ncode 2'
    ]
    assert "3c 00 00 &quot;x&quot;\ncode 2" in figure.html


sides = st.sampled_from(["client", "server"])
statuses = st.sampled_from(["ok", "ok", "ok", "exception", "damaged"])


@st.composite
def conversations(draw: st.DrawFn) -> list[SequenceMessage]:
    pattern = draw(st.lists(st.tuples(sides, st.sampled_from("abc"), statuses), max_size=6))
    found: list[SequenceMessage] = []
    for _ in range(draw(st.integers(0, 40))):
        for side, label, status in pattern:
            back = draw(st.integers(0, 3))
            reply = len(found) - back if 0 < back <= len(found) else None
            nbytes = draw(st.integers(0, 99))
            clock = draw(st.one_of(st.none(), st.integers(0, 10**12)))
            found.append(SequenceMessage(side, label, nbytes, clock, status, reply))  # type: ignore[arg-type]
    return found


@given(conversations(), st.integers(5, 60))
def test_message_and_byte_counts_are_preserved(messages: list[SequenceMessage], most: int) -> None:
    shown = sequence_rows(messages, most)
    assert sum(row.folded for row in shown.rows) == len(messages)
    assert sum(row.nbytes for row in shown.rows) == sum(each.nbytes for each in messages)
    kept = [row for row in shown.rows if row.status != "left out"]
    assert len(kept) <= most
    for at, row in enumerate(shown.rows):
        if row.reply_to is not None:
            assert row.reply_to < at
            assert shown.rows[row.reply_to].status != "left out"
    assert_sound(sequence_figure("any", messages), MOST_BYTES)


@given(
    st.lists(st.integers(0, 2), max_size=60).flatmap(
        lambda keys: st.tuples(
            st.just(keys * 3),
            st.lists(st.integers(-1, 60), min_size=3 * len(keys), max_size=3 * len(keys)),
        )
    )
)
def test_folds_contain_every_message_once_with_equal_repeats(
    given_: tuple[list[int], list[int]],
) -> None:
    keys, replies = given_
    folds = fold_runs(np.array(keys, np.int64), np.array(replies, np.int64))
    at = 0
    for fold in folds:
        assert fold.start == at
        at = fold.end
        pattern = keys[fold.start : fold.start + fold.period]
        assert keys[fold.start : fold.end] == pattern * fold.repeats
        assert fold.repeats == 1 or fold.repeats >= 3
    assert at == len(keys)
