"""Small loop nests that are run, every iteration by the meaning of splits and fusions."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from hypothesis import strategies as st
from unit.tuning.printed_states import read_steps

from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.tuning.steps import State
from tvmdbg_widgets.model.tuning.trials import ComputeDag, Operation

Item = list[Any]
NEST = """\
A = PLACEHOLDER [1, 1]
P(x, y) = A[x, y]
C(i, j) += P[((i*{stride}) + (r*{dilation})), (j + {offset})]
"""


@dataclass(frozen=True)
class Nest:
    """``C`` reads windows of ``P``, which is computed inside one of its loops."""

    dag: ComputeDag
    items: list[Item]
    place: int

    @property
    def state(self) -> State:
        return replay(self.dag, read_steps([*self.items, ["CA", 1, 2, self.place]]))

    @property
    def shape(self) -> list[int]:
        """Of ``P``."""
        return [axis.extent or 0 for axis in self.dag.operations[1].axes]

    @property
    def _extents(self) -> list[int]:
        consumer = self.dag.operations[2]
        return [axis.extent or 0 for axis in (*consumer.axes, *consumer.reduce_axes)]

    def boxes(self, loops: int, *, cut: bool = True) -> list[list[int]]:
        """Return the sides of the box in ``P`` that is read while all but some loops run.

        One list for each run of the first `loops` loops that reads anything; without `cut`, as if
        iterations beyond an uneven split read, too.
        """
        indices = self.dag.operations[2].bodies[0].parts[0].parts
        read: dict[tuple[int, ...], list[set[int]]] = {}
        for run in product(*map(range, self.sizes[-1])):
            axes = self._axes(run, cut=cut)
            if axes is not None:
                sides = read.setdefault(run[:loops], [set(), set()])
                values = dict(zip("ijr", axes, strict=True))
                for side, index in zip(sides, indices, strict=True):
                    side.add(_value(index, values))
        return [[max(side) - min(side) + 1 for side in sides] for sides in read.values()]

    @property
    def sizes(self) -> list[list[int]]:
        """Extents of all loops of ``C`` before each step, and after the last."""
        sizes = [self._extents]
        for item in self.items:
            sizes.append(_sizes_after(item, sizes[-1]))
        return sizes

    def _axes(self, run: tuple[int, ...], *, cut: bool) -> list[int] | None:
        """Return the axes' values in one iteration, None where the iteration is cut off."""
        values, sizes = list(run), self.sizes
        for item, before in zip(reversed(self.items), reversed(sizes[:-1]), strict=True):
            earlier = _values_before(item, before, values, cut=cut)
            if earlier is None:
                return None
            values = earlier
        return values


def windows(
    extents: tuple[int, ...], stride: int = 1, dilation: int = 1, offset: int = 0
) -> ComputeDag:
    """Return the DAG of windows that are read at that many places."""
    text = NEST.format(stride=stride, dilation=dilation, offset=offset)
    return _sized(parse_dag(text), extents)


@st.composite
def nests(draw: st.DrawFn) -> Nest:
    """Draw a nest."""
    strides = [draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(0, 2))]
    dag = windows(draw(st.tuples(*[st.integers(1, 7)] * 3)), *strides)
    items: list[Item] = []
    loops = 3
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()) or loops < 2:
            lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))
            inward = draw(st.integers(0, 1))
            items.append(["SP", 2, draw(st.integers(0, loops - 1)), 0, lengths, inward])
            loops += len(lengths)
        else:
            first = draw(st.integers(0, loops - 2))
            items.append(["FU", 2, [first, first + 1]])
            loops -= 1
    if draw(st.booleans()):
        items.append(["RE", 2, draw(st.permutations(range(loops)))])
    return Nest(dag, items, draw(st.integers(0, loops - 1)))


def _sized(dag: ComputeDag, extents: tuple[int, ...]) -> ComputeDag:
    """Give ``C`` extents, and the others as much as it reads."""
    source, producer, consumer = dag.operations
    last = {name: extent - 1 for name, extent in zip("ijr", extents, strict=True)}
    shape = [1 + _value(index, last) for index in consumer.bodies[0].parts[0].parts]
    return replace(
        dag,
        operations=(
            replace(source, shape=tuple(shape)),
            _extended(producer, shape),
            _extended(consumer, list(extents)),
        ),
    )


def _extended(operation: Operation, extents: list[int]) -> Operation:
    axes = (*operation.axes, *operation.reduce_axes)
    named = [replace(axis, extent=extent) for axis, extent in zip(axes, extents, strict=True)]
    kept = len(operation.axes)
    return replace(operation, axes=tuple(named[:kept]), reduce_axes=tuple(named[kept:]))


def _value(index: Any, values: dict[str, int]) -> int:
    match type(index).__name__:
        case "Number":
            return int(index.value)
        case "Variable":
            return values[index.name]
    a, b = _value(index.a, values), _value(index.b, values)
    return a + b if index.op == "+" else a * b


def _rests(item: Item, size: int) -> list[int]:
    """Return the extents that a split divides, one after the other, and the last part's."""
    rests = [size]
    for length in reversed(item[4]) if item[5] else item[4]:
        rests.append(-(-rests[-1] // length))
    return rests


def _parts(item: Item, size: int) -> list[int]:
    rests, lengths = _rests(item, size), item[4][::-1] if item[5] else item[4]
    parts = [*map(min, lengths, rests), rests[-1]]
    return parts[::-1] if item[5] else parts


def _joined(item: Item, size: int, values: list[int], *, cut: bool) -> int | None:
    """Return a loop's value from its parts'; None beyond any extent that was divided.

    TVM splits in pairs, and checks the value of each pair (``MakeBoundCheck``).
    """
    rests, parts = _rests(item, size), _parts(item, size)
    outward = values if item[5] else values[::-1]
    whole = outward[0]
    for at, value in enumerate(outward[1:], 1):
        rest = rests[-at]
        whole = whole * parts[at] + value if item[5] else value * rest + whole
        if cut and whole >= rests[-at - 1]:
            return None
    return whole


def _sizes_after(item: Item, sizes: list[int]) -> list[int]:
    if item[0] == "SP":
        return [*sizes[: item[2]], *_parts(item, sizes[item[2]]), *sizes[item[2] + 1 :]]
    if item[0] == "FU":
        first = item[2][0]
        return [*sizes[:first], sizes[first] * sizes[first + 1], *sizes[first + 2 :]]
    return [sizes[each] for each in item[2]]


def _values_before(
    item: Item, before: list[int], values: list[int], *, cut: bool
) -> list[int] | None:
    if item[0] == "SP":
        at, end = item[2], item[2] + len(item[4]) + 1
        whole = _joined(item, before[at], values[at:end], cut=cut)
        return None if whole is None else [*values[:at], whole, *values[end:]]
    if item[0] == "FU":
        first = item[2][0]
        return [*values[:first], *divmod(values[first], before[first + 1]), *values[first + 1 :]]
    old = [0] * len(values)
    for value, place in zip(values, item[2], strict=True):
        old[place] = value
    return old
