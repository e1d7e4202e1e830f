"""A source tree of TVM checked for one layout of ``DLDataType``, place by place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tvmdbg_widgets.analysis.abi.place_types import FieldType, field_types
from tvmdbg_widgets.analysis.abi.places import PLACES, Place
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.sources import FileSource
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    import os

    from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout

Status = Literal["agrees", "disagrees", "not recognized", "not found"]

_LARGEST_FILE = 16 << 20
_VERSION_FILES = (
    ("python/tvm/libinfo.py", re.compile(r'__version__\s*=\s*"([^"\n]{1,40})"')),
    ("python/tvm/_ffi/libinfo.py", re.compile(r'__version__\s*=\s*"([^"\n]{1,40})"')),
    ("version.py", re.compile(r'__version__\s*=\s*"([^"\n]{1,40})"')),
    ("include/tvm/runtime/c_runtime_api.h", re.compile(r'TVM_VERSION\s+"([^"\n]{1,40})"')),
)


@dataclass(frozen=True)
class PlaceFound:
    """What one place of a tree assumes.

    Attributes
    ----------
    place : Place
    file : str or None
        Below the tree; None where no file of any release is there.
    types : tuple of FieldType
        What the file says of the fields.
    status : str
        ``"agrees"``, ``"disagrees"``, ``"not recognized"`` (the file has no such lines) or
        ``"not found"``.
    assumes : str
        The layout in words.
    """

    place: Place
    file: str | None
    types: tuple[FieldType, ...]
    status: Status
    assumes: str
    wrong: tuple[FieldType, ...] = ()


@dataclass(frozen=True)
class SourceCheck:
    """All places of a tree.

    Attributes
    ----------
    folder : str
    version : str or None
        As the tree says it.
    dtype_layout : DTypeLayout
        What the places were checked for.
    places : tuple of PlaceFound
    """

    folder: str
    version: str | None
    dtype_layout: DTypeLayout
    places: tuple[PlaceFound, ...]

    @property
    def disagreeing(self) -> tuple[PlaceFound, ...]:
        """Places that still assume another layout."""
        return tuple(each for each in self.places if each.status == "disagrees")

    def to_dataframe(self) -> Any:
        """One row per place (``pandas.DataFrame``); ImportError without pandas."""
        from tvmdbg_widgets.model.frames import data_frame

        return data_frame(
            {
                "place": [each.place.id for each in self.places],
                "file": [each.file for each in self.places],
                "status": [each.status for each in self.places],
                "assumes": [each.assumes for each in self.places],
                "required": [each.place.required for each in self.places],
                "change": [each.place.change for each in self.places],
            }
        )

    def lines(self) -> list[str]:
        """Return the check as text, what disagrees first."""
        order = ("disagrees", "not recognized", "not found", "agrees")
        release = f" ({one_line(self.version)})" if self.version else ""
        told = [f"{one_line(self.folder)}{release}, checked for {self.dtype_layout.declaration}"]
        for each in sorted(self.places, key=lambda found: order.index(found.status)):
            told += _told(each)
        return told

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def _told(found: PlaceFound) -> list[str]:
    place = found.place
    optional = "" if place.required else ", where it is used"
    head = f"{found.status}: {place.id}, {place.what}{optional}"
    if found.file is None:
        return [head, f"    in none of {', '.join(place.paths)}"]
    lines = [head, f"    {one_line(found.file)} assumes {found.assumes}"]
    if found.status == "disagrees":
        lines += [f"    {found.file}:{each.line}: {one_line(each.text)}" for each in found.wrong]
        lines += [f"    to do: {place.change}", f"    if forgotten: {place.forgotten}"]
    if found.status == "not recognized":
        lines.append(f"    look there yourself: {place.change}")
    return lines


def check_source(folder: str | os.PathLike[str], layout: DTypeLayout) -> SourceCheck:
    """Find the places of a source tree that say how ``DLDataType`` lies, and what each assumes.

    Files are read, never run; links out of the tree are not followed.

    Parameters
    ----------
    folder : path
        Of TVM's sources, of any release from v0.5 on.
    layout : DTypeLayout
        That they should all have.

    Raises
    ------
    FormatError
        None of the places is there: this is no source tree of TVM.
    OSError
        The folder cannot be read.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; pass the one that has src/ and include/")
    found = tuple(_look_at(root, place, layout) for place in PLACES)
    if all(each.file is None for each in found):
        raise FormatError(
            "this is no source tree of TVM",
            file=str(folder),
            expected=f"a file such as {PLACES[2].paths[0]}",
            found="none of the places that know DLDataType",
            hint="Pass the root of the repository; submodules (3rdparty/) must be checked out.",
        )
    return SourceCheck(str(folder), _version(root), layout, found)


def _look_at(root: Path, place: Place, layout: DTypeLayout) -> PlaceFound:
    unread = None
    for path in place.paths:
        text = _read(root, path)
        if text is None:
            continue
        types = tuple(field_types(text, place.style))
        if not types:
            unread = unread or path
            continue
        wrong = tuple(each for each in types if not _agrees(each, layout))
        status: Status = "disagrees" if wrong else "agrees"
        return PlaceFound(place, path, types, status, _assumed(types), wrong)
    if unread is not None:
        return PlaceFound(place, unread, (), "not recognized", "unknown")
    return PlaceFound(place, None, (), "not found", "unknown")


def _agrees(found: FieldType, layout: DTypeLayout) -> bool:
    if found.field == "padding":
        wanted = max(0, 8 - layout.size)
        width = {"none": 0, "unknown": -1}.get(found.kind)
        return (int(found.kind[1:]) // 8 if width is None else width) == wanted
    wanted_kind = layout.field(found.field).kind
    return found.kind in ("same", wanted_kind, wanted_kind[1:])


def _assumed(types: tuple[FieldType, ...]) -> str:
    """Say the types of a place, each once."""
    told: dict[str, dict[str, None]] = {}
    for each in types:
        told.setdefault(each.field, {})[each.kind] = None
    words = {"same": "as the struct has it", "none": "none"}
    return " ".join(
        f"{field}:{' and '.join(words.get(kind, kind) for kind in kinds)}"
        for field, kinds in told.items()
    )


def _read(root: Path, path: str) -> str | None:
    """Return a file of the tree, None where there is none, or where a link leads out of it."""
    target = root / path
    try:
        if not target.is_file() or not target.resolve().is_relative_to(root.resolve()):
            return None
        source = FileSource(target)
        data = source.read(0, min(source.size, _LARGEST_FILE))
    except (OSError, RuntimeError):
        return None
    return data.decode("utf-8", "replace")


def _version(root: Path) -> str | None:
    for path, pattern in _VERSION_FILES:
        found = pattern.search(_read(root, path) or "")
        if found:
            return found[1]
    return None
