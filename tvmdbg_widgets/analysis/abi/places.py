"""Places in TVM's sources that must change together with ``DLDataType`` (places.toml)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

#: Syntax for the types of code, bits and lanes.
Style = Literal["members", "casts", "handlers", "ctypes", "llvm", "intrinsics", "padding"]


class PlaceFile(NamedTuple):
    """A file that contains the place in some release."""

    path: str
    releases: str = ""


@dataclass(frozen=True)
class Place:
    """One place that fixes the bits of a field of ``DLDataType``.

    Attributes
    ----------
    id : str
    what : str
        Contents of the place.
    files : tuple of PlaceFile
        Where it was, the newest first.
    style : str
        How the types are written there.
    required : bool
        Whether every build needs it; the others only where they are used.
    change : str
        Text to write.
    forgotten : str
        Symptom if it is left unchanged.
    last : str or None
        The last release that has it; None for today's sources.
    """

    id: str
    what: str
    files: tuple[PlaceFile, ...]
    style: Style
    required: bool
    change: str
    forgotten: str
    last: str | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files by their paths."""
        return tuple(file.path for file in self.files)


def _place(fields: dict[str, Any]) -> Place:
    files = tuple(PlaceFile(*file) for file in fields.pop("files"))
    return Place(files=files, **fields)


_FILE = Path(__file__).with_name("places.toml")
PLACES = tuple(map(_place, tomllib.loads(_FILE.read_text("utf-8"))["place"]))
