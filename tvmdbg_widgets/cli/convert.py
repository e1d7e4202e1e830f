"""``tvmdbg convert``: params files between byte layouts of ``DLDataType``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

from tvmdbg_widgets.cli.common.dump import byte_bar, local_paths
from tvmdbg_widgets.cli.common.terminal import is_terminal, note
from tvmdbg_widgets.cli.common.verbs import (
    UsageError,
    argument,
    examples,
    option,
    usage_errors,
    verb,
)
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.params.survey import Conversion
    from tvmdbg_widgets.sources.byte_source import ByteSource

EXAMPLES = examples(
    (
        "For a build of TVM with the wide DLDataType",
        "tvmdbg convert net.params -o net.wide.params --dtype-layout wide",
    ),
    (
        "From a layout of your own",
        (
            "tvmdbg convert net.params -o out.params "
            "--from-dtype-layout 'code:u8 bits:u8 lanes:u32' --dtype-layout narrow"
        ),
    ),
    ("In a pipe", "zcat net.gz | tvmdbg convert - -o - --dtype-layout narrow > net.params"),
)


@verb
def convert(
    source: Annotated[
        str, argument("IN", "A params file, or [bold]-[/] for standard input.", show_default=False)
    ],
    output: Annotated[
        str, option("OUT", "Output file; [bold]-[/] is standard output.", "-o", "--output")
    ],
    dtype_layout: Annotated[
        str,
        option(
            "LAYOUT",
            "The layout that OUT gets. narrow: TVM's own, 4 bytes (code:u8 bits:u8 "
            "lanes:u16). wide: 8 bytes (code:u16 bits:u16 lanes:i32). Or your own, "
            "declared like these.",
        ),
    ],
    from_dtype_layout: Annotated[
        str,
        option(
            "LAYOUT",
            "The layout that IN has, or several with | between them. auto: narrow or wide.",
        ),
    ] = "auto",
) -> None:
    """Convert a params file between byte layouts of DLDataType.

    Only the data types' bytes change; names and values are copied as they are, piece by piece, so
    a file of any size needs little memory. All of the file is checked before the first byte is
    written, OUT appears when it is complete, and IN is never written to.
    """
    from tvmdbg_widgets.formats.tvm.params.survey import conversion

    with ExitStack() as stack:
        opened = _opened(source, stack)
        _check_target(source, output)
        with usage_errors():
            planned = conversion(opened, dtype_layout, from_dtype_layout)
        if output == "-":
            _write(planned, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            from tvmdbg_widgets.model.base.writing import replacing

            with replacing(output) as file:
                _write(planned, file)
    count = len(planned.records)
    was = "already" if planned.layout == planned.to else f"{planned.layout.name} →"
    note(f"{counted(count, 'array')}, {was} {planned.to.name}, {counted(planned.size, 'byte')}")


def _write(planned: Conversion, file: IO[bytes]) -> None:
    with byte_bar(planned.size, "converting") as bar:
        planned.write(file, bar.update)


def _opened(name: str, stack: ExitStack) -> ByteSource:
    """Open the input; standard input is copied to disk, since it is read twice."""
    from tvmdbg_widgets.sources.given import StreamSource, as_source

    if name != "-":
        if Path(name).is_dir():
            raise UsageError(f"{name} is a folder", "Name the file: output_tensors.params in it.")
        return as_source(name)
    import shutil
    import tempfile

    if sys.stdin is None or is_terminal(sys.stdin):
        raise UsageError("'-' reads from standard input, and that is this terminal")
    spooled = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
    shutil.copyfileobj(sys.stdin.buffer, spooled, 1 << 20)
    spooled.seek(0)
    return StreamSource(spooled, "<standard input>")


def _check_target(source: str, output: str) -> None:
    if output == "-":
        if is_terminal(sys.stdout):
            raise UsageError("'-o -' would write bytes to this terminal", "Send them to a file.")
        return
    target = Path(output)
    if target.is_dir():
        raise UsageError(f"{output} is a folder", "Give an output file.")
    read = (path for path in local_paths(source) if path.exists())
    if target.exists() and any(map(target.samefile, read)):
        raise UsageError(
            f"{output} is the input file, which is never overwritten", "Choose another file."
        )
