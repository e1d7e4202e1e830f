"""A file is replaced whole or not at all."""

from pathlib import Path

import pytest

from tvmdbg_widgets.model.base.writing import clean, hidden_name, new_folder, replacing


def test_replacing_keeps_permissions_and_follows_symlinks(tmp_path: Path) -> None:
    target, link = tmp_path / "a.svg", tmp_path / "b.svg"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link, ".svg") as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_invalid_path_error_explains_the_problem(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.txt.* must end in \.html or \.htm"):
        replacing(tmp_path / "a.txt", ".html", ".htm").__enter__()
    with pytest.raises(FileNotFoundError, match="no folder"):
        replacing(tmp_path / "none" / "a.html").__enter__()
    with replacing(tmp_path / "A.HTML", ".html") as file:
        file.write(b"")


def left_behind(target: Path) -> Path:
    """What a writer leaves that was killed: its hidden folder, which nobody holds any more."""
    folder = target.with_name(hidden_name(target))
    (folder / target.name).mkdir(parents=True)
    (folder / target.name / "half").write_bytes(b"x")
    return folder


def test_next_writer_removes_files_left_by_killed_writers(tmp_path: Path) -> None:
    target = tmp_path / "run"
    file = target.with_name(hidden_name(target))
    file.write_bytes(b"half")
    mine = [tmp_path / name for name in (".run.part", ".run.0123.part", ".run.notes", "run.part")]
    for each in mine:
        each.write_bytes(b"keep")
    other = left_behind(tmp_path / "run.html")
    left_behind(target)
    with new_folder(target) as folder:
        (folder / "a").write_bytes(b"whole")
    assert sorted(tmp_path.iterdir()) == sorted((*mine, other, target))
    with replacing(tmp_path / "run.html") as out:
        out.write(b"x")
    assert not other.exists()


def test_files_of_active_writer_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "a"
    with replacing(target) as file:
        file.write(b"first")
        file.flush()
        clean(target)
        with replacing(target) as other:
            other.write(b"second")
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    with new_folder(tmp_path / "b") as folder:
        clean(tmp_path / "b")
        (folder / "c").write_bytes(b"x")
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["a", "b", "c"]


def test_new_folder_fills_empty_target_of_symlink(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    (tmp_path / "circle").symlink_to("circle")
    with new_folder(tmp_path / "link") as folder:
        (folder / "a").write_bytes(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "empty" / "a").read_bytes() == b"x"
    for name in ("link", "circle"):
        with pytest.raises(FileExistsError, match="name a new folder"):
            new_folder(tmp_path / name).__enter__()
    assert len(list(tmp_path.iterdir())) == 3


def test_interrupted_new_folder_leaves_nothing(tmp_path: Path) -> None:
    def break_off() -> None:
        with new_folder(tmp_path / "a") as folder:
            (folder / "half").write_bytes(b"x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert not list(tmp_path.iterdir())
