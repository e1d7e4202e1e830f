"""Explanation of console output: known messages in it, with causes and remedies."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tvmdbg_widgets.analysis.abi.places import PLACES
from tvmdbg_widgets.analysis.known_messages import MESSAGES, STATUSES, FoundMessage, KnownMessage
from tvmdbg_widgets.analysis.pasted_text import (
    as_printed,
    is_in_source,
    pieces_joined,
    plain,
    rejoined,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.ranges import MadeSequence
from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.model.base.text import (
    cut,
    data_frame,
    hanging,
    more_text,
    one_line,
    rows_html,
)
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE
from tvmdbg_widgets.model.tensors.dtypes import STORABLE_BITS, DataType

_UNKNOWN_SHOWN = 5
_WHERE_PLACES = (
    "tvmdbg explain --places, or places() of this answer, lists what must change together."
)


@dataclass(frozen=True)
class Explanation(MadeSequence[FoundMessage]):
    """Known messages in a text, in the order of its lines.

    Attributes
    ----------
    found : tuple of FoundMessage
    lines : int
        Lines of the text.
    unknown : tuple of (int, str)
        Lines that look like errors and are not known.
    """

    found: tuple[FoundMessage, ...]
    lines: int
    unknown: tuple[tuple[int, str], ...] = field(default=())

    def __len__(self) -> int:
        return len(self.found)

    def _item(self, at: int) -> FoundMessage:
        return self.found[at]

    @property
    def summary(self) -> str:
        """How many messages are known: ``"2 known messages in 9 lines"``."""
        known = counted(len(self.found), "known message") if self.found else "no known message"
        return f"{known} in {counted(self.lines, 'line')}"

    @property
    def text(self) -> str:
        """The explanation in lines of at most 100 columns."""
        lines = [self.summary]
        for each in self.found:
            lines += ["", *each.lines()]
        if any(message.message.layout for message in self.found):
            lines += ["", *hanging("Was DLDataType changed?", _WHERE_PLACES, 0)]
        if self.unknown:
            lines += ["", "these look like errors and are not known:"]
            for line, text in self.unknown[:_UNKNOWN_SHOWN]:
                lines += hanging(f"line {line:,}:", text)
            lines += [f"  {text}" for text in more_text(len(self.unknown), _UNKNOWN_SHOWN)]
        return "\n".join(lines)

    def places(self) -> str:
        """Return the places that must change together where DLDataType was changed."""
        return "\n".join(places_lines())

    def to_dataframe(self) -> Any:
        """One row per message (``pandas.DataFrame``); ImportError without pandas."""
        return data_frame(
            {
                "line": [message.line for message in self.found],
                "count": [message.count for message in self.found],
                "id": [message.message.id for message in self.found],
                "text": [message.text for message in self.found],
                "cause": [message.message.cause for message in self.found],
            }
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(self.summary)}</b></p>"]
        for each in self.found:
            title = html.escape(each.title)
            rows = rows_html(each.rows())
            parts.append(f"<details open><summary>{title}</summary>{rows}</details>")
        if any(message.message.layout for message in self.found):
            parts.append(f"<p>Was DLDataType changed? {html.escape(_WHERE_PLACES)}</p>")
        if self.unknown:
            rest = [(f"line {line:,}", text) for line, text in self.unknown[:_UNKNOWN_SHOWN]]
            parts.append(f"<p>These look like errors and are not known:</p>{rows_html(rest)}")
            parts += [f"<p>{text}</p>" for text in more_text(len(self.unknown), _UNKNOWN_SHOWN)]
        return "".join(parts)


def places_lines() -> list[str]:
    """Return the places that must change together, and what breaks if one is forgotten."""
    lines = ["Where DLDataType was changed, all of these must change together:"]
    for place in PLACES:
        optional = "" if place.required else " (where it is used)"
        names = dict.fromkeys(path.rpartition("/")[2] for path in place.paths)
        lines.append(f"  {' or '.join(names)}{optional}: {place.change}.")
        lines.append(f"    forgotten: {place.forgotten}.")
    lines.append("  tvmdbg struct --check TVM_SOURCE --dtype-layout LAYOUT looks at each of them.")
    return lines


@public
def explain(text: str | bytes) -> Explanation:
    """Explain the known messages in console output of any length.

    Parameters
    ----------
    text : str or bytes
        Unedited output of TVM, ExecuTorch's Inspector or a tuner; terminal sequences are taken out.

    Returns
    -------
    Explanation
        A sequence of known messages, with cause, how to tell them from similar ones, and
        what to do next. Equal ones are counted. Empty where nothing is known.

    Examples
    --------
    >>> import tvmdbg_widgets as tvmdbg
    >>> found = tvmdbg.explain("TVMError: Invalid DLTensor file format")
    >>> found[0].message.id
    'params-array'
    """
    if not isinstance(text, str | bytes):
        raise TypeError(
            f"explain takes the text that was printed, as str or bytes, not {type(text).__name__}"
        )
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    scan = MessageScan(text)
    return Explanation(tuple(scan.found), scan.lines, tuple(scan.unknown))


_BEFORE, _BEHIND = 600, 3000  # characters searched before and behind the literal of a message
_LONGEST = 1500  # longest match behind the literal of a message
_SHOWN = 300
_ERROR = re.compile(
    r"\b(?:\w{0,40}(?<!SetLast)Error|Check failed|Assert fail|Mismatched|Segmentation fault"
    r"|terminate called)\b"
)
#: Lines with an error word but no information.
_SAYS_NOTHING = re.compile(
    r"(?:raise|except|class|from|import)\b"
    r"|.{0,200}(?:Error:$|\(most recent call last\):$|the following errors:$)"
)
_CONDITION = "Assert fail: "
_ENDS_CONDITION = re.compile(
    r"is expected to |has an unsatisfied|to be compact|num_args should|Expect arg|\n\s{0,80}\n"
)
_LINES_OF_CONDITION = 16
_LINES_OF_SOURCE = 3  # lines that a terminal wraps one line of source code into


class MessageScan:
    """Scan of one text for known messages."""

    def __init__(self, text: str) -> None:
        self._by_facts: dict[tuple[str, tuple[tuple[str, str], ...]], FoundMessage] = {}
        self._rows_of: dict[str, set[int]] = {}
        self._known_rows: set[int] = set()
        whole = rejoined(plain(as_printed(text)))
        self._add_messages(*whole)
        # Messages that were hard-wrapped within a word match once their lines are joined.
        joined = pieces_joined(*whole)
        if joined is not None:
            self._add_messages(*joined)
        self._text, self._starts = whole
        self.found = sorted(self._by_facts.values(), key=lambda each: each.line)
        self.unknown = [(row + 1, self._shown(row)) for row in self._unknown_rows()]
        self.lines = len(self._starts) - (self._starts[-1] == len(self._text))

    def _add_messages(self, text: str, starts: list[int]) -> None:
        self._text, self._starts = text, starts
        before = {name: frozenset(rows) for name, rows in self._rows_of.items()}
        for message in MESSAGES:
            known = before.get(message.id, frozenset())
            for match in self._matches(message):
                rows = range(self._row(match.start()), self._row(match.end() - 1) + 1)
                if known.isdisjoint(rows) and not self._is_in_source(match.start()):
                    self._rows_of.setdefault(message.id, set()).update(rows)
                    self._add(message, match)

    def _matches(self, message: KnownMessage) -> Iterator[re.Match[str]]:
        text, literal = self._text, message.literal_regex
        if message.word not in text:
            return
        done = 0
        start = literal.search(text)
        while start is not None:
            at = start.start()
            match = message.regex.search(text, max(done, at - _BEFORE), at + _BEHIND)
            if match is None:
                start = literal.search(text, at + _BEHIND - _LONGEST)
                continue
            yield match
            done = match.end()
            start = literal.search(text, max(done, at + 1))

    def _is_in_source(self, place: int) -> bool:
        begin = max(self._text.rfind("\n", 0, place) + 1, place - _BEHIND)
        end = self._text.find("\n", place, place + _BEHIND)
        line = self._text[begin : end if end >= 0 else place + _BEHIND]
        first = self._starts[max(0, self._row(begin) - _LINES_OF_SOURCE)]
        before = self._text[max(first, begin - _BEFORE) : begin]
        return is_in_source(before, line, place - begin)

    def _add(self, message: KnownMessage, match: re.Match[str]) -> None:
        facts = {key: one_line(value.strip()) for key, value in match.groupdict().items() if value}
        is_assert = message.says.startswith(_CONDITION)
        begin = self._condition_start(match.start()) if is_assert else None
        row = self._row(match.start() if begin is None else begin)
        self._known_rows.update(range(row, self._row(match.end() - 1) + 1))
        key = (message.id, tuple(facts.items()))
        seen = self._by_facts.get(key)
        if seen is not None:
            self._by_facts[key] = replace(seen, count=seen.count + 1)
            return
        details = [] if begin is None else in_words(comparisons(self._text[begin : match.start()]))
        details += which_argument(facts) + which_status(facts)
        self._by_facts[key] = FoundMessage(
            message, row + 1, self._shown(row), facts, tuple(details)
        )

    def _condition_start(self, end: int) -> int | None:
        row = self._row(end)
        least = max(self._starts[max(0, row - _LINES_OF_CONDITION)], end - _BEHIND)
        begin = self._text.rfind(_CONDITION, least, end)
        if begin < 0 or _ENDS_CONDITION.search(self._text, begin, end):
            return None
        return begin

    def _unknown_rows(self) -> list[int]:
        places = (match.end() for match in _ERROR.finditer(self._text))
        rows = dict.fromkeys(self._row(place) for place in places if not self._is_in_source(place))
        return [
            row
            for row in rows
            if row not in self._known_rows and not _SAYS_NOTHING.match(self._line(row))
        ]

    def _row(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _line(self, row: int) -> str:
        end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._text)
        return self._text[self._starts[row] : min(end, self._starts[row] + 4 * _SHOWN)].strip()

    def _shown(self, row: int) -> str:
        return cut(one_line(self._line(row)), _SHOWN)


_FIELDS = {"5": "code", "6": "bits", "7": "lanes"}
_LETTER = {"int": "i", "uint": "u", "i": "i", "u": "u"}
_TOKEN = re.compile(
    r"tvm_struct_get\(\s{0,80}[\w.]{1,120},\s{0,80}0,\s{0,80}(?P<field>[567])"
    r'(?:,\s{0,80}(?:dtype=)?"\w{1,10}")?\)'
    r"|\((?P<cast>u?int)(?P<cast_bits>\d{1,2})\)(?P<cast_value>\d{1,10})"
    r"|\b(?P<call>u?int)(?P<call_bits>\d{1,2})\((?P<call_value>\d{1,10})\)"
    r"|(?<![\w.])(?P<plain_value>\d{1,10})(?:(?P<suffix>[iu])(?P<suffix_bits>\d{1,2}))?\b"
    r"|(?P<equal>==)"
    r"|(?P<joint>&&|\band\b)"
)


class ConditionTerm(NamedTuple):
    """One comparison of a condition."""

    field: str
    value: int
    kind: str


def comparisons(text: str) -> tuple[ConditionTerm, ...]:
    """Parse ``field == value`` comparisons of data types, one per ``and`` operand."""
    terms = []
    field, value, equal = "", None, False
    for token in _TOKEN.finditer(text):
        if token["joint"]:
            field, value, equal = "", None, False
            continue
        if token["equal"]:
            equal = True
        elif token["field"]:
            field = _FIELDS[token["field"]]
        else:
            value = _value(token)
        if field and value is not None and equal:
            terms.append(ConditionTerm(field, *value))
            field, value, equal = "", None, False
    return tuple(terms)


def _value(token: re.Match[str]) -> tuple[int, str]:
    for form in ("cast", "call"):
        if token[form]:
            kind = f"{_LETTER[token[form]]}{token[f'{form}_bits']}"
            return int(token[f"{form}_value"]), kind
    kind = f"{token['suffix']}{token['suffix_bits']}" if token["suffix"] else "i32"
    return int(token["plain_value"]), kind


def in_words(terms: Sequence[ConditionTerm]) -> list[str]:
    """Describe the comparisons: expected values, the meaning of failures, and the layout."""
    if not terms:
        return []
    values = {term.field: term.value for term in terms}
    expected = ", ".join(
        f"{'type code' if term.field == 'code' else term.field} {term.value}" for term in terms
    )
    if {"code", "bits", "lanes"} <= values.keys() and values["bits"] in STORABLE_BITS:
        expected = f"{DataType(values['code'], values['bits'], values['lanes'])}: {expected}"
    lines = [f"The code expects {expected}.", *(_if_it_fails(term, values) for term in terms)]
    kinds = " ".join(f"{term.field}:{term.kind}" for term in terms)
    layout = next((layout for layout in (NARROW, WIDE) if layout.declaration == kinds), None)
    if layout is not None:
        lines.append(f"It compares {kinds}: compiled for the {layout.name} layout of DLDataType.")
    elif len(terms) == len(_FIELDS):
        lines.append(f"It compares {kinds}: compiled for a DLDataType that no release has.")
    return lines


def _if_it_fails(term: ConditionTerm, values: dict[str, int]) -> str:
    if term.field == "lanes":
        return f"If lanes is not {term.value}: a vector type, or the fields lie elsewhere."
    layout = ""
    if term.field == "code":
        text = "the type code", "another family of types (0 int, 1 uint, 2 float, 4 bfloat, 6 bool)"
        if term.kind == "u16" and "bits" in values:
            both = term.value | values["bits"] << 8
            layout = (
                f" If it reads {both} ({both:#06x}), the array's DLDataType is narrower than "
                "this code was compiled for: code and bits are read as one number."
            )
    else:
        text = "bits", "another width"
        if term.kind == "u8":
            layout = (
                " If it reads 0, the array's DLDataType is wider than this code was compiled for."
            )
    return f"If {text[0]} is not {term.value}: {text[1]}.{layout}"


_NUMBERED = re.compile(r"arg(\d{1,4})")


def which_argument(facts: Mapping[str, str]) -> list[str]:
    """Return a sentence on the failing argument, or nothing where the message names none."""
    name, index = facts.get("name", ""), facts.get("index")
    signature = facts.get("signature")
    if index is not None:
        of = f" of {signature}" if signature else ""
        return [f"It is argument {index}{of}, counted from 0; outputs are arguments too."]
    numbered = _NUMBERED.fullmatch(name)
    if numbered is not None:
        at = f"{name} is argument {numbered[1]} of the compiled function, counted from 0; outputs"
        return [f"{at} are arguments too. The message does not name the function."]
    function, dot, parameter = name.rpartition(".")
    if dot and function != "arg":
        return [f"It is the argument {parameter} of the function {function}."]
    return []


_NUMBER = re.compile(r"(?P<hex>0x(?:\\n|[ :\t])*)?(?P<digits>[0-9a-f]{1,8})", re.IGNORECASE)


def which_status(facts: Mapping[str, str]) -> list[str]:
    """Return a sentence on an error number, or nothing for an unknown number."""
    matched = _NUMBER.fullmatch(facts.get("status", ""))
    if matched is None or not (matched["hex"] or matched["digits"].isdecimal()):
        return []
    number = int(matched["digits"], 16 if matched["hex"] else 10)
    meant = STATUSES.get(number)
    return [f"{number:#x} is {meant}"] if meant else []
