"""The files of a run in folders, archives, libraries and texts."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.executorch.etrecord import is_etrecord
from tvmdbg_widgets.formats.families import FAMILIES, KINDS, PASTED, kind_of, suspect, tables_beside
from tvmdbg_widgets.formats.family import FileCandidate, Kind, Limits, Part, head, identify
from tvmdbg_widgets.formats.pasted.readings import cut_line, nearly, readings
from tvmdbg_widgets.formats.tuning.assemble import FAMILY as TUNING
from tvmdbg_widgets.formats.tvm.cache import superseded
from tvmdbg_widgets.formats.tvm.foreign import OTHER_FOLDERS, lfs_pointer, unknown_file
from tvmdbg_widgets.formats.tvm.model_library import (
    FIRST_LINE,
    ModelLibrary,
    inside_library,
    is_library,
    is_of_module,
    read_metadata,
    texts,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import (
    FormatError,
    Issue,
    IssueSeverity,
    is_url,
    listed,
    one_line,
)
from tvmdbg_widgets.sources.archives import ArchiveTree, is_numpy_archive, open_archive
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.folders import (
    FolderEntry,
    LocalTree,
    Tree,
    note,
    remote_tree,
    unreadable,
)
from tvmdbg_widgets.sources.given import SourceLike, as_source


def one_dump(
    tree: Tree, candidates: list[FileCandidate], device: str | None
) -> list[FileCandidate]:
    """Keep one dump's files, and those beside or above it."""
    kinds: dict[PurePath, set[str]] = defaultdict(set)
    for file in candidates:
        if file.folder is not None:
            kinds[file.folder].add(file.kind.part)
    dumps: list[PurePath] = []
    for parts in (parts for family in FAMILIES for parts in family.dumps):
        dumps = dumps or [folder for folder, held in kinds.items() if parts <= held]
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
    tree: Tree, library: ModelLibrary, candidates: list[FileCandidate], module: str | None
) -> list[FileCandidate]:
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
    return [file for file in candidates if is_of_module(file.path, chosen, library.modules)]


def one_index(
    tree: Tree, candidates: list[FileCandidate], issues: list[Issue]
) -> list[FileCandidate]:
    """Keep the float32 index of several of the same shards; ``…-b16.json`` has halved floats."""
    caches = [file for file in candidates if file.kind.part == "cache"]
    left = [caches[i] for i in superseded([file.source for file in caches])]
    if left:
        rest = "of the same shards, with other types, left out (open one by its path)"
        names = [file.source.name for file in left]
        issues.append(note(tree.name, "index-left-out", "more index file", rest, names))
    return [file for file in candidates if file not in left]


_OPENED_AT_ONCE = 8


