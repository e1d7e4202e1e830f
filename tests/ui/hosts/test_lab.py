"""The notebook a user sees: JupyterLab, a kernel, and the views of one run in four cells."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.contract import broken, contract_module
from tests.ui.notebooks import IDLE, Notebook, View, ViewName
from tests.ui.pointer import box_of, tool
from tests.ui.servers import Server
from tests.ui.waits import frames

pytestmark = pytest.mark.lab

OPEN = """import tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)"""
CELLS = [
    OPEN,
    "run",
    "tvmdbg.GraphView(run)",
    "tvmdbg.TensorInspector(run)",
    "tvmdbg.Flamechart(run)",
]
VIEWS: tuple[ViewName, ...] = ("graph", "tensor", "timeline")
TUNED = """import json, tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
shapes = {
    "a" * 32: [[1, 3, 32, 32], [16, 3, 3, 3], [16, 1, 1], [1, 16, 32, 32]],
    "b" * 32: [[1, 64], [10, 64], [10], [1, 10]],
}
steps = [["SP", 2, 0, 16, [2, 4], 1], ["AN", 2, 0, 3], ["AN", 2, 2, 2]]
lines = []
for trial in range(128):
    name = list(shapes)[trial // 64]
    key = json.dumps([name, *shapes[name]])
    task = [key, "llvm -keys=cpu", [2, 64, 64, 0, 0, 0, 0, 0], "", 2, []]
    failed = trial % 8 == 5
    result = [[1e10], 6, 15, 1700000000 + trial] if failed else [
        [1e-3 * (1 + (trial * 37 % 64) / 64)], 0, 0.5, 1700000000 + trial]
    lines.append(json.dumps({"i": [task, [[], steps]], "r": result, "v": "v0.6"}))
log = tvmdbg.open_tuning("\\n".join(lines).encode())
tuning = log.view(run)"""
CONTRACT = """import anywidget
from tvmdbg_widgets.widgets.run_model import model_of
from pathlib import Path
class Contract(anywidget.AnyWidget):
    _esm = Path("contract.js").read_text("utf-8")
    run = anywidget.WidgetTrait().tag(sync=True)
    session = anywidget.WidgetTrait().tag(sync=True)
Contract(run=model_of(run.facts), session=run.session)"""
LOG = """import logging
failures = []
class Keep(logging.Handler):
    def emit(self, record):
        failures.append(record.getMessage())
logging.getLogger("tvmdbg_widgets").addHandler(Keep(logging.ERROR))"""

OVERFLOW = 38  # the first operator whose output holds an inf, by numpy over the dump's tensors
BEFORE = 35
SLOWEST = 60  # the largest mean of the table that TVM's run() printed
MOST_TABS = 200
SETTING = "@jupyterlab/apputils-extension/kernels-settings.jupyterlab-settings"
UNPROTECTED = """(root) => [root, ...root.querySelectorAll("*")]
  .filter((each) => each.tabIndex >= 0 && !each.hasAttribute("data-lm-suppress-shortcuts"))
  .map((each) => each.outerHTML.slice(0, 120))"""


def expect_all(views: list[View], node: int) -> None:
    for view in views:
        view.expect_node(node)


def is_finite(view: View) -> bool:
    return not re.search(r"[1-9][\d,]* (NaN|\+Inf|−Inf)", view.said.text_content() or "")


@pytest.fixture
def opened(filled: Callable[[list[str]], Notebook]) -> Notebook:
    return filled(CELLS)


def own_views(notebook: Notebook) -> list[View]:
    """The three views in cells of their own."""
    return [notebook.view(i + 2, name).wait() for i, name in enumerate(VIEWS)]


def test_views_in_four_cells_and_python_stay_in_sync(opened: Notebook) -> None:
    page = opened.page
    graph, tensor, timeline = own_views(opened)
    views = [graph, tensor, timeline, *(opened.view(1, name).wait() for name in VIEWS)]
    state = "print(run.session.selected, run.session.entry, run.session.source)"

    graph.focus()
    page.keyboard.press("g")
    page.keyboard.press("0")
    graph.click_mark("id", 28)
    expect_all(views, 28)
    opened.expect(state, "[28] (28, 0) graph")

    picker = tensor.root.get_by_role("combobox", name=re.compile("^Tensor"))
    picker.click()
    picker.fill("#47")
    tensor.root.get_by_role("option", name=re.compile(r"#47\b")).click()
    expect_all(views, 47)
    opened.expect(state, "[47] (47, 0) tensor")

    timeline.click_mark("node", 66)
    expect_all(views, 66)
    opened.expect(state, "[66] (66, 0) timeline")

    opened.python(f"run.session.selected = [{OVERFLOW}]")
    expect_all(views, OVERFLOW)
    expect(tensor.said).to_contain_text("59 +Inf")

    for theme, dark in (("JupyterLab Dark", True), ("JupyterLab Light", False)):
        page.evaluate(
            "(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
        )
        for view in views:
            classes = expect(view.root)
            check = classes.to_have_class if dark else classes.not_to_have_class
            check(re.compile(r"\btvmdbg-dark\b"))


def test_quickstart_tasks_work_by_keyboard(
    filled: Callable[[list[str]], Notebook],
) -> None:
    opened = filled([OPEN, "run.title", *CELLS[2:]])
    keyboard = opened.page.keyboard
    graph, tensor, timeline = views = own_views(opened)

    tab_to(graph)
    keyboard.press("s")
    expect_all(views, SLOWEST)
    expect(graph.said).to_contain_text("rank 1")
    expect(timeline.said).to_contain_text("rank 1 of 29")

    tab_to(tensor)
    assert not is_finite(tensor)
    while not is_finite(tensor):
        born = tensor.said.text_content() or ""
        keyboard.press("[")
        expect(tensor.said).not_to_have_text(born)
    tensor.expect_node(BEFORE)
    keyboard.press("]")
    expect_all(views, OVERFLOW)
    expect(tensor.said).to_contain_text("59 +Inf")
    assert f"#{opened.python('print(run.session.node.id)').strip()}," in born


def test_python_reads_the_selection_and_drives_notes_and_tour(opened: Notebook) -> None:
    page = opened.page
    graph, tensor, timeline = own_views(opened)
    views = [graph, tensor, timeline]
    debugger = opened.cell(1).locator(".tvmdbg-debugger")
    first = debugger.get_by_role("treeitem").first
    expect(first).to_contain_text(f"#{OVERFLOW}")
    first.locator(".tvmdbg-finding-title").click()
    graph.expect_node(OVERFLOW)
    tensor.expect_node(OVERFLOW)
    told = "print(run.session.node.id, run.session.tensor.node, run.session.source)"
    opened.expect(told, f"{OVERFLOW} {OVERFLOW} findings")
    infinite = "print(int(np.isinf(run.session.tensor.numpy().astype('f4')).sum()))"
    assert opened.python(f"import numpy as np; {infinite}") == "59"

    opened.python(f"run.session.select({OVERFLOW})")
    timeline.expect_node(OVERFLOW)
    opened.python(f"tvmdbg.GraphView(run).note({OVERFLOW}, 'born here <b>')")
    for view in views:
        expect(view.said).to_contain_text("born here <b>")
    opened.python(f"run.session.note({OVERFLOW}, None)")
    expect(tensor.said).not_to_contain_text("born here")

    opened.python(f"run.tour([({SLOWEST}, 'slow'), ({BEFORE}, 'the node before'), (28, 'end')])")
    expect_all(views, SLOWEST)
    tour = debugger.locator(".tvmdbg-tour")
    expect(tour).to_contain_text("slow")
    tour.focus()
    page.keyboard.press("n")
    expect_all(views, BEFORE)
    state = "print(run.session.tour_step, run.session.selected, run.session.source)"
    opened.expect(state, f"1 [{BEFORE}] tour")
    assert debugger.evaluate(UNPROTECTED) == []
    opened.python("run.session.tour_step = 2")
    expect_all(views, 28)
    expect(tour).to_contain_text("step 3 / 3")
    tour.focus()
    page.keyboard.press("Escape")
    expect(tour).to_be_hidden()
    opened.expect("print(run.session.tour_step)", "None")


def tab_to(view: View) -> None:
    """Go to a view by the Tab key, from wherever the keyboard is."""
    for _ in range(MOST_TABS):
        view.root.page.keyboard.press("Tab")
        if view.root.evaluate("(root) => document.activeElement === root"):
            return
    pytest.fail(f"{MOST_TABS} times Tab did not lead to the {view.name} view")


def test_focused_view_keeps_keys_and_wheel_from_notebook(opened: Notebook) -> None:
    page = opened.page
    views = own_views(opened)
    ids = "() => jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model.id)"
    before = page.evaluate(ids)
    for view in views:
        view.focus()
        charts = ["c"] * 5  # through all of the flamechart's, to the first again
        for key in ("d", "d", "a", "b", "x", *charts, "v", "z", "m", "y", "Shift+M", "Escape"):
            page.keyboard.press(key)
        assert view.root.evaluate(UNPROTECTED) == []
    for button in opened.view(1, "graph").root.get_by_role("button").all()[:3]:
        button.focus()
        page.keyboard.press("d")
        page.keyboard.press("d")
    assert page.evaluate(ids) == before
    kinds = "() => jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model.type)"
    assert set(page.evaluate(kinds)) == {"code"}
    for view in views:
        page.evaluate("() => { jupyterapp.shell.currentWidget.context.model.dirty = true; }")
        view.focus()
        with page.expect_response(re.compile("/checkpoints")) as saved:
            page.keyboard.press("Control+s")
        saved.value.finished()  # JupyterLab saves once at a time
        frames(page)

    page.set_viewport_size({"width": 1200, "height": 800})
    for view in (views[0], views[2]):
        view.root.evaluate("() => document.activeElement.blur()")
        view.root.scroll_into_view_if_needed()
        canvas = view.root.locator("canvas").first
        canvas.hover()
        seen = view.marks()
        top = canvas.bounding_box()
        page.mouse.wheel(0, -60)
        page.wait_for_function(
            "([box, top]) => Math.abs(box.getBoundingClientRect().top - top) > 30",
            arg=[canvas.element_handle(), (top or {})["y"]],
        )
        assert view.marks() == seen
        view.focus()
        canvas.hover()
        top = canvas.bounding_box()
        page.mouse.wheel(0, -60)
        page.wait_for_function(
            f"([root, seen]) => JSON.stringify(({INSPECT_MARKS})(root)) !== seen",
            arg=[view.root.element_handle(), json.dumps(seen, separators=(",", ":"))],
        )
        assert (canvas.bounding_box() or {})["y"] == (top or {})["y"]


INSPECT_MARKS = """(root) => {
  const detail = {};
  root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
  return detail.marks;
}"""


@pytest.fixture(
    params=["perCommTarget", pytest.param("disabled", marks=pytest.mark.slow)]  # loads JupyterLab
)
def subshells(request: pytest.FixtureRequest, tall: Page, lab: Server) -> Iterator[str]:
    """JupyterLab's setting: messages of widgets beside running cells, as by default, or between."""
    if request.param == "perCommTarget":
        yield request.param
        return
    path = lab.folder.parent / "settings" / SETTING
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"commsOverSubshells": request.param}), "utf-8")
    tall.goto("about:blank")  # settings are read as the page is loaded
    yield request.param
    path.unlink()
    tall.goto("about:blank")


