"""Saves a run as a folder that opens as the same run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.recording.ir import ir_document
from tvmdbg_widgets.formats.recording.recording import encoded, recording_document
from tvmdbg_widgets.formats.recording.times import times_document
from tvmdbg_widgets.model.base.unfinished import new_folder
from tvmdbg_widgets.model.parts import RunFile, RunParts
from tvmdbg_widgets.sources.byte_source import ByteSource

RECORDING, TIMES, IR = "tvmdbg_recording.json", "tvmdbg_times.json", "tvmdbg_ir.json"

#: Parts that are written anew.
OWN = ("recording", "recorded-times", "ir")

_CHUNK = 1 << 22


def write_recording(parts: RunParts, folder: str | os.PathLike[str]) -> Path:
    """Save a run: its files byte for byte, and what is known beyond them."""
    if parts.graph is not None and not parts.files:
        raise ValueError(
            f"{parts.title!r} has a graph but no files of its own that could be saved: save the "
            "run that it is a part of"
        )
    paths = _paths([file for file in parts.files if file.part not in OWN])
    names = {file.source.name: path for file, path in paths}
    documents = {RECORDING: recording_document(parts, paths, names)}
    if parts.timeline is not None:
        node_names = None if parts.graph is None else parts.graph.names
        documents[TIMES] = times_document(parts.timeline, node_names, names)
    if parts.ir:
        documents[IR] = ir_document(parts.ir)
    with new_folder(Path(folder)) as whole:
        _copy(paths, whole)
        for name, document in documents.items():
            (whole / name).write_bytes(encoded(document))
    return Path(folder)


def _paths(files: Sequence[RunFile]) -> list[tuple[RunFile, str]]:
    """Give each file a path of its own below one folder, the one it had where that is sound."""
    taken = {name.lower() for name in (RECORDING, TIMES, IR)}
    found = []
    for file in files:
        path = PurePosixPath(*_steps(file.path))
        unique, number = path, 1
        while os.fspath(unique).lower() in taken:
            number += 1
            unique = path.with_name(f"{path.stem}_{number}{path.suffix}")
        taken.add(os.fspath(unique).lower())
        found.append((file, os.fspath(unique)))
    return found


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
                for piece in _pieces(file.source):
                    out.write(piece)
                    bar.update(len(piece))


def _pieces(source: ByteSource) -> Iterator[bytes]:
    for start in range(0, source.size, _CHUNK):
        yield source.read(start, min(_CHUNK, source.size - start))