class FileFinder:
    """Finds the files in sources, before they are read."""

    def __init__(
        self,
        device: str | None = None,
        module: str | None = None,
        *,
        follow_links: bool = False,
        limits: Limits | None = None,
        tuning: bool = False,
    ) -> None:
        self.candidates: list[FileCandidate] = []
        self.parts: list[Part] = []
        self.issues: list[Issue] = []
        self.problems: list[tuple[str, FormatError | OSError]] = []
        self.skipped: list[tuple[Tree, list[str]]] = []
        self.unknown: list[ByteSource] = []
        self._device = device
        self._module = module
        self._follow_links = follow_links
        self._limits = limits or Limits()
        self._tuning = tuning
        self._kinds = TUNING.kinds if tuning else KINDS

    def look_at(self, given: SourceLike) -> None:
        """Add the files of one source."""
        if isinstance(given, str | os.PathLike) and os.path.isdir(given):  # noqa: PTH112 (bytes paths)
            root = Path(os.fsdecode(given))
            self._tree(LocalTree(root, follow_links=self._follow_links))
            return
        if isinstance(given, str) and is_url(given) and (tree := remote_tree(given)) is not None:
            self._tree(tree)
            return
        source = as_source(given, follow_links=self._follow_links)
        try:
            self._file(source)
        except FormatError as problem:
            self.problems.append((source.name, problem))

    def add(self, source: ByteSource, kind: Kind) -> None:
        """Add a file of a known format, unless it is too large."""
        try:
            self._limits.check(source, kind)
        except FormatError as problem:
            self.problems.append((source.name, problem))
        else:
            self.candidates.append(FileCandidate(source, kind))

    def _file(self, source: ByteSource) -> None:
        """Add a file, or the files of an archive."""
        source.allowance(self._limits.unpacked)
        if is_etrecord(source):
            self.add(source, kind_of("etrecord"))
            return
        content = open_archive(source)
        if isinstance(content, ArchiveTree):
            if is_numpy_archive(content):
                self._unknown(source)
            else:
                self._tree(content)
            return
        content = content or source
        kind = identify(content, self._kinds)
        inside = [] if kind is not None or self._tuning else self._inside(content)
        for part, inner in inside:
            self.add(inner, kind_of(part))
        if inside:
            return
        if kind is None:
            content.allowance().take_text(content.size, content.name)
        if self._pasted(content, kind):
            return
        kind = kind or (None if self._tuning else suspect(content))
        if kind is None:
            self._unknown(content)
        else:
            self._add_text(content, kind)

    def _add_text(self, source: ByteSource, kind: Kind) -> None:
        """Add a file, and the table of another kind that a console text may hold, too."""
        self.add(source, kind)
        for other in [] if self._tuning else tables_beside(source, kind):
            self.add(source, other)

    def _pasted(self, source: ByteSource, known: Kind | None) -> bool:
        """Add the contents of a pasted text, unless a reader takes it as it is."""
        if known is not None and known.part not in PASTED:
            return False
        for inner, cleaned in readings(source, known.part if known is not None else ""):
            kind = identify(inner, self._kinds)
            if kind is not None:
                is_doubtful = cleaned.left or cleaned.doubts
                severity = IssueSeverity.WARNING if is_doubtful else IssueSeverity.NOTE
                note = f"pasted text: {cleaned.notes}"
                if cleaned.notes:
                    self.issues.append(Issue("pasted-text", severity, note, file=source.name))
                self._add_text(inner, kind)
                return True
        is_table = known is not None and known.part in ("table", "report")
        if is_table and (note := nearly(source, tables_only=True)):
            raise FormatError(
                "a table in this text cannot be read",
                file=source.name,
                expected="its heading and its rows as the program printed them",
                found=f"{note[:1].lower()}{note[1:-1]}",
                hint="Paste the complete lines, or save what the program prints to a file.",
            )
        if known is not None and known.part in ("graph", "chrome") and (line := cut_line(source)):
            note = (
                f"line {line:,} ends inside a string, as where a terminal wraps lines, and the "
                "wrapped parts cannot be joined: names there may contain a line end"
            )
            self.issues.append(Issue("line-cut", IssueSeverity.ERROR, note, file=source.name))
        return False

    def _inside(self, source: ByteSource) -> list[tuple[str, ByteSource]]:
        """Return the parts in an exported library."""
        return inside_library(source) if is_library(head(source)) else []

    def _unknown(self, source: ByteSource) -> None:
        self.unknown.append(source)
        known = ", ".join(kind.what for kind in KINDS)
        self.problems.append((source.name, unknown_file(source, known)))

    def _tree(self, tree: Tree) -> None:
        candidates: list[FileCandidate] = []
        unknown: dict[PurePath, ByteSource] = {}
        for entry, source, kind in self._identified(tree):
            folder = tree.root / entry.path.parent
            taken = [(kind, source)] if kind is not None else self._in_entry(tree, entry, source)
            candidates += [FileCandidate(file, kind, folder, entry.path) for kind, file in taken]
            is_note = head(source).startswith(FIRST_LINE.encode())
            if not taken and not self._is_pointer(entry, source) and not is_note:
                unknown[entry.path] = source
        if self._tuning:
            self.candidates += candidates
            return
        candidates = self._library(tree, candidates, unknown)
        candidates = one_index(tree, candidates, self.issues)
        kept = one_dump(tree, candidates, self._device)
        if self._device is None:
            left = [file.source.name for file in candidates if file not in kept]
            if left:
                rest = "beside the dump's folder, left out (name them too to add them)"
                self.issues.append(note(tree.name, "files-left-out", "file", rest, left))
        self.candidates += kept
        self.skipped.append((tree, [source.name for source in unknown.values()]))
        self.unknown += unknown.values()

    def _in_entry(
        self, tree: Tree, entry: FolderEntry, source: ByteSource
    ) -> list[tuple[Kind, ByteSource]]:
        """Return the parts in a file of a tree; remote libraries are not downloaded."""
        if self._tuning or tree.far:
            return []
        try:
            return [(kind_of(part), inner) for part, inner in self._inside(source)]
        except (FormatError, OSError) as problem:
            self.issues.append(unreadable(entry.name, problem))
            return []

    def _is_pointer(self, entry: FolderEntry, source: ByteSource) -> bool:
        pointer = lfs_pointer(head(source)) if not self._tuning else ""
        if pointer:
            text = f"this is {pointer}"
            self.issues.append(Issue("lfs-pointer", IssueSeverity.ERROR, text, file=entry.name))
        return bool(pointer)

    def _identified(self, tree: Tree) -> Iterable[tuple[FolderEntry, ByteSource, Kind | None]]:
        """Open every file and identify its format by its first bytes."""

        def look(entry: FolderEntry) -> tuple[ByteSource, Kind | None] | Exception:
            try:
                source = entry.open()
                source.allowance(self._limits.unpacked)
                kind = identify(source, self._kinds)
                if kind is None and is_etrecord(source):
                    kind = kind_of("etrecord")
                if kind is not None:
                    self._limits.check(source, kind)
            except (FormatError, OSError) as problem:
                return problem
            return source, kind

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
            for entry, opened in bar:
                if isinstance(opened, Exception):
                    self.issues.append(unreadable(entry.name, opened))
                else:
                    yield entry, *opened

    def _library(
        self, tree: Tree, candidates: list[FileCandidate], unknown: dict[PurePath, ByteSource]
    ) -> list[FileCandidate]:
        """Keep one module of a model library, and its texts."""
        libraries = [file for file in candidates if file.kind.part == "library"]
        if not libraries:
            return candidates
        first = min(libraries, key=lambda file: len(file.path.parts))
        try:
            library = read_metadata(first.source)
        except FormatError:
            return candidates
        root = first.path.parent
        inside = [file for file in candidates if file.path.is_relative_to(root)]
        moved = [
            FileCandidate(file.source, file.kind, file.folder, file.path.relative_to(root))
            for file in inside
        ]
        kept = one_module(tree, library, moved, self._module)
        below = {p.relative_to(root): s for p, s in unknown.items() if p.is_relative_to(root)}
        chosen = self._module or next(iter(library.modules), "")
        for path, source in texts(below, chosen, library.modules):
            folder = first.folder / path.parent if first.folder is not None else None
            self.parts.append(Part("ir", {path.name: source}, source, folder))
        for path in below:
            if path.parts[0] in OTHER_FOLDERS:
                del unknown[root / path]
        return [*kept, *(file for file in candidates if file not in inside)]
