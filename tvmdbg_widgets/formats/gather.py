"""Sources of any kind to parts: which files there are, what each is, and what each holds."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.archives import ArchiveTree, is_numpy_archive, open_archive
from tvmdbg_widgets.formats.choosing import (
    Candidate,
    is_explained,
    one_dump,
    one_index,
    one_module,
)
from tvmdbg_widgets.formats.folders import LocalTree, Tree, note, unreadable
from tvmdbg_widgets.formats.folders_remote import remote_tree
from tvmdbg_widgets.formats.registry import (
    FORMATS,
    HEAD_BYTES,
    Format,
    format_for,
    format_of,
    identify,
    suspect,
)
from tvmdbg_widgets.formats.tvm.extracted import is_account
from tvmdbg_widgets.formats.tvm.foreign import unknown_file
from tvmdbg_widgets.formats.tvm.model_library import read_metadata, texts
from tvmdbg_widgets.formats.tvm.params_folder import parameters_source
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.sources_given import SourceLike, as_source
from tvmdbg_widgets.model.sources_remote import is_url
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tvmdbg_widgets.formats.folders import Entry
    from tvmdbg_widgets.model.issues import Issue
    from tvmdbg_widgets.model.sources import ByteSource

_OPENED_AT_ONCE = 8


@dataclass(frozen=True)
class Part:
    """One file as it was read: what it gives a run, its content, and the folder it lay in."""

    kind: str
    value: Any
    source: ByteSource
    folder: PurePath | None


def gather(
    sources: Sequence[SourceLike],
    given: Mapping[str, SourceLike],
    *,
    device: str | None = None,
    module: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[list[Part], list[Issue]]:
    """Read every file that the sources name.

    Parameters
    ----------
    sources
        Folders, archives, files, URLs of these, bytes, file objects.
    given
        Sources whose part ("graph", "params", "trace", "table") the caller named.
    device
        Part of the folder name of the dump to take where a folder holds several.
    module
        Which module of a model library.
    options
        Keyword arguments of the readers, by part.

    Returns
    -------
    parts : list of Part
    issues : list of Issue
        Files that are broken or of no known format, where others could be read.

    Raises
    ------
    FormatError
        No file could be read, or a folder holds several dumps or modules.
    """
    found = _Found(device, module)
    for each in sources:
        found.look_at(each)
    for part, each in given.items():
        source, form = as_source(each) if part != "params" else parameters_source(each), part
        if part == "params" and format_of("cache").sniff(_head(source)):
            form = "cache"
        found.candidates.append(Candidate(source, format_for(form, source)))
    _order(found.candidates)
    parts = list(found.parts)
    issues, problems = found.issues, found.problems
    for candidate in tqdm(found.candidates, desc="reading", unit="file", delay=1, leave=False):
        try:
            value = candidate.format.read(candidate.source, **_options(candidate, options, parts))
        except (FormatError, OSError) as problem:
            problems.append((candidate.source.name, problem))
        else:
            parts += _parts(candidate, value)
    if not parts:
        raise problems[0][1] if problems else _nothing(sources, issues)
    issues += [unreadable(name, problem) for name, problem in problems]
    read = {part.source.name for part in parts}
    for tree, skipped in found.skipped:
        if left := [name for name in skipped if name not in read]:
            what = "files of no format read here"
            issues.append(note(tree.name, "files-not-read", what, left))
    return parts, issues


def _parts(candidate: Candidate, value: Any) -> list[Part]:
    """Return the part that a file gives, and the files that it names in turn."""
    parts = [Part(candidate.format.part, value, candidate.source, candidate.folder)]
    if candidate.format.part == "cache":
        shards = {shard.source.name: shard for shard in value.shards}.values()
        parts += [Part("shard", shard, shard.source, candidate.folder) for shard in shards]
    return parts


def _order(candidates: list[Candidate]) -> None:
    """Put first what the readers of others ask for."""
    far = any(each.source.far for each in candidates)
    first = ("recording", "graph") if far else ("recording",)
    candidates.sort(key=lambda each: (each.format.part not in first, each.format.part == "graph"))


def _options(
    candidate: Candidate, options: Mapping[str, Mapping[str, Any]] | None, parts: Sequence[Part]
) -> dict[str, Any]:
    """Options of a reader: what a recording among the files says, and over it the caller's."""
    kind = candidate.format.part
    if kind not in ("params", "cache"):
        return dict((options or {}).get(kind, {}))
    said = dict((options or {}).get("params", {}))
    for part in parts:
        if part.kind == "recording":
            said = {**part.value.options, **said}
    if kind == "cache":
        return {name: value for name, value in said.items() if name != "dtype_layout"}
    if candidate.source.far:
        graph = next((part.value for part in parts if part.kind == "graph"), None)
        said["graph"] = graph
    return said


