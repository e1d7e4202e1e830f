"""Logs that are cut, changed or hostile: the bad line is refused with its reason, the rest read."""

import contextlib
import json
import re
import time
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.make import tuning_cases as make
from tests.unit.graph.calls import calls
from tvmdbg_widgets import FormatError, TuningLog, open_tuning
from tvmdbg_widgets.formats.tuning import assemble, json_line, record_file
from tvmdbg_widgets.formats.tuning.record import read_record

GOOD = make.ansor(Random(6), version="v0.6", error=0, usual=True)
OTHER = make.ansor(Random(9), version="v0.5", error=6, usual=True)
SECONDS = 2.0


def between(line: bytes) -> TuningLog:
    """A log of a line between two good ones."""
    return open_tuning(b"\n".join([GOOD.line, line, OTHER.line, b""]))


def changed(**steps_or_fields: Any) -> bytes:
    """The good record with other steps, task or result, as Python writes JSON."""
    task = steps_or_fields.get("task", GOOD.task)
    state = steps_or_fields.get("state", [[], steps_or_fields.get("steps", GOOD.steps)])
    result = steps_or_fields.get("result", [[0.5], 0, 1.0, 2])
    version = steps_or_fields.get("version", "v0.6")
    return json.dumps({"i": [task, state], "r": result, "v": version}).encode()


SP = ["SP", 1, 0, 64, [4, 2], 1]

