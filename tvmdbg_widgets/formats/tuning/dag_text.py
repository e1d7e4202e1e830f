"""Compute DAGs from the text of ``str(task.compute_dag)``.

The text is that of ``ComputeDAG::PrintDAG`` (src/auto_scheduler/compute_dag.cc): a line an input,
``X = PLACEHOLDER [4, 8]``, and a line an output of each operation, ``Y(i, j) += (X[i, k]*2f)``.
It names spatial axes in the head and reduce axes only in the body, and gives no extents but the
inputs'. Python's ``str`` cuts lines of more than 256 characters, ``repr`` does not
(python/tvm/auto_scheduler/compute_dag.py).
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.json_fields import read_json
from tvmdbg_widgets.formats.tuning.extents import with_extents
from tvmdbg_widgets.formats.tuning.tokens import (
    DTYPE,
    BodyError,
    Token,
    TooDeepError,
    parse_bodies,
    parse_body,
    tokenize,
)
from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.model.tuning.trials import (
    Axis,
    ComputeDag,
    DagSource,
    Expression,
    Operation,
    Reduction,
    TensorRead,
    Variable,
    reads,
    rebuilt,
)
from tvmdbg_widgets.sources.byte_source import ByteSource

_SHOWN = 60
#: Real DAGs have tens of operations and a few thousand characters.
_MOST_LINES, _MOST_CHARACTERS = 2_000, 1 << 20


def parse_dag(
    text: str,
    *,
    source: DagSource = DagSource.GIVEN,
    shapes: Sequence[Sequence[int]] = (),
    file: str = "the DAG text",
) -> ComputeDag:
    """Read a DAG's text.

    Parameters
    ----------
    text : str
    source : DagSource
        The origin of the DAG.
    shapes : sequence of shapes
        The shapes of a workload key, inputs then outputs: they give extents that the text lacks.
    file : str
        Name of the text in errors.

    Returns
    -------
    ComputeDag
        Reduce axes are in the order in which bodies name them, which is that of the operation
        in all of TVM's own operators. Extents are those that follow from the inputs' shapes where
        an axis that indexes a whole dimension covers it, and windows fit as those of convolutions
        and poolings do; None otherwise. Bodies that cannot be read are left out.

    Raises
    ------
    FormatError
        Where a line is no line of a DAG, an operation comes twice, or a reduction's body cannot
        be read: it alone names the reduce axes.
    """
    lines = text.split("\n")
    if len(text) > _MOST_CHARACTERS or len(lines) > _MOST_LINES:
        expected = f"at most {_MOST_CHARACTERS:,} characters in {_MOST_LINES:,} lines"
        size = f"{len(text):,} in {len(lines):,}"
        raise FormatError("too long for a DAG", file=file, expected=expected, found=size)
    reader = _DagTextReader()
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                reader.take(parse_line(line))
        except BodyError as problem:
            raise _error(problem, file, number, line) from None
    operations = reader.finish()
    if not operations:
        raise FormatError("no operations", file=file, expected="X = PLACEHOLDER [shape]")
    return ComputeDag(with_extents(operations, shapes), source, text)


class _DagTextReader:
    """Operations from lines; operations of several outputs have several lines."""

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._lines: list[_Computed] = []
        self._symbols: set[str] = set()
        #: Operations by the name of their reads, their ranks, outputs by name, and those read.
        self._named: dict[str, list[int]] = defaultdict(list)
        self._ranks: list[int] = []
        self._outputs: dict[str, int] = {}
        self._read: set[int] = set()

    def take(self, line: _Placeholder | _Computed) -> None:
        """Read the next line; raise BodyError if it cannot follow."""
        if isinstance(line, _Computed) and self._continues(line):
            self._lines.append(line)
            return
        self.finish()
        if isinstance(line, _Placeholder):
            self._symbols.update(line.symbols)
            self._add(Operation(line.name, "placeholder", shape=line.shape))
        elif line.output:
            raise BodyError(f"output v{line.output} without those before it", 0)
        else:
            self._lines.append(line)

    def finish(self) -> tuple[Operation, ...]:
        if self._lines:
            self._add(self._operation())
            self._lines = []
        return tuple(self._operations)

    def _add(self, operation: Operation) -> None:
        at = len(self._operations)
        self._operations.append(operation)
        self._ranks.append(len(operation.shape if operation.is_placeholder else operation.axes))
        if operation.outputs == 1:
            self._named[operation.name].append(at)
        for output in range(operation.outputs if operation.outputs > 1 else 0):
            self._named[f"{operation.name}.v{output}"].append(at)
            self._outputs[f"{operation.name}.v{output}"] = output

    def _continues(self, line: _Computed) -> bool:
        return (
            bool(self._lines)
            and self._lines[0].output == 0
            and (line.name, line.axes) == (self._lines[0].name, self._lines[0].axes)
            and line.output == len(self._lines)
        )

    def _operation(self) -> Operation:
        first = self._lines[0]
        original = {printed_name(axis): axis for axis in first.axes}
        read = [_renamed(line.body, original) for line in self._lines if line.body is not None]
        complete = len(read) == len(self._lines)
        reduced = [name for name in first.free if name not in self._symbols]
        return Operation(
            first.name,
            "compute",
            tuple(Axis(name, None) for name in first.axes),
            tuple(Axis(name, None) for name in reduced if first.combiner),
            len(self._lines),
            bodies=self._resolved(tuple(read)) if complete else (),
        )

    def _resolved(self, bodies: tuple[Expression, ...]) -> tuple[Expression, ...]:
        chosen = self._chosen(dict.fromkeys(read for body in bodies for read in reads(body)))
        self._read.update(at for at in chosen.values() if at >= 0)

        def change(expression: Expression) -> Expression:
            expanded = rebuilt(expression, change)
            if not (isinstance(expression, TensorRead) and isinstance(expanded, TensorRead)):
                return expanded
            output = self._outputs.get(expression.name, 0)
            return replace(expanded, operation=chosen[expression], output=output)

        return tuple(map(change, bodies))

    def _chosen(self, reads_: Iterable[TensorRead]) -> dict[TensorRead, int]:
        alternatives: dict[tuple[str, int], list[TensorRead]] = defaultdict(list)
        for read in reads_:
            alternatives[read.name, len(read.indices)].append(read)
        chosen: dict[TensorRead, int] = {}
        for (name, rank), group in alternatives.items():
            candidates = [at for at in self._named[name] if self._ranks[at] == rank]
            chosen.update(zip(group, self._matched(len(group), candidates), strict=True))
        return chosen

    def _matched(self, wanted: int, candidates: list[int]) -> list[int]:
        if len(candidates) == 1:
            return candidates * wanted
        unread = [at for at in candidates if at not in self._read]
        if len(unread) == 1:
            return unread * wanted
        return unread[len(unread) - wanted :] if len(unread) >= wanted else [-1] * wanted


def _renamed(body: Expression, original: Mapping[str, str]) -> Expression:
    """Return a body with the head's names of axes, which newer TVM changes."""
    if isinstance(body, Variable):
        return Variable(original.get(body.name, body.name))
    return rebuilt(body, lambda part: _renamed(part, original))


