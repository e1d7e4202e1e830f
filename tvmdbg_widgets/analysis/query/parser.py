"""From the text of a query to its tree; js/src/graph/query/parser.ts reads the same."""

from __future__ import annotations

import re
from typing import Final, NoReturn, cast

from tvmdbg_widgets.analysis.query.errors import QueryError
from tvmdbg_widgets.analysis.query.fields import GRAPH, Vocabulary, close_fields
from tvmdbg_widgets.analysis.query.regex import Regex, glob_regex
from tvmdbg_widgets.analysis.query.regex_tree import RegexError
from tvmdbg_widgets.analysis.query.tree import (
    And,
    Arrow,
    Compare,
    Comparison,
    Id,
    Mode,
    Not,
    Or,
    Path,
    Query,
    Shape,
    Text,
    Word,
)

_MOST_LENGTH: Final = 10_000
_MOST_TERMS: Final = 100
_MOST_DEPTH: Final = 50
_MOST_SIZES: Final = 64

_S: Final = r"[\t-\r \u00a0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_END: Final = rf"(?={_S}|[()|]|->|\Z)"
_SPACE: Final = re.compile(rf"{_S}*")
_BARE: Final = re.compile(rf"(?:(?!{_S}|[()|]|->)[\s\S])*")
_KEYWORD: Final = re.compile(rf"([Aa][Nn][Dd]|[Oo][Rr]|[Nn][Oo][Tt]){_END}")
_ID: Final = re.compile(rf"#([0-9]{{1,9}}){_END}")
_FIELD: Final = re.compile(
    r"([Aa][Tt][Tt][Rr]\.[A-Za-z0-9_.-]*[A-Za-z0-9_]|[A-Za-z_][A-Za-z0-9_]*)"
    rf"(:(?!:)|{_S}*(?:<=|>=|==|!=|[<>=]))"
)
_WHOLE: Final = re.compile(rf"[+-]?[0-9]+{_END}")
_DIGITS: Final = re.compile(rf"[0-9]+{_END}")
_REGEX: Final = re.compile(rf"/((?:(?!{_S})[\s\S])*?)/{_END}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_UNIT: Final = re.compile(rf"({_S}?)([A-Za-zµμ%]+){_END}")
_NAMESPACE: Final = re.compile(r"(?:[a-z0-9_]+\.)+(?=[*?]*[a-z0-9_])")
_BRACKETS: Final = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_PLAIN_SHAPE: Final = re.compile(rf"\({_S}*(?:[0-9]+{_S}*,{_S}*)*(?:[0-9]+{_S}*)?\)")
_SIZE: Final = re.compile(rf"({_S}*)([0-9*?]+|\.\.\.){_S}*")


def parse(text: str, vocabulary: Vocabulary = GRAPH) -> Query | None:
    """Read a query.

    Parameters
    ----------
    text : str
    vocabulary : Vocabulary
        The fields there are, and their units.

    Returns
    -------
    Query or None
        None for a query of nothing, which finds nothing.

    Raises
    ------
    QueryError
        It does not follow the grammar, or is longer or nested deeper than any good one.
    """
    return _Parser(text, vocabulary).parse()


class _Parser:
    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self._text, self._at = text, 0
        self._vocabulary = vocabulary
        self._depth = self._terms = 0

    def parse(self) -> Query | None:
        if len(self._text) > _MOST_LENGTH:
            self._fail(_MOST_LENGTH, f"expected at most {_MOST_LENGTH} characters")
        self._space()
        if self._at == len(self._text):
            return None
        found = self._either()
        if self._at < len(self._text):
            self._fail(self._at, "expected no ')' without a '('")
        return found

    def _fail(self, at: int, expected: str, more: str = "") -> NoReturn:
        raise QueryError(self._text, at, f"{expected} at {at}{more}")

    def _missing(self, expected: str) -> NoReturn:
        found = self._text[self._at : self._at + 1]
        self._fail(self._at, f"expected {expected}", f", found '{found}'" if found else "")

    def _space(self) -> None:
        self._take(_SPACE)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        if match:
            self._at = match.end()
        return match

    def _bare(self) -> str:
        match = self._take(_BARE)
        return match[0] if match else ""

    def _keyword(self, *words: str) -> bool:
        """Take one of some words or signs, if it is next."""
        self._space()
        match = _KEYWORD.match(self._text, self._at)
        word = match[1].lower() if match else self._text[self._at : self._at + 1]
        if word and word in words:
            self._at += len(word)
            return True
        return False

    def _either(self) -> Query:
        parts = [self._all()]
        while self._keyword("or", "|"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self) -> Query:
        parts = [self._negated()]
        while self._keyword("and") or self._goes_on():
            parts.append(self._negated())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _goes_on(self) -> bool:
        match = _KEYWORD.match(self._text, self._at)
        if match and match[1].lower() == "or":
            return False
        return self._at < len(self._text) and self._text[self._at] not in ")|"

    def _negated(self) -> Query:
        self._space()
        if not self._keyword("not") and not self._minus():
            return self._path()
        self._deeper()
        part = self._negated()
        self._depth -= 1
        return Not(part)

    def _minus(self) -> bool:
        text, at = self._text, self._at
        if text[at : at + 1] != "-" or text[at + 1 : at + 2] == ">":
            return False
        self._at += 1
        return True

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            self._fail(self._at, f"expected at most {_MOST_DEPTH} levels of parentheses")

    def _path(self) -> Query:
        steps, arrows = [self._step()], []
        while True:
            self._space()
            if not self._text.startswith("->", self._at):
                break
            if not self._vocabulary.paths:
                self._fail(self._at, "expected no '->'")
            arrow: Arrow = "->>" if self._text.startswith("->>", self._at) else "->"
            self._at += len(arrow)
            arrows.append(arrow)
            steps.append(self._step())
        return steps[0] if len(steps) == 1 else Path(tuple(steps), tuple(arrows))

    def _step(self) -> Query:
        self._space()
        self._terms += 1
        if self._terms > _MOST_TERMS:
            self._fail(self._at, f"expected at most {_MOST_TERMS} terms")
        sign = self._text[self._at : self._at + 1]
        has_shapes = "shape" in self._vocabulary.fields
        plain = self._take(_PLAIN_SHAPE) if sign == "(" and has_shapes else None
        if plain and ("," in plain[0] or plain[0] == "()"):
            self._at = plain.start()
            return self._shape("")
        if sign == "(":
            self._at = plain.start() if plain else self._at
            return self._group()
        if not sign or sign in ")|" or self._text.startswith("->", self._at):
            self._missing("a word or a field")
        if _KEYWORD.match(self._text, self._at):
            self._missing("a word or a field")
        match = self._take(_ID)
        if match:
            return Id(int(match[1]))
        return self._field() or Word(*self._pattern("a word"))

    def _group(self) -> Query:
        opened = self._at
        self._at += 1
        self._deeper()
        found = self._either()
        if self._text[self._at : self._at + 1] != ")":
            self._fail(opened, "expected a ')' for the '('")
        self._at += 1
        self._depth -= 1
        return found

    def _field(self) -> Query | None:
        at = self._at
        match = self._take(_FIELD)
        if not match:
            return None
        name, sign = match[1].lower(), _SPACE.sub("", match[2], count=1)
        is_attr = name.startswith("attr.") and "attr." in self._vocabulary.fields
        if is_attr:
            name = f"attr.{match[1][5:]}"
        elif name not in self._vocabulary.fields:
            if sign == ":" and _DIGITS.match(self._text, self._at):
                self._at = at
                return None
            self._unknown(match[1], at)
        by = "=" if sign == "==" else sign
        if sign != ":":
            self._space()
        if name == "shape":
            return self._shape(by)
        if self._is_number(name, by, match.start(2)):
            return self._number(name, by)
        mode, text = self._pattern(f"a pattern after '{match[1]}{sign}'", exact=by != ":")
        if name == "op" and mode != "regex":
            text = _NAMESPACE.sub("", text, count=1)
        return Text(name, mode, text, by == "!=")

    def _is_number(self, name: str, by: str, at: int) -> bool:
        is_text = name in self._vocabulary.texts
        is_number = name in self._vocabulary.numbers
        if by in ("<", "<=", ">", ">="):
            if is_text and not is_number:
                self._fail(at, f"expected ':', '=' or '!=' after {name}")
            return True
        whole = _WHOLE.match(self._text, self._at)
        return is_number and (not is_text or whole is not None)

    def _unknown(self, name: str, at: int) -> NoReturn:
        fields = self._vocabulary.fields
        close = [_told(field) for field in close_fields(name.lower(), fields)]
        hint = f"did you mean {' or '.join(close)}?"
        if not close:
            hint = f"put a text in quotes; fields are {', '.join(map(_told, fields))}"
        self._fail(at, f"unknown field '{name}'", f"; {hint}")

    def _pattern(self, expected: str, *, exact: bool = False) -> tuple[Mode, str]:
        """Read a word, a text in quotes, a pattern with ``*``, or a regular expression."""
        at, sign = self._at, self._text[self._at : self._at + 1]
        plain: Mode = "is" if exact else "has"
        if sign in ('"', "'") and sign:
            end = self._text.find(sign, at + 1)
            if end < 0:
                self._fail(at, f"expected a closing {sign} for the {sign}")
            self._at = end + 1
            return plain, self._text[at + 1 : end].lower()
        match = self._take(_REGEX)
        if match and match[1]:
            self._compiled(match[1], at + 1)
            return "regex", match[1]
        self._at = at
        text = self._bare().lower()
        if not text:
            self._missing(expected)
        if "*" not in text and "?" not in text:
            return plain, text
        self._compiled(glob_regex(text), at, "expected a shorter pattern with * or ?")
        return "glob", text

    def _compiled(self, pattern: str, at: int, wrong: str = "") -> None:
        try:
            Regex(pattern)
        except RegexError as error:
            self._fail(at if wrong else at + error.at, wrong or str(error))

    def _number(self, name: str, by: str) -> Query:
        match = self._take(_NUMBER)
        if not match:
            self._missing("a number")
        value = float(match[0])
        units = self._vocabulary.units.get(name)
        at = self._at
        found = self._take(_UNIT) if units else None
        if units and found:
            unit = found[2].lower() if units.any_case else found[2]
            if unit in units.factors:
                value *= units.factors[unit]
            elif found[1]:
                self._at, found = at, None
            else:
                self._fail(at, f"expected {units.told}", f", found '{found[2]}'")
        if units and units.needed and not found and value:
            self._missing(f"a unit ({units.told})")
        rest = self._at
        if self._bare():
            self._at = rest
            self._missing("a space after the number")
        return Compare(name, cast("Comparison", "=" if by == ":" else by), value)

    def _shape(self, by: str) -> Query:
        if by in ("<", "<=", ">", ">="):
            self._fail(self._at, "expected ':', '=' or '!=' after shape")
        start = self._at
        match = self._take(_BRACKETS)
        if match:
            start, inner = start + 1, match[0][1:-1]
        else:
            inner = self._bare()
            if not inner:
                self._missing("a shape like *,64,*,*")
        return Shape(self._sizes(inner, start), by == "!=")

    def _sizes(self, inner: str, start: int) -> tuple[str, ...]:
        pieces = re.split(r"[,x×]", inner)
        if re.fullmatch(rf"{_S}*", pieces[-1]):
            pieces.pop()
        found: list[str] = []
        for piece in pieces:
            match = _SIZE.fullmatch(piece)
            if not match:
                shown = piece[:20]
                self._fail(start, "expected a size, * or ...", f", found '{shown}'")
            size = match[2]
            found.append(size.lstrip("0") or "0" if size.isdigit() else size)
            start += len(piece) + 1
        if len(found) > _MOST_SIZES:
            self._fail(start, f"expected at most {_MOST_SIZES} sizes")
        return tuple(found)


def _told(field: str) -> str:
    return "attr.NAME" if field == "attr." else field
