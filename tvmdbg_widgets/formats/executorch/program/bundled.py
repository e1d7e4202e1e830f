"""Reader of bundled programs (``.bpte``): a program with inputs to test it on.

``devtools/bundled_program/schema/bundled_program_schema.fbs`` @ v1.4.1.
"""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.formats.executorch.program.header import HINT
from tvmdbg_widgets.formats.executorch.program.program import read_program
from tvmdbg_widgets.formats.flatbuffer.buffer import FlatBuffer
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.executorch.program import BundledProgram
from tvmdbg_widgets.sources.byte_source import ByteSource, PartSource


def sniff(head: bytes) -> bool:
    """Tell whether a file that starts with these bytes (8 or more) is a bundled program."""
    return head[4:8] == b"BP08"


def read_bundled_program(source: ByteSource) -> BundledProgram:
    """Read a bundled program; the file is read whole."""
    head = source.read(0, min(source.size, 8))
    if not sniff(head):
        raise FormatError(
            "no bundled program of ExecuTorch",
            file=source.name,
            field="identifier",
            offset=4,
            expected="BP08",
            found=repr(head[4:8])[1:],
            hint=HINT,
        )
    buffer = FlatBuffer(source.read(0, source.size), file=source.name, hint=HINT)
    root = FlatTables.root(buffer, "BundledProgram")
    _, suites = root.children(1, "BundledMethodTestSuite", "method_test_suites")
    cases, _ = suites.children(1, "BundledMethodTestCase", "test_cases")
    (start,), (length,) = (each.tolist() for each in root.spans(2, "program"))
    name = f"{source.name}, its program"
    program = read_program(PartSource(source, max(0, start), length, name))
    names = suites.strings(0, "method_name").column
    counts = np.diff(cases.offsets).tolist()
    return BundledProgram(program, max(0, start), tuple(zip(names, counts, strict=True)))
