"""Text from files made fit for messages, errors and issues of files, and URLs as text."""

from __future__ import annotations

import base64
import enum
import html
import importlib
import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import pandas as pd


_ESCAPES = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
#: Most names in a message, and letters of one of its parts.
_MOST_NAMES, _MOST_LETTERS = 10, 1_000
#: Letters of a sentence on a file, and how many of these are its end.
_MOST_TOLD, _LAST_TOLD = 2_000, 500


def more_text(count: int, shown: int) -> list[str]:
    """``["… and 1,200 more"]``; empty if all are shown."""
    return [f"… and {count - shown:,} more"] if count > shown else []


def one_line(text: str) -> str:
    r"""Return the text with every character that is not printable as its escape.

    Names come from strangers: line ends would break tables, control and direction characters the
    terminal, and halves of surrogate pairs (file names that are not UTF-8) cannot be written.

    >>> one_line("a\n\x1b[31m\udcff")
    'a\\n\\x1b[31m\\udcff'
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def listed(texts: Collection[object], joint: str = ", ", most: int = _MOST_NAMES) -> str:
    """Return the first of some texts, and the number of others."""
    shown = joint.join(str(text) for _, text in zip(range(most), texts, strict=False))
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most:,} more"


_COLUMNS = 100
_LABEL = 'style="text-align:left;vertical-align:top;white-space:nowrap"'
_FACT = 'style="text-align:left;vertical-align:top;white-space:normal;overflow-wrap:anywhere"'


def hanging(label: str, text: str, indent: int = 2) -> list[str]:
    """Return a label and its text in lines of 100 columns that break between words."""
    import textwrap

    begin = f"{' ' * indent}{label} "
    how: Any = {"break_long_words": False, "break_on_hyphens": False}
    later = " " * (min(len(begin), indent + 12) if indent else 2)
    return textwrap.wrap(text, _COLUMNS, initial_indent=begin, subsequent_indent=later, **how) or [
        begin.rstrip()
    ]


def rows_html(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels and their texts as an HTML table that breaks between words."""
    cells = "".join(
        f"<tr><th {_LABEL}>{html.escape(label)}</th><td {_FACT}>{html.escape(text)}</td></tr>"
        for label, text in rows
    )
    return f"<table>{cells}</table>"


def cut(text: str, most: int = _MOST_LETTERS) -> str:
    """Return the start of a text that is too long for a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shortened(sentence: str) -> str:
    """Cut the middle of a sentence that is too long."""
    if len(sentence) <= _MOST_TOLD:
        return sentence
    return f"{sentence[: _MOST_TOLD - _LAST_TOLD - 1]}…{sentence[-_LAST_TOLD:]}"


def paired(text: str) -> str:
    """Replace lone surrogates, which cannot be written, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def paired_json(text: str) -> tuple[str, int]:
    r"""Return a JSON text without lone surrogates, and the number of replaced escapes.

    Every reader of JSON calls this before it parses, as text with lone surrogates cannot be shown,
    saved or sent; positions in the text stay.

    >>> paired_json('"a\\udcff"')
    ('"a\\ufffd"', 1)
    """
    text = paired(text)
    if "\\ud" not in text and "\\uD" not in text:
        return text, 0
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        if match[1] is None:
            return match[0]
        count += 1
        return "\\ufffd"

    return _ESCAPES.sub(replace, text), count


