"""The tensors of a dump, ``output_tensors.params``: a params file with the debugger's keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tvmdbg_widgets.formats.tvm.output_keys import OutputKey, parse_key
from tvmdbg_widgets.formats.tvm.params.file import ParamsFile
from tvmdbg_widgets.model.tensors.array_record import of_byte_memory


@dataclass(frozen=True)
class Outputs:
    """An ``output_tensors.params``: its records with their parsed keys."""

    file: ParamsFile
    keys: tuple[OutputKey, ...]

    @classmethod
    def of(cls, file: ParamsFile) -> Outputs | None:
        """Return the file as a dump's tensors, None where its keys tell that it is another one.

        The debugger went with TVM v0.19, when memory had a byte for each element below 8 bits.
        """
        keys = tuple(key for record in file.records if (key := parse_key(record.key)) is not None)
        if not keys or len(keys) != len(file.records):
            return None
        return cls(replace(file, records=tuple(map(of_byte_memory, file.records))), keys)
