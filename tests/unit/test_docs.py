"""The manual says what there is: pages, names, verbs, options, formats, code that compiles.

`tests/ui/hosts/test_docs_site.py` builds the site and looks at it.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import runpy
import shutil
import textwrap
import tomllib
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.families import KINDS

if TYPE_CHECKING:
    import click

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PUBLIC = {*tvmdbg.__all__, "open"} - {"__version__"}
MOST_README_LINES, QUESTIONS = 90, 8
MOST_CHANGELOG_LETTERS = 100
#: Whom the front page leads on, by a word of the heading.
PEOPLE = ("slow", "wrong", "delegate", "tune", "backend")
MOST_LINES_BEFORE_CODE = 8
#: What methods of a run, or of a log, return and a reader need not know.
INNER = {"Facts", "LogFacts", "TuningParts", "RunFacts", "RunParts"}
#: How the page on formats calls what the registry reads.
CALLED = {
    "recording": "[recording]",
    "recorded times": "[recording]",
    "IR text": "[recording]",
    "tensor cache": "`tensor-cache.json`",
    "model library": "Model Library Format",
    "params file": "params file",
    "execution trace": "`_tvmdbg_execution_trace.json`",
    "Chrome trace": "any other Chrome trace",
    "profiling report": "profiling report: JSON, CSV, printed table",
    "VM profiler's table": "VM profiler's table",
    "list of node times": "list of times",
    "graph JSON": "graph JSON",
    "ETDump": "ETDump",
    "ETRecord": "ETRecord",
    "table of ExecuTorch's Inspector": "table of the Inspector",
    "ExecuTorch program": "ExecuTorch program",
    "bundled program": "bundled program",
    "named data": "named data",
    "printed table of node times": "printed table",
    "tuning log": "tuning log",
    "file of DAG texts": "file of DAG texts",
    "output of a tuning": "output of a tuning",
    "network capture": "network capture",
    "RPC stream": "RPC stream",
}


def _text(path: Path) -> str:
    if path.suffix == ".md":
        return path.read_text("utf-8")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n\n".join("".join(each["source"]) for each in cells if each["cell_type"] == "markdown")


READMES = sorted(ROOT.glob("README*.md"))
EVERYWHERE = [*PAGES, *NOTEBOOKS, *READMES]
NAMED = pytest.mark.parametrize("path", EVERYWHERE, ids=lambda path: path.stem)


def test_contents_list_exactly_the_existing_pages() -> None:
    trees = re.findall(r"```\{toctree\}\n(.*?)```", _text(DOCS / "index.md"), re.DOTALL)
    lines = [line for tree in trees for line in tree.splitlines()]
    entries = [re.sub(r".* <(.*)>", r"\1", each) for each in lines if each and each[0] != ":"]
    there = {path.stem for path in PAGES} - {"index"}
    there |= {f"notebooks/{path.stem}" for path in NOTEBOOKS}
    assert set(entries) == there
    assert len(entries) == len(set(entries))


def test_front_page_has_five_ways_in() -> None:
    ways = re.findall(r"^### (.*)\n\n((?:\d\. .*\n)+)", _text(DOCS / "index.md"), re.MULTILINE)
    assert len(ways) == len(PEOPLE)
    for (title, links), person in zip(ways, PEOPLE, strict=True):
        assert person in title
        assert all("](" in line for line in links.splitlines())
        assert 3 <= len(links.splitlines()) <= 4


@NAMED
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([\w./]+\.\w+)(?:#[^)]*)?\)", _text(path)):
        folder = ROOT if target.startswith("notebooks/") else path.parent
        assert (folder / target).is_file(), target


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_readme_is_one_screen_with_eight_questions(path: Path) -> None:
    text = _text(path)
    assert text.count("\n") <= MOST_README_LINES
    table = re.search(r"((?:^\|.*\|$\n){10,})", text, re.MULTILINE)
    assert table
    rows = table[1].splitlines()[2:]
    assert len(rows) == QUESTIONS
    assert all(len(re.findall(r"\| (`[^`]+`) \|", row)) == 1 for row in rows)


def test_readmes_have_the_same_code() -> None:
    english, chinese = ({*re.findall(r"`([^`\n]+\([^`\n]*)`", _text(path))} for path in READMES)
    assert english == chinese


def test_changelog_has_one_short_line_per_change() -> None:
    lines = _text(ROOT / "CHANGELOG.md").splitlines()
    assert not [line for line in lines if len(line) > MOST_CHANGELOG_LETTERS]
    changes = [line for line in lines if not re.match(r"(#|$|What |The )", line)]
    assert len(changes) > 50
    assert not [line for line in changes if not re.fullmatch(r"\* .+\.", line)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_begins_with_code_and_ends_with_links(path: Path) -> None:
    text = _text(path)
    before, fence, _ = text.partition("\n```")
    assert fence
    assert len(before.splitlines()) <= MOST_LINES_BEFORE_CODE
    if path.stem not in ("index", "api"):
        assert "?" in before
        last = text.rpartition("\n## ")[2]
        assert last.startswith("Where to go next\n")
        assert len(re.findall(r"^\* .*\]\(", last, re.MULTILINE)) >= 2


@NAMED
def test_python_in_the_text_compiles(path: Path) -> None:
    for code in re.findall(r"```python\n(.*?)```", _text(path), re.DOTALL):
        ast.parse(textwrap.dedent(code))


def documented() -> dict[str, str]:
    """Options of each documented object, by its dotted name."""
    found = re.findall(
        r"^\.\. auto\w+:: (\S+)\n((?:   .*\n)*)", _text(DOCS / "api.md"), re.MULTILINE
    )
    return dict(found)


def find(name: str) -> object:
    """The object of a dotted name; AttributeError where there is none."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            module = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[cut:], module)
    raise AttributeError(name)