class FormatError(ValueError):
    """A file does not follow its format, ends too early, or changed while it was read.

    Parameters
    ----------
    problem
        The fault, in one sentence without a full stop.
    file
        Name of the file (or of the bytes) that was read.
    field
        Field of the format that was being read, such as ``"array 3 ('p0'): ndim"``.
    offset
        Position of that field in bytes from the start of the file.
    expected, found
        Requirement of the format and content of the file.
    hint
        Advice.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str,
        field: str | None = None,
        offset: int | None = None,
        expected: object = None,
        found: object = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.field = field
        self.offset = offset
        self.expected = expected
        self.found = found
        self.hint = hint
        super().__init__(self._paragraph())

    def _paragraph(self) -> str:
        place = ""
        if self.field is not None:
            place += f", field {cut(self.field)}"
        if self.offset is not None:
            place += f", at byte {self.offset}"
        text = f"{self.file}{place}: {cut(self.problem)}"
        if self.expected is not None:
            text += f"; expected {cut(str(self.expected))}"
        if self.found is not None:
            text += f"; found {cut(str(self.found))}"
        text += "."
        if self.hint is not None:
            text += f" {self.hint}"
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("problem", "file", "field", "offset", "expected", "found", "hint")
        return partial(FormatError, **{name: getattr(self, name) for name in names}), ()


def plain_json(value: Any) -> Any:
    """Return a value of JSON; non-finite numbers become None, bytes a text."""
    if isinstance(value, dict):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return list(map(plain_json, value))
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def why_unread(problem: Exception) -> str:
    """Return the reason of a failed read in short: no full stop, files by name alone."""
    if isinstance(problem, FormatError):
        return f"{problem.problem} ({_last(problem.file)})"
    if isinstance(problem, OSError) and problem.strerror:
        where = f" ({_last(os.fsdecode(problem.filename))})" if problem.filename else ""
        return problem.strerror + where
    return str(problem) if isinstance(problem, ValueError | OSError) else repr(problem)


def unread_text(problem: Exception) -> str:
    """Return the reason of a failed read as sentences: with advice, files by name alone."""
    hint = getattr(problem, "hint", None)
    return f"{why_unread(problem)}." + (f" {hint}" if hint else "")


def _last(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


_LINES_SHOWN, _NODES_SHOWN = 20, 20


class IssueSeverity(enum.StrEnum):
    """Severity of an issue.

    ``ERROR``: the file breaks its format, something was left out or repaired.
    ``WARNING``: readable as it is, but what it says is questionable.
    ``NOTE``: worth knowing, nothing is wrong.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Issue:
    """One defect: the broken rule, a message, and the place.

    Attributes
    ----------
    rule : str
        Kebab-case id of the rule, stable between releases.
    severity : Severity
    message : str
        One paragraph naming the field, what was expected and what was found; without its middle
        where names of the file make it too long.
    nodes : tuple of int
        Node ids concerned, possibly only the first of many.
    entries : tuple of (int, int)
        Entries ``(node, output)`` concerned.
    file : str
        Name of the file, empty where no file is involved.
    """

    rule: str
    severity: IssueSeverity
    message: str
    nodes: tuple[int, ...] = ()
    entries: tuple[tuple[int, int], ...] = ()
    file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message))

    def __str__(self) -> str:
        where = f"{self.file}: " if self.file else ""
        return f"{self.severity.value} [{self.rule}] {where}{self.message}"


class IssueLog(list[Issue]):
    """The issues of one file while it is read."""

    def __init__(self, file: str, issues: Iterable[Issue] = ()) -> None:
        super().__init__(issues)
        self.file = file

    def add(
        self, rule: str, severity: IssueSeverity, message: str, nodes: Iterable[int] = ()
    ) -> None:
        """Add an issue with the first of some nodes."""
        some = tuple(int(node) for node in islice(nodes, _NODES_SHOWN))
        self.append(Issue(rule, severity, message, some, file=self.file))

    def error(self, rule: str, message: str, nodes: Iterable[int] = ()) -> None:
        """Add an error."""
        self.add(rule, IssueSeverity.ERROR, message, nodes)

    def warning(self, rule: str, message: str, nodes: Iterable[int] = ()) -> None:
        """Add a warning."""
        self.add(rule, IssueSeverity.WARNING, message, nodes)

    def note(self, rule: str, message: str, nodes: Iterable[int] = ()) -> None:
        """Add a note."""
        self.add(rule, IssueSeverity.NOTE, message, nodes)


