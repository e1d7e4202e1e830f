import pytest
from formats.tvm.params.params_truth import DATA
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.formats.tvm.params.record import OutputKey, parse_key

names = st.text(max_size=20) | st.sampled_from(["", "a____3", "x_0__1.5", "____topo-index:1", "\n"])


@given(names, st.integers(0, 99), st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_v05_keys(name: str, output: int, order: float) -> None:
    key = parse_key(f"{name}_{output}__{order}")
    assert key == OutputKey(name, None, output, order, "v0.5")


@pytest.mark.parametrize(("version", "lost"), [("0.6", set()), ("0.8", {"same"}), ("0.19", set())])
def test_odd_names_are_read_from_keys(version: str, lost: set[str]) -> None:
    expected = ["data____0/in put", "same", "same", '卷积/层:0 "q" <b>', ""]
    expected.append("same____topo-index:1____output-num:0")
    keys = read_params(DATA / "dumps" / f"odd_names_v{version}.params").keys
    found = [parse_key(key).name for key in keys]
    assert sorted([*found, *lost]) == sorted(expected)
