"""A model's parameters by whatever names them: a file, a tensor cache, its folder, a URL."""

from __future__ import annotations

import os
from pathlib import Path

from tvmdbg_widgets.formats.limits import Limits
from tvmdbg_widgets.formats.registry import format_of
from tvmdbg_widgets.formats.tvm.tensor_cache import cache as tensor_cache
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.base.urls import is_url, local_path
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.folders import LocalTree, Tree, remote_tree
from tvmdbg_widgets.sources.given import SourceLike, as_source

_HEAD = 64 << 10


def parameters_source(
    given: SourceLike, *, follow_links: bool = False, limits: Limits | None = None
) -> ByteSource:
    """Return the file to read: a folder's tensor cache, anything else as it is."""
    given, limits = local_path(given), limits or Limits()
    if isinstance(given, str | os.PathLike) and os.path.isdir(given):  # noqa: PTH112 (bytes paths)
        return _index(LocalTree(Path(os.fsdecode(given)), follow_links=follow_links), limits)
    if isinstance(given, str) and is_url(given) and (tree := remote_tree(given)) is not None:
        return _index(tree, limits)
    source = as_source(given, follow_links=follow_links)
    _check(source, limits)
    return source


def _check(source: ByteSource, limits: Limits) -> bool:
    """Whether a file is an index; FormatError where it is too large for one."""
    if not tensor_cache.sniff(source.read(0, min(_HEAD, source.size))):
        return False
    limits.check(source, format_of("cache"))
    return True


def _index(tree: Tree, limits: Limits) -> ByteSource:
    found = []
    issues: list[Issue] = []
    for entry in tree.files(issues):
        if len(entry.path.parts) == 1 and entry.path.suffix == ".json":
            source = entry.open()
            if _check(source, limits):
                found.append(source)
    left = tensor_cache.superseded(found)
    kept = [each for i, each in enumerate(found) if i not in left]
    if len(kept) != 1:
        names = listed([each.name for each in kept])
        raise FormatError(
            "this folder holds several tensor caches" if kept else "no tensor cache in this folder",
            file=tree.name,
            expected="one index such as tensor-cache.json or ndarray-cache.json",
            found=names or listed(["none", *(issue.message for issue in issues)], "; "),
            hint="Name the file: load_params('…/tensor-cache.json') or load_params('….params').",
        )
    return kept[0]