def _error(problem: BodyError, file: str, number: int, line: str) -> FormatError:
    hint = None
    if "(OMITTED)" in line:
        hint = "str() of a DAG cuts long lines; take repr(task.compute_dag)."
    return FormatError(
        str(problem),
        file=f"{file}, line {number}, column {problem.column + 1}",
        found=one_line(line[problem.column : problem.column + _SHOWN]) or "the line's end",
        hint=hint,
    )


# A call stands without outer brackets; sums and the rest do not, and max, select, casts are none.
_CALL = re.compile(r"(?P<head>[^\s(=]+\([^()]*\)(?:\.v\d+)? = )(?:tir|T)\.(?P<name>\w+)\(.*\)")
_PLACEHOLDER = re.compile(r"([^\s(=]+ = PLACEHOLDER) ?\[[^\[\]]*\]")
#: Calls of the newer style, without ``T.max`` and the like; an operator may follow.
_NO_CALLS = frozenset(
    ("max", "min", "Select", "Cast", "Div", "truncdiv", "truncmod", "floordiv", "floormod")
)


def simple_text(text: str, operator: str = "Op(tir.{})") -> str:
    """Return the text whose md5 is the DAG's hash, from ``repr(task.compute_dag)``."""
    lines = []
    for line in text.splitlines():
        placeholder = _PLACEHOLDER.fullmatch(line)
        if placeholder is not None:
            lines.append(f"{placeholder[1]} ")
            continue
        call = _CALL.fullmatch(line)
        if call is not None and call["name"] not in _NO_CALLS and _is_one_call(line):
            line = call["head"] + operator.format(call["name"])  # noqa: PLW2901
        if line:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def key_hash(text: str) -> str:
    """Return the hash in the workload keys of a DAG, 32 hexadecimal digits."""
    return text_md5(simple_text(text))


