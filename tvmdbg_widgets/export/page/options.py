"""Options of a page, its description, and removal of paths."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any, Literal, TypeAlias, get_args

from tvmdbg_widgets import __version__
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.summary import missing
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import pack, unpack
from tvmdbg_widgets.figures.texts import escape
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.slips import no_argument, one_of

Share: TypeAlias = Literal["statistics", "pictures", "tensors"]
Theme: TypeAlias = Literal["auto", "light", "dark"]


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Options of a page."""

    budget: int
    share: Share = "pictures"
    parameters: bool = False
    title: str | None = None
    theme: Theme = "auto"
    node: int | str | None = None
    view: str | None = None

    def __post_init__(self) -> None:
        for name, choices in (("share", get_args(Share)), ("theme", get_args(Theme))):
            one_of(name, getattr(self, name), choices)
        if self.budget <= 0:
            raise ValueError(f"budget must be a number of bytes above 0, found {self.budget}")


def page_options(function: str, given: dict[str, Any]) -> PageOptions:
    """Return the options given to ``"save_html"`` or ``"embed"``, with the default budget."""
    known = [field.name for field in fields(PageOptions)]
    for name in given:
        if name not in known:
            raise no_argument(f"{function}()", name, known)
    budget = 5_000_000 if function == "save_html" else 560_000
    return PageOptions(**{"budget": budget} | given)


_SHARED = {
    "statistics": "Exact statistics of every tensor; none of their values.",
    "pictures": "Exact statistics of every tensor; of activations reduced heatmaps and line plots.",
    "tensors": "Exact statistics of every tensor; complete values of activations as far as the "
    "size of the file allows, reduced heatmaps and line plots of the others.",
}


_HEALTH = "How healthy each tensor is, its least and largest value; none of their other values."


def about(run: RunFacts, options: PageOptions, left_out: Iterable[str], *, tensors: bool) -> str:
    """Return the page's description as an HTML definition list."""
    provenance = run.provenance
    parts = [part for part in (run.graph, run.tensors, run.timeline) if part is not None]
    device = f", device {provenance.device}" if provenance.device else ""
    parameters = (
        "Parameters are kept as activations are."
        if options.parameters and options.share != "statistics"
        else "Values of parameters are not in this page."
    )
    facts = {
        "Run": [run.title],
        "Holds": [repr(part).splitlines()[0] for part in parts],
        "Lacks": list(missing(run.parts).values()),
        "Source": [f"{provenance.format}{device}, files:", *provenance.files],
        "Values": [_SHARED[options.share] if tensors else _HEALTH, parameters],
        "Left out": list(left_out) or ["Nothing else."],
        "Get it": [
            (
                "Open the dump in Python, tvmdbg_widgets.open(…), for everything; "
                'or save a page that holds more: run.save_html(path, share="tensors", budget=…).'
            )
        ],
        "This page": [
            (
                f"Saved by tvmdbg-widgets {__version__}. It is one file, asks the "
                "network for nothing and keeps nothing in the browser."
            )
        ],
    }
    eraser = PathEraser(run)
    rows = "\n".join(_row(term, map(eraser.text, texts)) for term, texts in facts.items() if texts)
    return f"<dl>\n{rows}\n</dl>"


def _row(term: str, texts: Iterable[str]) -> str:
    first, *rest = map(escape, texts)
    if not rest:
        return f"<dt>{term}</dt><dd>{first}</dd>"
    items = "".join(f"<li>{text}</li>" for text in (first, *rest))
    return f"<dt>{term}</dt><dd><ul>{items}</ul></dd>"


class PathEraser:
    """Shortens paths of a run's files to the part below the opened folder."""

    def __init__(self, run: RunFacts) -> None:
        prefixes: set[str] = set()
        for path in (Path.home(), Path.cwd()):
            prefixes |= _above(path)
        sources = {id(file.source): (file.source, file.path) for file in run.parts.files}
        for tensor in (run.tensors or {}).values():
            source = tensor.record.source
            sources.setdefault(id(source), (source, ""))
        for source, below in sources.values():
            prefixes |= _before(source.name, below)
            place = getattr(source, "path", None)
            if isinstance(place, PurePath):
                prefixes |= _before(os.fspath(place), below) | _above(Path(place).parent)
        self._prefixes = sorted(prefixes, key=len, reverse=True)
        folders = [prefix[:-1] for prefix in self._prefixes]
        self._in_json = [json.dumps(folder)[1:-1] for folder in folders]
        self._in_columns = [folder.encode("utf-8", "replace") for folder in folders]

    def text(self, text: str) -> str:
        """Return the text without the folders."""
        for prefix in self._prefixes:
            text = text.replace(prefix, "").replace(prefix[:-1], "…")
        return text

    def json(self, value: Any) -> Any:
        """Return a JSON value with all texts shortened."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            text = json.dumps(value)
            if not any(folder in text for folder in self._in_json):
                return value
            return {key: self.json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value

    def reply(self, reply: Reply) -> Reply:
        """Return a reply with all texts shortened, also those of its columns."""
        result = self.json(reply.result)
        headers = result.get("columns") if isinstance(result, dict) else None
        if not (headers and any(folder in reply.buffers[0] for folder in self._in_columns)):
            return Reply(result, reply.buffers)
        columns = unpack(headers, reply.buffers[0])
        for name, column in columns.items():
            if isinstance(column, StringColumn):
                columns[name] = StringColumn([*map(self.text, column.unique)], column.codes)
        headers, buffer = pack(columns)
        return Reply({**result, "columns": headers}, (buffer, *reply.buffers[1:]))


def _before(name: str, below: str) -> set[str]:
    """Return the prefixes of a file name that lie above the opened folder."""
    if below and name.endswith(below):
        head = name[: len(name) - len(below)]
        return {head} if len(head) > 1 and head[-1] in "/\\" else set()
    if below or not _has_root(name):
        return set()
    cut = max(name.rfind("/"), name.rfind("\\")) + 1
    return {name[:cut]} if cut > 1 else set()


def _has_root(name: str) -> bool:
    return PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute() or "://" in name


def _above(folder: Path) -> set[str]:
    """Return a folder and its parents, except the root and its children."""
    parts = [folder, *folder.parents]
    return {f"{part}{os.sep}" for part in parts if len(part.parts) > 2}
