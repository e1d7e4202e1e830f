"""What the samples show is what they showed: figures, tables, pages, answers, the command line."""

import importlib.util
import json

import pytest

from tests.make.goldens import DIGESTS, digests

KNOWN: dict[str, dict[str, str]] = json.loads(DIGESTS.read_text("utf-8"))
HOW = (
    "shows something else. See what, with goldens of before and after (python -m "
    "tests.make.goldens OUT --only samples/, then --compare A B); where it is meant: --digests"
)


@pytest.mark.skipif(importlib.util.find_spec("quickjs") is None, reason="figures need quickjs")
@pytest.mark.parametrize("name", KNOWN)
def test_sample_output_matches_golden_digests(name: str) -> None:
    found = digests(name)
    differing = sorted(
        each for each in {*KNOWN[name], *found} if KNOWN[name].get(each) != found.get(each)
    )
    assert not differing, f"{name} {HOW}:\n" + "\n".join(differing)
