"""Saving a run as a folder; reading its recorded times."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.formats.family import Family, Kind
from tvmdbg_widgets.formats.json_fields import Count, encoded, numbers, read_versioned
from tvmdbg_widgets.formats.llvm_ir import KIND as IR_KIND
from tvmdbg_widgets.formats.llvm_ir import ir_document
from tvmdbg_widgets.formats.recording import KIND as RECORDING_KIND
from tvmdbg_widgets.formats.recording import (
    StoredIssue,
    issues_document,
    read_issues,
    recording_document,
)
from tvmdbg_widgets.formats.tvm.assemble import assemble
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.base.writing import new_folder
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.parts import RunFile, RunParts
from tvmdbg_widgets.model.timeline.columns import COLUMNS
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, WALL, Timeline
from tvmdbg_widgets.sources.byte_source import ByteSource

RECORDING, TIMES, IR = "tvmdbg_recording.json", "tvmdbg_times.json", "tvmdbg_ir.json"

_CHUNK = 1 << 22


def write_recording(parts: RunParts, folder: str | os.PathLike[str]) -> Path:
    """Save a run: its files byte for byte, and facts that they lack."""
    if parts.graph is not None and not parts.files:
        raise ValueError(
            f"{parts.title!r} has a graph but no files of its own that could be saved: save the "
            "run that it is a part of"
        )
    paths = _paths([file for file in parts.files if file.part not in FAMILY])
    names = {file.source.name: path for file, path in paths}
    documents = {RECORDING: recording_document(parts, paths, names)}
    if parts.timeline is not None:
        node_names = None if parts.graph is None else parts.graph.names
        documents[TIMES] = times_document(parts.timeline, node_names, names)
    if parts.ir:
        documents[IR] = ir_document(parts.ir)
    with new_folder(Path(folder)) as target:
        _copy(paths, target)
        for name, document in documents.items():
            (target / name).write_bytes(encoded(document))
    return Path(folder)


def _paths(files: Sequence[RunFile]) -> list[tuple[RunFile, str]]:
    """Give every file a path below one folder, its own one if that is safe."""
    taken = {name.lower() for name in (RECORDING, TIMES, IR)}
    paths = []
    for file in files:
        path = PurePosixPath(*_steps(file.path))
        unique, number = path, 1
        while os.fspath(unique).lower() in taken:
            number += 1
            unique = path.with_name(f"{path.stem}_{number}{path.suffix}")
        taken.add(os.fspath(unique).lower())
        paths.append((file, os.fspath(unique)))
    return paths


def _steps(path: str) -> list[str]:
    steps = [step for step in path.replace("\\", "/").split("/") if step not in ("", ".", "..")]
    safe = ["".join(c if c.isprintable() and c not in ':*?"<>|' else "_" for c in s) for s in steps]
    return safe or ["file"]


def _copy(paths: Sequence[tuple[RunFile, str]], folder: Path) -> None:
    total = sum(file.source.size for file, _ in paths)
    with tqdm(total=total, desc="saving", unit="B", unit_scale=True, delay=1, leave=False) as bar:
        for file, path in paths:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as out:
                for start in range(0, file.source.size, _CHUNK):
                    piece = file.source.read(start, min(_CHUNK, file.source.size - start))
                    out.write(piece)
                    bar.update(len(piece))


FORMAT, VERSION = "tvmdbg-times", 1

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-times"')
_ROLE = "slice_role"
_SLICE_COLUMNS = tuple(name for name in COLUMNS if name.startswith("slice_") and name != _ROLE)
_NODE_COLUMNS = tuple(name for name in COLUMNS if name.startswith("node_"))


class _Slices(msgspec.Struct):
    name: list[int]
    node: list[int]
    start_ns: list[float | None]
    duration_ns: list[float | None]
    track: list[int]
    trust: list[int]
    occurrence: list[int]
    role: list[int] | None = None


class _TimesDocument(msgspec.Struct):
    """The file of times; fields with a default are missing in files of earlier releases."""

    unit: str
    clock: str
    synthetic: bool
    sources: list[str]
    tracks: list[str]
    node_ns: list[float | None]
    node_trust: list[int]
    repeats_ns: list[list[float | None]]
    slice_names: list[str]
    slices: _Slices
    issues: list[StoredIssue]
    origin_ns: int | None = None
    executions: Count | None = None
    whole: str = ""
    rounding_ns: Count | None = None
    track_run: list[int] | None = None
    track_device: list[str] = []
    track_thread: list[str] = []
    node_names: list[str] | None = None


@dataclass(frozen=True)
class RecordedTimes:
    """A saved timeline, and the names of its nodes, if known."""

    timeline: Timeline
    names: StringColumn | None
    file: str

    def fits(self, graph: Graph | None) -> bool:
        """Return whether the times are of this graph; True without graph or names."""
        if graph is None:
            return True
        if self.timeline.num_nodes != graph.num_nodes:
            return False
        return self.names is None or self.names == graph.names


def sniff(head: bytes) -> bool:
    """Return whether a file holds recorded times: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def times_document(
    timeline: Timeline, names: StringColumn | None, files: Mapping[str, str]
) -> dict[str, Any]:
    """Return a timeline as the JSON value of a file."""
    offsets = timeline.repeats_offsets.tolist()
    repeats = _plain(timeline.repeats_ns)
    slices = {
        name.removeprefix("slice_"): _plain(getattr(timeline, name)) for name in _SLICE_COLUMNS
    }
    if timeline.slice_role.any():
        slices["role"] = timeline.slice_role.tolist()
    return {
        "format": FORMAT,
        "version": VERSION,
        "unit": "ns",
        "clock": timeline.clock,
        "synthetic": timeline.synthetic,
        "sources": [files.get(source, source) for source in timeline.sources],
        "origin_ns": timeline.origin_ns,
        "executions": timeline.executions,
        "whole": timeline.whole,
        "rounding_ns": round(timeline.rounding_ns),
        "tracks": list(timeline.tracks),
        "track_run": timeline.track_run.tolist(),
        "track_device": list(timeline.track_device),
        "track_thread": list(timeline.track_thread),
        "node_names": None if names is None else list(names),
        **{name: _plain(getattr(timeline, name)) for name in _NODE_COLUMNS},
        "repeats_ns": [repeats[a:b] for a, b in pairwise(offsets)],
        "slice_names": list(timeline.slice_names.unique),
        "slices": {"name": timeline.slice_names.codes.tolist(), **slices},
        "issues": issues_document(timeline.issues, files),
    }


