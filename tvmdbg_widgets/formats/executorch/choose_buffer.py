"""Which of the files that no reader knows is the debug buffer of a dump."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.formats.executorch.debug_buffer import covers, needed_size
from tvmdbg_widgets.formats.tvm.foreign import has_kind
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.sources.byte_source import ByteSource


def choose_buffer(dump: ETDump, unknown: Sequence[ByteSource]) -> ByteSource | None:
    """Return the one file that is large enough for every value of a dump, None where there is none.

    A debug buffer has nothing to know it by; files of another known kind, and text, are none.
    """
    fitting = [each for each in unknown if covers(dump, each.size) and not has_kind(each)]
    if len(fitting) > 1:
        raise FormatError(
            f"{counted(len(fitting), 'file')} may be the debug buffer of this dump",
            file=dump.file,
            expected=f"one file of {counted(needed_size(dump), 'byte')} or more, "
            "which no reader knows",
            found=listed([source.name for source in fitting]),
            hint="Say which: open(…, debug_buffer='debug_buffer.bin').",
        )
    return fitting[0] if fitting else None
