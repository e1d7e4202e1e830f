"""``tvmdbg show``: the run as a page in the browser, without Jupyter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run
from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import examples, flag

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun

EXAMPLES = examples(
    ("The three linked views of a dump", "tvmdbg show /tmp/tvmdbg"),
    ("Of ExecuTorch's files", "tvmdbg show etdump.etdp etrecord.bin debug_buffer.bin"),
    ("On a machine without a browser", "tvmdbg show /tmp/tvmdbg --no-browser"),
)

NoBrowser = Annotated[bool, flag("Print the path of the page without opening it.", "--no-browser")]


@of_run
def show(named: NamedRun, *, no_browser: NoBrowser = False) -> None:
    """Open a run in the browser: a temporary page with statistics of all tensors.

    The page needs no server and no network. Its path is printed.
    """
    show_page(named.open(), no_browser)


def show_page(run: DebugRun, no_browser: bool) -> None:
    """Write the page of a run to a temporary file, print its path and open it."""
    path = _write(run)
    say(str(path))
    if no_browser:
        return
    import webbrowser

    if not webbrowser.open(path.as_uri()):
        note("No browser could be started; open the file yourself.")


def _write(run: DebugRun) -> Path:
    import re
    import tempfile

    stem = re.sub(r"[^\w.-]+", "_", run.title)[:60].strip("._") or "run"
    path = Path(tempfile.mkdtemp(prefix="tvmdbg-page-")) / f"{stem}.html"
    run.save_html(path)
    return path