def hashes_of(text: str) -> tuple[str, str]:
    """Return two possible hashes of a DAG in workload keys, for two forms of an operator."""
    return key_hash(text), text_md5(simple_text(text, 'I.Op("tir.{}")'))


def _is_one_call(line: str) -> bool:
    """Return whether the last bracket of a line closes the first of the body's call."""
    body = line.index(" = ") + 3
    depth = 0
    for at in range(line.index("(", body), len(line)):
        depth += (line[at] == "(") - (line[at] == ")")
        if depth == 0:
            return at == len(line) - 1
    return False


def text_md5(text: str) -> str:
    """Return the md5 of a text."""
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()


_PLACEHOLDER_LINE = re.compile(r"(?P<name>[^\s(=]+) = PLACEHOLDER ?(?:\[(?P<shape>[^\[\]]*)\])?\s*")
_HEAD = re.compile(
    r"(?P<name>[^\s(=]+)\((?P<axes>[^()]*)\)(?:\.v(?P<output>\d{1,4}))?"
    r" (?:(?P<how>=|\+=|max=|min=) |(?= ?select\())"
)
_SIZE = re.compile(r"(?:\(u?int\d+\)|T\.u?int\d+\()?(\d{1,18})\)?")
#: Control characters of terminals.
_ODD = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_COMBINERS = {"+=": "+", "max=": "max", "min=": "min"}
_START = Token("sign", "", 0)
_WORDS = frozenset(("and", "or", "not", "True", "False"))


@dataclass(frozen=True)
class _Placeholder:
    """A line of an input; symbolic sizes are None, and stand in `symbols`."""

    name: str
    shape: tuple[int | None, ...]
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class _Computed:
    name: str
    axes: tuple[str, ...]
    output: int | None
    combiner: str
    body: Expression | None
    free: tuple[str, ...]


def parse_line(line: str) -> _Placeholder | _Computed:
    """Read one line."""
    odd = _ODD.search(line.rstrip())
    if odd is not None:
        raise BodyError("a character that no name and no operator has", odd.start())
    match = _PLACEHOLDER_LINE.fullmatch(line)
    if match is not None:
        return _placeholder(match["name"], match["shape"])
    head = _HEAD.match(line)
    if head is None:
        raise BodyError("expected 'X = PLACEHOLDER [shape]' or 'Y(i, j) = …'", 0)
    axes = tuple(axis.strip() for axis in head["axes"].split(",")) if head["axes"].strip() else ()
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
    return _Computed(head["name"], axes, output, combiner, body, free)


def _placeholder(name: str, shape: str | None) -> _Placeholder:
    if shape is None:
        raise BodyError("an input without shape, as in the text that is only hashed", 0)
    parts = [part_text.strip() for part_text in shape.split(",")] if shape.strip() else []
    sizes = [_SIZE.fullmatch(part_text) for part_text in parts]
    symbols = tuple(part for part, size in zip(parts, sizes, strict=True) if size is None)
    return _Placeholder(name, tuple(int(size[1]) if size else None for size in sizes), symbols)


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
    return Reduction("select", parse_bodies(sources)), free


def _opens(token: Token) -> int:
    """Return 1 for an opening bracket, -1 for a closing one."""
    return (token.text in ("(", "[")) - (token.text in (")", "]"))


def _free(tokens: Sequence[Token], axes: tuple[str, ...]) -> tuple[str, ...]:
    known = {*axes, *map(printed_name, axes), *_WORDS}
    names: dict[str, None] = {}
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        names_no_axis = after.text in ("(", "[") or (
            (before.text, after.text) == ("(", ")") and DTYPE.fullmatch(token.text) is not None
        )
        if token.kind == "name" and token.text not in known and not names_no_axis:
            names[token.text] = None
    return tuple(names)


def printed_name(name: str) -> str:
    """Return a variable's name in newer bodies: ``rc.outer`` → ``rc_outer``."""
    return re.sub(r"\W", "_", name)


_DUMP = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"[^\s(="]+(?: = PLACEHOLDER|\()'
)


def sniff(head: bytes) -> bool:
    """Return whether a file that starts with these bytes holds DAG texts."""
    return _DUMP.match(head) is not None and b" = PLACEHOLDER" in head


def read_dag_dump(source: ByteSource) -> dict[str, str]:
    """Return the DAG texts by workload key."""
    return read_json(source, dict[str, str])


#: 10 kB per task of a tuned network.
KIND = Kind("tuning-dags", "file of DAG texts", sniff, read_dag_dump, "dags", grows=True)
