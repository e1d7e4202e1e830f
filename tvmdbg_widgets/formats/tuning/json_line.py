"""The JSON of one line, checked as far as readers rely on it."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec

from tvmdbg_widgets.formats.tuning.lines import InWords, LineProblem

_MOST_DIGITS = 400
_NESTED = frozenset((list, dict))
_SPACED = re.compile(rb'"[ \t\r]+:')
_DECODER = msgspec.json.Decoder()
_BEGINS = b"{[ \t\r"
_NO_JSON = ("JSON is malformed", "Input data was truncated")
#: What Python's decoder takes, and the fast one calls malformed.
_IN_WORDS = (b"NaN", b"Infinity", b"\\u")


def decode(line: bytes) -> Any:
    """Decode a line of JSON: each key once, numbers that are finite, text that UTF-8 can hold."""
    try:
        value = _DECODER.decode(line)
        if line.count(b'":') == _count_keys(value) and not _SPACED.search(line):
            return value
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return _in_words(line)


def is_other(line: bytes) -> bool:
    """Whether a line is clearly no JSON of a record; what is wrong with it is not said."""
    if line[:1] not in _BEGINS:
        return True
    try:
        value = _DECODER.decode(line)
    except msgspec.DecodeError as problem:
        told = str(problem).startswith(_NO_JSON)
        return told and not any(each in line for each in _IN_WORDS)
    except (UnicodeDecodeError, RecursionError):
        return False
    return len(value) < 2 if type(value) in _NESTED else True


def _count_keys(value: Any) -> int:
    count, left = 0, [value]
    while left:
        each = left.pop()
        if type(each) is dict:
            count += len(each)
            each = each.values()
        elif type(each) is not list:
            continue
        left += [inner for inner in each if type(inner) in _NESTED]
    return count


def _in_words(line: bytes) -> Any:
    """Decode what the fast decoder refuses, or read too little of, or say what is wrong."""
    try:
        value = _JSON.decode(line.decode())
        if b"\\u" in line:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as problem:
        why = problem.msg[:1].lower() + problem.msg[1:].removesuffix(" at")
        found = InWords(f"other text ({why} at character {problem.pos + 1:,})")
        raise LineProblem("line", "JSON", found, unfinished=True) from None
    except UnicodeDecodeError as problem:
        found = InWords(f"other bytes (from byte {problem.start:,} of the line on)")
        raise LineProblem("line", "UTF-8 text", found, unfinished=True) from None
    except UnicodeEncodeError:
        raise LineProblem("line", "whole characters", InWords("half a surrogate pair")) from None
    except RecursionError:
        raise LineProblem("line", "JSON", InWords("arrays nested too deep to be read")) from None
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise LineProblem(key[:_MOST_DIGITS], "this key once", InWords("it twice"))
        found[key] = value
    return found


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _too_long(digits)
    return int(digits)


def _float(digits: str) -> float:
    if len(digits) > _MOST_DIGITS:
        raise _too_long(digits)
    return float(digits)


def _too_long(digits: str) -> LineProblem:
    expected = f"numbers of at most {_MOST_DIGITS} digits"
    return LineProblem("line", expected, InWords(f"one of {len(digits):,}"))


def _no_constant(name: str) -> NoReturn:
    raise LineProblem("line", "JSON numbers", InWords(name))


_JSON = json.JSONDecoder(
    object_pairs_hook=_once, parse_int=_integer, parse_float=_float, parse_constant=_no_constant
)
