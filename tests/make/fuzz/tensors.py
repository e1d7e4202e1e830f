"""ETRecords with tensors of odd strides, or of one storage, and pickles that share their tuples."""

import struct
import zipfile
from functools import cache
from random import Random

from tests.executorch_cases import case_dir
from tests.make.fuzz.files import Files, zipped

_CASES = ("01_mlp_portable", "14_bundled", "06a_demo_generated_ids")
_SIZES = (0, 1, 2, 3, 12, 100, 2**14, 2**20, 2**28, 2**31 - 1, 2**40, 2**62, 2**63 - 1, -1)
_STRIDES = (0, 0, 0, 1, 1, 2, 4, -1, 2**20, 2**31 - 1, 2**62)
_CALL = b"ctorch._utils\n_rebuild_tensor_v2\n"
_REST = b"\x89ccollections\nOrderedDict\n)R"
_KINDS = ("FloatStorage", "DoubleStorage", "HalfStorage", "BoolStorage", "ComplexFloatStorage")


def record(random: Random) -> Files:
    """Return an ETRecord, mostly with its ETDump, whose reference outputs are such tensors."""
    case = random.choice(_CASES)
    members = _members(case)
    value = _outputs(random)
    content = saved(value, random)
    name = random.choice(("reference_outputs",) * 4 + ("representative_inputs",))
    changed = zipped(members | {name: content}, zipfile.ZIP_STORED)
    files = {"etrecord.bin": changed}
    if random.random() < 0.7:
        files["etdump.etdp"] = (case_dir(case) / "etdump.etdp").read_bytes()
        buffer = case_dir(case) / "debug_buffer.bin"
        if buffer.exists():
            files["debug_buffer.bin"] = buffer.read_bytes()
        return Files("ETRecord of tensors", files, "folder")
    return Files("ETRecord of tensors", files)


@cache
def _members(case: str) -> dict[str, bytes]:
    with zipfile.ZipFile(case_dir(case) / "etrecord.bin") as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if not name.endswith(("state_dict", "constants", "example_inputs"))
        }


def saved(value: bytes, random: Random) -> bytes:
    """A file of torch with one storage of some bytes."""
    data = random.randbytes(48) + bytes(random.choice((0, 1000, 100_000)))
    return zipped(
        {
            "archive/data.pkl": b"\x80\x02" + value + b".",
            "archive/byteorder": random.choice((b"little", b"little", b"big")),
            "archive/data/0": data,
        },
        random.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)),
    )


def _outputs(random: Random) -> bytes:
    """``{"forward": [[tensor, …]]}``, pickled."""
    one = random.choice((_view, _view, _views_of_one, _shared_arguments, _shared_values))(random)
    return b"}(" + _text("forward") + b"](](" + one + b"eeu"


def _view(random: Random) -> bytes:
    """A tensor of odd sizes and strides; of stride 0 a few bytes are very many values."""
    rank = random.choice((0, 1, 1, 2, 2, 3, 4, 30))
    if random.random() < 0.5:
        shape = [random.choice((1, 2, 2**14, 2**20, 2**28)) for _ in range(rank)]
        strides = [0] * rank
        if rank and random.random() < 0.5:
            shape[-1], strides[-1] = 12, 1
    else:
        shape = [random.choice(_SIZES) for _ in range(rank)]
        strides = [random.choice(_STRIDES) for _ in range(random.choice((rank, rank, rank + 1)))]
    kind = random.choice(_KINDS)
    of = _storage(kind, random.choice((0, 1, 6, 12, 2**31 - 1)))
    offset = random.choice((0, 0, 1, 11, -1, 2**31 - 1))
    return _tensor(shape, strides, offset, of)


def _text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def _number(value: int) -> bytes:
    small = -(2**31) <= value < 2**31
    return b"J" + struct.pack("<i", value) if small else b"\x8a\x08" + struct.pack("<q", value)


def _numbers(values: list[int]) -> bytes:
    return b"(" + b"".join(map(_number, values)) + b"t"


def _storage(kind: str = "FloatStorage", count: int = 12) -> bytes:
    told = _text("storage") + f"ctorch\n{kind}\n".encode() + _text("0") + _text("cpu")
    return b"(" + told + _number(count) + b"tQ"


def _tensor(shape: list[int], strides: list[int], offset: int = 0, of: bytes = b"") -> bytes:
    view = _number(offset) + _numbers(shape) + _numbers(strides)
    return _CALL + b"(" + (of or _storage()) + view + _REST + b"tR"


def _views_of_one(random: Random) -> bytes:
    """Many tensors of one storage, which the pickle keeps and gets."""
    count, key = random.choice((2, 100, 3_000)), struct.pack("<I", 5)
    shape, stride = random.choice((3, 12, 2**14)), random.choice((0, 1))
    one = _tensor([shape], [stride], 0, _storage() + b"r" + key)
    return one + _tensor([shape], [stride], 0, b"j" + key) * (count - 1)


def _shared_arguments(random: Random) -> bytes:
    """One tuple of very many arguments that each call takes."""
    length, calls = random.choice(((10, 100), (2_000, 2_000), (20_000, 2_000), (100, 20_000)))
    more = b"K\0" * length
    one = _storage() + _number(0) + _numbers([12]) + _numbers([1]) + _REST + more
    kept = b"r" + struct.pack("<I", 1)
    first = _CALL + b"(" + one + b"t" + kept + b"R"
    return first + (_CALL + b"j" + struct.pack("<I", 1) + b"R") * calls


def _shared_values(random: Random) -> bytes:
    """Lists of lists, each of which holds the one before many times."""
    levels, times = random.choice(((3, 10), (20, 2), (40, 2), (10, 10)))
    out = _tensor([12], [1])
    for level in range(levels):
        # What there is goes into a tuple, is kept, and taken many times by the next one.
        key = struct.pack("<I", 100 + level)
        out = b"(" + out + b"r" + key + (b"j" + key) * (times - 1) + b"t"
    return out