class _Found:
    """What the sources hold, before it is read."""

    def __init__(self, device: str | None, module: str | None) -> None:
        self.candidates: list[Candidate] = []
        self.parts: list[Part] = []
        self.issues: list[Issue] = []
        self.problems: list[tuple[str, FormatError | OSError]] = []
        self.skipped: list[tuple[Tree, list[str]]] = []
        self._device = device
        self._module = module

    def look_at(self, given: SourceLike) -> None:
        """Add the files of one source."""
        if isinstance(given, str | os.PathLike) and os.path.isdir(given):  # noqa: PTH112 (bytes paths)
            self._tree(LocalTree(Path(os.fsdecode(given))))
            return
        if isinstance(given, str) and is_url(given) and (tree := remote_tree(given)) is not None:
            self._tree(tree)
            return
        source = as_source(given)
        try:
            content = open_archive(source)
        except FormatError as problem:
            self.problems.append((source.name, problem))
            return
        if isinstance(content, ArchiveTree):
            if is_numpy_archive(content):
                self._unknown(source)
            else:
                self._tree(content)
            return
        content = content or source
        found = identify(content) or suspect(content)
        if found is None:
            self._unknown(content)
        else:
            self.candidates.append(Candidate(content, found))

    def _unknown(self, source: ByteSource) -> None:
        known = ", ".join(each.what for each in FORMATS)
        self.problems.append((source.name, unknown_file(source, known)))

    def _tree(self, tree: Tree) -> None:
        candidates: list[Candidate] = []
        unknown: dict[PurePath, ByteSource] = {}
        for entry, source, form in self._identified(tree):
            if form is not None:
                folder = tree.root / entry.path.parent
                candidates.append(Candidate(source, form, folder, entry.path))
            elif not is_account(_head(source)):
                unknown[entry.path] = source
        candidates = self._library(tree, candidates, unknown)
        candidates = one_index(tree, candidates, self.issues)
        kept = one_dump(tree, candidates, self._device)
        if self._device is None:
            left = [each.source.name for each in candidates if each not in kept]
            if left:
                what = "files beside the dump's folder, left out (name them in open(…) to add them)"
                self.issues.append(note(tree.name, "files-left-out", what, left))
        self.candidates += kept
        self.skipped.append((tree, [source.name for source in unknown.values()]))

    def _identified(self, tree: Tree) -> Iterable[tuple[Entry, ByteSource, Format | None]]:
        """Open every file and tell its format by its first bytes."""

        def look(entry: Entry) -> tuple[ByteSource, Format | None] | Exception:
            try:
                source = entry.open()
                return source, identify(source)
            except (FormatError, OSError) as problem:
                return problem

        entries = list(tree.files(self.issues))
        with ThreadPoolExecutor(_OPENED_AT_ONCE if tree.far else 1) as pool:
            looked = pool.map(look, entries) if tree.far else map(look, entries)
            bar = tqdm(
                zip(entries, looked, strict=True),
                desc="looking",
                unit="file",
                total=len(entries),
                delay=1,
                leave=False,
            )
            for entry, found in bar:
                if isinstance(found, Exception):
                    self.issues.append(unreadable(entry.name, found))
                else:
                    yield entry, *found

    def _library(
        self, tree: Tree, candidates: list[Candidate], unknown: dict[PurePath, ByteSource]
    ) -> list[Candidate]:
        """Where the files are a model library, take one module of it, and its texts."""
        libraries = [each for each in candidates if each.format.part == "library"]
        if not libraries:
            return candidates
        first = min(libraries, key=lambda each: len(each.path.parts))
        try:
            library = read_metadata(first.source)
        except FormatError:
            return candidates
        root = first.path.parent
        inside = [each for each in candidates if each.path.is_relative_to(root)]
        moved = [
            Candidate(each.source, each.format, each.folder, each.path.relative_to(root))
            for each in inside
        ]
        kept = one_module(tree, library, moved, self._module)
        below = {p.relative_to(root): s for p, s in unknown.items() if p.is_relative_to(root)}
        chosen = self._module or next(iter(library.modules), "")
        for path, source in texts(below, chosen, library.modules):
            folder = first.folder / path.parent if first.folder is not None else None
            self.parts.append(Part("ir", {path.name: source}, source, folder))
        for path in [path for path in unknown if is_explained(str(path), root.parts)]:
            del unknown[path]
        return [*kept, *(each for each in candidates if each not in inside)]


def _head(source: ByteSource) -> bytes:
    return source.read(0, min(HEAD_BYTES, source.size))


def _nothing(sources: Sequence[SourceLike], issues: Sequence[Issue]) -> FormatError:
    named = [os.fsdecode(each) for each in sources if isinstance(each, str | os.PathLike)]
    return FormatError(
        "nothing of a run was found here",
        file=one_line(", ".join(named)),
        expected="a folder or files that TVM's debugger wrote",
        found="; ".join(("no file of a known format", *(issue.message for issue in issues))),
        hint="The debugger writes to `dump_root`; a folder like _tvmdbg_device_CPU_0 lies in it.",
    )