def test_reference_names_exist() -> None:
    for name in documented():
        assert find(name) is not None, name


def test_reference_has_every_public_name() -> None:
    assert {name.removeprefix("tvmdbg_widgets.") for name in documented()} >= PUBLIC


def test_reference_has_every_name_of_executorch() -> None:
    found = [find(name) for name in documented()]
    assert all(getattr(tvmdbg.executorch, name) in found for name in tvmdbg.executorch.__all__)


def test_reference_excludes_only_facts_of_debug_run() -> None:
    left_out = documented()["tvmdbg_widgets.DebugRun"]
    names = re.search(r":exclude-members: (.*)", left_out)
    assert set(names[1].split(", ")) == {"facts"}


@pytest.mark.parametrize(
    ("rooms_of", "of"),
    [
        (("run/*", "analysis/selection", "analysis/summary"), tvmdbg.DebugRun),
        (
            (
                *("tuning/*", "analysis/tuning/facts", "analysis/tuning/identity"),
                *("analysis/tuning/selection", "analysis/tuning/writing", "export/rerun"),
            ),
            tvmdbg.TuningLog,
        ),
    ],
    ids=["run", "tuning log"],
)
def test_reference_lists_types_returned_by_methods(rooms_of: tuple[str, ...], of: type) -> None:
    classes = {name.rpartition(".")[2] for name in documented()}
    package = ROOT / "tvmdbg_widgets"
    paths = [path for each in rooms_of for path in sorted(package.glob(f"{each}.py"))]
    rooms = [ast.parse(path.read_text("utf-8")) for path in paths]
    checked = set()
    for each in (each for room in rooms for each in ast.walk(room)):
        if isinstance(each, ast.FunctionDef):
            called, gives = each.name, each.returns
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            called, gives = each.target.id, each.annotation
        else:
            continue
        if not called.startswith("_"):
            checked.add(called)
            for name in set(re.findall(r"\w+", ast.unparse(gives) if gives else "")):
                assert name in classes | INNER or name not in _own_imports(rooms), (called, name)
    assert {name for name in dir(of) if not name.startswith("_")} <= checked


def _own_imports(rooms: list[ast.Module]) -> set[str]:
    return {
        alias.name
        for room in rooms
        for each in ast.walk(room)
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("tvmdbg_widgets")
        for alias in each.names
        if alias.name[0].isupper()
    }


def test_documented_names_have_docstrings() -> None:
    for name in documented():
        found = find(name)
        assert isinstance(found, Path) or inspect.getdoc(found), name


