"""Which part may import which: read from the sources, so an import in any branch counts."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

from tvmdbg_widgets import samples

ROOT = Path(__file__).parents[2]
PACKAGE = "tvmdbg_widgets"
LAYERS = (
    "cli",
    "plots",
    "widgets",
    "export",
    "figures",
    "answers",
    "recorders",
    "analysis",
    "formats",
    "engine",
    "model",
    "sources",
    "model.base",
)  # each may import those after it
# What makes a function one for users: nothing to load, and needed before it is called.
DECORATORS = f"{PACKAGE}.model.base.slips"
FACADES = (
    "run",
    "open",
    "samples",
    "executorch",
    "tuning",
    "rpc",
    "abi",
)  # join the layers, inside functions
HEAVY = (
    *("aiohttp", "anywidget", "bokeh", "distributed", "dpkt", "fsspec", "ipywidgets", "networkx"),
    *("numba", "pandas", "quickjs", "rich", "tabulate", "traitlets"),
)
WIDGETS_ONLY = ("anywidget", "ipywidgets", "traitlets")
#: The one module that may import a package.
ONLY = {"quickjs": "engine", "pyodide": "engine"}
MODEL_MAY = ("ml_dtypes", "numpy")
#: What a run and a log import as they are loaded: their facts, and questions to them.
LOADED = {
    "run": ("analysis", "formats.llvm_ir", "model"),
    "tuning": ("analysis", "formats", "model", "sources", "export.rerun"),
}
VIEWS = ("graph", "tensor", "timeline", "memory", "comparison", "plot", "tuning", "debugger")


def _layer(module: str) -> str:
    """Folder or file of the package; the models' base lies below what they are read from."""
    first, _, rest = module.partition(".")
    return "model.base" if first == "model" and rest.partition(".")[0] == "base" else first


@dataclass(frozen=True)
class Import:
    """One name imported by one module."""

    importer: str  # dotted, without the package's name; "" for the package itself
    imported: str  # dotted, absolute
    line: int
    in_function: bool
    for_types: bool

    @property
    def part(self) -> str:
        return _layer(self.importer)

    @property
    def own(self) -> str | None:
        """Part of this package that is imported, "" for a name of the package itself."""
        top, _, rest = self.imported.partition(".")
        return _layer(rest) if top == PACKAGE else None

    def __str__(self) -> str:
        return f"{PACKAGE}/{self.importer.replace('.', '/')}.py:{self.line} imports {self.imported}"


class _Reader(ast.NodeVisitor):
    def __init__(self, module: str, *, is_package: bool) -> None:
        self.found: list[Import] = []
        self.module = module
        parts = [PACKAGE, *filter(None, module.split("."))]
        self.package = parts if is_package else parts[:-1]
        self.depth = 0
        self.for_types = False

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 (the visitor's own name)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            self.generic_visit(node)
            return
        self.for_types = True
        for statement in node.body:
            self.visit(statement)
        self.for_types = False
        for statement in node.orelse:
            self.visit(statement)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self.package[: len(self.package) - node.level + 1] if node.level else []
        source = ".".join([*base, *filter(None, [node.module])])
        for alias in node.names:
            named = f"{source}.{alias.name}"
            file = ROOT / named.replace(".", "/")
            is_module = file.with_suffix(".py").exists() or (file / "__init__.py").exists()
            self._add(named if source == PACKAGE or is_module else source, node.lineno)

    def _add(self, imported: str, line: int) -> None:
        in_function = self.depth > 0
        self.found.append(Import(self.module, imported, line, in_function, self.for_types))


def imports_of(source: str, module: str, *, is_package: bool = False) -> list[Import]:
    reader = _Reader(module, is_package=is_package)
    reader.visit(ast.parse(source))
    return reader.found


@cache
def all_imports() -> list[Import]:
    found = []
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT / PACKAGE).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        found += imports_of(path.read_text("utf-8"), module, is_package=is_package)
    return found


def problem(each: Import) -> str | None:
    """What is wrong with an import, if anything is."""
    for check in (_direction, _heaviness, _purity):
        if found := check(each):
            return f"{each}: {found}"
    return None


def _direction(each: Import) -> str | None:
    if each.own is None or each.part == "cli":
        return None
    if each.part in ("", *FACADES):
        free = each.in_function or each.for_types or each.own in (each.part, "__version__")
        free = free or each.imported == DECORATORS
        loaded = tuple(f"{PACKAGE}.{name}" for name in LOADED.get(each.part, ()))
        free = free or f"{each.imported}.".startswith(tuple(f"{name}." for name in loaded))
        return None if free else "a facade imports inside functions"
    if each.part not in LAYERS:
        return f"say in LAYERS where {each.part} stands"
    if each.own in FACADES:
        return "a layer takes facts and no facade"
    if each.own in LAYERS:
        down = LAYERS.index(each.own) >= LAYERS.index(each.part)
        return None if down else "imports point down"
    return None if each.own == "__version__" else "name the module that defines it"