def test_view_is_answered_during_running_cell_with_subshells(
    filled: Callable[[list[str]], Notebook], tall: Page, lab: Server, subshells: str
) -> None:
    cells = [OPEN, LOG, "tvmdbg.TensorInspector(run)", "tvmdbg.GraphView(run)", ""]
    notebook = filled(cells)
    tensor, graph = notebook.view(2, "tensor").wait(), notebook.view(3, "graph").wait()
    released = lab.folder / f"{subshells}.released"
    notebook.start(
        4,
        f"""from pathlib import Path
from time import sleep
while not Path({released.name!r}).exists():
    sleep(0.01)
print(run.session.selected)""",
    )
    tall.wait_for_function(
        "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'"
    )
    graph.focus()
    tall.keyboard.press("s")
    graph.expect_node(SLOWEST)
    if subshells == "disabled":
        expect(tensor.root).to_have_attribute("aria-busy", "true")
        tall.wait_for_timeout(500)
        expect(tensor.said).not_to_contain_text(tensor.says(SLOWEST))
    else:
        tensor.expect_node(SLOWEST)
    assert notebook.is_running(4)
    released.touch()
    tensor.expect_node(SLOWEST)

    notebook.python(
        """import threading
threads = [threading.Thread(target=run.session.select, args=(node,)) for node in (10, 22)]
for thread in threads:
    thread.start()
    thread.join()"""
    )
    expect_all([tensor, graph], 22)
    assert notebook.python("print(failures)") == "[]"


