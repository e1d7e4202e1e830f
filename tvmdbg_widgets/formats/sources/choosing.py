"""Which of the files below a folder make one run."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import PurePath
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.sources.folders import note
from tvmdbg_widgets.formats.tvm.model_library import OTHER_FOLDERS, is_of_module
from tvmdbg_widgets.formats.tvm.tensor_cache.cache import superseded
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.sources.file import Candidate
    from tvmdbg_widgets.formats.sources.folders import Tree
    from tvmdbg_widgets.formats.tvm.model_library import ModelLibrary
    from tvmdbg_widgets.model.base.issues import Issue


def one_dump(tree: Tree, candidates: list[Candidate], device: str | None) -> list[Candidate]:
    """Keep one dump's files and those that lie beside or above it."""
    kinds: dict[PurePath, set[str]] = defaultdict(set)
    for each in candidates:
        if each.folder is not None:
            kinds[each.folder].add(each.format.part)
    dumps = [folder for folder, found in kinds.items() if "trace" in found]
    if not dumps:
        dumps = [folder for folder, found in kinds.items() if {"graph", "params"} <= found]
    chosen = [folder for folder in dumps if device is None or device.lower() in folder.name.lower()]
    if device is not None and not chosen:
        raise FormatError(
            f"no dump of device {device!r} in this folder",
            file=tree.name,
            expected=listed(sorted(folder.name for folder in dumps), " or ") or "a dump",
            found="none whose folder name holds that text",
        )
    if len(chosen) > 1:
        raise _several(tree, chosen, dumps)
    if not chosen:
        return candidates
    others = set(dumps) - set(chosen)
    lines = {chosen[0], *chosen[0].parents}
    return [c for c in candidates if c.folder not in others and c.folder in lines]


def _several(tree: Tree, chosen: list[PurePath], dumps: list[PurePath]) -> FormatError:
    names = sorted(os.fspath(folder.relative_to(tree.root)) for folder in chosen)
    named = PurePath(names[0]).name.startswith("_tvmdbg_")
    short = PurePath(names[0]).name.split("_", 3)[-1] if named else PurePath(names[0]).name
    fitting = [folder for folder in dumps if short.lower() in folder.name.lower()]
    by_path = tree.choice(names[0])
    by_device = f"open(…, device={short!r})"
    usable = len(fitting) == 1 and (named or not by_path)
    hints = [*([by_path] if by_path else []), *([by_device] if usable else [])]
    return FormatError(
        f"{counted(len(names), 'dump')} in this folder; one run is opened at a time",
        file=tree.name,
        expected="one dump",
        found=one_line(listed(names)),
        hint=f"Choose one: {', or '.join(hints)}." if hints else None,
    )


def one_module(
    tree: Tree, library: ModelLibrary, candidates: list[Candidate], module: str | None
) -> list[Candidate]:
    """Keep the files of one module of a model library."""
    names = list(library.modules)
    if module is not None and module not in library.modules:
        raise FormatError(
            f"no module {module!r} in this model library",
            file=tree.name,
            field="modules",
            expected=one_line(listed(names, " or ")) or "a module",
            found="none of that name",
        )
    if module is None and len(names) > 1:
        raise FormatError(
            f"{counted(len(names), 'module')} in this model library; one run is opened at a time",
            file=tree.name,
            field="modules",
            expected="one module",
            found=one_line(listed(names)),
            hint=f"Choose one: open(…, module={names[0]!r}).",
        )
    chosen = module or (names[0] if names else "")
    return [each for each in candidates if is_of_module(each.path, chosen, library.modules)]


def one_index(tree: Tree, candidates: list[Candidate], issues: list[Issue]) -> list[Candidate]:
    """Of several indices of the same shards keep the one that gives float32.

    ``dump_ndarray_cache`` writes a second index ``…-b16.json`` where it halved the floats.
    """
    caches = [each for each in candidates if each.format.part == "cache"]
    left = [caches[i] for i in superseded([each.source for each in caches])]
    if left:
        rest = "of the same shards, with other types, left out (open one by its path)"
        names = [each.source.name for each in left]
        issues.append(note(tree.name, "index-left-out", "more index file", rest, names))
    return [each for each in candidates if each not in left]


def is_explained(name: str, root: Sequence[str]) -> bool:
    """Whether a file of no known format belongs to a model library at that folder."""
    parts = PurePath(name).parts
    return parts[: len(root)] == tuple(root) and parts[len(root)] in OTHER_FOLDERS
