"""Builds the notebooks and the reference as a site that needs no network: ``make docs``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

os.environ["TERMINAL_WIDTH"] = "88"  # of the command line's help; read when typer is imported

import tvmdbg_widgets as tvmdbg

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGES = HERE / "_build/pages"  # go along as they are
PARTS = HERE / "_build/parts"  # stand inside other pages
for folder in (PAGES, PARTS):
    folder.mkdir(parents=True, exist_ok=True)

project = "tvmdbg-widgets"
author = "the tvmdbg-widgets developers"
project_copyright = "the tvmdbg-widgets developers, Apache-2.0"
version = release = tvmdbg.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tvmdbg-widgets"
html_extra_path = [str(PAGES)]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_search_summary = False  # fetched, which browsers forbid between files

# Notebooks hold their outputs; a widget's script would come from the network, its figure does not.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None),
    ("html", "image/svg+xml", 5),
]
myst_heading_anchors = 3

# Attributes of one name in several classes; all are on the one page.
suppress_warnings = ["ref.python"]

autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True


def _gather(_app: Sphinx) -> None:
    """Copy the notebooks below this folder, and make the generated parts of pages."""
    shutil.rmtree(HERE / "notebooks", ignore_errors=True)
    shutil.copytree(ROOT / "notebooks", HERE / "notebooks")
    broken = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    broken.save_html(PAGES / "overflow.html", node=38)
    frame = tvmdbg.GraphView(broken, focus=38, hops=2).embed(height=420)
    (PARTS / "embed.html").write_text(frame.html, "utf-8")
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    run.figure("timeline", show="table").save(PARTS / "timeline.svg")
    (PARTS / "verbs.md").write_text(_verbs(), "utf-8")
    (PARTS / "trial_fields.md").write_text(_trial_fields(), "utf-8")


def _trial_fields() -> str:
    """Return the fields of a trial as a table."""
    from tvmdbg_widgets.analysis.tuning.trial_queries import TRIAL_FIELDS

    rows = ["| field | column | is | unit |", "| --- | --- | --- | --- |"]
    for each in TRIAL_FIELDS:
        names = " | ".join(name and f"`{name}`" for name in (each.name, each.column))
        rows.append(f"| {names} | {each.text} | {each.units.hint if each.units else ''} |")
    return "\n".join(rows)


def _verbs() -> str:
    """Return what ``--help`` says of each verb, as sections."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from tvmdbg_widgets.cli.app import app

    verbs: list[list[str]] = []
    for name, verb in sorted(get_command(app).commands.items()):  # type: ignore[attr-defined]
        verbs += [[name, each] for each in getattr(verb, "commands", ())] or [[name]]
    sections = []
    for verb in verbs:
        said = CliRunner().invoke(app, [*verb, "--help"], color=False).stdout.strip()
        sections.append(f"### {' '.join(verb)}\n\n```text\n{said}\n```\n")
    return "\n".join(sections)


def _anchor(app: Sphinx, doctree: document) -> None:
    """Give names the anchors that pages of sources lead back to.

    Those of one module all begin with the module of the first name that the reference has of it.
    """
    from sphinx.addnodes import desc_signature

    modules = getattr(app.env, "_viewcode_modules", {})
    for name in doctree.findall(desc_signature):
        module = name.get("module")
        if (entry := modules.get(module)) and entry[3] != module:
            name["ids"].append(f"{entry[3]}.{name['fullname']}")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", _gather)
    app.connect("doctree-read", _anchor, priority=900)  # after those of viewcode