def read_recorded_times(source: ByteSource) -> RecordedTimes:
    """Read a file of recorded times."""
    top = read_versioned(source, _TimesDocument, FORMAT, VERSION)
    if top.unit != "ns":
        raise _wrong(source, "unit", '"ns"', top.unit)
    if top.clock not in (SYNTHETIC, WALL):
        raise _wrong(source, "clock", f'"{SYNTHETIC}" or "{WALL}"', top.clock)
    columns = _columns(top, source.name)
    for name in ("slice_trust", "node_trust"):
        if len(columns[name]) and columns[name].max() > max(Trust):
            raise _wrong(source, name, f"0 to {max(Trust)}", columns[name].max())
    codes = numbers(top.slices.name, np.int32, source.name, "slices.name")
    issues = read_issues(top.issues, source.name)
    try:
        timeline = Timeline(
            **columns,
            origin_ns=top.origin_ns or 0,
            extras=None,
            slice_names=StringColumn(top.slice_names, codes),
            tracks=tuple(top.tracks),
            synthetic=top.synthetic,
            clock=top.clock,
            sources=tuple(top.sources),
            issues=issues,
        )
    except ValueError as problem:
        raise FormatError(
            "the columns do not fit each other", file=source.name, found=problem
        ) from None
    names = None if top.node_names is None else StringColumn.from_strings(top.node_names)
    return RecordedTimes(timeline, names, source.name)


def _columns(top: _TimesDocument, file: str) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        if name.startswith("slice_"):
            place, values = f"slices.{name[6:]}", getattr(top.slices, name[6:])
        elif name == "repeats_ns":
            place, values = name, [time for repeats in top.repeats_ns for time in repeats]
        else:
            place, values = name, getattr(top, name, None)
        if values is not None:
            columns[name] = numbers(values, COLUMNS[name], file, place)
    if top.track_run is not None:
        columns["track_device"] = tuple(top.track_device)
        columns["track_thread"] = tuple(top.track_thread)
    if top.executions is not None:
        columns |= {"executions": top.executions, "whole": top.whole}
    if top.rounding_ns is not None:
        columns["rounding_ns"] = float(top.rounding_ns)
    columns["repeats_offsets"] = np.cumsum([0, *map(len, top.repeats_ns)], dtype=np.int64)
    return columns


def _plain(column: np.ndarray[Any, Any]) -> list[Any]:
    values: list[Any] = column.tolist()
    if column.dtype.kind != "f":
        return values
    return [None if math.isnan(value) else value for value in values]


def _wrong(source: ByteSource, field: str, expected: str, found: object) -> FormatError:
    return FormatError(
        "this field makes no sense", file=source.name, field=field, expected=expected, found=found
    )


FAMILY = Family(
    "recording",
    (
        RECORDING_KIND,
        # Lists of node times have some of its fields.
        Kind("recorded-times", "recorded times", sniff, read_recorded_times, "times", rank=-1),
        IR_KIND,
    ),
    assemble,
)