@NAMED
def test_documented_commands_and_options_exist(path: Path) -> None:
    from tvmdbg_widgets.cli.app import app

    verbs: dict[str, click.Command] = get_command(app).commands  # type: ignore[attr-defined]
    groups = {name: getattr(each, "commands", None) for name, each in verbs.items()}
    own = {"--install-completion", "--show-completion", "--help", "--version"}
    blocks = re.findall(r"```sh\n(.*?)```", _text(path), re.DOTALL)
    typed = [line for block in blocks for line in re.findall(r"^tvmdbg (.*)$", block, re.MULTILINE)]
    for call in [*re.findall(r"`tvmdbg ([^`]+)`", _text(path)), *typed]:
        verb, *rest = call.partition(" #")[0].split()
        options = [word for word in rest if re.fullmatch(r"--?[a-z][\w-]*", word)]
        if verb.startswith("--"):
            assert verb in own, call
            continue
        assert verb in verbs, call
        command = verbs[verb]
        if groups[verb] and rest and not rest[0].startswith("-"):
            assert rest[0] in groups[verb], call
            command = groups[verb][rest[0]]
        known = {option for each in command.params for option in each.opts}
        assert set(options) <= known | own, call


def test_generated_parts_of_pages_are_complete() -> None:
    from tvmdbg_widgets.analysis.tuning.trial_queries import TRIAL_FIELDS
    from tvmdbg_widgets.cli.app import app

    conf = runpy.run_path(str(DOCS / "conf.py"))
    rows = conf["_trial_fields"]().splitlines()[2:]
    assert len(rows) == len(TRIAL_FIELDS)
    pairs = zip(TRIAL_FIELDS, rows, strict=True)
    assert all(each.units.hint in row for each, row in pairs if each.units)
    verbs = get_command(app).commands  # type: ignore[attr-defined]
    sections = conf["_verbs"]()
    assert all(f"### {name}" in sections for name in verbs)


@NAMED
def test_documented_goals_and_modules_exist(path: Path) -> None:
    goals = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    blocks = "".join(re.findall(r"```sh\n(.*?)```", _text(path), re.DOTALL))
    assert {*re.findall(r"^make ([\w-]+)|`make ([\w-]+)`", blocks, re.MULTILINE)} <= {
        (goal, "") for goal in goals
    }
    assert set(re.findall(r"`make ([\w-]+)", _text(path))) <= set(goals)
    for module in re.findall(r"python -m ((?:benchmarks|tests)[\w.]+)", _text(path)):
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file(), module


def test_install_page_extras_match_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    told = re.findall(r"^\| `(\w+)` \|", _text(DOCS / "install.md"), re.MULTILINE)
    assert set(told) == set(declared["optional-dependencies"])


def test_every_format_has_its_row() -> None:
    rows = re.findall(r"^\| (.*?) \|", _text(DOCS / "reading.md"), re.MULTILINE)
    for each in KINDS:
        assert any(row.startswith(CALLED[each.what]) for row in rows), each.what


def test_graph_page_documents_every_key() -> None:
    files = ("graph/mount.ts", "graph/panels/toolbar.ts", "shell/toolbar.ts")
    source = "".join((ROOT / "js/src" / file).read_text("utf-8") for file in files)
    lists = r'(?:(?:action|tool|menu)\([^][()]*|(?:in|out):)\s*\[((?:"[^"]+"(?:, )?)+)\]'
    source = source.replace("COPY_KEY", '"y"')
    bound = re.findall(lists, source) + re.findall(r'step\(-?1, ("[^"]+")', source)
    table = _text(DOCS / "graph.md").partition("## Keys")[2].partition("\n## ")[0]
    told = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    keys = re.findall(r"`([^`]+)`", " ".join(told))
    # A key with Shift is told with its key.
    known = set(re.findall(r'"([^"]+)"', " ".join(bound)))
    assert set(keys) == {key for key in known if not key.startswith("Shift+")}


def test_flamechart_page_documents_every_key() -> None:
    source = (ROOT / "js/src/timeline/actions.ts").read_text("utf-8")
    lists = re.findall(r'(?:action|timed)\(\s*\[((?:"[^"]+"(?:, )?)+)\]', source)
    bound = set(re.findall(r'"([^"]+)"', " ".join(lists)))
    assert len(bound) > 30
    table = _text(DOCS / "flamechart.md").partition("## Keys")[2].partition("\n## ")[0]
    told = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    keys = set(re.findall(r"`([^`]+)`", " ".join(told)))
    assert bound <= keys
    assert keys - bound == {"w", "s", "+", "-", "0", "m", "y"}  # of the common shell