def test_view_asks_to_run_the_cell_again_after_restart(
    filled: Callable[[list[str]], Notebook], tall: Page
) -> None:
    """And offers no other way: asking again cannot help."""
    notebook = filled([OPEN, "tvmdbg.TensorInspector(run)"])
    tensor = notebook.view(1, "tensor").wait()
    tall.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    tall.wait_for_function(IDLE)
    picker = tensor.root.get_by_role("combobox", name=re.compile("^Tensor"))
    picker.fill("#47")
    tensor.root.get_by_role("option", name=re.compile(r"#47\b")).click()
    expect(tensor.root.get_by_role("alert")).to_contain_text("Run the cell again.")
    expect(tensor.root.get_by_role("alert")).not_to_contain_text("retry")
    expect(tensor.root.get_by_text("retry")).to_have_count(0)
    notebook.run_all()
    notebook.view(1, "tensor").wait()
    expect(notebook.view(1, "tensor").root.get_by_role("alert")).to_have_count(0)


BOTH = """plain = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
both = tvmdbg.ComparisonView(run, plain)
both"""
STAGE = """(root) => {
  const detail = {};
  root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
  return [detail.frames, detail.marks]
    .map((each) => each.map(({ group }) => group).filter((group) => group >= 0));
}"""


def test_graph_memory_and_comparison_stay_in_sync_with_python(  # noqa: PLR0915 (one kernel)
    filled: Callable[[list[str]], Notebook], tall: Page
) -> None:
    """From opening to closing, in one kernel: the second run is the plain float32 one."""
    cells = [
        OPEN,
        LOG,
        "view = tvmdbg.GraphView(run)\nview",
        "memory = tvmdbg.MemoryView(run)\nmemory",
        BOTH,
    ]
    notebook = filled(cells)
    names: tuple[ViewName, ...] = ("graph", "memory", "comparison")
    graph, memory, both = (notebook.view(at + 2, name) for at, name in enumerate(names))
    for view in (graph, memory):
        view.wait()
    expect(both.root.locator('.tvmdbg-graph[data-ready="true"]')).to_have_count(2)
    keyboard = tall.keyboard

    graph.focus()
    keyboard.press("g")
    keyboard.press("0")
    graph.click_mark("id", 28)
    memory.expect_node(28)
    both.expect_node(28)
    notebook.expect("print(run.session.source, plain.session.selected)", "graph [27]")
    memory.click_mark("node", 47)
    graph.expect_node(47)
    both.expect_node(47)
    notebook.expect("print(run.session.entry, run.session.source)", "(47, 0) memory")
    both.focus()
    keyboard.press("End")
    notebook.expect("print(run.session.source)", "comparison")
    (walked,) = json.loads(notebook.python("print(run.session.selected)"))
    for view in (graph, memory, both):
        view.expect_node(walked)
    notebook.python(f"run.session.selected = [{OVERFLOW}]")
    for view in (graph, memory, both):
        view.expect_node(OVERFLOW)

    graph.focus()
    notebook.python("view.collapse()")
    until_stage(graph, "!frames.length && marks.length === 5")
    notebook.python("view.expand(run.groups[5].children[0])")
    until_stage(graph, "frames.join() === '5,6' && marks.includes(7)")
    notebook.python("view.collapse('residual block × 2')")
    until_stage(graph, "!frames.length")
    graph.focus()
    keyboard.press("Enter")
    until_stage(graph, "frames.join() === '5,6'")
    notebook.expect("print(view.open_groups)", "[5, 6]")
    notebook.expect(f"print({OVERFLOW} in run.groups[5].nodes)", "True")

    graph.focus()
    keyboard.press("k")
    part = graph.root.locator(".tvmdbg-graph-part")
    expect(part).to_contain_text(re.compile(rf"within 1 edge of #{OVERFLOW} .*:"))
    keyboard.press("m")
    keyboard.type("first inf")
    keyboard.press("Enter")
    notebook.expect("print(*view.bookmarks, view.isolate['hops'])", "first inf 1")
    notebook.python(f"view.everything(); view.upstream({SLOWEST})")
    expect(part).to_contain_text(re.compile(rf"upstream of #{SLOWEST} .*:"))
    notebook.python("view.back()")
    expect(part).to_be_hidden()
    notebook.python("view.bookmark('whole'); view.go('first inf')")
    expect(part).to_contain_text(re.compile(rf"within 1 edge of #{OVERFLOW} .*:"))
    tool(graph.root, "saved views (m)").click()
    graph.root.get_by_role("button", name="go to whole").click()
    expect(part).to_be_hidden()
    notebook.expect("print(view.isolate)", "None")

    notebook.python("view.color_by(range(run.graph.num_nodes), name='place', unit='m')")
    expect(graph.root.locator(".tvmdbg-graph-scale")).to_contain_text("place")
    notebook.expect("print(view.color_by)", "place")
    notebook.python("view.close(); memory.close(); both.close()")
    for view in (graph, memory, both):
        expect(view.root).to_have_count(0)
    assert notebook.python("print(failures)") == "[]"


