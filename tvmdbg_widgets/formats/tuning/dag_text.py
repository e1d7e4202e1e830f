"""Compute DAGs from the text of ``str(task.compute_dag)``.

The text is that of ``ComputeDAG::PrintDAG`` (src/auto_scheduler/compute_dag.cc): a line an input,
``X = PLACEHOLDER [4, 8]``, and a line an output of each operation, ``Y(i, j) += (X[i, k]*2f)``.
It names spatial axes in the head and reduce axes only in the body, and gives no extents but the
inputs'. Python's ``str`` cuts lines of more than 256 characters, ``repr`` does not
(python/tvm/auto_scheduler/compute_dag.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tvmdbg_widgets.formats.tuning.dags.extents import with_extents
from tvmdbg_widgets.formats.tuning.dags.lines import (
    Computed,
    Placeholder,
    parse_line,
    printed_name,
)
from tvmdbg_widgets.formats.tuning.dags.producers import KnownOperations
from tvmdbg_widgets.formats.tuning.dags.tokens import BodyError
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.dag import Axis, ComputeDag, DagSource, Operation
from tvmdbg_widgets.model.tuning.expressions import Expression, Variable, rebuilt

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
        How the DAG is known.
    shapes : sequence of shapes
        Those of a workload key: inputs, then outputs. They give extents that the text lacks.
    file : str
        What errors call the text.

    Returns
    -------
    ComputeDag
        Reduce axes stand in the order in which bodies name them, which is that of the operation
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
        found = f"{len(text):,} in {len(lines):,}"
        raise FormatError("too long for a DAG", file=file, expected=expected, found=found)
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
    """Operations from lines; those of several outputs take several lines."""

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._producers = KnownOperations()
        self._lines: list[Computed] = []
        self._symbols: set[str] = set()

    def take(self, line: Placeholder | Computed) -> None:
        """Take the next line; raise BodyError where it cannot follow."""
        if isinstance(line, Computed) and self._continues(line):
            self._lines.append(line)
            return
        self.finish()
        if isinstance(line, Placeholder):
            self._symbols.update(line.symbols)
            self._add(Operation(line.name, "placeholder", shape=line.shape))
        elif line.output:
            raise BodyError(f"output v{line.output} without those before it", 0)
        else:
            self._lines.append(line)

    def finish(self) -> tuple[Operation, ...]:
        """Complete the last operation and return all."""
        if self._lines:
            self._add(self._operation())
            self._lines = []
        return tuple(self._operations)

    def _add(self, operation: Operation) -> None:
        self._operations.append(operation)
        self._producers.add(operation)

    def _continues(self, line: Computed) -> bool:
        return (
            bool(self._lines)
            and self._lines[0].output == 0
            and (line.name, line.axes) == (self._lines[0].name, self._lines[0].axes)
            and line.output == len(self._lines)
        )

    def _operation(self) -> Operation:
        first = self._lines[0]
        original = {printed_name(axis): axis for axis in first.axes}
        read = [_renamed(each.body, original) for each in self._lines if each.body is not None]
        complete = len(read) == len(self._lines)
        reduced = [name for name in first.free if name not in self._symbols]
        return Operation(
            first.name,
            "compute",
            tuple(Axis(name, None) for name in first.axes),
            tuple(Axis(name, None) for name in reduced if first.combiner),
            len(self._lines),
            bodies=self._producers.resolved(tuple(read)) if complete else (),
        )


def _renamed(body: Expression, original: Mapping[str, str]) -> Expression:
    """Return a body with the head's names of axes, which the newer style changes."""
    if isinstance(body, Variable):
        return Variable(original.get(body.name, body.name))
    return rebuilt(body, lambda each: _renamed(each, original))


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
