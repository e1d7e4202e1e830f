"""What a check of a source tree found, and how it is told."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Literal

from tvmdbg_widgets.analysis.abi.place_types import FieldType
from tvmdbg_widgets.analysis.abi.places import Place
from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

Status = Literal["agrees", "disagrees", "not recognized", "not found", "gone"]
_ORDER = ("disagrees", "not recognized", "not found", "agrees", "gone")
_LONGEST_LINE = 160


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
        ``"agrees"``, ``"disagrees"``, ``"not recognized"`` (the file has no such lines),
        ``"not found"``, or ``"gone"`` (this release has no such place).
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
        What the places were checked for.
    places : tuple of PlaceFound
        One for each file of a place; a place without a file has one too.
    notes : tuple of str
        What no place can mend.
    """

    folder: str
    version: str | None
    dtype_layout: DTypeLayout
    places: tuple[PlaceFound, ...]
    notes: tuple[str, ...] = ()

    @property
    def disagreeing(self) -> tuple[PlaceFound, ...]:
        """Places that still assume another layout."""
        return tuple(each for each in self.places if each.status == "disagrees")

    def to_dataframe(self) -> Any:
        """One row per file of a place (``pandas.DataFrame``); ImportError without pandas."""
        from tvmdbg_widgets.model.base.frames import data_frame

        return data_frame(
            {
                "place": [each.place.id for each in self.places],
                "file": [each.file for each in self.places],
                "lines": [", ".join(str(type_.line) for type_ in each.types)
                          for each in self.places],
                "status": [each.status for each in self.places],
                "assumes": [each.assumes for each in self.places],
                "required": [each.place.required for each in self.places],
                "change": [each.place.change for each in self.places],
            }
        )  # fmt: skip

    def lines(self) -> list[str]:
        """Return the check as text, what disagrees first."""
        release = f" ({one_line(self.version)})" if self.version else ""
        checked = f"checked for {self.dtype_layout.declaration}: {self._counts()}"
        told = [f"{one_line(self.folder)}{release}, {checked}"]
        for each in sorted(self.places, key=lambda found: _ORDER.index(found.status)):
            told += _place_lines(each, self.dtype_layout)
        return told + [f"note: {note}" for note in self.notes]

    def _counts(self) -> str:
        wrong = len(self.disagreeing)
        told = f"{counted(wrong, 'place')} to change" if wrong else "no place to change"
        unknown = [each for each in self.places if each.status in ("not recognized", "not found")]
        return f"{told}, {counted(len(unknown), 'place')} unknown" if unknown else told

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _place_lines(found: PlaceFound, layout: DTypeLayout) -> list[str]:
    place = found.place
    optional = "" if place.required else ", where it is used"
    head = f"{found.status}: {place.id}, {place.what}{optional}"
    if found.file is None:
        if found.status == "gone":
            return [f"{head}: the last release that has it is v{place.last}"]
        return [head, f"    in none of {', '.join(place.paths)}"]
    lines = [head, f"    {found.file} assumes {found.assumes}"]
    if found.status == "disagrees":
        lines += dict.fromkeys(
            f"    {found.file}:{each.line}: {_cut(each.text)}  ({_difference(each, layout)})"
            for each in found.wrong
        )
        lines += [f"    to do: {place.change}", f"    if forgotten: {place.forgotten}"]
    if found.status == "not recognized":
        lines.append(f"    look there yourself: {place.change}")
    return lines


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …"


def _difference(found: FieldType, layout: DTypeLayout) -> str:
    """Say what a type is and what it should be."""
    if found.field == "padding":
        return f"padding is {found.kind}"
    wanted = layout.field(found.field).kind
    if found.kind in (wanted, wanted[1:]):
        return f"{found.field} stands in another order: {layout.declaration}"
    told = f"{found.field} as {found.kind}, not {wanted}"
    sign_alone = found.kind[1:] == wanted[1:] and found.kind[0] in "ui"
    return f"{told}: the same bytes, read with another sign" if sign_alone else told