def until_stage(graph: View, condition: str) -> None:
    """Until of the open groups on the stage, `frames`, and the closed ones, `marks`, this holds."""
    graph.root.page.wait_for_function(
        f"(root) => {{ const [frames, marks] = ({STAGE})(root); return {condition}; }}",
        arg=graph.root.element_handle(),
    )


def test_tuning_log_and_graph_stay_in_sync(
    filled: Callable[[list[str]], Notebook],
) -> None:
    opened = filled([TUNED, "tuning", "tvmdbg.GraphView(run, color_by=log.node_status(run))"])
    page = opened.page
    tuning, graph = opened.view(1, "tuning").wait(), opened.view(2, "graph").wait()
    expect(tuning.root.locator(".tvmdbg-tuning-head")).to_contain_text("16 of 128 trials failed")

    tuning.root.locator('tr[data-task="1"]').click()
    graph.expect_node(70)
    opened.expect("print(tuning.task, run.session.selected, run.session.source)", "1 [70] tuning")
    expect(tuning.root.locator(".tvmdbg-tuning-steps")).to_contain_text("vectorize")

    opened.python("run.session.selected = [3]")
    expect(tuning.said).to_contain_text("task 0: ")
    opened.expect("print(tuning.task)", "0")

    tuning.focus()
    page.keyboard.press("/")
    page.keyboard.type("error:6 task:0")
    page.keyboard.press("Enter")
    expect(tuning.root.locator(".tvmdbg-tuning-found")).to_contain_text("8 of 128")
    opened.expect("print(tuning.query)", "error:6 task:0")
    opened.python("tuning.query = ''; tuning.pane = 'errors'")
    errors = tuning.root.locator(".tvmdbg-tuning-errors")
    expect(errors).to_contain_text("of the trials of task 0")
    expect(errors).to_contain_text("8 BuildTimeoutError")
    opened.python("tuning.task = None")
    expect(errors).to_contain_text("16 BuildTimeoutError")


