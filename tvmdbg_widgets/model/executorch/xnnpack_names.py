"""Names that XNNPACK gives its operators in profiles: their parts, what those say, their family.

``Fully Connected (NC, F32) GEMM #1``: operator, layout and types, kernel, number
(``src/operator-utils.c``, ``src/xnnpack/operator-type-defs.inc`` and ``microkernel-type-defs.inc``
of google/XNNPACK).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tvmdbg_widgets.model.graph.operator_names import family_by_name

_FAMILY_OF: Final = family_by_name("xnnpack")
#: The same for the types of nodes in a payload.
_FAMILY_OF_TYPE: Final = family_by_name("xnnpack_nodes")
_SPELLED: Final = re.compile(
    r"(?P<base>[^()#]+?)(?: \((?P<types>[^()#]+)\)(?: (?P<kernel>[^()#]+))?)?(?: #(?P<k>\d{1,9}))?"
)
_TYPES: Final = re.compile(r"[A-Z0-9]+(?:, [A-Z0-9]+)*")

_LAYOUTS: Final = {
    "NC": "rows of channels: all dimensions but the last taken as one",
    "ND": "any number of dimensions",
    "NHWC": "batch, height, width, channels: channels are innermost",
    "NCHW": "batch, channels, height, width: channels are outside of the image",
    "NWC": "batch, width, channels",
    "NCW": "batch, channels, width",
    "CN": "channels, then rows",
    "NTHC": "batch, tokens, heads, channels",
    "NHTC": "batch, heads, tokens, channels",
    "NCHW2NHWC": "reads channels first, writes channels last",
}
_CPU: Final = "; which of QD8, QDU8 and QP8 is the CPU's choice"
_DTYPES: Final = {
    "F32": "32-bit floats",
    "F16": "16-bit floats",
    "BF16": "bfloat16",
    "BF16_F32": "bfloat16 in, 32-bit floats out",
    "PF32": "32-bit floats, packed for the kernel at run time; the CPU's choice",
    "PF16": "16-bit floats, packed for the kernel at run time; the CPU's choice",
    "QS8": "signed 8-bit integers with a scale and a zero point for the whole tensor",
    "QU8": "unsigned 8-bit integers with a scale and a zero point for the whole tensor",
    "PQS8": "signed 8-bit integers, packed for the kernel at run time; the CPU's choice",
    "QC8": "signed 8-bit integers, weights with a scale per output channel",
    "QC8W": "8-bit weights with a scale per output channel",
    "QC4W": "4-bit weights with a scale per output channel",
    "QC2W": "2-bit weights with a scale per output channel",
    "QB4W": "4-bit weights with a scale per block",
    "QD8": f"activations quantized to signed 8 bits at run time{_CPU}",
    "QDU8": f"activations quantized to unsigned 8 bits at run time{_CPU}",
    "QP8": f"activations quantized to 8 bits and packed at run time{_CPU}",
    "S8": "signed 8-bit integers",
    "U8": "unsigned 8-bit integers",
    "S32": "signed 32-bit integers",
    "U32": "unsigned 32-bit integers",
    **{f"X{bits}": f"moves elements of {bits} bits, of whatever type" for bits in (8, 16, 32, 64)},
}
_KERNELS: Final = {
    "GEMM": "matrix multiplication",
    "IGEMM": "indirect matrix multiplication: a convolution that reads its input by pointers, "
    "without im2col",
    "DWConv": "direct depthwise convolution",
    "KAI DWConv": "direct depthwise convolution of Arm's KleidiAI",
    "VMulCAddC": "multiply and add per channel: a depthwise 1×1 convolution",
    "SPMM": "multiplication by a sparse matrix",
    "Conv2D HWC2CHW": "direct convolution that reads channels last and writes channels first",
    "Subconv2D": "transposed convolution as one convolution per output phase",
    "Average Pooling": "pooling by sums",
    "Pixelwise Average Pooling": "pooling by sums with a divisor per pixel, for padded inputs",
    "Global Average Pooling": "mean over all pixels",
    "Mean": "mean over dimensions",
    "Reduce": "reduction over dimensions",
    "Reduce2": "reduction over dimensions, newer kernels",
    "Transpose": "transposition by tiles",
}


class NameParts(NamedTuple):
    """Parts of a name; ``k`` counts the operators of this name in one call."""

    base: str
    types: tuple[str, ...]
    kernel: str
    k: int | None


def split_name(name: str) -> NameParts:
    """Return the parts of an operator's name; one that is not XNNPACK's is a base alone."""
    found = _SPELLED.fullmatch(name)
    if found is None:
        return NameParts(name, (), "", None)
    types = tuple(found["types"].split(", ")) if found["types"] else ()
    k = int(found["k"]) if found["k"] else None
    return NameParts(found["base"], types, found["kernel"] or "", k)


def explain_name(name: str) -> tuple[tuple[str, str], ...]:
    """Return each part of a name behind the operator, with what it says, where that is known."""
    parts = split_name(name)
    known = {**_LAYOUTS, **_DTYPES}
    told = [(part, known[part]) for part in parts.types if part in known]
    if parts.kernel in _KERNELS:
        told.append((parts.kernel, _KERNELS[parts.kernel]))
    return tuple(told)


def xnnpack_family(name: str) -> str | None:
    """Return the family of an operator in a profile or payload of XNNPACK, None if it is none."""
    if name in _FAMILY_OF_TYPE:
        return _FAMILY_OF_TYPE[name]
    parts = split_name(name)
    if parts.k is None or not _TYPES.fullmatch(", ".join(parts.types)):
        return None
    return _FAMILY_OF.get(parts.base)
