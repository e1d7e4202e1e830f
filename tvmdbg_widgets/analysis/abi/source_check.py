"""A source tree of TVM checked for one layout of ``DLDataType``, place by place."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tvmdbg_widgets.analysis.abi.place_types import FieldType, field_types
from tvmdbg_widgets.analysis.abi.places import PLACES, Place
from tvmdbg_widgets.analysis.abi.source_checked import PlaceFound, SourceCheck, Status
from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.abi.structs import struct_layout
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.sources.file_source import FileSource

_LARGEST_FILE = 4 << 20
_PYTHON = (".py", ".pxi")
_IN_PYTHON = re.compile(r'__version__\s*=\s*"([^"\n]{1,40})"')
_IN_C = re.compile(r'TVM_VERSION\s+"([^"\n]{1,40})"')
_VERSION_FILES = (
    ("python/tvm/libinfo.py", _IN_PYTHON),
    ("python/tvm/_ffi/libinfo.py", _IN_PYTHON),
    ("version.py", _IN_PYTHON),
    ("include/tvm/runtime/c_runtime_api.h", _IN_C),
    ("include/tvm/runtime/base.h", _IN_C),
)
_RELEASE = re.compile(r"(\d{1,4})\.(\d{1,4})")
_FIELDS = ("code", "bits", "lanes")
#: sizeof(TVMValue), and the union of TVMFFIAny.
_VALUE = 8


def check_source(folder: str | os.PathLike[str], layout: DTypeLayout) -> SourceCheck:
    """Find the places of a source tree that say how ``DLDataType`` lies, and what each assumes.

    Files are read, never run; links out of the tree are not followed.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; pass the one that has src/ and include/")
    version = _version(root)
    found = tuple(each for place in PLACES for each in _look_at(root, place, layout, version))
    if all(each.file is None for each in found):
        raise FormatError(
            "this is no source tree of TVM",
            file=str(folder),
            expected=f"a file such as {PLACES[2].paths[0]}",
            found="none of the places that know DLDataType",
            hint="Pass the root of the repository; submodules (3rdparty/) must be checked out.",
        )
    return SourceCheck(str(folder), version, layout, found, _notes(layout))


def _look_at(
    root: Path, place: Place, layout: DTypeLayout, version: str | None
) -> list[PlaceFound]:
    """Return what each file of a place assumes; one entry where none says anything."""
    found: list[PlaceFound] = []
    silent = None
    for path in place.paths:
        text = _read(root, path)
        if text is None:
            continue
        types = tuple(field_types(text, place.style, python=path.endswith(_PYTHON)))
        if not _recognized(place, types):
            silent = silent or PlaceFound(place, path, types, "not recognized", _assumed(types))
            continue
        wrong = _wrong(place, types, layout)
        status: Status = "disagrees" if wrong else "agrees"
        found.append(PlaceFound(place, path, types, status, _assumed(types), wrong))
    if found:
        return found
    if place.last is not None and _number(version) > _number(place.last):
        return [PlaceFound(place, None, (), "gone", "unknown")]
    return [silent or PlaceFound(place, None, (), "not found", "unknown")]


def _recognized(place: Place, types: Sequence[FieldType]) -> bool:
    """Whether a file says enough: all three fields, but what is not cast needs no change."""
    if place.style in ("padding", "casts"):
        return bool(types)
    return {each.field for each in types} >= set(_FIELDS)


def _wrong(
    place: Place, types: tuple[FieldType, ...], layout: DTypeLayout
) -> tuple[FieldType, ...]:
    order = tuple(field.name for field in layout.fields)
    if place.style == "llvm":
        names = dict(zip(_FIELDS, order, strict=True))
        return tuple(
            each for each in types if not _agrees(each._replace(field=names[each.field]), layout)
        )
    wrong = tuple(each for each in types if not _agrees(each, layout))
    ordered = place.style in ("members", "ctypes", "handlers")
    if not wrong and ordered and tuple(each.field for each in types[:3]) != order:
        return types[:3]
    return wrong


def _agrees(found: FieldType, layout: DTypeLayout) -> bool:
    if found.kind == "same":
        return True
    if found.field == "padding":
        wanted = max(0, _VALUE - struct_layout("DLDataType", layout).size)
        return found.kind == (f"i{8 * wanted}" if wanted else "none")
    wanted_kind = layout.field(found.field).kind
    if found.kind in (wanted_kind, wanted_kind[1:]):
        return True
    # From v0.16 on negative lanes stand for scalable vectors, and sources read u16 as int16_t.
    return found.field == "lanes" and (found.kind, wanted_kind) == ("i16", "u16")


def _assumed(types: tuple[FieldType, ...]) -> str:
    """Say the types of a place, each once, and the name of the layout that has them."""
    told: dict[str, dict[str, None]] = {}
    for each in types:
        told.setdefault(each.field, {})[each.kind] = None
    words = {"same": "as the struct has it"}
    text = " ".join(
        f"{field}:{' and '.join(words.get(kind, kind) for kind in kinds)}"
        for field, kinds in told.items()
    )
    name = next((each.name for each in (NARROW, WIDE) if each.declaration == text), None)
    return f"{text} ({name})" if name else text or "unknown"


def _notes(layout: DTypeLayout) -> tuple[str, ...]:
    """Say what no place can mend: rpc_session.cc @ v0.6; rpc_reference.h and minrpc_server.h."""
    size = struct_layout("DLDataType", layout).size
    notes = []
    if size > _VALUE:
        notes.append(
            f"a DLDataType of {counted(size, 'byte')} does not fit into TVMValue, which has "
            f"{_VALUE}: it cannot be an argument, and static_assert(sizeof(TVMValue) == 8) fails"
        )
    if size != layout.size:
        notes.append(
            f"the struct has {counted(size, 'byte')} but its fields {layout.size}: RPC counts the "
            "bytes of a packet by sizeof, the endpoint writes the fields, and minrpc reads the "
            "struct. Choose types without a gap"
        )
    return tuple(notes)


def _read(root: Path, path: str) -> str | None:
    """Return a file of the tree, None where there is none, or where a link leads out of it."""
    target = root / path
    try:
        if not target.is_file() or not target.resolve().is_relative_to(root.resolve()):
            return None
        source = FileSource(target)
        data = source.read(0, min(source.size, _LARGEST_FILE))
    except (OSError, RuntimeError, FormatError):
        return None
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _version(root: Path) -> str | None:
    for path, pattern in _VERSION_FILES:
        found = pattern.search(_read(root, path) or "")
        if found:
            return found[1]
    return None


def _number(version: str | None) -> tuple[int, int]:
    found = _RELEASE.match(version or "")
    return (int(found[1]), int(found[2])) if found else (0, 0)