def test_plot_and_views_stay_in_sync(filled: Callable[..., Notebook], tall: Page) -> None:
    chart = "tvmdbg.plots.times(run, 10)"
    cells = [OPEN, "tvmdbg.GraphView(run)", chart, f"tvmdbg.plots.link({chart}, run)"]
    notebook = filled(cells)
    graph = notebook.view(1, "graph")
    graph.wait()
    for cell in (2, 3):
        plot = notebook.cell(cell).locator(".tvmdbg-plot")
        expect(plot).to_have_attribute("data-ready", "true")
        expect(plot.locator(".bk-CartesianFrame")).to_be_visible()
    slowest = json.loads(notebook.python("print([row.node for row in run.top(10)])"))
    frame = notebook.cell(2).locator(".bk-CartesianFrame")
    box = box_of(frame)
    # Above the frame lies what takes its events.
    frame.click(position={"x": 40, "y": 3.5 * box["height"] / 10}, force=True)
    graph.expect_node(slowest[3])
    notebook.expect("print(run.session.selected, run.session.source)", f"[{slowest[3]}] plot")
    expect(notebook.cell(3).locator(".tvmdbg-plot [role=status]")).to_contain_text(
        f"#{slowest[3]} "
    )
    notebook.python(f"run.session.selected = [{slowest[5]}]")
    expect(notebook.cell(2).locator(".tvmdbg-plot [role=status]")).to_contain_text(
        f"#{slowest[5]} "
    )


def test_anywidget_models_keep_the_contract(
    filled: Callable[[list[str]], Notebook], tall: Page, lab: Server
) -> None:
    (lab.folder / "contract.js").write_text(contract_module(), "utf-8")
    notebook = filled([OPEN, LOG, CONTRACT])
    assert broken(notebook.cell(2).locator(".contract")) == {}
    shared = "print(run.session.selected, run.session.time_range, run.session.source)"
    notebook.expect(shared, "[41] (5.0, 6.0) contract")
    assert notebook.python("print(failures)") == "[]"

    heard: Any = "() => window.contractHeard"
    notebook.python("run.session.hovered = 5")
    tall.wait_for_function("() => window.contractHeard === 1")
    notebook.run(2, "pass")
    tall.wait_for_function("() => window.contractGone")
    notebook.python("run.session.hovered = 6; run.session.selected = [6]")
    assert tall.evaluate(heard) == 1
