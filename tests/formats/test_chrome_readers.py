"""The strict reader of events against the tolerant one: equal traces, of whatever text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.chrome import event as chrome_events
from tvmdbg_widgets.formats.chrome.columns import ChromeColumns
from tvmdbg_widgets.formats.chrome.event import ChromeEvent, EventFile
from tvmdbg_widgets.formats.chrome.trace import read_chrome_trace
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource

COLUMNS = (
    *("phase", "name", "track", "index", "asynchronous", "flow", "bound_row", "bound_flow"),
    *("bound_phase", "counter_row", "counter_series", "names", "tracks", "flows", "series"),
)


def refused(data: bytes) -> list[ChromeEvent]:
    raise ValueError(f"{len(data)} bytes are left to the tolerant reader")


def read(data: bytes) -> dict[str, Any]:
    """All that is read of a trace, in plain values that can be compared."""
    file, columns = EventFile(BytesSource(data)), ChromeColumns()
    for block in file.blocks():
        columns.add(block)
    found = {name: getattr(columns, name) for name in COLUMNS}
    found |= {name: getattr(file, name) for name in ("form", "top", "ended", "broken", "found")}
    found |= {name: vars(columns.metadata)[name] for name in vars(columns.metadata)}
    found["bad"], found["phases"] = sorted(columns.bad.items()), sorted(columns.phases.items())
    found["names"], found["tracks"] = list(columns.names), list(map(repr, columns.tracks))
    for name in ("ts", "ts_rest", "duration"):
        found[name] = None if getattr(columns, name) is None else getattr(columns, name).tolist()
    found["counters"] = list(map(repr, columns.counter_value))
    try:
        trace = read_chrome_trace(BytesSource(data))
    except FormatError as problem:
        return found | {"error": str(problem)}
    shown = (trace.start_ns.tolist(), trace.duration_ns.tolist(), trace.track.tolist())
    issues = [(each.rule, each.message) for each in trace.issues]
    return found | {"trace": (list(trace.names), trace.origin_ns, trace.tracks, shown, issues)}


def check(data: bytes, block: int = 1 << 18) -> bool:
    """Compare both readers; whether the strict one read anything."""
    taken: list[int] = []
    strict = chrome_events.strict_events

    def counted(text: bytes) -> list[ChromeEvent]:
        events = strict(text)
        taken.append(len(events))
        return events

    with patch.object(chrome_events, "_BLOCK", block):
        with patch.object(chrome_events, "strict_events", counted):
            found = read(data)
        with patch.object(chrome_events, "strict_events", refused):
            expected = read(data)
    for k in found:
        assert repr(found[k]) == repr(expected[k]), (k, data, block)
    return bool(taken)


NUMBERS = st.sampled_from(
    [
        *("0", "-0", "7", "-12", "1.5", "0.001", "-0.0004", "1e3", "-2.5E-4", "1E+2", "1E400"),
        *("1722963293847123.456", "4611686018427387.904", "9" * 25, "1" * 5000, "0.1" + "0" * 30),
        *("123456.789", "123456.780", "18446744073709551616", "-9223372036854775809", "1.0"),
    ]
)
TEXTS = st.text(max_size=4) | st.sampled_from(
    ['"', "\\", "},{", "[{", '"ph":"X"', "é", "\u2028", "😀", "\x7f", "1.5", "0x10", ""]
)
STRINGS = st.builds(
    lambda text, ascii_only: json.dumps(text, ensure_ascii=ascii_only), TEXTS, st.booleans()
).filter(lambda text: "\\ud" not in text or json.loads(text).isprintable())
ODD = st.sampled_from(
    [
        *("NaN", "-Infinity", '"\\ud800"', '"\\udc00x"', '"\t"', '"\x01"', "null", "true", "false"),
        *('"\\u00e9\\n"', '"\\/"', '" 7 "', '"1.25"', '"nan"', "[]", "{}", '"\\ud83d\\ude00"'),
    ]
)
SCALARS = NUMBERS | STRINGS | ODD
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda each: f"[ {','.join(each)}]")
        | st.lists(st.tuples(STRINGS, inner), max_size=3).map(
            lambda each: "{" + ", ".join(f"{key} :{value}" for key, value in each) + "}"
        )
    ),
    max_leaves=6,
)
FIELDS = (
    *("ph", "name", "cat", "pid", "tid", "ts", "dur", "args", "id", "id2", "scope", "bp"),
    *("bind_id", "flow_in", "flow_out", "other", "\\u006eame"),
)
PHASES = st.sampled_from([*"XBEiIRbneSTpFstfCMNP?", "XX", ""]).map(json.dumps)
USUAL = {
    "ph": PHASES,
    "name": STRINGS | st.sampled_from(['"a"', '"thread_name"', '"process_sort_index"']),
    "pid": st.sampled_from(["1", "2", '"p"', "1.0"]),
    "tid": st.sampled_from(["1", "2", "true"]),
    "ts": NUMBERS,
    "dur": NUMBERS,
    "id": st.sampled_from(["1", '"1"', "1.5", '"0x1"']),
    "args": st.sampled_from(
        ['{"name": "w", "sort_index": -1.5}', '{"used": 5, "free": 2.50, "s": "x"}', "{}", "[1]"]
    ),
}
MEMBERS = st.one_of(
    *(st.tuples(st.just(name), values) for name, values in USUAL.items()),
    st.tuples(st.sampled_from(FIELDS), VALUES),
)
BASE = {"ph": '"X"', "ts": "1.250", "dur": "3", "pid": "1", "tid": "1", "name": '"a"'}


def written(members: list[tuple[str, str]], gap: str) -> str:
    merged = [*BASE.items(), *members]  # a key may stand twice: the last counts
    return "{" + ",".join(f'"{key}":{gap}{value}' for key, value in merged) + "}"


EVENTS = st.builds(written, st.lists(MEMBERS, max_size=5), st.sampled_from(["", " ", "\n\t"]))
ITEMS = st.lists(st.one_of(EVENTS, EVENTS, EVENTS, EVENTS, VALUES), min_size=1, max_size=12)
ENDS = st.sampled_from(["]", "]}", "", ",", ", ]", '], "top": {"a": [1]}}', "] x", "}"])


@given(ITEMS, st.sampled_from(["[", '{"a": 1, "traceEvents": [']), ENDS, st.sampled_from([40, 400]))
@example(["{}", written([], ""), '{"ph":"X"}'], "[", "]", 40)
def test_both_readers_agree(items: list[str], start: str, end: str, block: int) -> None:
    text = start + " ,\n".join(items) + end
    check(text.encode("utf-8", "surrogatepass"), block)


@given(ITEMS, st.data())
def test_both_readers_agree_on_broken_files(items: list[str], draw: st.DataObject) -> None:
    content = bytearray(f"[{', '.join(items)}]".encode())
    for _ in range(draw.draw(st.integers(1, 3))):
        place = draw.draw(st.integers(0, len(content)))
        patched = draw.draw(st.binary(max_size=3) | st.sampled_from([b"\xff", b"\\x", b"]", b"}"]))
        content[place : place + draw.draw(st.integers(0, 20))] = patched
    check(bytes(content), 200)


def test_both_readers_agree_on_real_traces(data: Path) -> None:
    for name in ("chrome/viztracer.json", "chrome/node.json"):
        assert check((data / name).read_bytes(), 512), name


def test_both_readers_agree_on_corpus_traces(corpus: Path) -> None:
    for file in sorted(corpus.rglob("_tvmdbg_execution_trace.json")):
        content = file.read_bytes()
        assert check(content, max(400, len(content) // 8)) or len(content) < 2000, file


EVENT = '{"ph":"X","ts":%d,"dur":1,"pid":1,"tid":1,"name":"n%d",%s}'
#: What one block holds beside strict JSON, and what the strict reader takes all the same.
ODDITIES: dict[str, tuple[str, bool]] = {
    "nothing": ('"args":{"a":[{"b":"},{"}]}', True),
    "a lone surrogate": ('"args":{"a":"\\ud800"}', False),
    "NaN": ('"args":{"a":NaN}', False),
    "a control character": ('"cat":"\x01"', False),
    "a key twice": ('"name":"m","name":"o"', True),
    "a number beyond doubles": ('"args":{"a":1E400}', True),
    "an integer beyond 64 bits": ('"id":18446744073709551616', True),
    "an integer of thousands of digits": (f'"id":{"1" * 5000}', False),
    "an escaped key": ('"n\\u0061me":"m"', True),
}


@pytest.mark.parametrize("what", ODDITIES)
def test_odd_event_affects_only_its_own_block(what: str) -> None:
    odd, strictly = ODDITIES[what]
    plain = [EVENT % (i, i, '"cat":"c"') for i in range(400)]
    plain[200] = EVENT % (200, 200, odd)
    taken: list[bool] = []
    strict = chrome_events.strict_events

    def noted(text: bytes) -> list[ChromeEvent]:
        events = strict(text)
        taken.append(odd.encode() in text)
        return events

    with (
        patch.object(chrome_events, "_BLOCK", 4096),
        patch.object(chrome_events, "strict_events", noted),
    ):
        trace = read_chrome_trace(BytesSource(f"[{','.join(plain)}]".encode()))
    assert len(trace) == 400
    assert not trace.issues
    assert len(taken) > 3
    assert any(taken) == strictly
    check(f"[{','.join(plain)}]".encode(), 4096)


@pytest.mark.parametrize("bad", [b"\xff\xfe", b"\xed\xa0\x80", b"\xc3"])
@pytest.mark.parametrize("block", [200, 1 << 18])
def test_invalid_utf8_is_replaced_without_moving_offsets(bad: bytes, block: int) -> None:
    events = [EVENT % (i, i, '"args":{"a":"?"}') for i in range(40)]
    data = f"[{','.join(events)}]".encode().replace(b':"n', b':"' + bad)
    with patch.object(chrome_events, "_BLOCK", block):
        whole = read_chrome_trace(BytesSource(data))
        cut = read_chrome_trace(BytesSource(data[:-3] + b"@" + data[-3:]))
    assert list(whole.names) == ["\ufffd" * len(bad) + str(i) for i in range(40)]
    assert not whole.issues
    (issue,) = cut.issues
    last = data.rfind(b'{"ph"')
    assert f"breaks off at byte {last};" in issue.message
    skipped = f"[{','.join(events)}]".encode().replace(b"?", bad)
    assert check(skipped.replace(bad, b"x"), 400)
    assert not check(skipped, 400)


def test_deeply_nested_ids_raise_no_error() -> None:
    for depth in range(900, 1000):
        nested = "[" * depth + "]" * depth
        for more in (f'"id":{nested}', f'"bind_id":{nested},"flow_in":true'):
            phase = "b" if more.startswith('"id"') else "X"
            event = f'{{"ph":"{phase}","ts":1,"dur":1,{more}}}'
            read_chrome_trace(BytesSource(f'[{{"ph":"X","ts":0,"dur":1}},{event}]'.encode()))


def counting(name: str) -> tuple[Any, Callable[[], int]]:
    calls = []
    real = getattr(chrome_events, name)

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return real(*arguments)

    return patch.object(chrome_events, name, counted), lambda: len(calls)


def test_tolerant_reader_handles_only_the_end_of_a_sound_trace() -> None:
    for count in (10_000, 20_000):
        events = [EVENT % (i, i % 50, '"args":{"k":[{"a":1},{"b":"},{"}]}') for i in range(count)]
        data = f'{{"traceEvents":[{",".join(events)}]}}'.encode()
        patched, calls = counting("tolerant_event")
        with patched:
            trace = read_chrome_trace(BytesSource(data))
        assert trace.start_ns.tolist() == (1000.0 * np.arange(count)).tolist()
        assert calls() < 2 * chrome_events._BLOCK // len(events[0])
