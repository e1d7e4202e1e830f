"""What ExecuTorch's Inspector answered for a case, and ours in the same form."""

import json
import math
import warnings
from typing import Any

import numpy as np

from tests.executorch_cases import CASES, answers, case_dir
from tests.formats.executorch.case_files import arrays_of
from tvmdbg_widgets.run.executorch.inspector import Inspector

#: Cases that the Inspector opens.
OPENED = tuple(case for case in CASES if "__error__" not in answers(case)["inspector"])
#: What the Inspector is given in each variant that was recorded, with a target unit.
VARIANTS: dict[str, dict[str, Any]] = {
    "no_etrecord_no_buffer": {},
    "no_etrecord_with_buffer": {"buffer": True},
    "etrecord_no_buffer": {"record": True},
    "scale_ns_us": {"source_time_scale": "ns", "target_time_scale": "us"},
    "scale_us_s": {"source_time_scale": "us", "target_time_scale": "s"},
}
#: flatc writes doubles with 12 digits after the point, so the Inspector reads 0.0 here.
ROUNDED = {("09a_all_values", "double"): 1e-300}


def parse_dict(given: list[bytes | str]) -> dict[str, Any]:
    found: dict[str, Any] = {"count": len(given)}
    for at, each in enumerate(given):
        assert isinstance(each, bytes)
        try:
            found[f"m{at}"] = json.loads(each)
        except ValueError:
            found[f"m{at}"] = each.hex()
    return found


def parse_list(given: list[bytes | str]) -> list[str]:
    return [f"bytes:{each.hex()}" for each in given if isinstance(each, bytes)]


def opened(
    case: str, *, compat: bool = True, record: bool = True, buffer: bool = True, **given: Any
) -> Inspector:
    folder, files = case_dir(case), answers(case)["files"]
    parsers: dict[str, Any] = {"gen_demo.parse_json_or_hex (returns dict)": parse_dict}
    parsers["gen_demo.parse_list (returns list of str)"] = parse_list
    parser = parsers.get(answers(case)["delegate_metadata_parser"])
    given.setdefault("delegate_metadata_parser", parser)
    if record and files["etrecord"]:
        given["etrecord"] = str(folder / "etrecord.bin")
    if buffer and files["debug_buffer"]:
        given["debug_buffer_path"] = folder / "debug_buffer.bin"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Inspector(folder / "etdump.etdp", compat=compat, **given)


def plain(value: Any) -> Any:
    """Return a value as the answers have it; arrays by their shape and type."""
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "dtype": f"torch.{value.dtype}"}
    if isinstance(value, bytes):
        return {"__bytes_hex__": value.hex()}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def check_values(case: str, found: list[Any], told: list[Any]) -> None:
    """Check logged values: type, shape and, where they were recorded, every bit."""
    for one, other in zip(found, told, strict=True):
        if isinstance(other, list):
            check_values(case, one, other)
        elif "npz" in other:
            assert plain(one) == {key: other[key] for key in ("shape", "dtype")}
            recorded = (case_dir(case) / "inspector_tensors.npz").exists()
            if recorded and other["npz"] in arrays_of(case):
                assert one.tobytes() == arrays_of(case)[other["npz"]].tobytes()
        else:
            assert (one, type(one).__name__) == (other["value"], other["pytype"])
