"""Files given to an Inspector, opened as ExecuTorch's does."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
    from tvmdbg_widgets.model.executorch.etdump import ETDump
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord
    from tvmdbg_widgets.sources.byte_source import ByteSource


def opened_record(given: Any, *, compat: bool) -> ETRecord | None:
    """Return an ETRecord given as an object, a path or bytes."""
    from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord
    from tvmdbg_widgets.sources.byte_source import ByteSource
    from tvmdbg_widgets.sources.given import as_source

    if given is None or isinstance(given, ETRecord):
        return given
    readable = (str, os.PathLike, bytes, bytearray, memoryview, ByteSource)
    if not isinstance(given, str if compat else readable) and not (
        hasattr(given, "read") and not compat
    ):
        raise TypeError("Unsupported ETRecord type")
    source = as_source(given)
    if not compat:
        return read_etrecord(source)
    _refuse_other_files(source)
    record = read_etrecord(source)
    for name in ("reference_outputs", "representative_inputs"):
        if name in record.unread:
            raise RuntimeError(
                f"Failed to load {name} from ETRecord. This ETRecord file may have been created "
                "with an older version that used pickle serialization. Please regenerate the "
                "ETRecord file with the current version of ExecuTorch."
            )
    return record


def _refuse_other_files(source: Any) -> None:
    from tvmdbg_widgets.formats.executorch.etrecord import IDENTIFIER
    from tvmdbg_widgets.model.base.text import FormatError
    from tvmdbg_widgets.sources.unpacking import read_directory

    try:
        members = read_directory(source).members
    except FormatError:
        raise RuntimeError("Invalid etrecord file passed in.") from None
    if IDENTIFIER not in members:
        raise RuntimeError(
            "ETRecord identifier missing from etrecord file passed in. Either an invalid file was "
            "passed in or the file is corrupt."
        )


def opened_buffer(path: Any, path_by_other_name: Any, *, compat: bool) -> DebugBufferFile | None:
    """Return the debug buffer, given by either of two parameters."""
    from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
    from tvmdbg_widgets.sources.given import as_source

    if path is not None and path_by_other_name is not None:
        raise TypeError("buffer_path is another name of debug_buffer_path; give one of them")
    given = path if path is not None else path_by_other_name
    if given is not None:
        return DebugBufferFile(as_source(given))
    if compat:
        text = "Output Buffer not found. Tensor Debug Data will not be available."
        warnings.warn(text, stacklevel=3)
    return None


def sources_of(
    dump: ETDump,
    source: ByteSource,
    record: tuple[ETRecord | None, Any],
    buffer: DebugBufferFile | None,
) -> dict[str, tuple[Any, ByteSource]]:
    """Return parsed content and source of the files, by part."""
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord
    from tvmdbg_widgets.sources.byte_source import BytesSource
    from tvmdbg_widgets.sources.given import as_source

    sources: dict[str, tuple[Any, ByteSource]] = {"etdump": (dump, source)}
    read, given = record
    if read is not None:
        known = not isinstance(given, ETRecord)
        sources["etrecord"] = (read, as_source(given) if known else BytesSource(b"", read.file))
    if buffer is not None:
        sources["debug-buffer"] = (buffer.source, buffer.source)
    return sources
