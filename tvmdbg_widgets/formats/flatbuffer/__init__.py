"""FlatBuffers read column by column, every offset checked before it is followed.

The format is specified in ``docs/source/internals.md`` of google/flatbuffers. Its Python package
verifies nothing.
"""

from __future__ import annotations

from tvmdbg_widgets.formats.flatbuffer.buffer import FlatBuffer
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables, Present, Ragged, Strings

__all__ = ["FlatBuffer", "FlatTables", "Present", "Ragged", "Strings"]
