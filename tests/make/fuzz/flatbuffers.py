"""FlatBuffers whose vectors name one thing many times: small files of many events."""

import json
import struct
from random import Random

from tests.formats.executorch.delegate_payloads import (
    NONE,
    constant,
    graph,
    node,
    quantized,
    with_header,
)
from tests.formats.executorch.delegate_payloads import value as tensor_value
from tests.formats.executorch.test_program_hostile import call, instruction, tensor, value
from tests.formats.executorch.vulkan_files import chain_payload
from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tests.make.fuzz.files import Files

_MANY = (0, 1, 1, 2, 2, 3, 5, 30, 300, 3_000)


def aliased(seeds: list[bytes], random: Random) -> Files:
    """Return a file made by hand, or a real one some of whose references lead to one thing."""
    match random.randrange(6):
        case 0:
            files = {"model.pte": delegated(random)}
            if random.random() < 0.5:
                files["etdump.etdp"] = etdump(random)
            return Files("delegates by hand", files)
        case 1:
            return Files("ETDump by hand", {"etdump.etdp": etdump(random)})
        case 2 | 3:
            return Files("program by hand", {"model.pte": program(random)})
    data = random.choice(seeds)
    for _ in range(random.choice((1, 1, 3))):
        data = one_target(data, random)
    return Files("aliased FlatBuffer", {"file.bin": data})


def _times(thing: Thing, random: Random, most: int = 3_000) -> Things:
    count = random.choice([each for each in _MANY if each <= most])
    return Things([thing] * count)


def _long_text(random: Random) -> Thing:
    said = {"kernel_name": "k" * random.choice((1, 20_000)), "operator_id": random.choice((0, 3))}
    said |= random.choice(({}, {"operator": {"name": "aten.add.Tensor", "args": []}}))
    deep = '{"kernel_name": "k", "operator": ' + "[" * 20_000
    plain = ("", "a", "native_call_add.out", "é" * 50, "n" * 20_000, "\0x", "ETVK_EXECUTE")
    return text(random.choice((*plain, json.dumps(said), deep)))


def etdump(random: Random) -> bytes:
    """An ETDump whose blocks, events, values and texts may each be the same one many times."""
    name = _long_text(random)
    profile: dict[int, bytes | Thing] = {
        0: name,
        1: number("i", random.choice((0, 0, -1, 2**31 - 1))),
        2: number("i", random.choice((0, 1, -1, 2**31 - 1))),
        6: number("Q", random.choice((0, 1, 2**63, 2**64 - 1))),
        7: number("Q", random.choice((0, 5, 2**63, 2**64 - 1))),
    }
    if random.random() < 0.4:
        profile |= {3: number("i", random.choice((0, 7, -1))), 4: name}
        profile[5] = numbers("B", *bytes(random.choice((0, 3, 5_000))))
    events: list[Thing] = [Table({0: Table(profile)})]
    rank = random.choice((0, 1, 2, 4, 2_000))
    sizes = numbers("q", *[random.choice((0, 1, 2, 2**31, 2**62, -1)) for _ in range(rank)])
    held = Table(
        {
            0: number("b", random.choice((6, 6, 1, 4, 99))),
            1: sizes,
            2: random.choice((sizes, numbers("q", *[0] * rank), numbers("q"))),
            3: number("q", random.choice((0, 4, 2**40, -1))),
        }
    )
    values: list[dict[int, bytes | Thing]] = [
        {0: number("b", 5), 1: held},
        {0: number("b", 6), 2: Table({0: _times(held, random)})},
        {0: number("b", 1), 3: Table({0: number("q", 2**63 - 1)})},
    ]
    for each in random.sample(values, 2):
        said = Table(each | ({7: Table({0: number("?", True)})} if random.random() < 0.5 else {}))
        entry: dict[int, bytes | Thing] = {0: number("Q", 0), 1: number("i", 1), 2: said, 5: name}
        events.append(Table({2: Table(entry)}))
    block = Table({0: name, 1: number("i", -1), 3: _times(random.choice(events), random)})
    many = Things([block] * random.choice((1, 1, 1, 2, 3, 300)))
    if random.random() < 0.5:
        mixed = Things(random.choices(events, k=random.choice((3, 100))))
        many.items.append(Table({0: name, 3: mixed}))
    return bytes(file(Table({0: number("I", 0), 1: many}), b"ED00"))


