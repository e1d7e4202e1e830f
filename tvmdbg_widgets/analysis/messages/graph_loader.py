"""What the graph executor says of a graph JSON that it does not take.

src/runtime/graph_executor/graph_executor.{h,cc} @ v0.19.0; v0.5 to v0.7 the same with ``CHECK``.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_SOURCE = "src/runtime/graph_executor/graph_executor.h @ v0.19.0"
_VERSIONS = "v0.5 to v0.19"
_CHECK = "tvmdbg check graph.json"
_OWN = (
    (
        "Pass the graph itself (lib.get_graph_json()), not the debugger's "
        "_tvmdbg_graph_dump.json, which no executor takes."
    ),
    _CHECK,
)

MESSAGES = (
    KnownMessage(
        "graph-top-key-missing",
        "Check failed: bitmask == 1 | 2 | 4 | 8 | 16 …: invalid format",
        "bitmask",
        r"bitmask == \(?\s*1 ?\| ?2 ?\| ?4 ?\| ?8 ?\| ?16",
        _VERSIONS,
        "One of nodes, arg_nodes, heads, node_row_ptr and attrs is missing at the top of the graph "
        "JSON, or stands behind metadata, where the loader stops.",
        "Five bits (… | 16) are the top of the file; four (… | 8) the attributes of a node; three "
        "are a node, or the graph's attributes.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-node-attrs-missing",
        "Check failed: bitmask == 1 | 2 | 4 | 8 …: invalid format",
        "bitmask",
        r"bitmask == \(?\s*1 ?\| ?2 ?\| ?4 ?\| ?8\s*\)?(?! ?\| ?16)",
        _VERSIONS,
        "The attrs of a node lack one of func_name, num_inputs, num_outputs and flatten_data.",
        "Five bits would be the top of the file, three a node or the graph's attributes.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-node-incomplete",
        "Check failed: bitmask == 1 | 2 | 4 …: invalid format",
        "bitmask",
        r"bitmask == \(?\s*1 ?\| ?2 ?\| ?4\s*\)?(?! ?\| ?8)",
        _VERSIONS,
        "A node lacks op, name or inputs, or the graph's attrs lack shape, dltype or storage_id: "
        "both checks have the same text.",
        "The line number of the file in the message tells which: nodes are loaded before attrs.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-unknown-top-key",
        "key … is not supported",
        " is not supported",
        r"(?:(?<=:)|(?<=: )|\b(?=key[\s]))key (?P<key>[\w.-]{1,80}) is not supported",
        _VERSIONS,
        "The graph JSON has a key at its top that the loader does not know. v0.5 does not know "
        "metadata.",
        "'do not support key …' is about a node.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-unknown-node-key",
        "do not support key …",
        "do not support key ",
        r"do not support key(?!words?\b|s\b|boards?\b) (?P<key>[\w.-]{1,80})",
        _VERSIONS,
        "A node has a key that the loader does not know. The debugger's own dump has shape in "
        "every node: it was passed in place of the graph.",
        "'key … is not supported' is about the top of the file.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-invalid-entry",
        "invalid json format",
        "invalid json format",
        r"invalid json format",
        _VERSIONS,
        "An entry [node, index, version] has fewer than two numbers, or more than three.",
        "The debugger's dump has names there in place of numbers, which fails earlier.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-wrong-type-tag",
        'Check failed: type == "list_int" …',
        'type == "list_',
        r'type == "(?P<type>list_(?:int|str|shape))"',
        _VERSIONS,
        "An attribute of the graph has another type tag than the loader expects, such as "
        "storage_id without list_int.",
        "It says no text; the condition names the tag.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-unknown-attr",
        "cannot skip graph attr …",
        "cannot skip graph attr ",
        r"cannot skip graph attr (?P<key>[\w.-]{1,80})",
        _VERSIONS,
        "The graph's attrs have one that the loader does not know, of a type that it cannot skip: "
        "only list_int and size_t can be.",
        "A file of a newer release, or of another tool.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-wrong-op",
        "Can only take tvm_op as op",
        "Can only take tvm_op as op",
        r"Can only take tvm_op as op",
        _VERSIONS,
        "A node's op is neither null nor tvm_op. The debugger's dump has func_name there.",
        "The file loads, and setting up the executor fails.",
        _OWN,
        _SOURCE,
    ),
    KnownMessage(
        "graph-no-function",
        "no such function in module: …",
        "no such function in module: ",
        r"no such function in module: (?P<function>[\w.]{1,200})",
        _VERSIONS,
        "The module has no function of the name that a node calls: graph and library are of "
        "different builds, or a module was not imported.",
        "Names begin with tvmgen_default_ from v0.8 on, so that graphs and libraries of older and "
        "newer builds do not fit.",
        ("module.get_function(name, True)", "tvmdbg table graph.json"),
        _SOURCE,
    ),
    KnownMessage(
        "graph-pool-devices",
        "The same pool entry cannot be assigned to multiple devices",
        "The same pool entry cannot be assigned",
        r"The same pool entry cannot be assigned to multiple devices",
        _VERSIONS,
        "One storage_id is used for entries on two device types.",
        "The memory planner does not write that: the graph was changed by hand.",
        ("tvmdbg memory graph.json", _CHECK),
        _SOURCE,
    ),
    KnownMessage(
        "graph-texture-dtype",
        "… pool entry for 2d texure allocations must be of the same type; …",
        "2d texure allocations",
        r"2d texure allocations must be of the same type",
        "v0.10 to v0.19",
        "Entries of different dtypes share a storage_id in a texture scope.",
        "'texure' is TVM's own spelling.",
        ("tvmdbg memory graph.json",),
        _SOURCE,
    ),
    KnownMessage(
        "array-copy-size",
        "Check failed: from_size == to_size (…): TVMArrayCopyFromTo: The size must exactly match",
        "must exactly match",
        r"(?:from_size == to_size\)?(?: \((?P<from>\d{1,20}) vs\. (?P<to>\d{1,20})\))?"
        r"(?: is false)? ?: )?\w{0,40}CopyFromTo: The size (?:in bytes )?must exactly match",
        "all",
        "An array was copied to one of another number of bytes: an input has another shape or "
        "dtype than the graph expects, or an output goes into an array of another size.",
        "The two numbers are bytes. A factor of 2, 4 or 8 is a dtype (float64 for float32), any "
        "other a shape. set_input is the usual place; the message does not name the input.",
        (
            "print(array.dtype, array.shape)",
            "tvmdbg table graph.json  (dtypes and shapes of the inputs)",
        ),
        "src/runtime/ndarray.cc @ v0.5 to v0.21; src/runtime/tensor.cc @ v0.25 and v0.27, with "
        "'in bytes'",
    ),
    KnownMessage(
        "module-loader-missing",
        "Binary was created using {…} but a loader of that name is not registered.",
        "oader of",
        r"inary was created using \{?(?P<loader>[\w.]{1,80})\}? but a loader of that name is not "
        r"registered|Loader of (?P<older>[\w.]{1,80})\([\w.]{1,120}\) is not presented",
        "all",
        "A library holds a module of a kind that this runtime cannot load: it is of another "
        "release, or was built without it.",
        "GraphRuntimeFactory became GraphExecutorFactory in v0.8, relax.Executable became "
        "relax.VMExecutable in v0.20: build the model anew. Others, such as cuda or metal, are "
        "options of the build.",
        ("build model and runtime with one release", "print(tvm.__version__)"),
        "src/runtime/library_module.cc @ v0.8; src/ffi/extra/library_module.cc @ tvm-ffi 0.1.15; "
        "apache/tvm issue 638 for 'Loader of … is not presented'",
    ),
)
