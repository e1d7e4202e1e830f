"""Write tests/unit/room_lines.toml: how many lines each room of the sources has.

``python -m tests.make.room_lines``; ``tests/unit/test_room_lines.py`` fails where one has grown.
"""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = ROOT / "tests/unit/room_lines.toml"
SOURCES = {"py": "tvmdbg_widgets", "ts": "js/src", "css": "js/src"}
HEAD = """\
# Lines of each room, a folder at most two levels below the package or js/src with all below it.
# A room may grow by 3 %, or by 20 lines. Where it has to grow by more:
# python -m tests.make.room_lines
"""


def counted() -> dict[str, dict[str, int]]:
    """What there is of all sources together, and lines by room."""
    lines, rooms, folders, longest = Counter[str](), Counter[str](), set[Path](), Counter[str]()
    modules = Counter[str]()
    for kind, root in SOURCES.items():
        for path in sorted((ROOT / root).rglob(f"*.{kind}")):
            if "static" in path.parts:
                continue
            count = path.read_bytes().count(b"\n")
            inner = path.relative_to(ROOT / root).parent.parts
            rooms["/".join([root, *inner[:2]]) + (" (css)" if kind == "css" else "")] += count
            lines[f"lines of {kind}"] += count
            modules[f"modules of {kind}"] += 1
            longest[f"longest module of {kind}"] = max(longest[f"longest module of {kind}"], count)
            folders.add(path.parent)
    return {
        "all": {**lines, **modules, **longest, "folders": len(folders)},
        "rooms": dict(sorted(rooms.items())),
    }


def main() -> None:
    """Write the table."""
    parts = [HEAD]
    for title, numbers in counted().items():
        parts += [f"\n[{title}]\n", *(f'"{name}" = {count}\n' for name, count in numbers.items())]
    PATH.write_text("".join(parts), "utf-8")


if __name__ == "__main__":
    main()
