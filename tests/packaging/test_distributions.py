"""Both distributions install and work where there is no Node and no network."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hatch_build import HASHED_FILES, content_hash, is_current

ROOT = Path(__file__).parents[2]
SOURCES = (
    "tvmdbg_widgets",
    "js/src",
    "js/build.mjs",
    "js/hatch_build.py",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".gitignore",
)
# Every instance's state carries the loader, and a saved notebook every instance's state.
LOADER_BUDGET_BYTES = 4_000
# What it fetches once a page, and what pages hold, compressed: what each weighs and a little.
BUDGET_BYTES = {
    "graph.js": 93_600,
    "tensor.js": 80_000,
    "timeline.js": 97_000,
    "memory.js": 27_600,
    "plot.js": 5_700,
    "tuning.js": 36_000,
    "comparison.js": 100_000,
    "debugger.js": 243_000,
    "page.js": 268_500,
    "page_graph.js": 117_000,
    "page_tensor.js": 89_700,
    "page_timeline.js": 102_000,
    "page_memory.js": 33_300,
    "page_tuning.js": 38_700,
    "page_comparison.js": 123_000,
    "layout.js": 17_000,
    "engine.js": 155_500,
}


@dataclass(frozen=True)
class Project:
    """A copy of the sources, with an npm that writes down what it is asked."""

    root: Path
    programs: Path
    asked: Path

    @property
    def static(self) -> Path:
        return self.root / "tvmdbg_widgets/static"

    def npm_calls(self) -> list[str]:
        return self.asked.read_text("utf-8").splitlines() if self.asked.exists() else []

    def build(self, *what: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run `python -m build` with nothing on PATH but this npm, or what is in ``path``."""
        self.asked.unlink(missing_ok=True)
        command = [sys.executable, "-m", "build", "--no-isolation", *what, str(self.root)]
        return _run(command, path=path or self.programs)


