"""The members of a union field, type by type."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables


def members(
    holders: FlatTables,
    kinds: npt.NDArray[np.uint8],
    kind: int,
    name: str,
    field: str,
    *,
    id_: int = 1,
) -> tuple[list[int], FlatTables]:
    """Return the rows whose union has a type, and its values; `id_` is that of the value."""
    rows = np.flatnonzero(kinds == kind)
    chosen = FlatTables(holders.buffer, holders.places[rows], holders.name)
    found = chosen.child(id_, name, field)
    if len(found.rows) < len(rows):
        missing = np.setdiff1d(np.arange(len(rows)), found.rows)[0]
        raise holders.buffer.broken(
            "a union says its type and has no value",
            f"{holders.name}.{field}",
            int(chosen.places[missing]),
            expected=f"a table {name}",
            found="nothing",
        )
    return rows.tolist(), found.tables
