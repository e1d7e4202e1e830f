"""What samples and recorded runs show: one text for each run and surface, to be compared.

``python -m tests.make.goldens OUT`` writes them, runs of ``TVMDBG_CORPUS`` included; ``--compare
A B`` shows what differs between two such folders, of before and after a change. ``--digests``
writes anew what ``tests/unit/test_goldens.py`` holds of the samples. Only public names are called,
so the script runs on any commit it is copied to.
"""

import argparse
import difflib
import hashlib
import json
import os
import re
import sys
import tempfile
import time
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property, partial
from inspect import Parameter, getattr_static, signature
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.document import Document

os.environ["TQDM_DISABLE"] = "1"  # bars of progress are for who waits
from collections.abc import Callable, Iterator

import tvmdbg_widgets as tvmdbg
from tests.cli.start import in_process
from tests.make.saved_page import page

HERE = Path(__file__).parents[2]
DIGESTS = HERE / "tests/data/goldens.json"
SAMPLES = Path(tvmdbg.samples.resnet20_cifar).parent
#: Which runs there are, what is asked of each kind, and what is not.
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
LEFT_OUT = {*TABLE["left_out"].split()}
HELD = (property, cached_property)
BOKEH = r'"p\d+"'
SIMPLE = (str, int, float, Enum, type(None))


def paths_of_runs() -> dict[str, list[Path]]:
    """Paths of each run by its name; what is there twice goes along once."""
    found = {f"samples/{path.name}": [path] for path in sorted(SAMPLES.iterdir())}
    found |= {f"samples/changed/{path.name}": [path] for path in sorted(SAMPLES.glob("c*/*"))}
    known = set[bytes]()
    corpus = os.environ.get("TVMDBG_CORPUS") or "/-"
    for label, root in (("corpus", Path(corpus)), ("data", HERE / "tests/data")):
        for path in sorted(
            {each for pattern in TABLE["patterns"].split() for each in root.glob(pattern)}
        ):
            parts = sorted(each for each in [path, *path.rglob("*")] if each.is_file())
            content = hashlib.sha256(b"".join(each.read_bytes() for each in parts)).digest()
            if content not in known and path.suffix != ".md":
                beside = [path.with_suffix(end) for end in (".etdp", ".ptd") if ".pte" in path.name]
                found[f"{label}/{path.relative_to(root)}"] = [path, *filter(Path.exists, beside)]
            known.add(content)
    pairs = [line.split() for line in TABLE["pairs"].splitlines()]
    return found | {f"{a} ~": [*found[a], *found[b]] for a, b in pairs if {a, b} <= {*found}}


def words(value: Any, *, more: bool = True) -> str:
    """A value as text: what it prints, its plain attributes, its table, its first items."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | np.ndarray):
        return f"{value!r}\nsha256 {hashlib.sha256(bytes(value)).hexdigest()}"
    if isinstance(value, dict | list | tuple):
        return "\n".join(map(words, value.items() if isinstance(value, dict) else value))
    if hasattr(value, "svg"):
        told = json.dumps(value.description, indent=1, sort_keys=True, default=repr)
        return "\n".join([value.svg.replace("><", ">\n<"), value.text, told, repr(value.hover)])
    parts = [repr(value), *([str(value)] if str(value) != repr(value) else [])]
    if more and not isinstance(value, SIMPLE):
        parts += attributes(value)
        parts += [attempt(value._repr_html_)] if hasattr(value, "_repr_html_") else []
        if hasattr(value, "to_dataframe") or hasattr(value, "to_csv"):
            frame = value if hasattr(value, "to_csv") else attempt(value.to_dataframe, text=False)
            parts.append(frame if isinstance(frame, str) else frame.to_csv())
        if isinstance(value, Iterable) and not hasattr(value, "to_csv"):
            items = value.items() if isinstance(value, Mapping) else value
            parts += [words(each, more=hasattr(each, "_repr_html_")) for each in islice(items, 60)]
    return "\n".join(parts)


def attributes(value: object) -> Iterator[str]:
    """What a value's properties and fields hold, as far as that is plain."""
    kind = type(value)
    names = [each for each in dir(kind) if isinstance(getattr_static(kind, each), HELD)]
    for name in sorted({*names, *getattr(kind, "__dataclass_fields__", ())} - LEFT_OUT):
        held = attempt(partial(getattr, value, name), text=False)
        items = held if isinstance(held, tuple) else (held,)
        if not name.startswith("_") and all(isinstance(each, SIMPLE) for each in items):
            yield f".{name} = {held!r}"


def attempt(task: Callable[[], Any], *, text: bool = True) -> Any:
    """What a task answers, or how it refuses."""
    try:
        return words(task()) if text else task()
    except Exception as error:  # noqa: BLE001 (a refusal is an answer, too)
        return f"{type(error).__name__}: {error}"


def own(run: Any) -> dict[str, Callable[[], Any]]:
    """What the names of a run's class give that need no argument."""
    kind, found = type(run), {"itself": lambda: run}
    for name in {each for each in dir(kind) if not each.startswith("_")} - LEFT_OUT:
        member = getattr_static(kind, name)
        if not callable(member):
            found[name] = partial(getattr, run, name)
        elif all(
            each.default is not Parameter.empty or each.name == "self"
            for each in signature(member).parameters.values()
        ):
            quiet = {"progress": False} if "progress" in signature(member).parameters else {}
            found[name] = partial(getattr(run, name), **quiet)
    return dict(sorted(found.items()))


