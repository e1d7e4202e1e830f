"""A view and its figure in a notebook: the view while it lives, else the figure, once."""

import io
import json
import re
from collections.abc import Callable
from secrets import token_hex
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.ui.notebooks import IDLE, SHOWN_MS, START_MS, Notebook
from tests.ui.pointer import box_of
from tests.ui.servers import Server

pytestmark = pytest.mark.lab

OPEN = """import tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
view = tvmdbg.Flamechart(run, height=200)"""
CELLS = [
    OPEN,
    "run",
    "tvmdbg.GraphView(run)",
    "view",
    "view",
    "for each in (view, view):\n    display(each)",
    "plain = tvmdbg.open(tvmdbg.samples.resnet20_cifar)\ntvmdbg.ComparisonView(run, plain)",
    "tvmdbg.plots.times(run)",
]
VIEWS = [0, 1, 1, 1, 1, 2, 1, 1]  # of each cell
FIGURE = ".jp-OutputArea-output img"
SAVED = "() => jupyterapp.commands.execute('docmanager:save')"
GONE = re.compile(
    r"Error displaying widget|widget model not found|Could not create"
    # JupyterLab's own, of a notebook that is closed before its debugger is there.
    r"|Canceled future for debug_request"
)


def expect_live(notebook: Notebook) -> None:
    for at, count in enumerate(VIEWS):
        live = notebook.cell(at).locator(".jp-OutputArea").first
        expect(live.locator(f":scope > * {TOP}")).to_have_count(count, timeout=SHOWN_MS)
        expect(shown(notebook.cell(at))).to_have_count(0)


TOP = ".jp-OutputArea-output .tvmdbg:not(.tvmdbg .tvmdbg)"


def shown(cell: Locator) -> Locator:
    return cell.locator(FIGURE).filter(visible=True)


def expect_figures(notebook: Notebook) -> None:
    """Each figure is seen as often as the view was shown, and nothing else is."""
    for at, count in enumerate(VIEWS):
        cell = notebook.cell(at)
        expect(shown(cell)).to_have_count(count, timeout=SHOWN_MS)
        outputs = cell.locator(".jp-OutputArea").first
        if count:
            expect(outputs).to_have_text(re.compile(r"^\s*$"), use_inner_text=True)
        expect(shown(cell)).to_have_count(count)
        for image in shown(cell).and_(cell.locator("img")).all():
            assert image.evaluate("image => image.naturalWidth > 100 && image.offsetHeight > 50")
        expect(cell.locator(".tvmdbg")).to_have_count(0)


def expect_both_themes(notebook: Notebook) -> None:
    """The ground of a figure is dark where the notebook is."""
    page = notebook.page
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: '{theme}'}})")
        for _ in range(100):
            with Image.open(io.BytesIO(shown(notebook.cell(1)).screenshot())) as image:
                ground = image.convert("L").getpixel((6, 6))
            is_right = ground < 40 if theme.endswith("Dark") else ground > 230
            if is_right:
                break
            page.wait_for_timeout(100)
        assert is_right, (theme, ground)


def trusted(page: Page) -> bool:
    return page.evaluate(
        "() => [...jupyterapp.shell.currentWidget.content.model.cells]"
        ".every(cell => cell.type !== 'code' || cell.trusted)"
    )


#: Closes what is shown and opens a notebook, in the page that is there.
REOPEN = """async (path) => {
  jupyterapp.shell.currentWidget.close();
  await jupyterapp.commands.execute("docmanager:open", { path });
  jupyterapp.shell.activateById(jupyterapp.shell.currentWidget.id);
}"""


def opened_again(page: Page, server: Server, name: str, *, load: bool = True) -> None:
    """Open a notebook, in a page that is loaded anew unless the one there is to do."""
    if load:
        page.goto("about:blank")
        page.goto(server.page(name), timeout=START_MS)
    else:
        page.evaluate(SAVED)
        page.evaluate(REOPEN, name)
    page.wait_for_function(IDLE, timeout=START_MS)


def untrust(server: Server, name: str) -> str:
    """Copy a notebook as another reader gets it: written elsewhere. Returns its name."""
    path = server.folder / name
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    content["metadata"]["written"] = "elsewhere"
    for cell in content["cells"]:
        cell["metadata"].pop("trusted", None)
    other = f"from-elsewhere-{name}"
    (server.folder / other).write_text(json.dumps(content), "utf-8")
    return other


