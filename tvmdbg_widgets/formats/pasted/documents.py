"""JSON in pasted texts: in a log, cut into lines, as a string literal, as Python prints it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from tvmdbg_widgets.formats.pasted.lines import Cleaned, stream
from tvmdbg_widgets.model.base.numbers import agree, counted

_MOST_LITERAL: Final = 1 << 20
_MOST_VALUES: Final = 50
_MOST_PREFIXES: Final = 6
#: Share of a text that an intact list takes.
_MOST_OF: Final = 0.8
_FEWEST_WIDE: Final = 20
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'"})
_OPENS: Final = re.compile(r"[{\[](?=\s{0,99}[\"{\[])")
_BEGINS: Final = re.compile(r"[{\[](?=[ \t]{0,99}(?:[\"'{\[\\“‘]|$))")
_QUOTED: Final = re.compile(
    r"b?[\"']\s{0,9}[{\[]|b?['\"]\s{0,9}\\[nr]\s{0,9}[{\[]|[{\[]\s{0,9}\\+\""
)
_PYTHON: Final = re.compile(r"[{\[](?=\s{0,99}[{\[']|\s{0,99}\()")
_RECORD: Final = re.compile(
    r'\{\s{0,9}"(?:[irv]|input|config|result|version|tvm_version)"\s{0,9}:'
    r'|\[\s{0,9}\d{1,9}\s{0,9},\s{0,9}\[\s{0,9}\[|\[\s{0,9}"\d{1,20}"\s{0,9},'
)
#: Members of records, also where a line's begin is damaged.
_MEMBER: Final = re.compile(
    r'"(?:[irv]|input|config|result|tvm_version)"\s{0,9}:|(?:\[\s{0,9}){3}"'
)
#: Blank lines that are kept before a log, for its lines' numbers; its kind is known by its head.
_MOST_BLANK: Final = 10_000
#: Tokens of printed Python values: strings, numbers, constants, and separators.
_TOKEN: Final = re.compile(
    r"(?:b?(?:'(?P<single>(?:[^'\\\n]|\\.)*+)'|\"(?P<double>(?:[^\"\\\n]|\\.)*+)\"))"
    r"|-?\d++(?:\.\d++)?(?:e[+-]?\d++)?|True|False|None|nan|-?inf|[\[\]{}():, \t\n]",
    re.DOTALL,
)
#: Nesting limit, below that of Python's own parser.
_DEEPEST: Final = 500
_CONSTANTS: Final = {
    "True": "true", "False": "false", "None": "null", "nan": "NaN",
    "inf": "Infinity", "-inf": "-Infinity", "(": "[", ")": "]",
}  # fmt: skip
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.|\n)", re.DOTALL)
_ESCAPED: Final = {
    "n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "/": "/", "\n": "",
}  # fmt: skip
_QUOTE: Final = re.compile(r'\\.|"')
#: Keys of messages in JSON logs: journald, Docker, zap, pino, clouds.
_MESSAGE_KEYS: Final = ("log", "msg", "message", "MESSAGE", "textPayload", "line", "text", "event")
#: A string literal of several lines.
_LITERAL: Final = re.compile(r"b?['\"](?=[^'\"\n]{0,4000}\\n)")
_KNOWN_JSON: Final = (
    ("a graph (JSON)", re.compile(r"[\"']nodes\\*[\"']\s{0,9}:")),
    ("a Chrome trace", re.compile(r"[\"']traceEvents\\*[\"']\s{0,9}:")),
    ("a profiling report (JSON)", re.compile(r"[\"']calls\\*[\"']\s{0,9}:")),
    ("a tuning log", re.compile(r"\{\s{0,9}[\"'](?:i|input)\\*[\"']\s{0,9}:")),
)
_LONGEST_LINE: Final = 20_000
#: Lines cut at one width are equally long, but for the last of a text.
_MOSTLY: Final = 0.6
_TERMINALS: Final = (72, 76, 78, 79, 80, 100, 120, 132, 140, 160, 200)


def documents(given: Cleaned) -> Iterator[Cleaned]:
    """Yield JSON of a text: plain, behind prefixes, cut into lines, escaped, or Python's."""
    yield from _json(given)
    lines = given.text.split("\n")
    tried: set[str] = set()
    for at, line in enumerate(lines):
        for match in _BEGINS.finditer(line[:400]):
            prefix = line[: match.start()]
            shape = re.sub(r"\d+", "0", prefix)
            if not prefix.strip() or '"' in prefix or "{" in prefix:
                continue
            if any(shape.startswith(start) for start in tried):
                continue  # the lines from there on were read
            tried.add(shape)
            heard = stream(lines, at, match.start())
            if heard.marked < 2:
                continue
            taken = {**given.taken, f"prefixes like {prefix.strip()[:40]!r}": heard.marked}
            yield from _json(Cleaned("\n".join(heard.texts) + "\n", taken))
            if len(tried) >= _MOST_PREFIXES:
                return


