"""``tvmdbg convert``: params files between the two byte layouts of ``DLDataType``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from tvmdbg_widgets.cli.examples import examples
from tvmdbg_widgets.cli.failures import UsageError, verb
from tvmdbg_widgets.cli.terminal import is_terminal, note

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.params_convert import Conversion
    from tvmdbg_widgets.model.sources import ByteSource

EXAMPLES = examples(
    (
        "For a build of TVM with the wide DLDataType",
        "tvmdbg convert net.params -o net.wide.params --to wide",
    ),
    ("In a pipe", "zcat net.gz | tvmdbg convert - -o - --to narrow > net.params"),
)


class Layout(StrEnum):
    """Byte layouts of ``DLDataType``."""

    NARROW = "narrow"
    WIDE = "wide"


@verb
def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="A params file, or [bold]-[/] for standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="OUT", help="Output file; [bold]-[/] is standard output."
        ),
    ],
    to: Annotated[
        Layout,
        typer.Option(
            help="narrow: TVM's own, 4 bytes (code u8, bits u8, lanes u16). wide: 8 bytes (code "
            "u16, bits u16, lanes i32).",
        ),
    ],
) -> None:
    """Convert a params file between the two byte layouts of DLDataType.

    Only the data types' bytes change; names and values are copied as they are, piece by piece, so
    a file of any size needs little memory. The whole file is checked before the first byte is
    written, OUT appears when it is complete, and IN is never written to.
    """
    from tvmdbg_widgets.formats.tvm.params_convert import conversion

    with ExitStack() as stack:
        opened = _opened(source, stack)
        _check_target(source, output)
        planned = conversion(opened, to.value)
        if output == "-":
            _write(planned, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            from tvmdbg_widgets.model.writing import replacing

            with replacing(output) as file:
                _write(planned, file)
    count = len(planned.records)
    was = "already" if planned.layout == planned.to else f"{planned.layout} →"
    note(f"{count:,} array{'' if count == 1 else 's'}, {was} {planned.to}, {planned.size:,} bytes")


def _write(planned: Conversion, file: IO[bytes]) -> None:
    from tvmdbg_widgets.cli.progress import byte_bar

    with byte_bar(planned.size, "converting") as bar:
        planned.write(file, bar.update)


def _opened(name: str, stack: ExitStack) -> ByteSource:
    """Open the input; what comes through a pipe is laid on disk first, for it is read twice."""
    from tvmdbg_widgets.model.sources_given import as_source
    from tvmdbg_widgets.model.sources_stream import StreamSource

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
    if source != "-" and target.exists() and target.samefile(source):
        raise UsageError(
            f"{output} is the input file, which is never overwritten", "Choose another file."
        )
