"""Tokens of the bodies that TVM prints, in both of its styles.

Up to v0.10 every operation stands in brackets and constants carry suffixes: ``((yy*2) + ry)``,
``0f`` (``ReprPrinter``, src/tir/ir/expr.cc); later bodies are Python: ``yy * 2 + ry``,
``T.float32(0)`` (src/script/printer/tir/).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.trials import (
    BinaryExpr,
    CallExpr,
    Cast,
    Expression,
    Not,
    Number,
    Select,
    TensorRead,
    Text,
    Variable,
)

#: Names of operations and axes; both may have dots and at signs.
NAME = r"[^\W\d][\w.@]*"

_BLANK = re.compile(r"\s*")
_TOKEN = re.compile(
    rf"""(?:
        (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?[fh]?(?![\w.]))
      | (?P<name>@?{NAME})
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<sign>&&|\|\||==|!=|<=|>=|//|[-+*/%<>!()\[\],=])
      | (?P<end>$)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token."""

    kind: str
    text: str
    column: int


class BodyError(ValueError):
    """An unreadable body; `column` counts from 0."""

    def __init__(self, problem: str, column: int) -> None:
        super().__init__(problem)
        self.column = column


class TooDeepError(BodyError):
    """A body that is nested too deeply."""


def tokenize(text: str, start: int = 0) -> list[Token]:
    """Return the tokens of a line from a column on, and last an ``"end"``."""
    tokens: list[Token] = []
    while not tokens or tokens[-1].kind != "end":
        blank = _BLANK.match(text, start)
        start = blank.end() if blank else start
        match = _TOKEN.match(text, start)
        if match is None:
            raise BodyError("no operand, operator or bracket", start)
        kind = str(match.lastgroup)
        tokens.append(Token(kind, match[kind], match.start(kind)))
        start = match.end()
    return tokens


#: Deepest nesting; the transforms of winograd convolution have about 40.
MAX_DEPTH = 80
_MOST_DIGITS = 400

# Python's precedence; the brackets of the older style leave none to decide.
_BINDING = {
    "||": 1,
    "or": 1,
    "&&": 2,
    "and": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "//", "%"), 6),
}
_NOT, _TIGHT = 3, 7
_SAME = {"or": "||", "and": "&&", "//": "floordiv", "Div": "/", "truncdiv": "/", "truncmod": "%"}
_CALLED = frozenset(("max", "min", "floordiv", "floormod", "Div", "truncdiv", "truncmod"))
DTYPE = re.compile(r"(?:u?int|b?float|bool)\d*(?:_e\w+)?(?:x\d+)?")
_SUFFIXES = {"f": "float32", "h": "float16"}


def parse_body(tokens: Sequence[Token]) -> Expression:
    """Read one expression from all tokens."""
    parser = _ExpressionParser(tokens)
    body = parser.expression()
    parser.end()
    return body


def parse_bodies(tokens: Sequence[Token]) -> tuple[Expression, ...]:
    """Read several expressions in brackets: ``(a, b)``."""
    parser = _ExpressionParser(tokens)
    parser.expect("(")
    bodies = parser.listed(")")
    parser.end()
    return bodies


class _ExpressionParser:
    """Precedence climbing."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def _sees(self, *signs: str) -> bool:
        """Return whether these signs come next."""
        ahead = self._tokens[self._at : self._at + len(signs)]
        return all(token.kind == "sign" for token in ahead) and [token.text for token in ahead] == [
            *signs
        ]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def expect(self, sign: str) -> None:
        if not self._sees(sign):
            raise BodyError(f"expected {sign!r}", self._tokens[self._at].column)
        self._take()

    def end(self) -> None:
        token = self._tokens[self._at]
        if token.kind != "end":
            raise BodyError("expected an operator or the end of the line", token.column)

    def expression(self, binding: int = 0) -> Expression:
        """Read an operand and its operators of tighter binding."""
        outer = self._depth
        self._deeper()
        left = self._unary()
        while self._tokens[self._at].kind in ("sign", "name"):
            operator = self._tokens[self._at].text
            level = _BINDING.get(operator, -1)
            if level <= binding:
                break
            self._take()
            left = BinaryExpr(_SAME.get(operator, operator), left, self.expression(level))
            self._deeper()
        self._depth = outer
        return left

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            column = self._tokens[self._at].column
            raise TooDeepError(f"nested deeper than {MAX_DEPTH} operations", column)

    def listed(self, end: str) -> tuple[Expression, ...]:
        """Read expressions up to a closing bracket."""
        expressions: list[Expression] = []
        while not self._sees(end):
            if expressions:
                self.expect(",")
            expressions.append(self.expression())
        self._take()
        return tuple(expressions)

    def _unary(self) -> Expression:
        token = self._take()
        if token.kind == "name" and token.text == "not":
            return Not(self.expression(_NOT))
        if token.text == "!":
            return Not(self.expression(_TIGHT))
        if token.text == "-":
            operand = self.expression(_TIGHT)
            if isinstance(operand, Number):
                return Number(-operand.value, operand.dtype)
            return BinaryExpr("-", Number(0), operand)
        return self._operand(token)

    def _operand(self, token: Token) -> Expression:
        if token.kind == "number":
            return _number(token)
        if token.kind == "text":
            return Text(token.text[1:-1])
        if token.kind == "name":
            return self._named(token)
        if token.text != "(":
            raise BodyError("expected an operand", token.column)
        inner = self.expression()
        self.expect(")")
        if isinstance(inner, Variable) and DTYPE.fullmatch(inner.name):  # (int64)5
            literal = self._unary()
            if not isinstance(literal, Number):
                raise BodyError(f"expected a constant of {inner.name}", token.column)
            return Number(literal.value, inner.name)
        return inner

    def _named(self, token: Token) -> Expression:
        name = token.text
        if self._sees("["):
            self._take()
            if self._sees("(", ")", "]"):  # A[()], the newer style of a 0-d tensor's element
                self._at += 3
                return TensorRead(name, ())
            return TensorRead(name, self.listed("]"))
        if self._sees("("):
            self._take()
            return _called(name, self.listed(")"), token.column)
        return Number(name == "True", "bool") if name in ("True", "False") else Variable(name)


def _number(token: Token) -> Number:
    digits = token.text
    if len(digits) > _MOST_DIGITS:
        raise BodyError(f"a number of more than {_MOST_DIGITS} digits", token.column)
    if digits[-1] in _SUFFIXES:
        return Number(float(digits[:-1]), _SUFFIXES[digits[-1]])
    return Number(int(digits)) if digits.isdecimal() else Number(float(digits), "float64")


def _called(name: str, arguments: tuple[Expression, ...], column: int) -> Expression:
    plain = name.removeprefix("tir.").removeprefix("T.")
    build: Callable[..., Expression]
    if plain in _CALLED:
        build, wanted = (lambda a, b: BinaryExpr(_SAME.get(plain, plain), a, b)), 2
    elif plain in ("select", "Select"):
        build, wanted = Select, 3
    elif plain == "Cast" and arguments and isinstance(arguments[0], Text):
        build, wanted = (lambda dtype, value: Cast(dtype.value, value)), 2
    elif DTYPE.fullmatch(plain):
        build, wanted = (lambda value: _converted(plain, value, name)), 1
    else:
        return CallExpr(name if plain == name else f"tir.{plain}", arguments)
    if len(arguments) != wanted:
        raise BodyError(f"expected {counted(wanted, 'argument')}, found {len(arguments)}", column)
    return build(*arguments)


def _converted(dtype: str, value: Expression, name: str) -> Expression:
    """``float32(x)`` of the older style is a cast, ``T.float32(0)`` of the newer a constant."""
    if name.startswith("T.") and isinstance(value, Number):
        return Number(value.value, dtype)
    if name.startswith("T.") and isinstance(value, Text):
        try:
            return Number(float(value.value), dtype)  # T.float32("-inf")
        except ValueError:
            pass
    return Cast(dtype, value)