def check(notebook: Notebook, server: Server, errors: list[str], *, load: bool = True) -> None:
    page, name = notebook.page, notebook.name
    expect_live(notebook)
    page.evaluate(SAVED)
    if load:
        opened_again(page, server, name)
        expect_live(notebook)  # the kernel was running all the while
    page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    page.wait_for_function(IDLE)
    opened_again(page, server, name, load=load)
    assert trusted(page)
    expect_figures(notebook)
    expect_both_themes(notebook)
    notebook.run(0)
    notebook.run(3)
    expect(notebook.cell(3).locator(TOP)).to_have_count(1, timeout=SHOWN_MS)
    expect(shown(notebook.cell(3))).to_have_count(0)
    expect(shown(notebook.cell(4))).to_have_count(1)
    other = untrust(server, name)
    if load:
        notebook.close()
    opened_again(page, server, other, load=load)
    assert not trusted(page)
    expect_figures(notebook)
    notebook.close()
    errors[:] = [each for each in errors if not GONE.search(each)]


HELD = [
    OPEN + "\nimport ipywidgets as w\nout, tab, asked = w.Output(), w.Output(), w.Output()",
    "with out:\n    display(view)\nout",
    "@w.interact(hops=(1, 3))\ndef near(hops=2):\n    return tvmdbg.GraphView(run, hops=hops)",
    "with tab:\n    display(tvmdbg.MemoryView(run))\nw.Tab([tab])",
    "asked.append_display_data(view)\nasked",
    "handle = display(tvmdbg.MemoryView(run), display_id=True)\nhandle.update(view)",
    "handle = display(view, display_id=True)\nhandle.update('something else')",
    "gone = tvmdbg.GraphView(run)\ngone.close()\ngone",
]
HELD_VIEWS = ["timeline", "graph", "memory", "timeline", "timeline"]


def test_view_is_rendered_inside_other_widgets_and_outputs(
    filled: Callable[[list[str]], Notebook],
) -> None:
    notebook = filled(HELD)
    for at, name in enumerate(HELD_VIEWS, 1):
        cell = notebook.cell(at)
        box = box_of(notebook.view(at, name).wait().root)
        assert box["height"] > 150, at
        expect(shown(cell)).to_have_count(0)
    expect(notebook.cell(2).locator(".noUi-handle")).to_be_visible()
    expect(notebook.cell(6).locator(".jp-OutputArea").first).to_have_text("'something else'")
    expect(notebook.cell(7).locator(".jp-OutputArea").first).to_contain_text(
        "This GraphView is closed. Make another one: tvmdbg_widgets.GraphView(run)"
    )


def test_reopened_notebook_shows_figures_in_jupyterlab(
    filled: Callable[[list[str]], Notebook], last: list[Notebook], lab: Server, errors: list[str]
) -> None:
    check(filled(CELLS), lab, errors, load=False)
    last.clear()


@pytest.fixture
def made(tall: Page, lab: Server, last: list[Notebook]) -> Notebook:
    """A notebook in a page of its own."""
    last.clear()
    return make(tall, lab)


def make(page: Page, server: Server) -> Notebook:
    page.goto("about:blank")
    notebook = Notebook(page, server, f"{token_hex(4)}.ipynb", CELLS)
    notebook.run_all()
    return notebook


@pytest.mark.slow
def test_reopened_notebook_shows_figures_in_reloaded_jupyterlab(
    made: Notebook, lab: Server, errors: list[str]
) -> None:
    check(made, lab, errors)


@pytest.mark.hosts
def test_reopened_notebook_shows_figures_in_notebook_7(
    page: Page, notebook: Server, errors: list[str]
) -> None:
    page.set_viewport_size({"width": 1200, "height": 6000})
    page.emulate_media(reduced_motion="reduce")
    check(make(page, notebook), notebook, errors)


@pytest.mark.slow
def test_copy_next_to_a_live_notebook_shows_figures(
    made: Notebook, tall: Page, lab: Server, errors: list[str]
) -> None:
    name = made.name
    tall.evaluate(SAVED)
    copy = f"copy-{name}"
    (lab.folder / copy).write_text((lab.folder / name).read_text("utf-8"), "utf-8")
    tall.set_viewport_size({"width": 2000, "height": 6000})
    tall.goto(f"{lab.address}lab/tree/{name}?token={lab.token}", timeout=START_MS)
    tall.wait_for_function(IDLE, timeout=START_MS)
    tall.evaluate(
        "(path) => jupyterapp.commands.execute('docmanager:open', "
        "{ path, options: { mode: 'split-right' } })",
        copy,
    )
    panels = tall.locator(".jp-NotebookPanel")
    for at, count in enumerate(VIEWS):
        live, beside = (panels.nth(each).locator(".jp-Cell").nth(at) for each in (0, 1))
        for cell, views, figures in ((live, count, 0), (beside, 0, count)):
            expect(cell.locator(TOP)).to_have_count(views, timeout=SHOWN_MS)
            expect(shown(cell)).to_have_count(figures, timeout=SHOWN_MS)
    made.close()
    errors[:] = [each for each in errors if not GONE.search(each)]
