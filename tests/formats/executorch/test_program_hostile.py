"""Damaged and malicious programs: refused with FormatError, or read; never anything else."""

import pytest

from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tvmdbg_widgets.formats.executorch.program.instruction_graph import graph_of
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.program import NoValue, Program
from tvmdbg_widgets.model.executorch.program_instructions import UnknownCall
from tvmdbg_widgets.model.graph.graph import Entry
from tvmdbg_widgets.sources.byte_source import BytesSource


def use(data: bytes | bytearray) -> Program:
    found = read_program(BytesSource(data))
    for plan in found.plans:
        graph_of(plan, file=found.file)
        repr(plan)
    return found


def value(kind: int, held: Thing | None) -> Table:
    fields: dict[int, bytes | Thing] = {0: number("B", kind)}
    return Table(fields if held is None else fields | {1: held})


def tensor(*, memory_id: int = 1, offset: int = 0, data: int = 0, size: int = 4) -> Table:
    place = Table({0: number("I", memory_id), 1: number("I", offset)})
    fields = {0: number("b", 6), 2: numbers("i", size), 3: numbers("B", 0)}
    return value(5, Table({**fields, 5: number("I", data), 6: place}))


def call(*args: int, op: int = 0) -> Table:
    return instruction(1, {0: number("i", op), 1: numbers("i", *args)})


def jump(condition: int, destination: int) -> Table:
    return instruction(4, {0: number("i", condition), 1: number("i", destination)})


def instruction(kind: int, fields: dict[int, bytes | Thing] | None) -> Table:
    return value(kind, None if fields is None else Table(fields))


def indices(kind: int, *items: int) -> Table:
    return value(kind, Table({0: numbers("i", *items)}))


def program(
    values: list[Table],
    instructions: list[Table],
    inputs: tuple[int, ...] = (),
    outputs: tuple[int, ...] = (),
) -> bytes:
    fields = {0: text("forward"), 2: Things([*values]), 3: numbers("i", *inputs)}
    fields |= {4: numbers("i", *outputs), 5: Things([Table({2: Things([*instructions])})])}
    operators = Things([Table({0: text("aten::add"), 1: text("out")})])
    return of_plans(Table({**fields, 6: operators, 8: numbers("q", 0, 1 << 20)}))


def of_plans(*plans: Table) -> bytes:
    return bytes(file(Table({0: number("I", 0), 1: Things([*plans])}), b"ET12"))


def refusal(data: bytes) -> str:
    with pytest.raises(FormatError) as problem:
        use(data)
    return str(problem.value)


def test_built_program_is_readable() -> None:
    found = use(program([tensor(), tensor(offset=64)], [call(0, 1, 1)], (0,), (1,)))
    graph = graph_of(found.plan()).graph
    assert (graph.names[1], graph.shape(1)) == ("add_0", (4,))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (program([tensor()], [call(1, 0, 0)]), "instructions[0].args"),
        (program([tensor()], [call(-1, 0, 0)]), "instructions[0].args"),
        (program([tensor()], [call(0, 0, op=1)]), "op_index"),
        (program([tensor()], [call(0, 0, op=-1)]), "op_index"),
        (program([tensor()], [], inputs=(1,)), "inputs"),
        (program([tensor()], [], outputs=(-1,)), "outputs"),
        (program([tensor(memory_id=0)], []), "memory_id"),
        (program([tensor(memory_id=2)], []), "memory_id"),
        (program([tensor(offset=(1 << 20) - 15)], []), "leaves its planned memory"),
        (program([tensor(data=1)], []), "mutable_data_segments"),
        (program([tensor(size=-1)], []), "negative"),
        (program([tensor()], [jump(0, 2)]), "destination_instruction"),
        (program([tensor()], [jump(0, -1)]), "destination_instruction"),
        (program([tensor()], [instruction(2, {1: numbers("i", 0)})]), "delegate_index"),
        (program([value(7, Table({0: numbers("q", 1)}))], []), "items"),
        (program([indices(10, -1)], []), "items"),
        (program([indices(11, -2)], []), "items"),
        (program([value(2, None)], []), "type and has no value"),
        (program([tensor()], [instruction(1, None)]), "type and has no value"),
        (program([value(6, Table({0: text(b"\xff")}))], []), "no UTF-8"),
    ],
)
def test_invalid_fields_are_refused(data: bytes, told: str) -> None:
    assert told in refusal(data)


def test_unknown_types_are_kept_by_number() -> None:
    plan = use(program([value(99, Table({}))], [instruction(99, {})])).plan()
    assert (plan.values, plan.chains[0].instructions) == ((NoValue(99),), (UnknownCall(99),))
    assert "unknown kind" in graph_of(plan).uncertain[0]


def test_lists_and_jumps_that_lead_to_themselves_terminate() -> None:
    found = use(program([indices(10, 0, 0, 1), tensor()], [call(0, 1, 1)], (), (0,)))
    assert graph_of(found.plan()).graph.num_nodes
    assert use(program([tensor()], [jump(0, 0)], (0,))).plans


def test_shared_tables_are_refused() -> None:
    plan = Table({2: Things([tensor()] * 1000)})
    frames = Table({0: Things([Table({0: text("file.py")})] * 1000)})
    chain = Table({2: Things([call(0, 0)] * 1000), 3: Things([frames] * 1000)})
    traced = Table({2: Things([tensor()]), 5: Things([chain] * 10)})
    listed = program([tensor(), indices(10, *[0] * 2000)], [call(*[1] * 2000, 0, 0)])
    # Each instruction may be skipped, and each reads what all before it may have written.
    steps = [each for at in range(600) for each in (jump(0, 2 * at + 2), call(1, 1, 1))]
    branched = program([tensor(), tensor(offset=64)], steps, (0,))
    for data in (of_plans(*[plan] * 1000), of_plans(traced), listed, branched):
        assert "again and again" in refusal(data)


def test_branches_carrying_all_values_are_refused() -> None:
    count = 3000
    values = [tensor()] + [value(2, Table({0: number("q", 0)})) for _ in range(count)]
    writes = [call(index, index, index) for index in range(1, count + 1)]
    jumps = [jump(0, count + at + 1) for at in range(count)]
    assert "more branches than can be followed" in refusal(program(values, writes + jumps))


def test_a_list_is_moved_whole() -> None:
    lists = [indices(10, 2), indices(10, 2, 3)]
    move = instruction(3, {0: number("i", 0), 1: number("i", 1)})
    found = use(program([*lists, tensor(), tensor()], [move], (2, 3), (1,)))
    assert graph_of(found.plan()).graph.outputs == (Entry(2, 0),)
