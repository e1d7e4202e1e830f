"""Model Library Format, laid out as TVM's exporter lays it out."""

import io
import json
import tarfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.formats.tvm.graph_truth import valid
from tests.make.params import write_params
from tvmdbg_widgets.formats.tvm.model_library import read_metadata
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource

# python/tvm/micro/model_library_format.py @ v0.8.0 to v0.16.0; no exported library is at hand.
pytestmark = pytest.mark.spec_only

WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)
MEMORY = {
    "functions": {
        "main": [
            {
                "constants_size_bytes": 24,
                "device": 1,
                "io_size_bytes": 72,
                "workspace_size_bytes": 1024,
            }
        ],
        "operator_functions": [],
    },
    "sids": [{"size_bytes": 48, "storage_id": 0}],
}


def described(name: str, version: int, executor: str = "graph") -> dict[str, Any]:
    targets = ["c -keys=cpu", "llvm"]
    return {
        "runtimes" if version < 4 else "executors": [executor],
        "export_datetime": "2022-03-04 05:06:07Z",
        "memory": MEMORY,
        "model_name": name,
        "style": "full-model",
        "target": targets if version == 7 else {"1": targets[0]},
    }


def params_of(scale: int) -> bytes:
    out = io.BytesIO()
    write_params(out, {"p0": WEIGHT * scale})
    return out.getvalue()


def files_of(version: int, *names: str, executor: str = "graph") -> dict[str, bytes]:
    """The files of an exported library, by path."""
    if version == 7:
        modules = {name: described(name, 7, executor) for name in names}
        metadata: dict[str, Any] = {"modules": modules, "version": 7}
    else:
        metadata = {**described(names[0], version, executor), "version": version}
    files = {"metadata.json": json.dumps(metadata, indent=2, sort_keys=True).encode()}
    for i, name in enumerate(names):
        files[f"codegen/host/src/{name}_lib0.c"] = b"int main(void) { return 0; }"
        files[f"parameters/{name}.params"] = params_of(i + 1)
        text = f"def @main(%x: Tensor[(4, 3), float32]) /* {name} */".encode()
        files[f"src/{name}.relay" if version == 7 else "src/relay.txt"] = text
        graph = valid()
        graph["nodes"][3]["name"] = f"add_{name}"
        config = "runtime-config" if version < 4 else "executor-config"
        path = f"{config}/graph/{name}.graph" if version == 7 else f"{config}/graph/graph.json"
        if executor == "graph":
            files[path] = json.dumps(graph).encode()
    return files