def test_graph_page_names_match_code() -> None:
    from tvmdbg_widgets.analysis.node_columns import COLOR_NAMES
    from tvmdbg_widgets.model.graph.node_columns import FIELDS

    text = _text(DOCS / "graph.md")
    methods = set(re.findall(r"view\.(\w+)\(", text)) - {"color_by"}
    assert len(methods) > 12
    assert all(callable(getattr(tvmdbg.GraphView, name)) for name in methods)
    colors = re.findall(r"^\| (`\".*?) \|", text, re.MULTILINE)
    assert set(re.findall(r'"(\w+)"', " ".join(colors))) == {*COLOR_NAMES, "error"}
    assert set(re.findall(r"`\{(\w+)\}`", text)) == set(FIELDS)


def test_methods_named_in_the_text_exist() -> None:
    for path in EVERYWHERE:
        for name in re.findall(r"`run\.(\w+)\(", _text(path)):
            assert hasattr(tvmdbg.DebugRun, name), f"{path.name}: run.{name}"
        for name in re.findall(r"`tvmdbg(?:_widgets)?\.(\w+)\(", _text(path)):
            assert hasattr(tvmdbg, name), f"{path.name}: tvmdbg.{name}"


def test_recipe_files_open_as_one_run(corpus: Path, tmp_path: Path) -> None:
    made = corpus / "tvm/resnet20_cifar"
    dump = shutil.copytree(made / "tvmdbg", tmp_path / "dump")
    beside = {
        "run_stdout.txt": "run.txt",
        "graph.json": "graph.json",
        "params.params": "net.params",
        "report.json": "report.json",
    }
    for original, name in beside.items():
        shutil.copy(made / original, dump / name)
    run = tvmdbg.open(dump)
    assert not [each for each in run.check() if each.severity != "note"]
    assert len(run.tensors) == run.graph.num_entries
    assert run.timeline.statistics().n.max() == 5
    assert len(run.reports) == 1
    recipe = _text(ROOT / "notebooks/making_a_dump.ipynb")
    assert all(f'(dump / "{name}")' in recipe for name in beside.values())


def _texts_of_the_package() -> Iterator[tuple[str, str]]:
    """Every string of the package, with ``…`` for what is put in, and where it stands."""
    for path in sorted((ROOT / "tvmdbg_widgets").rglob("*.py")):
        for each in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield path.name, each.value
            elif isinstance(each, ast.JoinedStr):
                pieces = (
                    part.value if isinstance(part, ast.Constant) else "…" for part in each.values
                )
                yield path.name, "".join(map(str, pieces))


def test_commands_named_in_package_texts_exist() -> None:
    from tvmdbg_widgets.cli.app import app

    verbs: dict[str, click.Command] = get_command(app).commands  # type: ignore[attr-defined]
    checked = 0
    for where, text in _texts_of_the_package():
        for call in re.findall(r"(?<![\w/.-])tvmdbg ([a-z][^`\n|;&]*)", text):
            words = re.split(r"  |\$\(", call)[0].split()
            command = verbs.get(words[0].rstrip(".,:)"))
            assert command is not None, (where, call)
            inner = getattr(command, "commands", {})
            if inner and len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]):
                command = inner.get(words[1])
                assert command is not None, (where, call)
            known = {option for each in command.params for option in each.opts} | {"--help"}
            named = {word for word in words if re.fullmatch(r"--[a-z][\w-]*", word)}
            assert named <= known, (where, call)
            checked += 1
    assert checked > 100


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/libraries.md"])
def test_modules_named_in_contributor_docs_exist(page: str) -> None:
    named = {
        *re.findall(r"(?<![\w<>/.{])(?:\w+/)*\w+\.(?:py|ts)\b", (ROOT / page).read_text("utf-8"))
    }
    tops = ("tvmdbg_widgets", "js", "tests", "benchmarks")
    known = [path.as_posix() for top in tops for path in (ROOT / top).rglob("*.[pt][ys]")]
    assert [name for name in sorted(named) if not any(f"/{name}" in path for path in known)] == []
