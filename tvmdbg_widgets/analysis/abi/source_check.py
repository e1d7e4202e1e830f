"""Check of a TVM source tree for one layout of ``DLDataType``, place by place."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tvmdbg_widgets.analysis.abi.place_types import FieldType, field_types
from tvmdbg_widgets.analysis.abi.places import PLACES, Place
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, data_frame, one_line
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.struct_layout import struct_layout
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
_VALUE = 8  # sizeof(TVMValue), and the union of TVMFFIAny


def check_source(folder: str | os.PathLike[str], layout: DTypeLayout) -> SourceCheck:
    """Find the places of a source tree that assume a layout of ``DLDataType``, running nothing."""
    root = Path(folder)
    if not root.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; pass the one that has src/ and include/")
    version = _version(root)
    findings = tuple(
        finding for place in PLACES for finding in _place_in_tree(root, place, layout, version)
    )
    if all(place.file is None for place in findings):
        raise FormatError(
            "this is no source tree of TVM",
            file=str(folder),
            expected=f"a file such as {PLACES[2].paths[0]}",
            found="none of the places that know DLDataType",
            hint="Pass the root of the repository; submodules (3rdparty/) must be checked out.",
        )
    return SourceCheck(str(folder), version, layout, findings, _notes(layout))


def _place_in_tree(
    root: Path, place: Place, layout: DTypeLayout, version: str | None
) -> list[PlaceFound]:
    findings: list[PlaceFound] = []
    silent = None
    for path in place.paths:
        text = _read_in_tree(root, path)
        if text is None:
            continue
        types = tuple(field_types(text, place.style, python=path.endswith(_PYTHON)))
        # All three fields, but a field without a cast needs no change.
        known = {field.field for field in types}
        if not (types if place.style in ("padding", "casts") else known >= set(_FIELDS)):
            silent = silent or PlaceFound(
                place, path, types, "not recognized", _types_and_layout(types)
            )
            continue
        wrong = _wrong(place, types, layout)
        status: Status = "disagrees" if wrong else "agrees"
        findings.append(PlaceFound(place, path, types, status, _types_and_layout(types), wrong))
    if findings:
        return findings
    if place.last is not None and _number(version) > _number(place.last):
        return [PlaceFound(place, None, (), "gone", "unknown")]
    return [silent or PlaceFound(place, None, (), "not found", "unknown")]


def _wrong(
    place: Place, types: tuple[FieldType, ...], layout: DTypeLayout
) -> tuple[FieldType, ...]:
    order = tuple(field.name for field in layout.fields)
    if place.style == "llvm":
        names = dict(zip(_FIELDS, order, strict=True))
        return tuple(
            stated
            for stated in types
            if not _agrees(stated._replace(field=names[stated.field]), layout)
        )
    wrong = tuple(stated for stated in types if not _agrees(stated, layout))
    ordered = place.style in ("members", "ctypes", "handlers")
    if not wrong and ordered and tuple(stated.field for stated in types[:3]) != order:
        return types[:3]
    return wrong


def _agrees(field: FieldType, layout: DTypeLayout) -> bool:
    if field.kind == "same":
        return True
    if field.field == "padding":
        wanted = max(0, _VALUE - struct_layout("DLDataType", layout).size)
        return field.kind == (f"i{8 * wanted}" if wanted else "none")
    wanted_kind = layout.field(field.field).kind
    if field.kind in (wanted_kind, wanted_kind[1:]):
        return True
    # From v0.16 on negative lanes mean scalable vectors, and sources read u16 as int16_t.
    return field.field == "lanes" and (field.kind, wanted_kind) == ("i16", "u16")


def _types_and_layout(types: tuple[FieldType, ...]) -> str:
    types_by_field: dict[str, dict[str, None]] = {}
    for stated in types:
        types_by_field.setdefault(stated.field, {})[stated.kind] = None
    words = {"same": "as the struct has it"}
    text = " ".join(
        f"{field}:{' and '.join(words.get(kind, kind) for kind in kinds)}"
        for field, kinds in types_by_field.items()
    )
    name = next((layout.name for layout in (NARROW, WIDE) if layout.declaration == text), None)
    return f"{text} ({name})" if name else text or "unknown"


def _notes(layout: DTypeLayout) -> tuple[str, ...]:
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


def _read_in_tree(root: Path, path: str) -> str | None:
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
        match = pattern.search(_read_in_tree(root, path) or "")
        if match:
            return match[1]
    return None


def _number(version: str | None) -> tuple[int, int]:
    match = _RELEASE.match(version or "")
    return (int(match[1]), int(match[2])) if match else (0, 0)


Status = Literal["agrees", "disagrees", "not recognized", "not found", "gone"]
_ORDER = ("disagrees", "not recognized", "not found", "agrees", "gone")
_LONGEST_LINE = 160


@dataclass(frozen=True)
class PlaceFound:
    """Layout that one place of a tree assumes.

    Attributes
    ----------
    place : Place
    file : str or None
        Below the tree; None where no file of any release is there.
    types : tuple of FieldType
        The file's statements about the fields.
    status : str
        ``"agrees"``, ``"disagrees"``, ``"not recognized"``, ``"not found"``, ``"gone"``.
    assumes : str
        The layout in words.
    wrong : tuple of FieldType
        Those that disagree.
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
        Expected layout.
    places : tuple of PlaceFound
        One per file of a place; a place without a file has one too.
    notes : tuple of str
        Problems that no place can mend.
    """

    folder: str
    version: str | None
    dtype_layout: DTypeLayout
    places: tuple[PlaceFound, ...]
    notes: tuple[str, ...] = ()

    @property
    def disagreeing(self) -> tuple[PlaceFound, ...]:
        """Places that still assume another layout."""
        return tuple(place for place in self.places if place.status == "disagrees")

    def to_dataframe(self) -> Any:
        """One row per file of a place (``pandas.DataFrame``); ImportError without pandas."""
        return data_frame(
            {
                "place": [place.place.id for place in self.places],
                "file": [place.file for place in self.places],
                "lines": [", ".join(str(type_.line) for type_ in place.types)
                          for place in self.places],
                "status": [place.status for place in self.places],
                "assumes": [place.assumes for place in self.places],
                "required": [place.place.required for place in self.places],
                "change": [place.place.change for place in self.places],
            }
        )  # fmt: skip

    def lines(self) -> list[str]:
        """Return the check as text, disagreements first."""
        release = f" ({one_line(self.version)})" if self.version else ""
        checked = f"checked for {self.dtype_layout.declaration}: {self._counts()}"
        lines = [f"{one_line(self.folder)}{release}, {checked}"]
        for place in sorted(self.places, key=lambda found: _ORDER.index(found.status)):
            lines += _place_lines(place, self.dtype_layout)
        return lines + [f"note: {note}" for note in self.notes]

    def _counts(self) -> str:
        wrong = len(self.disagreeing)
        changes = f"{counted(wrong, 'place')} to change" if wrong else "no place to change"
        unknown = [
            place for place in self.places if place.status in ("not recognized", "not found")
        ]
        return f"{changes}, {counted(len(unknown), 'place')} unknown" if unknown else changes

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _place_lines(finding: PlaceFound, layout: DTypeLayout) -> list[str]:
    place = finding.place
    optional = "" if place.required else ", where it is used"
    head = f"{finding.status}: {place.id}, {place.what}{optional}"
    if finding.file is None:
        if finding.status == "gone":
            return [f"{head}: the last release that has it is v{place.last}"]
        return [head, f"    in none of {', '.join(place.paths)}"]
    lines = [head, f"    {finding.file} assumes {finding.assumes}"]
    if finding.status == "disagrees":
        lines += dict.fromkeys(
            f"    {finding.file}:{field.line}: {_cut(field.text)}  ({_mismatch(field, layout)})"
            for field in finding.wrong
        )
        lines += [f"    to do: {place.change}", f"    if forgotten: {place.forgotten}"]
    if finding.status == "not recognized":
        lines.append(f"    look there yourself: {place.change}")
    return lines


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …"


def _mismatch(field: FieldType, layout: DTypeLayout) -> str:
    if field.field == "padding":
        return f"padding is {field.kind}"
    wanted = layout.field(field.field).kind
    if field.kind in (wanted, wanted[1:]):
        return f"{field.field} stands in another order: {layout.declaration}"
    words = f"{field.field} as {field.kind}, not {wanted}"
    sign_alone = field.kind[1:] == wanted[1:] and field.kind[0] in "ui"
    return f"{words}: the same bytes, read with another sign" if sign_alone else words
