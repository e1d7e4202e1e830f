"""No room of the sources grows unnoticed: ``room_lines.toml`` holds how large each may be."""

import tomllib

from tests.make.room_lines import PATH, counted

SHARE = 1.03
#: A few lines in a small room are no growth.
LINES = {"all": 0, "rooms": 20}


def grown(allowed: dict[str, dict[str, int]], found: dict[str, dict[str, int]]) -> list[str]:
    return [
        f"{name}: {count:,}, and {PATH.name} has {known:,}"
        for title, numbers in found.items()
        for name, count in numbers.items()
        if count > max((known := allowed[title].get(name, 0)) * SHARE, known + LINES[title])
    ]


def test_source_folders_stay_within_recorded_line_counts() -> None:
    problems = grown(tomllib.loads(PATH.read_text("utf-8")), counted())
    how = "take as much away, or write what it takes: python -m tests.make.room_lines"
    assert not problems, "\n".join([*problems, how])


def test_line_count_growth_is_detected() -> None:
    allowed = {"all": {"modules of py": 400}, "rooms": {"js/src/graph": 10_000, "js/src/abi": 100}}
    assert not grown(allowed, allowed)
    assert not grown(allowed, {"rooms": {"js/src/graph": 10_300, "js/src/abi": 120}})
    more = {
        "all": {"modules of py": 413},
        "rooms": {"js/src/graph": 10_301, "js/src/abi": 121, "js/src/new": 21},
    }
    assert len(grown(allowed, more)) == 4