#: What is wrong with a line, the line, and what the reason names.
REFUSED: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"hello", "JSON"),
    "half a record": (GOOD.line[:-20], "JSON"),
    "two records in a line": (GOOD.line * 2, "JSON"),
    "a number": (b"12", "record"),
    "an empty object": (b"{}", "field i"),
    "an unknown key": (GOOD.line[:-1] + b', "x": 1}', "x"),
    "a key twice": (GOOD.line[:-1] + b', "v": "v0.6"}', "field v: expected this key once"),
    "a key twice, spaced": (GOOD.line[:-1] + b', "v" : "v0.6"}', "field v"),
    "a key missing": (GOOD.line.replace(b', "v": "v0.6"', b""), "field v"),
    "NUL in the line": (GOOD.line.replace(b'"v0.6"', b'"v0\x00.6"'), "JSON"),
    "only NUL": (bytes(4000), "JSON"),
    "bytes that are no UTF-8": (GOOD.line.replace(b'"v0.6"', b'"\xff\xfe"'), "UTF-8"),
    "half a surrogate pair": (GOOD.line.replace(b'"v0.6"', b'"\\ud800"'), "surrogate"),
    "NaN": (GOOD.line.replace(b'"r": [[', b'"r": [[NaN, '), "NaN"),
    "Infinity": (GOOD.line.replace(b'"r": [[', b'"r": [[-Infinity, '), "Infinity"),
    "a cost beyond any number": (changed(result=[[10**390], 0, 1, 2]), "r[0][0]"),
    "a cost of infinity": (GOOD.line.replace(b'"r": [[', b'"r": [[1e999, '), "r[0][0]"),
    "costs whose sum is infinite": (changed(result=[[1.7e308] * 2, 0, 1, 2]), "r[0]"),
    "a negative cost": (changed(result=[[-1.0], 0, 1, 2]), "r[0][0]"),
    "no cost": (changed(result=[[], 0, 1, 2]), "r[0]"),
    "a cost that is text": (changed(result=[["1"], 0, 1, 2]), "r[0][0]"),
    "costs that are no array": (changed(result=[0.5, 0, 1, 2]), "r[0]"),
    "a result of three": (changed(result=[[0.5], 0, 1]), "field r: expected an array of 4"),
    "an error of 9": (changed(result=[[1e10], 9, 1, 2]), "r[1]: expected an integer from 0"),
    "an error of -1": (changed(result=[[1e10], -1, 1, 2]), "r[1]"),
    "an error that is true": (changed(result=[[1e10], True, 1, 2]), "r[1]"),
    "a time that is null": (changed(result=[[0.5], 0, 1, None]), "r[3]"),
    "a version that is null": (changed(version=None), "field v"),
    "a version without end": (changed(version="v" * 10**5), "field v"),
    "a task of one field": (changed(task=GOOD.task[:1]), "i[0]: expected an array of 2 or 3"),
    "a task of seven": (changed(task=[*GOOD.task, 1]), "i[0]"),
    "a key that is no text": (changed(task=[7, *GOOD.task[1:]]), "i[0][0]"),
    "hardware of seven": (changed(task=[*GOOD.task[:2], [1] * 7]), "i[0][2]"),
    "hardware with a fraction": (changed(task=[*GOOD.task[:2], [1.5] * 8]), "i[0][2][0]"),
    "a rewrite option of 3": (changed(task=[*GOOD.task[:4], 3]), "i[0][4]"),
    "input names that are numbers": (changed(task=[*GOOD.task[:5], [1]]), "i[0][5][0]"),
    "stages": (changed(state=[["A"], []]), "i[1][0]: expected an empty array"),
    "a state of one": (changed(state=[[]]), "i[1]"),
    "steps that are no array": (changed(steps={}), "i[1][1]"),
    "an unknown step": (changed(steps=[SP, ["XX", 1]]), "step 1: expected one of AN, FU"),
    "a step without a code": (changed(steps=[[]]), "step 0"),
    "a step that is text": (changed(steps=["SP"]), "step 0"),
    "a split of four fields": (changed(steps=[SP[:5]]), "step 0 (SP): expected 5 fields; found 4"),
    "a factor of 0": (changed(steps=[[*SP[:4], [4, 0], 1]]), "step 0 (SP) lengths[1]"),
    "a negative factor": (changed(steps=[[*SP[:4], [-4], 1]]), "lengths[0]"),
    "a factor of 2**63": (changed(steps=[[*SP[:4], [2**63], 1]]), "lengths[0]"),
    "a factor of 10**399": (changed(steps=[[*SP[:4], [10**399], 1]]), "lengths[0]"),
    "a factor with a fraction": (changed(steps=[[*SP[:4], [1.5], 1]]), "lengths[0]"),
    "a direction of 2": (changed(steps=[[*SP[:5], 2]]), "inner_to_outer"),
    "a direction that is true": (changed(steps=[[*SP[:5], True]]), "inner_to_outer"),
    "a negative stage": (changed(steps=[["CI", -1]]), "step 0 (CI) stage_id"),
    "a stage of 2**31": (changed(steps=[["CI", 2**31]]), "stage_id"),
    "an order that names a loop twice": (changed(steps=[["RE", 1, [0, 1, 0]]]), "after_ids"),
    "annotation 12": (changed(steps=[["AN", 1, 0, 12]]), "annotation"),
    "a pragma of 2**40": (changed(steps=[["PR", 1, 0, f"auto_unroll_max_step${2**40}"]]), "PR"),
    "a scope that steers terminals": (changed(steps=[["CHW", 1, "\x1b[31m"]]), "scope_name"),
    "a pragma that steers terminals": (changed(steps=[["PR", 1, 0, "\x07"]]), "pragma_type"),
    "a follower of itself": (changed(steps=[["FSP", 1, 0, 0, 1]]), "the index of a SP"),
    "a follower of an inlining": (changed(steps=[["CI", 1], ["FSP", 1, 0, 0, 1]]), "index of a SP"),
    "a follower of no step": (changed(steps=[SP, ["FFSP", 1, 0, [0, 9], 0, 1]]), "index of a SP"),
    "steps without end": (changed(steps=[["CI", 1]] * 30_000), "steps: expected at most"),
    "10**6 digits": (GOOD.line.replace(b'"r": [[', b'"r": [[' + b"1" * 10**6 + b", "), "digits"),
    "nested 10**5 deep": (b'{"i": ' + b"[" * 10**5 + b"]" * 10**5 + b"}", "deep"),
    "nested deep, and no end": (b'{"i": ' + b"[" * 10**6, "deep"),
    "objects nested 10**5 deep": (b'{"i":' * 10**5 + b"1" + b"}" * 10**5, "deep"),
    "a line of 6 MB": (changed(steps=[["PR", 1, 0, "x" * (6 << 20)]]), "bytes"),
    "a line of 40 MB": (b'["' + b"1" * (40 << 20), "bytes"),
    "AutoTVM of another shape": (b'{"i": [1, 2], "r": [], "v": 0.1}', "field i"),
    "AutoTVM with a key missing": (b'{"input": [], "config": {}, "result": []}', "version"),
    "MetaSchedule of three": (b"[1, 2, 3]", "record"),
    "a workload that is no number": (b'["x", "AAAA"]', "[0]"),
    "a workload that is no base64": (b'["12", "?"]', "[1]"),
    "columns that are no pickles": (b"llvm\ta b\tc\td", "JSON"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_line_is_refused_with_its_reason(what: str) -> None:
    line, reason = REFUSED[what]
    begin = time.process_time()
    log = between(line)
    assert time.process_time() - begin < SECONDS
    assert log.parts.num_refused == 1
    (refused,) = log.parts.refused
    assert (refused.line, refused.offset) == (2, len(GOOD.line) + 1)
    assert reason in refused.why
    assert refused.why.isprintable()
    assert len(refused.why) < 300
    assert (len(log.trials), log.trials.line.tolist()) == (2, [1, 3])
    assert read_record(log.parts, 1).line == OTHER.line
    (issue,) = log.issues.by_rule("lines-refused")
    assert "line 2" in issue.message


def usual_and_not(what: str) -> tuple[TuningLog, TuningLog]:
    line = REFUSED[what][0]
    spaced = line.replace(b'{"i": ', b'{"i":  ', 1)
    return between(line), between(spaced)


@pytest.mark.parametrize("what", [name for name in REFUSED if REFUSED[name][0][:6] == b'{"i": '])
def test_refusal_reason_does_not_depend_on_spacing(what: str) -> None:
    usual, other = (each.parts.refused[0].why for each in usual_and_not(what))
    assert re.sub("[0-9]", "", usual) == re.sub("[0-9]", "", other)


#: Lines that are odd and all the same records.
KEPT = {
    "an order that is too short": changed(steps=[["RE", 2, [2, 0]]]),
    "a negative place of a factor": changed(steps=[["RF", 1, 0, -1]]),
    "no sources": changed(steps=[["FFSP", 1, 0, [], 0, 1]]),
    "no factors": changed(steps=[["SP", 1, 0, 64, [], 1]]),
    "a negative extent": changed(steps=[["SP", 1, 0, -64, [2], 1]]),
    "a pragma without a number": changed(steps=[["PR", 1, 0, "auto_unroll_max_step"]]),
    "no steps": changed(steps=[]),
    "a text like the next part": changed(steps=[["CHW", 1, 'a], ["CI']]),
    "a scope like the end": changed(steps=[["CHW", 1, ']]]], "r": ']]),
    "an empty key": changed(task=["", ""]),
    "a key like the state": changed(task=['x], [[], [["CI"', "llvm"]),
    "a key nested deep": changed(task=["[" * 10**4, "llvm"]),
    "a target without end": changed(task=["k", '"' + "x" * 10**5]),
    "NUL in the key": changed(task=["a\0b", "llvm"]),
    "a cost of 0": changed(result=[[0], 0, 0, 0]),
    "a negative time": changed(result=[[0.5], 0, -1, -5]),
    "an unknown version": changed(version="v9.9"),
    "escaped keys": GOOD.line.replace(b'"i"', b'"\\u0069"'),
    "10**6 decimals": GOOD.line.replace(b'"r": [[', b'"r": [[0.' + b"1" * 10**6 + b"e-9, "),
    "a carriage return": GOOD.line + b"\r",
}


@pytest.mark.parametrize("what", KEPT)
def test_an_odd_record_is_kept(what: str) -> None:
    log = between(KEPT[what])
    assert log.parts.num_refused == 0, log.parts.refused
    assert len(log.trials) == 3
    record = read_record(log.parts, 1)
    assert [each.encode() for each in record.steps] == json.loads(KEPT[what])["i"][1][1]
    repr(log)
    repr(log.tasks)


def test_every_bad_line_is_named_with_its_reason() -> None:
    log = open_tuning(GOOD.line + b"\n" + b"{}\n" * 5000 + b"[3\n" + OTHER.line)
    assert (log.parts.num_refused, len(log.parts.refused), len(log.trials)) == (5001, 5001, 2)
    named = log.issues.by_rule("lines-refused")
    assert [issue.message.split(" at ")[0] for issue in named[:2]] == ["line 2", "line 3"]
    assert all(
        refused.why in issue.message
        for refused, issue in zip(log.parts.refused, named, strict=True)
    )
    assert len({issue.message for issue in named}) == 5001
    assert len(repr(log.issues).splitlines()) < 30


def test_blank_lines_comments_and_carriage_returns_are_not_records() -> None:
    text = b"\xef\xbb\xbf" + GOOD.line + b"\n# a comment\n \t\n  " + GOOD.line + b"\r\n"
    text += GOOD.line + b"\r\n\r\n\t\n" + OTHER.line
    log = open_tuning(text)
    assert (len(log.trials), log.parts.num_refused, log.trials.line.tolist()) == (3, 0, [1, 5, 8])
    assert [read_record(log.parts, row).line for row in range(3)] == [GOOD.line] * 2 + [OTHER.line]


@given(st.integers(0, 2**32), st.data())
def test_a_log_cut_anywhere_keeps_all_whole_lines(seed: int, data: st.DataObject) -> None:
    random = Random(seed)
    lines = [make.ansor(random).line for _ in range(4)]
    whole = b"".join(line + b"\n" for line in lines)
    end = data.draw(st.integers(1, len(whole)))
    cut = whole[:end]
    complete = cut.count(b"\n") + (cut.rpartition(b"\n")[2] in lines)
    if complete == 0:
        return
    log = open_tuning(cut)
    assert (len(log.trials), log.parts.num_refused) == (complete, 0)
    assert log.parts.cut == (cut[-1:] != b"\n" and cut.rpartition(b"\n")[2] not in lines)
    assert bool(log.issues.by_rule("log-cut")) == log.parts.cut


@given(st.integers(0, 2**32), st.data())
def test_a_changed_byte_harms_no_other_line(seed: int, data: st.DataObject) -> None:
    random = Random(seed)
    middle = bytearray(make.ansor(random, usual=True).line)
    at = data.draw(st.integers(0, len(middle) - 1))
    middle[at] = data.draw(st.integers(0, 255))
    log = between(bytes(middle))
    assert {1, 2 + middle.count(b"\n") + 1} <= set(log.trials.line.tolist())
    assert read_record(log.parts, 0).line == GOOD.line
    assert read_record(log.parts, -1).line == OTHER.line
    for row in range(len(log)):
        read_record(log.parts, row)


@pytest.mark.parametrize("first", [b"\x80", b"\xff", b"\r", b"\n", b"x", b"#", b"`", b" "])
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("maker", [make.ansor, make.autotvm, make.metaschedule])
def test_a_changed_first_byte_harms_no_other_line(maker: Any, place: int, first: bytes) -> None:
    """Few lines are no log to the front for pasted text, which put all of them into UTF-8 anew."""
    random = Random(9)
    more = (0,) if maker is make.metaschedule else ()
    lines = [
        maker(random, *more).line.replace(b"llvm", "llv\u00e4 \u00a0```".encode()) for _ in range(3)
    ]
    lines = [*lines[:place], first + lines[place][1:], *lines[place + 1 :]]
    for kept in (lines, lines[:2], [*lines, b""]):
        log = open_tuning(b"\n".join(kept))
        read = b"\n".join(kept).split(b"\n")
        begun = place + (first == b"\n")
        found = [read_record(log.parts, row).line for row in range(len(log))]
        numbers = [
            at + 1 for at, line in enumerate(read) if line[:1] in (b"{", b"[") and at != begun
        ]
        assert log.trials.line.tolist() == numbers
        assert found == [read[number - 1] for number in numbers]


def test_lines_around_records_keep_their_numbers() -> None:
    damaged = b"\x80" + GOOD.line[1:]
    log = open_tuning(b"\n".join([b"> build", b"done", GOOD.line, damaged, OTHER.line, b"real 1s"]))
    assert log.trials.line.tolist() == [3, 5]
    assert [read_record(log.parts, row).line for row in (0, 1)] == [GOOD.line, OTHER.line]
    assert [each.line for each in log.parts.refused] == [4]


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_arbitrary_bytes_open_or_raise_format_error(lines: list[bytes]) -> None:
    # An empty line first, as no packed file begins.
    text = b"\n".join([b"", *lines, GOOD.line, *lines])
    log = open_tuning(text)
    assert GOOD.line in [read_record(log.parts, row).line for row in range(len(log))]
    with contextlib.suppress(FormatError):
        open_tuning(b"x" + b"\n".join(lines))


def test_formats_may_be_mixed() -> None:
    random = Random(3)
    lines = [make.autotvm(random).line, GOOD.line, make.metaschedule(random, 0).line, OTHER.line]
    log = open_tuning(b"\n".join(lines))
    assert log.parts.tuner == "mixed"
    assert [log.tasks[task].tuner for task in log.trials.task.tolist()] == [
        *("autotvm", "ansor", "metaschedule", "ansor")
    ]
    assert [read_record(log.parts, row).line for row in range(4)] == lines
    assert np.isnan(log.trials.timestamp[2])


def test_non_log_is_refused_or_reported() -> None:
    for given_sources in (b"hello", [b"hello", b"you"]):
        with pytest.raises(
            FormatError, match=r"nothing of a tuning was found.*start with b'hello'"
        ):
            open_tuning(given_sources)
    log = open_tuning([b"hello", GOOD.line])
    assert len(log.trials) == 1
    assert log.issues.by_rule("files-not-read")
    assert len(open_tuning(b"")) == 0


_RECORD = (
    b'{"i": [["[\\"k\\", 1]", "llvm", [4, 64, 64, 0, 0, 0, 0, 0], "", 0, []], [[], []]], '
    b'"r": [[0.1], 0, 0.1, 1], "v": "v0.6"}\n'
)
_OTHERS = (b"{}\n", b"[1]\n", b"x y z\n", b'{"i": [\n', b"1\n", b'"abc"\n', b"[1,,2]\n")


@pytest.mark.parametrize("other", _OTHERS)
def test_unlisted_refused_lines_cost_few_calls(
    other: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (record_file, assemble):
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