def _run(command: list[str], *, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "TVMDBG_SKIP_JS", "VIRTUAL_ENV")
    }
    environment["PATH"] = str(path)
    return subprocess.run(
        command, env=environment, cwd=path, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    node = shutil.which("node")
    if node is None or not (ROOT / "node_modules/esbuild").is_dir():
        pytest.skip("no Node or no node_modules: `make bundle` sets them up")
    home = tmp_path_factory.mktemp("packaging")
    root, programs, asked = home / "project", home / "programs", home / "asked"
    programs.mkdir()
    for name in SOURCES:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "static"))
        else:
            shutil.copy(source, target)
    (root / "node_modules").symlink_to(ROOT / "node_modules")
    npm = programs / "npm"
    npm.write_text(
        f'#!/bin/sh\necho "$@" >> "{asked}"\n'
        f'if [ "$1" = run ]; then exec "{node}" js/build.mjs; fi\n',
        "utf-8",
    )
    npm.chmod(0o755)
    return Project(root, programs, asked)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PATH with no program on it."""
    return tmp_path_factory.mktemp("nothing")


@pytest.fixture(scope="module")
def distributions(project: Project) -> tuple[Path, Path]:
    """Sdist, and the wheel that was built from it; the bundles are built on the way."""
    result = project.build()
    assert result.returncode == 0, result.stdout + result.stderr
    assert project.npm_calls() == ["ci", "run build"]
    (sdist,) = (project.root / "dist").glob("*.tar.gz")
    (wheel,) = (project.root / "dist").glob("*.whl")
    return sdist, wheel


def _bundles(project: Project) -> set[str]:
    views = {
        path.stem for path in (ROOT / "js/src").glob("*/*.ts") if path.stem == path.parent.name
    }
    single = {path.stem for path in (ROOT / "js/src").glob("*.ts") if ".d" not in path.name}
    built = {path.name for path in project.static.iterdir()}
    assert {f"{name}.js" for name in views | single} | {"hash.json"} <= built
    return built


def test_wheel_and_sdist_contain_all_bundles_and_data(
    project: Project, distributions: tuple[Path, Path]
) -> None:
    data = {
        path.relative_to(ROOT).as_posix()
        for folder in ("figures/**/*", "samples/**/*", "**/*.toml")
        for path in (ROOT / "tvmdbg_widgets").glob(folder)
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "tvmdbg_widgets/analysis/known_messages.toml" in data
    expected = {f"tvmdbg_widgets/static/{name}" for name in _bundles(project)}
    expected |= data | {"tvmdbg_widgets/py.typed", "tvmdbg_widgets/figures/tokens.json"}
    sdist, wheel = distributions
    with zipfile.ZipFile(wheel) as archive:
        assert expected <= set(archive.namelist())
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
        assert not [name for name in archive.namelist() if name.startswith(("js/", "tests/"))]
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert expected | {"js/build.mjs", "package-lock.json"} <= names


@pytest.mark.parametrize("kind", [0, 1], ids=["sdist", "wheel"])
def test_distributions_install_without_node(
    kind: int, distributions: tuple[Path, Path], nothing: Path, tmp_path: Path
) -> None:
    python = _environment(tmp_path / "venv")
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--offline", "--no-cache"]
    installed = _run([*install, *offline, str(distributions[kind])], path=nothing)
    assert installed.returncode == 0, installed.stderr
    code = (
        "import json, pathlib, tvmdbg_widgets as t, importlib.metadata as m;"
        "here = pathlib.Path(t.__file__).parent;"
        "print(json.dumps([str(here), t.__version__, m.version('tvmdbg-widgets'),"
        "sorted(p.name for p in (here / 'static').iterdir())]))"
    )
    result = _run([str(python), "-I", "-c", code], path=nothing)
    assert result.returncode == 0, result.stderr
    where, version, recorded, files = json.loads(result.stdout)
    assert Path(where).is_relative_to(tmp_path)
    assert version == recorded
    assert {"hash.json", "session.js", "run.js"} <= set(files)
    script = _run([str(python.with_name("tvmdbg")), "--version"], path=nothing)
    assert script.returncode == 0, script.stderr
    assert script.stdout.split()[:2] == ["tvmdbg", version]


def _environment(folder: Path) -> Path:
    """A new environment that sees the packages of this one behind its own."""
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    asked = _run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], path=folder
    )
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(asked.stdout.strip(), "behind.pth").write_text("\n".join(sorted(paths)), "utf-8")
    return python


def test_bundles_are_rebuilt_when_a_source_changes_and_only_then(
    project: Project, distributions: tuple[Path, Path], nothing: Path
) -> None:
    assert distributions
    source = project.root / "js/src/session.ts"
    before = source.read_bytes()
    os.utime(source)  # a time stamp is no change
    assert project.build("--wheel", path=nothing).returncode == 0

    source.write_bytes(before + b"\nconsole.debug(0);\n")
    assert not is_current(project.root)
    refused = project.build("--wheel", path=nothing)
    assert refused.returncode != 0
    assert "there is no npm" in refused.stdout + refused.stderr

    assert project.build("--wheel").returncode == 0
    assert project.npm_calls() == ["ci", "run build"]
    assert is_current(project.root)
    assert "console.debug(0)" in (project.static / "session.js").read_text("utf-8")

    assert project.build("--wheel").returncode == 0
    assert project.npm_calls() == []


def test_hash_depends_on_content_and_name_of_hashed_files(tmp_path: Path) -> None:
    names = ["js/src/graph/graph.ts", "js/src/page.ts", *HASHED_FILES]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    hashes = [content_hash(tmp_path)]
    for name in names:
        (tmp_path / name).write_text(f"{name} changed", "utf-8")
        hashes.append(content_hash(tmp_path))
    (tmp_path / "js/src/page.ts").rename(tmp_path / "js/src/pages.ts")
    hashes.append(content_hash(tmp_path))
    assert len(set(hashes)) == len(names) + 2


def test_bundles_stay_small(bundles: Path) -> None:
    """What a view weighs is known, and grows only on purpose.

    No instance's state carries the code of its view, only that of the loader, which fetches the
    code once a page: these limits keep repetition and dependencies out, not saved notebooks small.
    """
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in bundles.glob("*.js")}
    assert (bundles / "loader.js").stat().st_size < LOADER_BUDGET_BYTES
    heavy = {name: size for name, size in sizes.items() if size > BUDGET_BYTES.get(name, 4_000)}
    assert not heavy
    assert BUDGET_BYTES.keys() <= sizes.keys()


def test_bundles_import_nothing(bundles: Path) -> None:
    assert (bundles / "loader.js").exists()
    for path in bundles.glob("*.js"):
        text = path.read_text("utf-8")
        # A word before the end of a string is no import: a specifier begins with none of `,+)`.
        assert not re.findall(r'\b(?:from|import)"[\w./@]|\brequire\(', text), path.name


def test_python_and_npm_versions_are_equal() -> None:
    import tvmdbg_widgets

    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))
    assert package["version"] == lock["version"] == tvmdbg_widgets.__version__


def test_package_json_declares_no_module_type() -> None:
    # `"type": "module"` would count for JupyterLab's own yarn.js too, below .venv, and break it.
    assert "type" not in json.loads((ROOT / "package.json").read_text("utf-8"))


def test_requirements_are_pinned_without_urls() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(each for extra in extras for each in extra)]
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = {_normal(line.partition("==")[0]) for line in lines if "==" in line}
    assert {_normal(each.split(">")[0].split("<")[0]) for each in wanted} <= pinned
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))
    assert not [line for line in lines if "://" in line or "--" in line]
    assert not [name for name, each in lock["packages"].items() if "resolved" in each]


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-")