def records(given: Cleaned, *, whole: bool = True) -> Cleaned | None:
    """Return the records of a tuning log, None without any; with `whole`, None for broken ones."""
    if _RECORD.search(given.text) is None:
        return None
    decoder, kept, around, count = json.JSONDecoder(), list[str](), 0, 0
    for line in given.text.split("\n"):
        at, taken, own = 0, 0, list[str]()
        while (match := _RECORD.search(line, at, at + 400)) is not None:
            try:
                _, end = decoder.raw_decode(line, match.start())
            except (ValueError, RecursionError):
                if whole:
                    return None
                end = len(line)  # its reader reports the fault
            own.append(line[match.start() : end])
            taken += end - match.start()
            at = end
        count += len(own)
        is_damaged = not own and _MEMBER.search(line) is not None  # its reader reports that, too
        around += not is_damaged and taken < len(line.strip())
        kept += own or [line if is_damaged else ""]
    if not count:
        return None
    also = {"text around records": around} if around else {}
    # Of a log that was cut, or still grows, the last line has no end.
    last = "" if given.text.endswith(kept[-1]) else "\n"
    text = "\n".join(kept) + last
    begin = len(text) - len(text.lstrip("\n"))
    return Cleaned(text[begin:] if begin > _MOST_BLANK else text, given.taken | also)


def standing(text: str) -> tuple[set[tuple[int, str]], int]:
    """Return the lines that are records as they stand, by number, and the number of others."""
    lines = [
        (number, line.rstrip())
        for number, line in enumerate(text.split("\n"))
        if line.strip() and line[:1] not in "# "  # TVM's comments
    ]
    own = {each for each in lines if _RECORD.match(each[1]) and is_json(each[1])}
    return own, len(lines) - len(own)


def is_json(text: str) -> bool:
    """Return whether a text is one JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json(given: Cleaned) -> Iterator[Cleaned]:
    """Yield JSON values in a text, longest first."""
    straight = given.text.translate(_QUOTES)
    for text, quotes in ((straight, straight != given.text), (given.text, False)):
        taken = {**given.taken, **({"curly quote marks": 1} if quotes else {})}
        cleaned = Cleaned(text, taken)
        for one in (cleaned, *unwrapped(cleaned)):
            yield from json_values(one)
        yield from _literals(cleaned)
        if not quotes:
            return


def json_values(given: Cleaned) -> Iterator[Cleaned]:
    """Yield the records of a text, or its JSON values, longest first."""
    text = given.text
    if (log := records(given)) is not None:
        yield log
    elif (begin := _OPENS.search(text)) and _RECORD.match(text, begin.start()):
        return  # a single intact record among broken ones is no log
    spans = sorted(_values(text), key=lambda span: span[0] - span[1])
    for first, last in spans[:4]:
        # A list may be a part of something that is broken.
        if text[first] == "[" and last - first < _MOST_OF * len(text.strip()):
            continue
        around = len(text.strip()) > last - first
        taken = given.taken | ({"text around JSON": 1} if around else {})
        rest = sum(2 * (end - begin) > last - first for begin, end in spans) - 1
        others = f"{counted(rest, 'other JSON value')} of its size {agree(rest, 'is')} left out"
        yield Cleaned(text[first:last], taken, doubts=[others] if rest > 0 else [])


def _values(text: str) -> Iterator[tuple[int, int]]:
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_VALUES):
        match = _OPENS.search(text, at)
        if match is None:
            return
        try:
            _, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            # What stands inside of broken JSON is no file of its own.
            if match.group().startswith("{"):
                return
            at = match.end()
        else:
            yield match.start(), at


def _literals(given: Cleaned) -> Iterator[Cleaned]:
    """Yield string literals, and printed Python values as JSON."""
    text = given.text[:_MOST_LITERAL]
    if (match := _QUOTED.search(text)) is not None:
        token = _TOKEN.match(text, match.start())
        inner = token and (token["single"] or token["double"])
        if token is not None and inner:
            inner_text = _unescaped(inner)
            if token[0].startswith("b"):
                inner_text = inner_text.encode("latin-1", "replace").decode("utf-8", "replace")
        else:
            inner_text = _unescaped(text[match.start() :])
        for times in (1, 2):
            once = Cleaned(inner_text, {**given.taken, "a string literal": times})
            yield once
            yield from json_values(once)
            inner_text = _unescaped(inner_text) if '\\"' in inner_text else ""
    for match in itertools.islice(_PYTHON.finditer(text), 4):
        value = _of_python(text, match.start())
        if value is not None and (match[0] == "{" or len(value) >= _MOST_OF * len(text.strip())):
            yield Cleaned(value, {**given.taken, "Python's notation": 1})
        if value is not None or match[0] == "{":
            return  # what stands inside of something broken is no file of its own


def _of_python(text: str, at: int) -> str | None:
    """Return a printed Python value as JSON; Python's own parser might end the process."""
    pieces: list[str] = []
    literals: list[str] = []
    depth = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        at = match.end()
        inner = match["single"] if match["single"] is not None else match["double"]
        if inner is not None:
            plain_text = _unescaped(inner)
            if match[0].startswith("b"):
                plain_text = plain_text.encode("latin-1", "replace").decode("utf-8", "replace")
            literals.append(plain_text)
            continue
        if not match[0].strip():
            continue
        if literals:  # adjacent literals are one
            pieces.append(json.dumps("".join(literals)))
            literals.clear()
        depth += (match[0] in "[{(") - (match[0] in "]})")
        pieces.append(_CONSTANTS.get(match[0], match[0]))
        if depth == 0:
            break
        if depth > _DEEPEST:
            return None
    written = re.sub(r",(\s*)\]", r"\1]", "".join(pieces)) if ")" in text else "".join(pieces)
    try:
        json.loads(written)
    except (ValueError, RecursionError):
        return None
    return written


