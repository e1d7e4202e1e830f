"""``open``: files of a debugger as one run or log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import public

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.params.list import LayoutLike
    from tvmdbg_widgets.rpc import RpcLog
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.sources.given import SourceLike
    from tvmdbg_widgets.tuning import TuningLog


@public
def open(
    source: SourceLike | Sequence[SourceLike],
    *more: SourceLike,
    graph: SourceLike | None = None,
    params: SourceLike | None = None,
    trace: SourceLike | None = None,
    table: SourceLike | None = None,
    report: SourceLike | None = None,
    times: SourceLike | None = None,
    debug_buffer: SourceLike | None = None,
    device: str | None = None,
    module: str | None = None,
    method: str | None = None,
    execution: int | None = None,
    dtype_layout: LayoutLike = "auto",
    float8: str = "auto",
    dtypes: dict[str, str] | None = None,
    follow_links: bool = False,
    limits: Mapping[str, int] | None = None,
) -> DebugRun | TuningLog | RpcLog:
    """Open files of TVM's debugger or ExecuTorch as one run, a tuning log, or an RPC log.

    Formats are recognized by content, never by name; only headers of tensors are read.

    Parameters
    ----------
    source, *more
        A folder (the dump root, one of its ``_tvmdbg_device_*`` or ``_tvmdbg_ctx_*`` folders, or
        any folder that holds such files), a tar or zip archive of one (also a Model Library Format
        archive), files, bytes, or binary file objects, in any order, also as one list. URLs of
        any of these are read through fsspec. Text that starts with ``{`` is graph JSON itself.
        Of ExecuTorch any of ETDump, debug buffer, ETRecord and program (``.pte``, ``.bpte``,
        ``.ptd``), or a folder or archive of them.
    graph
        The graph given to TVM (``lib.get_graph_json()``, or a file): resolves the edges that the
        debugger's own dump leaves ambiguous.
    params
        The model's parameters, which separates parameters from inputs. A file of
        ``tvm.runtime.save_param_dict``, or a tensor cache (its folder, or its JSON index).
    trace, table
        The execution trace, or any Chrome trace; the table that ``run()`` printed (with all
        repeats).
    report
        A profiling report: what ``GraphModuleDebug.profile()`` returns as JSON, CSV or printed
        table, or the table of the VM's profiler. Another measurement than ``run()``'s: it becomes
        ``run.reports[0]``, and the timeline only where there are no other times.
    times
        Exact repeats: ``time_list`` as JSON, ``[node][repeat]`` in seconds, or
        ``{"unit": "ns", "nodes": [names], "runs": [[…], …]}``.
    debug_buffer
        The debug buffer of an ETDump, where several files could be it, as it has no header.
    device
        The dump to take where a folder holds several: part of its folder's name (``"CPU_0"``).
    module
        The module to take of a Model Library Format archive that holds several.
    method
        The method of an ExecuTorch program; default ``"forward"``, or its only one.
    execution
        The execution of an ETDump to take tensors from, counted from 0; default the first that
        logged values.
    dtype_layout
        Byte layout of ``DLDataType`` in params files: ``"narrow"`` (4 bytes), ``"wide"`` (8 bytes:
        code u16, bits u16, lanes i32), a declaration (``"code:u8 bits:u8 lanes:u32"`` or an
        ``abi.DTypeLayout``), a list to choose from, or ``"auto"``: narrow or wide.
    float8
        Meaning of type codes 6 and 7 where no graph defines it: ``"current"`` (bool, float8_e3m4),
        ``"legacy"`` (float8_e4m3fn, float8_e5m2; TVM v0.13 to v0.20) or ``"auto"``.
    dtypes
        Meaning of ambiguous dtype codes by array name (``{"x": "bool"}``), where no graph
        defines it.
    follow_links
        Read files outside of a folder that its links lead to. By default such links are ignored:
        a folder from somebody else could name any file of yours, and saving the run copies it.
    limits
        Largest size in bytes of files that are read into memory, by part (``graph``, ``params``,
        ``trace``, ``table``, ``report``, ``times``, ``recording``, ``dags``), such as
        ``{"trace": 20 * 2**30}``. The defaults exceed what real runs need and keep a damaged file
        from taking all memory. The largest also raises the limit of packed files, which may
        unpack to 150 times their bytes, 512 MiB at most.

    Returns
    -------
    DebugRun, TuningLog or RpcLog
        A network capture (pcap, pcapng) of TVM's RPC, or what its two sides sent from their
        handshakes on, is an RPC log; :func:`open_rpc` takes streams that begin later too.
        A tuning log if there is nothing else; logs beside a run are ignored, with an issue.
        :func:`open_tuning` returns nothing but logs, and takes what belongs to them.

    Raises
    ------
    FormatError
        Nothing readable was given, a file is broken at its very start or larger than ``limits``,
        or a folder holds several dumps and ``device`` does not choose one.
    OSError
        A path cannot be read.
    ImportError
        A URL needs a package that is not installed.
    ValueError
        A path is empty.
    TypeError, ValueError
        A source is of another type, or an option has no such value.

    Examples
    --------
    >>> import tvmdbg_widgets as tvmdbg
    >>> run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    >>> run.graph.num_nodes
    72
    """
    from tvmdbg_widgets.formats.executorch.assemble import FAMILY as EXECUTORCH
    from tvmdbg_widgets.formats.families import family_of
    from tvmdbg_widgets.formats.family import JoinOptions
    from tvmdbg_widgets.formats.gather import gather
    from tvmdbg_widgets.formats.rpc.connection import RpcConnection
    from tvmdbg_widgets.formats.tvm.assemble import title_of
    from tvmdbg_widgets.formats.tvm.params.list import layout_text
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.sources.given import content_of, flat

    sources = list(map(content_of, flat((source, *more))))
    named = {"graph": graph, "params": params, "trace": trace, "table": table}
    named |= {"report": report, "times": times}
    given = {part: content_of(file) for part, file in named.items() if file is not None}
    chosen = {"dtype_layout": layout_text(dtype_layout), "float8": float8, "dtypes": dtypes}
    options = {name: value for name, value in chosen.items() if value not in ("auto", None)}
    parts, issues = gather(
        sources,
        given,
        device=device,
        module=module,
        options={"params": options},
        follow_links=follow_links,
        limits=limits,
        debug_buffer=None if debug_buffer is None else content_of(debug_buffer),
    )
    joining = JoinOptions(title_of(sources), options, method, execution, dtype_layout)
    family = family_of(parts)
    for option, value in (("method", method), ("execution", execution)):
        if value is not None and family is not EXECUTORCH:
            raise ValueError(f"{option}={value!r} is for ExecuTorch files; found none")
    joined = family.join(parts, issues, joining)
    if isinstance(joined, RpcConnection):
        from tvmdbg_widgets.rpc import RpcLog

        return RpcLog(joined)
    if isinstance(joined, TuningParts):
        from tvmdbg_widgets.tuning import TuningLog

        return TuningLog(joined)
    return DebugRun(joined)