def exported(files: dict[str, bytes]) -> bytes:
    """What ``_make_tar`` writes: a plain tar of the folder, named ``.``."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        folders = {str(above) for path in files for above in PurePosixPath(path).parents}
        for folder in sorted(folders - {"."}):
            info = tarfile.TarInfo(f"./{folder}")
            info.type = tarfile.DIRTYPE
            archive.addfile(info)
        for path, data in files.items():
            info = tarfile.TarInfo(f"./{path}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize("version", range(1, 8))
def test_every_version_opens_as_a_run(version: int, tmp_path: Path) -> None:
    (tmp_path / "m.tar").write_bytes(exported(files_of(version, "default")))
    run = tvmdbg.open(tmp_path / "m.tar")
    assert run.graph.names[3] == "add_default"
    assert [parameter.name for parameter in run.graph.parameters] == ["p0"]
    assert run.tensors["p0"].numpy().tolist() == WEIGHT.tolist()
    assert not run.check()
    (name,) = run.parts.ir
    assert name == ("default.relay" if version == 7 else "relay.txt")
    text = run.parts.ir[name]
    assert b"/* default */" in text.read(0, text.size)
    told = repr(run.provenance)
    assert f"Model Library Format {version}" in told
    assert "'default', style full-model, executor graph, exported 2022-03-04" in told
    assert "c -keys=cpu" in told
    assert "workspace 1,024 bytes, constants 24 bytes, io 72 bytes" in told
    assert run.provenance.releases == "TVM v0.8 to v0.18"
    assert "src/" in told


def test_an_unpacked_library_opens_too(tmp_path: Path) -> None:
    for path, data in files_of(7, "default").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    run = tvmdbg.open(tmp_path)
    assert run.graph.names[3] == "add_default"
    assert list(run.parts.ir) == ["default.relay"]
    assert not run.check()


def test_module_is_chosen_by_name_among_several() -> None:
    data = exported(files_of(7, "first", "second"))
    with pytest.raises(FormatError, match="2 modules") as caught:
        tvmdbg.open(data)
    assert "first, second" in str(caught.value)
    assert "open(…, module='first')" in str(caught.value)
    run = tvmdbg.open(data, module="second")
    assert run.graph.names[3] == "add_second"
    assert run.tensors["p0"].numpy().tolist() == (WEIGHT * 2).tolist()
    assert list(run.parts.ir) == ["second.relay"]
    assert not run.check().by_rule("more-than-one")
    with pytest.raises(FormatError, match="no module 'third'"):
        tvmdbg.open(data, module="third")


def test_library_without_graph_is_reported() -> None:
    run = tvmdbg.open(exported(files_of(7, "default", executor="aot")))
    assert run.graph is None
    assert run.tensors["p0"].numpy().tolist() == WEIGHT.tolist()
    assert [issue.rule for issue in run.check()] == ["library-without-graph"]


def test_aot_memory_is_shown() -> None:
    """As ``_build_function_memory_map`` writes it, python/tvm/micro/model_library_format.py."""
    metadata = {
        "version": 6,
        "model_name": "net",
        "export_datetime": "2022-03-04 05:06:07Z",
        "executors": ["aot"],
        "style": "full-model",
        "target": ["c"],
        "memory": {
            "functions": {
                "main": [
                    {
                        "device": 1,
                        "workspace_size_bytes": 4096,
                        "constants_size_bytes": 20,
                        "io_size_bytes": 36,
                    }
                ],
                "operator_functions": [
                    {
                        "function_name": "tvmgen_net_conv",
                        "workspace": [{"device": 1, "workspace_size_bytes": 1024}],
                    }
                ],
            }
        },
    }
    run = tvmdbg.open(json.dumps(metadata).encode())
    told = str(run.provenance)
    assert "memory of 'net' on device type 1: workspace 4,096 bytes, constants 20 bytes" in told
    assert "io 36 bytes" in told
    assert "workspace of 'tvmgen_net_conv': 1,024 bytes on device type 1" in told


def test_operator_style_metadata_is_read() -> None:
    metadata = {
        "version": 7,
        "model_name": "add",
        "export_datetime": "2022-03-04 05:06:07Z",
        "memory": {"add": [{"size_bytes": 8, "shape": [2], "dtype": "float32"}]},
        "target": ["c"],
        "executors": [],
        "style": "operator",
    }
    library = read_metadata(BytesSource(json.dumps(metadata).encode(), "metadata.json"))
    assert library.facts == (
        "Model Library Format 7",
        "module 'add', style operator, exported 2022-03-04 05:06:07Z",
        "target of 'add': c",
    )


def test_newer_library_version_is_reported() -> None:
    files = files_of(7, "default")
    files["metadata.json"] = files["metadata.json"].replace(b'"version": 7', b'"version": 8')
    (issue,) = tvmdbg.open(exported(files)).check()
    assert issue.rule == "library-version"


def test_broken_metadata_does_not_hide_other_files() -> None:
    files = files_of(6, "default")
    whole = files["metadata.json"]
    files["metadata.json"] = whole[: len(whole) // 2]
    run = tvmdbg.open(exported(files))
    assert run.graph.names[3] == "add_default"
    assert run.check().by_rule("file-unreadable")