def asked(kinds: list[str], run: Any, paths: list[Path], folder: Path) -> dict[str, Any]:
    """What the lines of the table give, by the line."""

    def verb(line: str) -> str:
        first, *options = line.split(" --")
        flags = [part for each in options for part in f"--{each}".split(" ", 1)]
        ended = in_process(*first.split(), *paths, *flags, env={"NO_COLOR": "1", "COLUMNS": "500"})
        return f"{ended.stdout}\n{ended.stderr}\nexit status {ended.returncode}"

    def compared(a: Any, b: Any) -> list[Any]:
        two = tvmdbg.ComparisonView(a, b)
        return [tvmdbg.compare(a, b), two.figure(), page(two.save_html(folder / "two.html"))]

    names = {**globals(), "run": run, "paths": paths, "folder": folder}
    names |= {"verb": verb, "compared": compared, "keys": [], "rows": []}
    if isinstance(run, tvmdbg.DebugRun) and run.tensors:
        names["keys"] = [*run.tensors][:: max(len(run.tensors) // 3, 1)][:3]
    if isinstance(run, tvmdbg.TuningLog):
        names["rows"] = sorted({0, len(run) // 2, max(len(run) - 1, 0)})
    lines = [line.strip() for kind in kinds for line in TABLE["surfaces"][kind].splitlines()]
    return {line: partial(eval, line, names) for line in lines}


def each(task: Callable[[Any], Any], values: Iterable[Any]) -> list[str]:
    """What a task answers for each value."""
    return [f"== {value}\n{attempt(partial(task, value))}" for value in values]


def chart(name: str, *given: Any) -> str:
    """A chart as bokeh stores it, its ids counted anew."""
    document = Document()
    document.add_root(getattr(tvmdbg.plots, name)(*given))
    text = document.to_json_string(indent=1)
    ids = {known: f'"id{at}"' for at, known in enumerate(dict.fromkeys(re.findall(BOKEH, text)))}
    return re.sub(BOKEH, lambda found: ids[found[0]], text)


def files(path: Path) -> str:
    """Files of a folder: texts whole, others by their digest."""
    told = []
    for part in sorted(part for part in [path, *path.rglob("*")] if part.is_file()):
        data = part.read_bytes()
        whole = data.decode("utf-8", "replace") if b"\0" not in data else words(data)[-72:]
        told.append(f"== {part.relative_to(path.parent)}\n{whole}")
    return "\n".join(told)


def goldens(name: str, paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Each surface of a run with its text; no folder and no address in it."""
    known = {os.environ.get("TVMDBG_CORPUS") or "/-": "CORPUS", str(HERE): "HERE"}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = {tvmdbg.TuningLog: "log", tvmdbg.RpcLog: "rpc", tuple: "two", str: "text"}
        opened = attempt(partial(tvmdbg.open, *paths), text=False)
        if name.endswith("~"):
            opened = tuple(map(tvmdbg.open, paths))
        kind = [kinds[type(opened)]] if type(opened) in kinds else ["small", "run"]
        kind = kind[:1] if any(small in name for small in TABLE["small"].split()) else kind
        tasks = (
            {}
            if isinstance(opened, tuple)
            else own(opened)
            if kind != ["text"]
            else {"open": lambda: opened}
        )
        for surface, task in (tasks | asked(kind, opened, paths, Path(folder))).items():
            text = attempt(task)
            for path, told in {folder: "FOLDER", **known}.items():
                text = text.replace(path, told)
            yield surface, re.sub(r" at 0x[0-9a-f]+|\x1b\[[\d;]*m", "", text) + "\n"


def digests(name: str) -> dict[str, str]:
    """Digests of a sample's surfaces, to five digits of numbers: others depend on the machine."""
    found = {}
    for surface, text in goldens(name, paths_of_runs()[name]):
        lines = "\n".join(line for line in text.splitlines() if "sha256 " not in line)
        rounded = re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda at: f"{float(at[0]):.5g}", lines)
        found[surface] = hashlib.sha256(rounded.encode()).hexdigest()[:8]
    return found


def compare(a: Path, b: Path) -> int:
    """Print what differs; how many files do."""
    names = sorted({path.relative_to(root) for root in (a, b) for path in root.rglob("*.txt")})
    differing = 0
    for name in names:
        both = [
            path.read_bytes().decode() if path.exists() else "" for path in (a / name, b / name)
        ]
        lines = list(difflib.unified_diff(*map(str.splitlines, both), n=0, lineterm=""))
        if lines:
            differing += 1
            print(f"{name}: {len(lines)} lines", *(line[:300] for line in lines[2:14]), sep="\n")
    print(f"{differing} of {len(names)} files differ")
    return differing


def main() -> int:
    """Write goldens, or compare them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("out", type=Path, nargs="?")
    options.add_argument("--only", default="", metavar="NAME", help="runs with this in their name")
    options.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"))
    options.add_argument("--digests", action="store_true")
    given = options.parse_args()
    if given.compare:
        return int(compare(*given.compare) > 0)
    runs = {name: paths for name, paths in paths_of_runs().items() if given.only in name}
    if given.digests:
        found = {name: digests(name) for name in runs if name.startswith("samples/")}
        DIGESTS.write_text(json.dumps(found, indent=0, separators=(",", ":")) + "\n", "utf-8")
        return 0
    for at, (name, paths) in enumerate(runs.items(), 1):
        begin = time.process_time()
        for surface, text in goldens(name, paths):
            file = re.sub(r"[^-/\w]+", "_", f"{name}/{surface[:80].replace('/', '')}") + ".txt"
            path = given.out / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", errors="backslashreplace")
        print(f"{at}/{len(runs)} {name}: {time.process_time() - begin:.1f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