def _unescaped(inner: str) -> str:
    """Return the text of a string literal; unknown escapes stay."""
    return _ESCAPE.sub(lambda match: _escape(match[1]), inner)


def _escape(code: str) -> str:
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _ESCAPED.get(code, f"\\{code}")


def literal_in(text: str) -> str:
    """Return the text of a multi-line string literal with adjacent ones."""
    match = _LITERAL.search(text)
    literal = ""
    at = match.start() if match is not None else len(text)
    while (token := _TOKEN.match(text, at)) is not None and (token["single"] or token["double"]):
        literal += _unescaped(token["single"] or token["double"])
        at = token.end()
        while text[at : at + 1].isspace():
            at += 1
    return literal


def messages_in(text: str) -> Iterator[str]:
    """Yield the texts in JSON: a message a line, or the outputs of a notebook."""
    try:
        values = [json.loads(text)]
    except (ValueError, RecursionError):
        values = []
        for line in text.split("\n"):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                if line.strip():
                    return
                continue
            # Loggers write the line itself without its end.
            messages = (value.get(key) for key in _MESSAGE_KEYS) if isinstance(value, dict) else ()
            line_said = next((message for message in messages if isinstance(message, str)), None)
            values.append(value if line_said is None else f"{line_said.rstrip()}\n")
    left = values[::-1]
    while left:
        value = left.pop()
        if isinstance(value, list) and all(isinstance(message, str) for message in value):
            value = "".join(value)
        if isinstance(value, str) and "\n" in value:
            yield value if value.endswith("\n") else f"{value}\n"
        elif isinstance(value, dict):
            left += [*value.values()][::-1]
        elif isinstance(value, list):
            left += value[::-1]


def open_ends(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it ends inside of a JSON string."""
    ends, is_open, escaped = [], False, False
    for line in lines:
        for match in _QUOTE.finditer(line, 1 if escaped else 0):
            if match[0] == '"':
                is_open = not is_open
        escaped = is_open and (len(line) - len(line.rstrip("\\"))) % 2 == 1
        ends.append(is_open)
    return ends


def unwrapped(given: Cleaned) -> Iterator[Cleaned]:
    """Yield JSON with rejoined lines that a terminal or an editor cut, if unambiguous."""
    lines = given.text.rstrip().split("\n")
    before = max(len(lines) - 1, 1)
    wide = max(map(len, lines))
    ends = open_ends(lines)
    broken = _RECORD.match(given.text) is not None and records(given) is None
    if wide < _FEWEST_WIDE or not (
        broken
        or any(
            is_open or (line[-1:].isalnum() and after[:1].isalnum())
            for line, after, is_open in zip(lines, lines[1:], ends, strict=False)
        )
    ):
        return
    full = sum(len(line) == wide for line in lines[:-1])
    mostly = full >= _MOSTLY * before and (before > 2 or wide in _TERMINALS)
    exactly = full > 1 and all(
        len(line) == wide for line, is_open in zip(lines[:-1], ends, strict=False) if is_open
    )
    # Of lines that end between words, none could have taken the next word too.
    widest = max((len(line) for line in lines if " " in line), default=0)
    words = all(
        len(line) + 1 + len(after.split(" ", 1)[0]) > widest
        for line, after in itertools.pairwise(lines)
    )
    # A line that ends with a hyphen may have been cut there, without a blank.
    words = words and not any(line.endswith("-") for line in lines[:-1])
    if words and before > 1 and len(set(map(len, lines[:-1]))) > 1 and not mostly:
        yield Cleaned(" ".join(lines), {**given.taken, "line ends between words": before})
    elif mostly or exactly:
        joined = [
            line.ljust(wide) if is_open else line if len(line) == wide else f"{line}\n"
            for line, is_open in zip(lines, ends, strict=True)
        ]
        yield Cleaned("".join(joined), {**given.taken, f"line ends at column {wide}": full})


def nearly_json(text: str) -> str:
    """Describe the start of unreadable JSON of a known kind."""
    for number, line in enumerate(text.split("\n"), 1):
        for what, mark in _KNOWN_JSON if ":" in line else ():
            if mark.search(line[:_LONGEST_LINE]):
                return (
                    f"What looks like {what} begins in line {number:,}, but it is cut, or not JSON."
                )
    return ""
