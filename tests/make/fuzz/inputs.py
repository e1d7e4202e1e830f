"""Which input a number stands for."""

from collections import defaultdict
from functools import cached_property
from random import Random

from tests.make.fuzz.containers import container
from tests.make.fuzz.files import Files
from tests.make.fuzz.flatbuffers import aliased
from tests.make.fuzz.mutants import mutant
from tests.make.fuzz.packets import session
from tests.make.fuzz.sizes import attack
from tests.make.fuzz.tensors import record

RARE = 0.5  # share of inputs that are of any kind, however few files of it there are
#: Bytes that a file is as likely as one of twice its size.
SMALL = 4_000
#: How often an input is made in each way.
WAYS = {"mutant": 57, "size": 28, "container": 1, "session": 6, "aliased": 4, "tensors": 4}
_BUFFERS = {"ETDump", "ExecuTorch program", "bundled program", "named data"}


class Inputs:
    """Inputs by number; the same seeds give the same ones."""

    def __init__(self, files: list[Files]) -> None:
        self.files = files
        self._weights = _weights(files)
        by_kind = defaultdict(list)
        for each in files:
            by_kind[each.kind].append(each)
        self._kinds = [(own, _weights(own)) for _, own in sorted(by_kind.items())]

    @cached_property
    def _texts(self) -> list[bytes]:
        found = [next(iter(each.contents.values())) for each in self.files]
        return [each for each in found if b"\0" not in each[:4096] and len(each) < 20_000]

    @cached_property
    def _buffers(self) -> list[bytes]:
        one = (each for each in self.files if each.kind in _BUFFERS)
        return [next(iter(each.contents.values())) for each in one]

    def __getitem__(self, number: int) -> Files:
        """Return one input: made to be hard, or the files of a seed, one of them changed."""
        random = Random(number)
        (way,) = random.choices(list(WAYS), list(WAYS.values()))
        match way:
            case "container":
                return container(self._texts, random)
            case "session":
                made = session(random)
            case "aliased":
                made = aliased(self._buffers, random)
            case "tensors":
                made = record(random)
            case _:
                return self._changed(self._seed(random), way, random)
        return self._changed(made, "mutant", random) if random.random() < 0.1 else made

    def _seed(self, random: Random) -> Files:
        if random.random() < RARE:
            files, weights = random.choice(self._kinds)
        else:
            files, weights = self.files, self._weights
        return random.choices(files, weights)[0]

    def _changed(self, seed: Files, way: str, random: Random) -> Files:
        name = random.choice(list(seed.contents))
        data = seed.contents[name]
        if way == "size":
            changed = attack(data, random)
        else:
            files = random.choices(self.files, self._weights, k=3)
            others = [random.choice(list(each.contents.values())) for each in files]
            changed = mutant(data, [*seed.contents.values(), *others], random)
        contents = {**seed.contents, name: changed}
        kind = f"{seed.kind} ({way})" if way == "size" else seed.kind
        return Files(kind, contents, seed.pack, seed.opener)


def _weights(files: list[Files]) -> list[float]:
    return [1 / (SMALL + each.size) for each in files]
