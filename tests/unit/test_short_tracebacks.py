"""In IPython a slip is its message and the user's line; errors of the package keep all frames."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbclient import NotebookClient

from tvmdbg_widgets.model.base.short_tracebacks import shorten

SETUP = """
import tvmdbg_widgets as t
run = t.open(t.samples.resnet20_cifar)
view, inspector = t.GraphView(run), t.TensorInspector(run)
log = t.open_tuning(t.samples.ansor_starved)
rpc = t.open_rpc(t.samples.changed_dtype / "session.pcap")
"""

#: What a user types, and what the first line of the answer says.
SLIPS = {
    't.open("/tmp/tvmdbg_no_such")': "FileNotFoundError: no such file or folder: '/tmp/tvmdbg_",
    't.open("/tmp/tvmdbg_no_such/a/b")': "there is no folder '/tmp/tvmdbg_no_such/a'",
    't.open("no_such.params")': "FileNotFoundError: no such file or folder: '/",
    't.open_rpc(t.samples.changed_dtype / "sesion.pcap")': "did you mean 'session.pcap'?",
    't.open(t.samples.resnet20_cifar, method="x")': "ValueError: method='x' is for ExecuTorch",
    "t.open(empty)": "FormatError: ",
    't.open(b"nonsense")': "FormatError: ",
    "t.open(1)": "TypeError: cannot read bytes from int; pass a path",
    "t.open(grpah=1)": "TypeError: open() has no argument 'grpah'; did you mean 'graph'?",
    't.GraphView(run, color_by="special")': "TraitError: color_by: no column 'special'; known",
    'view.color_by = "healt"': "TraitError: color_by: no column 'healt'; did you mean 'health'?",
    'view.color_by("healt")': "ValueError: no column 'healt'; did you mean 'health'?",
    'view.direction = "dwon"': "TraitError: direction: no direction 'dwon'; did you mean 'down'?",
    'view.colour_by = "time"': "GraphView has no attribute 'colour_by'; did you mean 'color_by'?",
    "view.colr_by": "AttributeError: GraphView has no attribute 'colr_by'; did you mean 'color_by'",
    'view.height = "big"': "TraitError: height: expected an integer",
    "view.session = 3": "TraitError: session must be a Session, not int",
    "view.figure(width=1)": "ValueError: a figure is 300 to 2000 px wide",
    'view.expand("residul")': "did you mean 'residual block'?",
    't.GraphView("run")': "TypeError: GraphView shows a run, not str: pass",
    "t.GraphView()": "TypeError: GraphView(run, …): missing a required argument: 'run'",
    't.Flamechart(run, chart="merge")': "TraitError: chart: no chart 'merge'; did you mean 'm",
    't.TensorInspector(run, entry="conv")': "TraitError: entry: no node is named 'conv'; did you",
    "inspector.entry = 999": "TraitError: entry: no node 999; ids are 0 to 71",
    "t.explain(run)": "TypeError: explain takes the text that was printed, as str or bytes, not D",
    "t.explain()": "TypeError: explain(text): missing a required argument: 'text'",
    "t.compare(run, 3)": "TypeError: runs are compared, not int",
    "t.compare(run, run, wrong=1)": "TypeError: compare() has no argument 'wrong'; known: 'a'",
    "t.compare(run)": "TypeError: compare(a, b, …): missing a required argument: 'b'",
    'run.compare_times("x")': "TypeError: compare_times() takes other as a run, not str",
    "t.TuningView(run)": "TypeError: TuningView shows a tuning log, not DebugRun",
    "run.tensors[999]": "KeyError: no node 999 with a tensor; ids are 0 to 71",
    "run.tensors[38, 5]": "KeyError: node 38 has no tensor of output 5; its outputs are [0]",
    'run.tensors["conv2d"]': "KeyError: no tensor of a node named 'conv2d'; did you mean",
    'run.tensors[38].numpy("byte")': "ValueError: no reading 'byte'; did you mean 'bytes'?",
    "run.tensors[38][0, 99]": "IndexError: index 99 is out of range for an axis of 32",
    'run.nodes["conv2d"]': "AttributeError: DebugRun has no attribute 'nodes'; did you mean 'gr",
    'run.graph.nodes["conv2d"]': "ids are numbers, not 'conv2d'; by name: graph.node('conv2d')",
    "run.graph.nodes[999]": "IndexError: no node 999; ids are 0 to 71",
    'run.graph.node("conv2d")': "KeyError: no node is named 'conv2d'; did you mean",
    "run.graph.node(3)": "TypeError: graph.node takes a name, not 3; by id: graph.nodes[id]",
    "run.groups[99]": "IndexError: no group 99; ids are 0 to 11",
    "run.findings()[99]": "IndexError: no finding 99; ids are 0 to ",
    'run.figure("grph")': "ValueError: no view 'grph'; did you mean 'graph'?",
    "run.tabel()": "AttributeError: DebugRun has no attribute 'tabel'; did you mean 'table'",
    'run.top("x")': "TypeError: top() takes k as int, not str",
    'run.select("knd:conv")': "unknown field 'knd'",
    "run.inspector": "ValueError: this run has no ETDump",
    "run.session.selected = [999]": "TraitError: selected: no node 999; ids are 0 to 71",
    "run.session.select(999)": "IndexError: no node 999; ids are 0 to 71",
    'run.save_html("/no_such/x.html")': "FileNotFoundError: there is no folder '/no_such'",
    't.plots.times(run, theme="drak")': "ValueError: no theme 'drak'; did you mean 'dark'?",
    't.plots.roofline("run")': "TypeError: plots.roofline takes a run, not str: pass",
    't.abi.struct("DLTensr")': "ValueError: no struct 'DLTensr'; did you mean 'DLTensor'",
    "t.opne": "module 'tvmdbg_widgets' has no attribute 'opne'; did you mean 'open'?",
    "t.samples.resnet": "has no attribute 'resnet'; did you mean 'resnet20_cifar'",
    'rpc["x"]': "TypeError: packet ids are numbers, not 'x'",
    "rpc[3].figur": "AttributeError: Packet has no attribute 'figur'; did you mean 'figure'?",
    'rpc.desync_with("wid")': "declares no field of DLDataType; did you mean 'wide'?",
    'log.select("eror:6")': "unknown field 'eror'",
    'log.curve("matmul")': "KeyError: ",
}


@pytest.fixture(scope="module")
def cell() -> Iterator[Callable[..., list[str]]]:
    """Run a cell in IPython; return the lines that it shows."""
    shell = InteractiveShell.instance()
    shell.colors = "nocolor"
    assert shell.run_cell(SETUP).success

    def run(source: str, **names: object) -> list[str]:
        shell.user_ns |= names
        with capture_output() as shown:
            shell.run_cell(source)
        return (shown.stdout + shown.stderr).rstrip().splitlines()

    yield run
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("slip", SLIPS)
def test_slip_is_answered_by_its_message_first(
    slip: str, cell: Callable[..., list[str]], tmp_path: Path
) -> None:
    lines = cell(slip, empty=str(tmp_path))
    assert SLIPS[slip] in lines[0]
    assert len(lines) <= 3, lines
    assert not any("site-packages" in line or "tvmdbg_widgets/" in line for line in lines[1:])


def test_slip_shows_the_line_of_the_users_function(cell: Callable[..., list[str]]) -> None:
    source = (
        "def helper(name):\n    x = 1\n    return run.figure(name)\n\nlist(map(helper, ['grph']))"
    )
    message, place = cell(source)
    assert message.startswith("ValueError: no view 'grph'")
    assert place.endswith("line 3: return run.figure(name)")


def test_slip_inside_a_library_shows_the_users_line(cell: Callable[..., list[str]]) -> None:
    source = "import pandas\npandas.Series([999]).map(lambda node: run.graph.nodes[node])"
    message, place = cell(source)
    assert message == "IndexError: no node 999; ids are 0 to 71"
    assert "line 2: pandas.Series" in place


def test_all_frames_are_shown_on_request(
    cell: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(cell("run.tensors[999]")) == 2
    for asked in ("%tb", "%tb Verbose"):
        lines = cell(asked)
        assert any("tensors.py" in line for line in lines)
    cell("%xmode Verbose")
    assert len(cell("run.tensors[999]")) > 10
    cell("%xmode Context")
    assert len(cell("run.tensors[999]")) == 2
    monkeypatch.setenv("TVMDBG_TRACEBACK", "full")
    assert len(cell("run.tensors[999]")) > 10


@pytest.mark.parametrize("error", [AssertionError("no row"), TypeError("x"), ValueError("y")])
def test_error_of_called_code_keeps_all_frames(
    error: Exception, cell: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise error

    monkeypatch.setattr("tvmdbg_widgets.analysis.facts.RunFacts.search", property(broken))
    lines = cell("run.findings()")
    assert any("questions.py" in line for line in lines)
    assert len(lines) > 5


def test_messages_do_not_control_the_terminal() -> None:
    problem = ValueError("no name \x1b[31m\x07\u202e, 63.9\xa0% known\n\x9b2J")
    shorten(problem, is_slip=True)
    first, second = problem._render_traceback_()[:2]  # type: ignore[attr-defined]
    assert first == "ValueError: no name \\x1b[31m\\x07\\u202e, 63.9\xa0% known"
    assert second == "\\x9b2J"


def test_slip_of_a_worker_process_can_be_pickled(cell: Callable[..., list[str]]) -> None:
    lines = cell(
        "import pickle\n"
        "try:\n    run.tensors[999]\n"
        "except KeyError as problem:\n    print(pickle.loads(pickle.dumps(problem)))"
    )
    assert lines == ["'no node 999 with a tensor; ids are 0 to 71'"]


def test_missing_key_of_an_own_table_keeps_all_frames(
    cell: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell("health = run.health()")
    monkeypatch.setattr("tvmdbg_widgets.model.health._NUMBERS", {})
    lines = cell("health.suspicious")
    assert any("health.py" in line for line in lines)
    assert lines[-1].startswith("KeyError: <HealthVerdict")


def test_kernel_sends_three_lines_at_most(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *SLIPS)]
    cells[0].source += f"\nempty = {str(tmp_path)!r}"
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True)
    client.execute(cwd=str(tmp_path))
    assert not [output for output in cells[0].outputs if output.output_type == "error"]
    for slip, made in zip(SLIPS, cells[1:], strict=True):
        (error,) = (output for output in made.outputs if output.output_type == "error")
        lines = "\n".join(error.traceback).splitlines()
        assert SLIPS[slip] in lines[0]
        assert len(lines) <= 3, lines
        if len(lines) == 2:
            assert lines[1].startswith("Cell In[")
