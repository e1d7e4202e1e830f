"""A file is replaced whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tvmdbg_widgets.model.writing import replacing

if TYPE_CHECKING:
    from pathlib import Path


def test_it_appears_once_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    with replacing(target, ".html") as file:
        file.write(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    target.write_bytes(b"old")

    def break_off() -> None:
        with replacing(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert target.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]


def test_permissions_stay_and_links_are_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "a.svg", tmp_path / "b.svg"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link, ".svg") as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_what_is_wrong_with_a_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.txt.* must end in \.html or \.htm"):
        replacing(tmp_path / "a.txt", ".html", ".htm").__enter__()
    with pytest.raises(FileNotFoundError, match="no folder"):
        replacing(tmp_path / "none" / "a.html").__enter__()
    with replacing(tmp_path / "A.HTML", ".html") as file:
        file.write(b"")
