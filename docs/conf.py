"""Builds the notebooks and the reference as a site that needs no network: ``make docs``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import tvmdbg_widgets as tvmdbg

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parent
LIVE = HERE / "_build/live"
LIVE.mkdir(parents=True, exist_ok=True)

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
html_extra_path = [str(LIVE)]
html_show_sphinx = False

# Notebooks hold their outputs; a widget's script would come from the network, its figure does not.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None),
    ("html", "image/svg+xml", 5),
]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True


def _gather(_app: Sphinx) -> None:
    """Bring the notebooks and the live page below this folder, where Sphinx can find them."""
    shutil.rmtree(HERE / "notebooks", ignore_errors=True)
    shutil.copytree(ROOT / "notebooks", HERE / "notebooks")
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    run.save_html(LIVE / "overflow.html", node=38)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", _gather)
