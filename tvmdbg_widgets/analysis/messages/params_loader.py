"""What TVM says of parameter files that it does not take.

src/runtime/file_utils.cc, include/tvm/runtime/ndarray.h (tensor.h from v0.22 on).
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_CONVERT = "tvmdbg convert in.params -o out.params --dtype-layout narrow"

MESSAGES = (
    KnownMessage(
        "params-list",
        "Invalid parameters file format",
        "Invalid parameters file format",
        r"Invalid parameters file format",
        "all",
        "The list around the arrays cannot be read: another kind of file (npz, safetensors, "
        "pickle, a whole library), a file that was cut off, or names and arrays that are not equal "
        "in number.",
        "'Invalid DLTensor file format' comes from an array, where the list itself is read well.",
        ("tvmdbg.load_params(path)  (names the field and the offset)",),
        "src/runtime/file_utils.cc @ v0.5 to v0.26",
    ),
    KnownMessage(
        "params-array",
        "Invalid DLTensor file format",
        "Invalid DLTensor file format",
        r"Invalid DLTensor file format",
        "all",
        "An array of the file cannot be read: it is cut off or damaged, or was written with "
        "another layout of DLDataType, which moves everything behind the dtype.",
        "The list before the arrays is OK. With another layout every array is off by as many "
        "bytes as the layouts differ; in a damaged file some arrays are OK. A file that ends "
        "within the data of its last array is loaded without an error by v0.25: the values that "
        "are missing are wrong.",
        (
            "tvmdbg.load_params(path)  (tells narrow from wide, and where it is damaged)",
            _CONVERT,
        ),
        "include/tvm/runtime/ndarray.h @ v0.5 to v0.21",
        layout=True,
    ),
    KnownMessage(
        "params-device",
        "Invalid DLTensor device: can only save as CPU tensor",
        "can only save as CPU tensor",
        r"Invalid DLTensor device: can only save as CPU tensor",
        "all",
        "The file says that an array is on another device than the CPU: TVM never writes that.",
        "A damaged file, or one of another tool.",
        ("tvmdbg.load_params(path)",),
        "include/tvm/runtime/ndarray.h @ v0.5 to v0.21",
    ),
    KnownMessage(
        "params-unknown-name",
        "Found param for non-existent input: …",
        "Found param for non-existent input",
        r"Found param for non-existent input(?:: (?P<name>[\w.:/-]{1,200}))?",
        "v0.5, v0.6",
        "The file has an array whose name is no input of the graph: graph and params are of "
        "different builds.",
        "From v0.7 on such arrays are left out without a word: a wrong file then loads, and the "
        "results are wrong.",
        ("set(tvmdbg.load_params(path)) - set(run.graph.names)",),
        "src/runtime/graph/graph_runtime.cc @ v0.6",
    ),
    KnownMessage(
        "params-shard",
        "Encountered an corrupted parameter shard…",
        "corrupted parameter shard",
        r"corrupted parameter shard",
        "v0.16 and later",
        "A shard of a tensor cache has another number of bytes than its index says: it was cut off "
        "while it was downloaded, or is a Git LFS pointer.",
        "The index itself is OK.",
        ("tvmdbg.load_params(folder, verify=True)  (compares the md5sums)",),
        "src/runtime/vm/tensor_cache_support.cc",
    ),
)