def _heaviness(each: Import) -> str | None:
    top = each.imported.partition(".")[0]
    if top in WIDGETS_ONLY and each.part != "widgets":
        return "only widgets/ knows it"
    if each.importer != ONLY.get(top, each.importer):
        return f"only {ONLY[top]} knows it"
    at_start = not (each.in_function or each.for_types)
    if top in HEAVY and at_start and each.part != "widgets":
        return "import it where it is first used"
    return None


def _purity(each: Import) -> str | None:
    top = each.imported.partition(".")[0]
    if (
        each.part not in ("model", "sources", "model.base")
        or each.for_types
        or each.own is not None
    ):
        return None
    if top in sys.stdlib_module_names or top in MODEL_MAY:
        return None
    # An offer such as to_networkx() imports its package where it is called.
    return (
        None
        if top in HEAVY and each.in_function
        else "model/ and sources/ need numpy and ml_dtypes"
    )


def test_imports_point_down() -> None:
    problems = [text for each in all_imports() if (text := problem(each))]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("model.graph", "from tvmdbg_widgets.formats.tvm import params"),
        ("model.graph", "from ..formats import tvm"),
        ("model.graph", "def f():\n    from ..formats import tvm"),
        ("model.graph", "import scipy"),
        ("model.graph", "import networkx as nx"),
        ("model.graph", "if TYPE_CHECKING:\n    from ..widgets.graph import GraphView"),
        ("sources.x", "from tvmdbg_widgets.model.graph.graph import Graph"),
        ("sources.x", "import fsspec"),
        ("model.base.x", "from tvmdbg_widgets.sources.given import RemoteSource"),
        ("formats.x", "from tvmdbg_widgets import FormatError"),
        ("formats.x", "from tvmdbg_widgets.run import DebugRun"),
        ("analysis.x", "if TYPE_CHECKING:\n    from tvmdbg_widgets.run import DebugRun"),
        ("analysis.x", "try:\n    import pandas\nexcept ImportError:\n    pandas = None"),
        ("figures.x", "def f():\n    import anywidget"),
        ("figures.x", "def f():\n    import quickjs"),
        ("engine", "import quickjs"),
        ("export.x", "def f():\n    from traitlets import Unicode"),
        ("export.x", "from tvmdbg_widgets.widgets.graph import GraphView"),
        ("run", "from .widgets.graph import GraphView"),
        ("", "from .model.errors import FormatError"),
        ("attic.x", "from tvmdbg_widgets.model import graph"),
    ],
)
def test_an_import_that_points_up_is_found(module: str, source: str) -> None:
    assert [each for each in imports_of(source, module, is_package=not module) if problem(each)]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("model.graph", "def f():\n    import networkx"),
        ("model.graph", "if TYPE_CHECKING:\n    import pandas as pd"),
        ("formats.x", "from tvmdbg_widgets.model.base.text import FormatError"),
        ("sources.x", "from tvmdbg_widgets.model.base.text import FormatError"),
        ("model.graph", "from tvmdbg_widgets.sources.byte_source import ByteSource"),
        ("widgets.graph", "import anywidget\nfrom . import session"),
        ("cli.x", "from tvmdbg_widgets.open import open"),
        ("engine", "def f():\n    import quickjs"),
        ("run", "def f():\n    from .widgets.debugger import Debugger"),
    ],
)
def test_an_import_that_points_down_is_allowed(module: str, source: str) -> None:
    assert not [each for each in imports_of(source, module) if problem(each)]


#: A stranger still finds a file among so many.
MOST_FILES = 26


