"""``tvmdbg html``: the run as one offline file."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run, one_node, require_file
from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, flag, option
from tvmdbg_widgets.model.base.numbers import counted

EXAMPLES = examples(
    ("A page to attach to an issue", "tvmdbg html /tmp/tvmdbg -o run.html"),
    ("Statistics only, no values", "tvmdbg html DUMP -o run.html --share statistics"),
    (
        "Open at the tensor of node 38, with up to 20 MB of values",
        "tvmdbg html DUMP -o run.html --share tensors --budget 20MB --node 38 --view tensor",
    ),
)
_UNITS = {"": 1, "k": 10**3, "kb": 10**3, "m": 10**6, "mb": 10**6, "g": 10**9, "gb": 10**9}
Share = StrEnum("Share", {"STATISTICS": "statistics", "PICTURES": "pictures", "TENSORS": "tensors"})
PageTheme = StrEnum("PageTheme", {"AUTO": "auto", "LIGHT": "light", "DARK": "dark"})
PageView = StrEnum("PageView", "GRAPH TENSOR TIMELINE FINDINGS")


@of_run
def html(
    named: NamedRun,
    output: Annotated[Path, option("FILE", "Output file: run.html", "-o", "--output")],
    *,
    share: Annotated[
        Share,
        typer.Option(
            help="Of the activations: exact statistics, reduced heatmaps too, or all values as "
            "far as the budget goes."
        ),
    ] = Share.PICTURES,
    parameters: Annotated[bool, flag("Include the values of parameters.", "--parameters")] = False,
    budget: Annotated[str, option("SIZE", "Maximum file size: 800k, 5MB, …")] = "5MB",
    theme: Annotated[
        PageTheme, typer.Option(help="Color theme; auto follows the reader's.")
    ] = PageTheme.AUTO,
    node: Annotated[str | None, option("NODE", "Node to start at: id or name.")] = None,
    view: Annotated[PageView | None, typer.Option(help="View to start with.")] = None,
    title: Annotated[str | None, typer.Option(help="Title; by default the folder's name.")] = None,
) -> None:
    """Save a run as one HTML file with linked views that works offline.

    It excludes the values of parameters unless you ask for them. The page lists what was left out.
    """
    require_file(output, "run.html")
    limit = size(budget)
    run = named.open()
    named.spare(run, output)
    started = None if node is None else one_node(run, node)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        run.save_html(
            output,
            budget=limit,
            share=share.value,
            parameters=parameters,
            title=title,
            theme=theme.value,
            node=started,
            view=None if view is None else view.value,
        )
    say(str(output))
    for warning in caught:
        note(str(warning.message))
    note(f"{counted(output.stat().st_size, 'byte')}; open it in any browser")


def size(text: str) -> int:
    """Read a number of bytes: ``800k``, ``5MB``, ``1.5 MB``."""
    number = text.strip().lower().rstrip("kmgb ")
    unit = text.strip().lower()[len(number) :].strip()
    try:
        count = int(float(number) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        count = 0
    if count <= 0:
        raise UsageError(f"--budget {text!r} is not a size", "Write it as 800k, 5MB or 20000000.")
    return count
