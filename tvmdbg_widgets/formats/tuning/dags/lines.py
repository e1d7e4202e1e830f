"""Lines of a compute DAG's text: ``X = PLACEHOLDER [4, 8]``, ``Y(i, j) += …``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tvmdbg_widgets.formats.tuning.dags.bodies import DTYPE, parse_bodies, parse_body
from tvmdbg_widgets.formats.tuning.dags.tokens import BodyError, Token, TooDeepError, tokenize
from tvmdbg_widgets.model.tuning.expressions import Expression, Reduction

_PLACEHOLDER = re.compile(r"(?P<name>[^\s(=]+) = PLACEHOLDER ?(?:\[(?P<shape>[^\[\]]*)\])?\s*")
_HEAD = re.compile(
    r"(?P<name>[^\s(=]+)\((?P<axes>[^()]*)\)(?:\.v(?P<output>\d{1,4}))?"
    r" (?:(?P<how>=|\+=|max=|min=) |(?= ?select\())"
)
_SIZE = re.compile(r"(?:\(u?int\d+\)|T\.u?int\d+\()?(\d{1,18})\)?")
#: What steers a terminal, or hides in it.
_ODD = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_COMBINERS = {"+=": "+", "max=": "max", "min=": "min"}
_START = Token("sign", "", 0)
_WORDS = frozenset(("and", "or", "not", "True", "False"))


@dataclass(frozen=True)
class Placeholder:
    """A line of an input; sizes that are no numbers are None, and stand in `symbols`."""

    name: str
    shape: tuple[int | None, ...]
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Computed:
    """A line of one output of a computed operation."""

    name: str
    axes: tuple[str, ...]
    output: int | None
    combiner: str
    body: Expression | None
    free: tuple[str, ...]


def parse_line(line: str) -> Placeholder | Computed:
    """Read one line."""
    odd = _ODD.search(line.rstrip())
    if odd is not None:
        raise BodyError("a character that no name and no operator has", odd.start())
    found = _PLACEHOLDER.fullmatch(line)
    if found is not None:
        return _placeholder(found["name"], found["shape"])
    head = _HEAD.match(line)
    if head is None:
        raise BodyError("expected 'X = PLACEHOLDER [shape]' or 'Y(i, j) = …'", 0)
    axes = tuple(each.strip() for each in head["axes"].split(",")) if head["axes"].strip() else ()
    output = None if head["output"] is None else int(head["output"])
    combiner = _COMBINERS.get(head["how"] or "", "" if head["how"] else "select")
    try:
        body, free = _body(line, head.end(), combiner, axes)
    except BodyError as problem:
        if combiner:
            raise BodyError(
                f"the body of a reduction, which alone names its axes, cannot be read: {problem}",
                problem.column,
            ) from None
        body, free = None, ()
    return Computed(head["name"], axes, output, combiner, body, free)


def _placeholder(name: str, shape: str | None) -> Placeholder:
    if shape is None:
        raise BodyError("an input without shape, as in the text that is only hashed", 0)
    parts = [each.strip() for each in shape.split(",")] if shape.strip() else []
    sizes = [_SIZE.fullmatch(each) for each in parts]
    symbols = tuple(part for part, size in zip(parts, sizes, strict=True) if size is None)
    return Placeholder(name, tuple(int(size[1]) if size else None for size in sizes), symbols)


def _body(
    line: str, start: int, combiner: str, axes: tuple[str, ...]
) -> tuple[Expression | None, tuple[str, ...]]:
    tokens = tokenize(line, start)
    if combiner == "select":
        return _argument_reduction(tokens, axes)
    free = _free([_START, *tokens], axes)
    try:
        body = parse_body(tokens)
    except TooDeepError:
        if sum(map(_opens, tokens)) != 0:
            raise
        return None, free
    return (Reduction(combiner, (body,)) if combiner else body), free


def _argument_reduction(
    tokens: list[Token], axes: tuple[str, ...]
) -> tuple[Expression | None, tuple[str, ...]]:
    """Read ``select(condition, a, b)= (index, value)``, as of argmax."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += _opens(token)
        if at and depth == 0:
            break
    after = tokens[at + 1 :]
    if not after or after[0].text != "=":
        raise BodyError("expected '=' after the combiner", tokens[at].column)
    sources = after[1:]
    free = _free(sources, axes)
    end = Token("end", "", tokens[at].column)
    combined = parse_bodies([*tokens[1 : at + 1], end])
    return Reduction("select", parse_bodies(sources), combined), free


def _opens(token: Token) -> int:
    """Return 1 for an opening bracket, -1 for a closing one."""
    return (token.text in ("(", "[")) - (token.text in (")", "]"))


def _free(tokens: Sequence[Token], axes: tuple[str, ...]) -> tuple[str, ...]:
    known = {*axes, *map(printed_name, axes), *_WORDS}
    found: dict[str, None] = {}
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        names_no_axis = after.text in ("(", "[") or (
            (before.text, after.text) == ("(", ")") and DTYPE.fullmatch(token.text) is not None
        )
        if token.kind == "name" and token.text not in known and not names_no_axis:
            found[token.text] = None
    return tuple(found)


def printed_name(name: str) -> str:
    """Return a variable's name as newer bodies have it: ``rc.outer`` → ``rc_outer``."""
    return re.sub(r"\W", "_", name)
