"""``tvmdbg struct``: structs of TVM's runtime byte by byte, in several layouts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json, source_of
from tvmdbg_widgets.cli.common.terminal import grid, note, say
from tvmdbg_widgets.cli.common.verbs import (
    FOUND,
    UsageError,
    argument,
    examples,
    flag,
    option,
    usage_errors,
    verb,
)
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.abi import StructView
    from tvmdbg_widgets.sources.byte_source import ByteSource

EXAMPLES = examples(
    (
        "What a wide DLDataType moves",
        "tvmdbg struct DLTensor --dtype-layout packed64 --dtype-layout standard",
    ),
    ("Memory from a debugger: which layout is it?", "tvmdbg struct DLTensor --hex dump.txt"),
    (
        "Your own layout, on a 32-bit machine",
        "tvmdbg struct DLTensor --dtype-layout 'code:u8 bits:u8 lanes:u32' --bits 32",
    ),
    ("As a picture", "tvmdbg struct DLTensor -o dltensor.svg"),
    ("What was forgotten in the sources", "tvmdbg struct --check tvm/ --dtype-layout packed64"),
)
_LONGEST_DUMP = 64 << 20


@verb
def struct(
    name: Annotated[str | None, argument("[STRUCT]", "Such as DLTensor; all without it.")] = None,
    *,
    dtype_layout: Annotated[
        list[str] | None,
        option(
            "LAYOUT",
            "Layout of DLDataType, may be repeated: standard (code:u8 bits:u8 lanes:u16), "
            "packed64 (code:u16 bits:u16 lanes:i32), or your own, declared like these.",
            show_default="standard and packed64",
        ),
    ] = None,
    dump: Annotated[
        str | None,
        option(
            "FILE",
            "Memory as gdb, lldb, xxd or hexdump -C print it; [bold]-[/] for standard input.",
            "--hex",
        ),
    ] = None,
    bits: Annotated[int | None, option("N", "Of a pointer: 64 or 32.", show_default="64")] = None,
    int64_align: Annotated[int, option("N", "4 for i386 on Linux.")] = 8,
    offset: Annotated[int, option("N", "Where in the dump the struct begins.", min=0)] = 0,
    words: Annotated[
        bool | None,
        flag(
            "Meaning of groups of digits: machine words, or bytes in memory order.",
            "--words/--bytes",
            show_default="by the form of the dump",
        ),
    ] = None,
    big_endian: Annotated[bool, flag("The machine is big endian.", "--big-endian")] = False,
    check: Annotated[
        Path | None,
        option(
            "TVM_SOURCE",
            "Find the places in TVM's sources that must change with DLDataType, and "
            "check whether they have the layout.",
        ),
    ] = None,
    ir: Annotated[
        str | None, option("FILE", "Name the layout that LLVM IR was compiled for.")
    ] = None,
    assertions: Annotated[
        bool, flag("Print C++ that fails to compile with another layout.", "--assertions")
    ] = False,
    output: Annotated[Path | None, option("OUT", "An .svg or .png file.", "-o", "--output")] = None,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Show where the members of DLTensor and its kin lie, for any layout of DLDataType.

    With a memory dump, say under which layout it makes sense, and why not under the others. With
    [bold]--check[/], exit with status 1 where a place of the sources has another layout, and with
    [bold]--ir[/], where compiled code disagrees with itself.
    """
    if sum((name is not None, check is not None, ir is not None, assertions)) > 1:
        raise UsageError("STRUCT, --check, --ir and --assertions are mutually exclusive")
    if name is None and (dump is not None or output is not None or as_json):
        raise UsageError("--hex, --output and --json need a STRUCT", "Such as DLTensor.")
    if check is not None or ir is not None or assertions:
        _other(check, ir, dtype_layout or ["wide"], bits or 64)
        return
    if name is None:
        _list_all(dtype_layout or ["narrow", "wide"], bits, int64_align)
        return
    view = _view(
        name, dtype_layout or [], dump, bits=bits, int64_align=int64_align, offset=offset,
        words=words, order="big" if big_endian else "little",
    )  # fmt: skip
    if output is not None:
        view.save(output)
        note(f"wrote {output}")
        return
    if as_json:
        print_json(_as_json(view))
        return
    for line in repr(view).splitlines():
        say(line)


def _other(check: Path | None, ir: str | None, layouts: list[str], bits: int) -> None:
    from tvmdbg_widgets import abi

    wrong = False
    with usage_errors(NotADirectoryError):
        if check is not None:
            places = abi.check(check, layouts[0])
            lines, wrong = places.lines(), bool(places.disagreeing)
        elif ir is not None:
            verdict = abi.layout_of_ir(_source(ir), *layouts)
            lines, wrong = verdict.text.splitlines(), bool(verdict.conflicts)
        else:
            lines = abi.assertions(layouts[0], bits).splitlines()
    for line in lines:
        say(line)
    if wrong:
        raise typer.Exit(FOUND)


def _view(name: str, layouts: list[str], dump: str | None, **options: Any) -> StructView:
    from tvmdbg_widgets import abi

    text = None if dump is None else _read(dump)
    with usage_errors():
        return abi.struct(name, *layouts, hex=text, **options)


def _source(name: str) -> ByteSource:
    from tvmdbg_widgets.sources.given import as_source

    return as_source(source_of(name))


def _read(name: str) -> str:
    source = _source(name)
    if source.size > _LONGEST_DUMP:
        raise UsageError(f"{name} is no memory dump: it has {counted(source.size, 'byte')}")
    return source.read(0, source.size).decode("utf-8", "replace")


def _list_all(layouts: list[str], bits: int | None, int64_align: int) -> None:
    from tvmdbg_widgets.model.struct_layout import STRUCTS

    rows = []
    heads: tuple[str, ...] = ()
    for name in STRUCTS:
        view = _view(name, layouts, None, bits=bits, int64_align=int64_align)
        heads = view.labels
        rows.append((name, *(f"{placed.size}" for placed in view.structs)))
    grid(("bytes of", *heads), rows, right=range(1, len(heads) + 1), give=0)
    note("tvmdbg struct DLTensor shows one of them byte by byte.")


def _as_json(view: StructView) -> dict[str, Any]:
    layouts = []
    for at, (label, placed) in enumerate(zip(view.labels, view.structs, strict=True)):
        values = view.decodings[at].values if view.decodings else ()
        facts = {
            value.leaf.path: {"value": value.text, "problem": value.problem} for value in values
        }
        members = [
            {"member": leaf.path, "type": leaf.type.name, "offset": leaf.offset,
             "bytes": leaf.type.size, **(facts[leaf.path] if facts else {})}
            for leaf in placed.leaves()
        ]  # fmt: skip
        layouts.append(
            {"dtype_layout": label, "bytes": placed.size, "align": placed.align, "members": members}
        )
    return {"struct": view.name, "verdict": view.verdict, "dtype_layouts": layouts}
