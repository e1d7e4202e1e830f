"""Links that leave the folder that is opened: left out and told, unless they are asked for."""

import json
import os
import shutil
from pathlib import Path

import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.model.base.text import FormatError

DUMP = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
GRAPH, PARAMS = "_tvmdbg_graph_dump.json", "output_tensors.params"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stranger's folder that holds a graph, beside a folder of one's own."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    theirs.mkdir()
    shutil.copy(DUMP / PARAMS, mine / "secret")
    shutil.copy(DUMP / GRAPH, theirs / "graph")
    return theirs


def saved(run: tvmdbg.DebugRun, folder: Path) -> list[str]:
    copy = run.save(folder.parent / "saved")
    names = sorted(each.name for each in copy.rglob("*"))
    shutil.rmtree(copy)
    return names


def by_file(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "mine" / "secret")


def by_relative_path(folder: Path) -> None:
    (folder / "link").symlink_to("../mine/secret")


def by_folder(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "mine", target_is_directory=True)


def by_chain(folder: Path) -> None:
    (folder.parent / "between").symlink_to(folder.parent / "mine")
    (folder / "link").symlink_to("../between/secret")


def by_folder_above(folder: Path) -> None:
    (folder / "link").symlink_to("..")


@pytest.mark.parametrize("make", [by_file, by_relative_path, by_folder, by_chain, by_folder_above])
@pytest.mark.parametrize("url", ["", "file://"])
def test_outside_links_are_followed_only_on_request(make: object, url: str, folder: Path) -> None:
    make(folder)  # type: ignore[operator]
    run = tvmdbg.open(f"{url}{folder}")
    (issue,) = run.check().by_rule("members-left-out")
    assert "follow_links=True" in issue.message
    assert issue.message.endswith(": link")
    assert saved(run, folder) == ["graph", "tvmdbg_recording.json"]
    assert not run.tensors
    followed = tvmdbg.open(f"{url}{folder}", follow_links=True)
    assert len(followed.tensors) == 72
    assert not followed.check().by_rule("members-left-out")


def test_links_inside_a_folder_are_read_even_if_it_is_a_link(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "graph").rename(folder / "deep" / "graph")
    (folder / "link").symlink_to("deep/graph")
    (folder / "again").symlink_to("deep")
    (folder / "hard").hardlink_to(folder.parent / "mine" / "secret")
    (folder.parent / "root").symlink_to(folder)
    for root in (folder, folder.parent / "root"):
        for follow in (False, True):
            run = tvmdbg.open(root, follow_links=follow)
            names = sorted(each.partition(" ")[0] for each in run.provenance.files)
            assert names == ["hard", "link"]
            assert not run.check().by_rule("members-left-out")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_and_devices_are_reported_and_never_block(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder.parent / "pipe")
    (folder / "to_pipe").symlink_to("../pipe")
    (folder / "zero").symlink_to("/dev/zero")
    for follow in (False, True):
        run = tvmdbg.open(folder, follow_links=follow)
        (issue,) = run.check().by_rule("members-left-out")
        assert issue.message.endswith(": pipe, to_pipe, zero")


def test_folder_with_only_links_suggests_follow_links(folder: Path) -> None:
    (folder / "graph").unlink()
    by_file(folder)
    with pytest.raises(FormatError, match="follow_links=True"):
        tvmdbg.open(folder)


@pytest.fixture
def cache(data: Path, folder: Path) -> Path:
    """A tensor cache whose shards are links to files elsewhere, as a hub's client makes them."""
    for path in (data / "params/cache/raw").iterdir():
        if path.suffix == ".json":
            shutil.copy(path, folder / path.name)
        else:
            shutil.copy(path, folder.parent / "mine" / path.name)
            (folder / path.name).symlink_to(folder.parent / "mine" / path.name)
    (folder / "graph").unlink()
    return folder


def test_shards_linked_outside_are_refused(cache: Path) -> None:
    (index,) = cache.glob("*.json")
    for source in (cache, index, f"file://{index}"):
        with pytest.raises(FormatError, match="follow_links=True"):
            tvmdbg.open(source)
        with pytest.raises(FormatError, match="follow_links=True"):
            tvmdbg.load_params(source)
        assert len(tvmdbg.open(source, follow_links=True).tensors) == 27
        assert len(tvmdbg.load_params(source, follow_links=True)) == 27


def test_recording_cannot_open_files_outside_its_folder(folder: Path) -> None:
    kept = tvmdbg.open(folder).save(folder.parent / "kept")
    path = kept / "tvmdbg_recording.json"
    document = json.loads(path.read_text())
    secret = os.fspath(folder.parent / "mine" / "secret")
    document["files"] += [
        {"part": "params", "path": name, "size": os.path.getsize(secret)}  # noqa: PTH202
        for name in ("../mine/secret", secret)
    ]
    path.write_text(json.dumps(document))
    run = tvmdbg.open(kept)
    assert not run.tensors
    assert saved(run, folder) == ["graph", "tvmdbg_recording.json"]