class Issues(Sequence[Issue]):
    """An immutable sequence of issues in the order of reading.

    Parameters
    ----------
    issues : iterable of Issue
    """

    __slots__ = ("_items",)

    def __init__(self, issues: Iterable[Issue] = ()) -> None:
        self._items: tuple[Issue, ...] = tuple(issues)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Issue: ...
    @overload
    def __getitem__(self, index: slice) -> Issues: ...
    def __getitem__(self, index: int | slice) -> Issue | Issues:
        if isinstance(index, slice):
            return Issues(self._items[index])
        return self._items[index]

    def __add__(self, other: Iterable[Issue]) -> Issues:
        return Issues((*self._items, *other))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Issues) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def by_rule(self, rule: str) -> Issues:
        """Return the issues of one rule."""
        return Issues(issue for issue in self._items if issue.rule == rule)

    def by_severity(self, severity: IssueSeverity) -> Issues:
        """Return the issues of one severity."""
        return Issues(issue for issue in self._items if issue.severity is severity)

    def summary(self) -> str:
        """Return the counts by severity, such as ``"1 error, 2 notes"`` or ``"0 issues"``."""
        counts = Counter(issue.severity for issue in self._items)
        told = [
            f"{counts[s]} {s.value}{'s' * (counts[s] != 1)}" for s in IssueSeverity if counts[s]
        ]
        return ", ".join(told) or "0 issues"

    def to_dataframe(self) -> pd.DataFrame:
        """Return the issues as a table with one row per issue (needs pandas)."""
        fields = ("rule", "severity", "message", "nodes", "entries", "file")
        return data_frame({name: [getattr(i, name) for i in self._items] for name in fields})

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><b>{issue.severity.value}</b> {html.escape(issue.message)} "
            f"<code>{html.escape(issue.rule)}</code></li>"
            for issue in self._items[:_LINES_SHOWN]
        )
        rest = "".join(f"<li>{text}</li>" for text in more_text(len(self), _LINES_SHOWN))
        return f"<div>Issues: {self.summary()}</div><ul>{items}{rest}</ul>"

    def __repr__(self) -> str:
        lines = [f"Issues: {self.summary()}"]
        lines += [str(issue) for issue in self._items[:_LINES_SHOWN]]
        return "\n  ".join([*lines, *more_text(len(self), _LINES_SHOWN)])


_SILENCE_S = 60
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(?:://|::)")
_SECRETS = re.compile(
    r"(?<=://)(?:[^/?]*@|[^/@:]*:(?!:|[0-9]*(?:/|\Z))[^@?]*@)|\?.*?(?=::|\Z)", re.DOTALL
)
_INSTALL = 'pip install "tvmdbg-widgets[remote]"'


def is_url(path: object) -> bool:
    """Whether a path is a URL: ``scheme://…``, or several chained as ``zip://a::http://…``."""
    return isinstance(path, str) and _URL.match(path) is not None


def local_path(path: Any) -> Any:
    """Return the path of a ``file://`` URL, or the argument."""
    scheme, mark, rest = path.partition("://") if isinstance(path, str) else ("", "", "")
    if not mark or scheme.lower() not in ("file", "local"):
        return path
    return rest.lstrip("/") if os.name == "nt" else rest


def without_secrets(url: str) -> str:
    """Return a URL without user, password and query (signed URLs have one)."""
    return one_line(_SECRETS.sub("", url))


def file_system(url: str) -> tuple[Any, str]:
    """Return fsspec's file system of a URL, and the path in it."""
    shown = without_secrets(url)
    try:
        import fsspec
    except ImportError as problem:
        raise ImportError(f"reading {shown} needs fsspec: {_INSTALL}") from problem
    try:
        fs, path = fsspec.core.url_to_fs(url, **_patience(url))
    except ImportError as problem:
        raise ImportError(
            f"reading {shown} needs a package for its scheme: {problem} "
            f"({_INSTALL} brings what http and https need)"
        ) from problem
    except ValueError as problem:
        raise ValueError(f"{shown}: {problem}") from problem
    return fs, path


def _patience(url: str) -> dict[str, Any]:
    """Return options that time out reads from a stalled web server, not after five minutes."""
    if not url.startswith(("http://", "https://")):
        return {}
    import aiohttp

    limit = aiohttp.ClientTimeout(total=None, sock_connect=_SILENCE_S, sock_read=_SILENCE_S)
    return {"client_kwargs": {"timeout": limit}}


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Make a ``pandas.DataFrame`` of named columns."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "to_dataframe() needs pandas, which is not installed: pip install pandas "
            "(the columns themselves are numpy arrays and need no pandas)"
        ) from error
    return pandas.DataFrame(dict(columns))


def columns_of(rows: Iterable[Any], names: Iterable[str]) -> dict[str, Any]:
    """Return attributes of rows as columns."""
    listed = list(rows)
    return {name: [getattr(row, name) for row in listed] for name in names}