def test_no_folder_is_crowded() -> None:
    files = subprocess.run(
        ["git", "ls-files", "*.py", "*.ts"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not files:
        pytest.skip("not a checkout")
    count = Counter(file.rpartition("/")[0] for file in files)
    assert {folder for folder, many in count.items() if many > MOST_FILES} == set()


def test_front_end_folders_stay_within_size_limits() -> None:
    """4 to 25 modules of at most 450 lines, two folders deep at most."""
    names = [name for name, _ in front_end_sources()]
    count = Counter(name.rpartition("/")[0] for name in names)
    assert {folder: many for folder, many in count.items() if not 4 <= many <= 25} == {}
    assert [name for name in names if name.count("/") > 2] == []
    assert [name for name, text in front_end_sources() if text.count("\n") > 450] == []


def test_front_end_type_names_are_unique() -> None:
    declared = re.compile(
        r"^ *(?:export )?(?:abstract )?(?:(?:interface|class) (\w+)|type (\w+)(?:<[^=]*>)? =)",
        re.MULTILINE,
    )
    texts = [text for _, text in front_end_sources()]
    count = Counter(a or b for text in texts for a, b in declared.findall(text))
    assert [name for name, many in count.items() if many > 1] == []


def test_modules_are_at_most_450_lines() -> None:
    """At most 450 lines."""
    long = [
        path.name
        for path in (ROOT / PACKAGE).rglob("*.py")
        if path.read_text("utf-8").count("\n") > 450
    ]
    assert long == []


def test_class_names_are_unique() -> None:
    names = Counter(
        each.name.lstrip("_")
        for path in (ROOT / PACKAGE).rglob("*.py")
        for each in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(each, ast.ClassDef)
    )
    assert [name for name, many in names.items() if many > 1] == []


def test_a_view_needs_no_line_for_its_figure_or_its_page() -> None:
    hosts = [*(ROOT / PACKAGE).glob("figures/*.py"), *(ROOT / PACKAGE).glob("export/page/*.py")]
    hosts += [*(ROOT / "js/src").glob("page/*.ts"), *(ROOT / "js/src").glob("engine/*.ts")]
    naming = {
        file.name
        for file in (*hosts, ROOT / "js/build.mjs")
        if re.search(r"\bmemory_|[\"'/]memory|MemoryView", file.read_text("utf-8"))
    }
    assert naming == {"options.py"}


def test_importing_the_package_loads_none_of_its_parts() -> None:
    names = repr({*HEAVY, "numpy", "tvmdbg_widgets.model"})
    code = f"import sys, tvmdbg_widgets; print(*sorted({names} & set(sys.modules)))"
    assert _python(code) == ""


def test_a_reader_loads_no_widget_and_no_chart() -> None:
    code = (
        "import sys, tvmdbg_widgets; tvmdbg_widgets.FormatError; tvmdbg_widgets.load_params;"
        f"print(*sorted({set(HEAVY)!r} & set(sys.modules)))"
    )
    assert _python(code) == ""


def test_opening_and_querying_a_run_loads_no_widgets() -> None:
    code = (
        "import sys, tvmdbg_widgets as t; run = t.open(t.samples.resnet20_cifar);"
        "run.summary(), run.findings(), run.times('kind');"
        "print(*sorted({'IPython', 'anywidget', 'ipywidgets', 'traitlets'} & set(sys.modules)))"
    )
    assert _python(code) == ""


def test_open_is_a_function_in_any_import_order() -> None:
    for first in ("pass", "from tvmdbg_widgets.open import open", "import tvmdbg_widgets.open"):
        assert _python(f"{first}\nimport tvmdbg_widgets as t; print(callable(t.open))") == "True"


def test_samples_are_not_shadowed_by_modules() -> None:
    for name in samples.__all__:
        code = (
            "import importlib.util, pathlib, tvmdbg_widgets as t;"
            f"print(importlib.util.find_spec('tvmdbg_widgets.samples.{name}'),"
            f"isinstance(t.samples.{name}, pathlib.Path), t.samples.{name}.is_dir())"
        )
        assert _python(code) == "None True True"


def test_every_public_name_loads() -> None:
    code = (
        "import tvmdbg_widgets as t; names = {*t.__all__, 'open'};"
        "assert names <= set(dir(t)), names - set(dir(t)); [getattr(t, name) for name in names];"
        "assert 'open' not in t.__all__"
    )
    assert _python(code) == ""


def test_executorch_names_are_loaded_lazily() -> None:
    heavy = repr({*HEAVY, "numpy", "torch", "executorch"})
    code = (
        "import sys; from tvmdbg_widgets import executorch as e; before = set(sys.modules);"
        "assert set(e.__all__) == set(dir(e)); [getattr(e, name) for name in e.__all__];"
        f"print(*sorted({heavy} & before))"
    )
    assert _python(code) == ""


def _python(code: str) -> str:
    """What a fresh interpreter prints."""
    result = subprocess.run(
        [sys.executable, "-W", "error:::tvmdbg_widgets", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


# The front end. A statement starts its line and has no other quotes before its source.
SPECIFIER = re.compile(
    r"""(?:^(?:import|export)\b[^"'`;=]*\bfrom\s+|^import\s+|\bimport\(\s*)["']([^"']+)["']""",
    re.MULTILINE,
)
BANNED = re.compile(
    r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function)"
)


def front_end_sources() -> list[tuple[str, str]]:
    """Name below js/src and text of each source."""
    folder = ROOT / "js/src"
    paths = sorted(folder.rglob("*.ts"))
    return [(path.relative_to(folder).as_posix(), path.read_text("utf-8")) for path in paths]


def front_end_problem(path: str, specifier: str) -> str | None:
    """What is wrong with an import of ``specifier`` by ``path``, relative to js/src."""
    folder, _, name = path.partition("/")
    if not name and specifier == f"./{folder.removesuffix('.ts')}.css":
        return None  # a view of one module
    if specifier.startswith("@anywidget/"):
        inside_view = folder in VIEWS and name != f"{folder}.ts"
        return "only the view's own entry knows anywidget" if inside_view else None
    if not specifier.startswith((".", "worker:")):
        return "a bundle has no dependencies"
    steps = (Path("/src") / path).parent / specifier.removeprefix("worker:")
    target = _normal(steps)
    if target[:1] != ("src",):
        return None if target == (PACKAGE, "figures", "tokens.json") else "outside js/src"
    other = target[1] if len(target) > 2 else ""
    if folder in (other, "page.ts", "page", "debugger", "comparison", "engine"):
        return None
    below = ("shared",) if folder == "shared" else ("shared", "shell")
    return None if other in below else f"{folder} must not know {other or target[-1]}"


def _normal(path: Path) -> tuple[str, ...]:
    """Path below js/, or below the repository where it leaves js/; both roots are ``/``."""
    parts: list[str] = []
    for part in path.parts[1:]:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return tuple(parts)


def test_views_import_only_shared_modules() -> None:
    problems = [
        f"js/src/{name} imports {specifier}: {found}"
        for name, text in front_end_sources()
        for specifier in SPECIFIER.findall(text)
        if (found := front_end_problem(name, specifier))
    ]
    assert not problems, "\n".join(problems)


def circles(edges: Iterable[tuple[object, object]]) -> list[set[object]]:
    """Modules that import each other, also over others."""
    components = nx.strongly_connected_components(nx.DiGraph(edges))
    return [found for found in components if len(found) > 1]


def test_modules_have_no_import_cycles() -> None:
    """Imports for types, and those inside functions, count as well."""
    python = [
        (each.importer, each.imported.removeprefix(f"{PACKAGE}."))
        for each in all_imports()
        if each.own
    ]
    front_end = [
        (_normal(Path("/src") / name), _normal((Path("/src") / name).parent / specifier))
        for name, text in front_end_sources()
        for specifier in SPECIFIER.findall(text)
        if specifier.startswith(".")
    ]
    for edges in (python, front_end):
        assert len(edges) > 1000
        assert circles(edges) == []


def test_import_cycle_is_detected() -> None:
    assert circles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [{"a", "b", "c"}]


def test_names_from_files_never_become_markup() -> None:
    for name, text in front_end_sources():
        assert BANNED.findall(text) == [], name


@pytest.mark.parametrize(
    ("path", "specifier", "allowed"),
    [
        ("graph/graph.ts", "@anywidget/types", True),
        ("graph/painter.ts", "@anywidget/types", False),
        ("graph/layout/order.ts", "./sort.ts", True),
        ("graph/layout/order.ts", "../../shared/columns.ts", True),
        ("graph/layout/client.ts", "worker:./layout.worker.ts", True),
        ("graph/painter.ts", "../tensor/painter.ts", False),
        ("debugger/debugger.ts", "../tensor/mount.ts", True),
        ("comparison/pane.ts", "../graph/mount.ts", True),
        ("shared/view.ts", "@anywidget/types", True),
        ("shared/view.ts", "../graph/mount.ts", False),
        ("shared/theme.ts", "../../../tvmdbg_widgets/figures/tokens.json", True),
        ("page.ts", "./graph/mount.ts", True),
        ("page/graph.ts", "../graph/graph.ts", True),
        ("engine/figures.ts", "../tuning/figure.ts", True),
        ("tuning/figure.ts", "../engine/figures.ts", False),
        ("graph/mount.ts", "../page/open.ts", False),
        ("graph/mount.ts", "../page.ts", False),
        ("graph/mount.ts", "d3", False),
    ],
)
def test_front_end_import_rule(path: str, specifier: str, allowed: bool) -> None:
    assert (front_end_problem(path, specifier) is None) == allowed


def test_import_statements_are_read() -> None:
    text = """
import {
  one,
} from "./a.ts";
import type { B } from './b.ts';
import "./c.css";
export * from "./d.ts";
const e = await import("./e.ts");
export const f = `taken from "./f.ts"`;
export const g = "from " + '"./g.ts"';
"""
    expected = ["./a.ts", "./b.ts", "./c.css", "./d.ts", "./e.ts"]
    assert SPECIFIER.findall(text) == expected