def program(random: Random) -> bytes:
    """A program whose plans, values, chains, instructions and names may each be one."""
    name = _long_text(random)
    count = random.choice((2, 2, 3, 5, 50, 3_000))
    held = tensor(size=random.choice((0, 4, 2**28, 2**31 - 1)))
    many = tensor()
    indices = numbers("i", *[random.randrange(count) for _ in range(random.choice((0, 3, 3_000)))])
    lists = [value(kind, Table({0: indices})) for kind in (7, 9, 10, 11)]
    values: list[Thing] = [random.choice((held, many)) for _ in range(count)]
    for each in lists:
        values[random.randrange(count)] = each
    if random.random() < 0.3:
        values[0] = value(6, Table({0: name}))
    step = call(*[random.randrange(count) for _ in range(random.choice((2, 3, 2_000)))])
    other = instruction(random.choice((2, 3, 4, 5)), {0: number("i", 0), 1: number("i", 0)})
    steps = _times(random.choice((step, other)), random)
    steps.items.append(step)
    chain = Table({0: indices, 2: steps})
    plan = Table(
        {
            0: name,
            2: Things(values),
            3: indices if random.random() < 0.3 else numbers("i", 0),
            4: indices if random.random() < 0.3 else numbers("i", 1),
            5: Things([chain] * random.choice((1, 1, 1, 2, 300))),
            6: Things([Table({0: text("aten::add"), 1: name})] * random.choice((1, 2, 300))),
            8: numbers("q", 0, random.choice((1 << 20, 2**62))),
        }
    )
    plan_count = random.choice((1, 1, 1, 2, 300))
    plan_list: list[Thing] = [plan] * plan_count
    return bytes(file(Table({0: number("I", 0), 1: Things(plan_list)}), b"ET12"))


def delegated(random: Random) -> bytes:
    """A program of delegates of XNNPACK or Vulkan, whose nodes, values and keys may each be one."""
    count = random.choice((2, 3, 50, 3_000))
    ids = [*range(count), NONE, 2**31, count]
    types = random.choice(([1, 4, 7], list(range(52)), [2]))
    nodes = [
        node(random.choice(types), *random.choices(ids, k=random.choice((0, 2, 3, 20))))
        for _ in range(random.choice((1, 5, 300)))
    ]
    dims = random.choice(((), (1, 2, 3, 4), (2**32 - 1,) * 3, (1,) * 2_000))
    first = tensor_value(0, *dims, constant=random.choice((0, 0, 1, 2**31)), external=0)
    scales = numbers("f", *[0.5] * random.choice((0, 1, 3_000)))
    first = random.choice((first, quantized(first, random.randrange(6), Table({0: scales}))))
    values = random.choice(([tensor_value(at, 1) for at in range(count)], [first] * count, [first]))
    key = random.choice((None, "", "key", "n" * 20_000, b"\xff"))
    data = [constant(random.choice((0, 8, 2**64 - 1)), random.choice((0, 8, 2**63)), key)]
    many = Things(list(nodes) * random.choice((1, 1, 1, 30)))
    held = Things(data * random.choice((1, 2, 300)))
    flat = graph([], values, (0,), (random.choice(ids),), f1=many, f8=held)
    changed = random.choice(({}, {}, {}, {"size": 7}, {"held": 2**63}, {"start": 31}))
    payload = random.choice((with_header(flat, bytes(8), **changed), bytes(flat)))
    backend = random.choice(("XnnpackBackend", "XnnpackBackend", "VulkanBackend", "QnnBackend"))
    if random.random() < 0.3:
        operators = ("aten.add.Tensor", "aten.relu.default", "n" * 20_000)
        chain = random.choices(operators, k=random.choice((1, 3, 300)))
        node_ids = [random.choice((0, 1, at, 2**32 - 1)) for at in range(len(chain))]
        backend, payload = "VulkanBackend", chain_payload(chain, node_ids)
    delegate = Table({0: text(backend), 1: Table({0: number("b", 0), 1: number("I", 0)})})
    calls = instruction(2, {0: number("i", 0), 1: numbers("i", 0, 1)})
    plan = Table(
        {
            0: text("forward"),
            2: Things([tensor(), tensor(offset=64)]),
            3: numbers("i", 0),
            4: numbers("i", 1),
            5: Things([Table({2: Things([calls])})]),
            7: Things([delegate] * random.choice((1, 1, 2, 300))),
            8: numbers("q", 0, 1 << 20),
        }
    )
    inline = Table({0: numbers("B", *payload)})
    return bytes(file(Table({0: number("I", 0), 1: Things([plan]), 3: Things([inline])}), b"ET12"))


def one_target(data: bytes, random: Random) -> bytes:
    """Return a copy in which all references of one vector lead to the same thing."""
    for _ in range(300):
        at = random.randrange(max(1, len(data) - 16)) & ~3
        (count,) = struct.unpack_from("<I", data, at) if at + 4 <= len(data) else (0,)
        if not 2 <= count <= 10_000 or at + 4 + 4 * count > len(data):
            continue
        offsets = struct.unpack_from(f"<{count}I", data, at + 4)
        places = [at + 4 + 4 * each + offset for each, offset in enumerate(offsets)]
        if not all(at < place < len(data) - 4 for place in places):
            continue
        target = max(places) if random.random() < 0.5 else random.choice(places)
        last = at + 4 * count
        target = target if target > last else max(places)
        changed = bytearray(data)
        for each in range(count):
            place = at + 4 + 4 * each
            if target > place:
                struct.pack_into("<I", changed, place, target - place)
        return bytes(changed)
    return data
