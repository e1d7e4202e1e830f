"""The tensors of a dump, ``output_tensors.params``: a params file with the debugger's keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.tvm.output_keys import OutputKey, parse_key

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.params import ParamsFile


@dataclass(frozen=True)
class Outputs:
    """An ``output_tensors.params``: its records with their parsed keys."""

    file: ParamsFile
    keys: tuple[OutputKey, ...]

    @classmethod
    def of(cls, file: ParamsFile) -> Outputs | None:
        """Return the file as a dump's tensors, None where its keys tell that it is another one."""
        keys = tuple(key for record in file.records if (key := parse_key(record.key)) is not None)
        return cls(file, keys) if keys and len(keys) == len(file.records) else None
