"""What RPC clients and servers say.

src/runtime/rpc/rpc_session.cc @ v0.6, src/runtime/rpc/rpc_endpoint.cc and rpc_socket_impl.cc
@ v0.7 to v0.26, src/runtime/minrpc/rpc_reference.h.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_ENDPOINT = "src/runtime/rpc/rpc_endpoint.cc @ v0.7"
_REFERENCE = "src/runtime/minrpc/rpc_reference.h @ v0.8"
_CAPTURE = (
    "tcpdump -i lo -s 0 -w session.pcap 'tcp port 9090'  (before the client connects)",
    "tvmdbg rpc session.pcap  (where the two sides lose each other)",
)

MESSAGES = (
    KnownMessage(
        "rpc-protocol-version",
        "Client protocol version mismatch with the server  server protocol=…, client protocol=…",
        "protocol version mismatch",
        r"protocol version mismatch with the server\s{0,4}server protocol=(?P<server>[\w.]{1,20})",
        "v0.7 and later",
        "Client and server are of releases whose packets differ: 0.7.0 is TVM v0.7, 0.8.0 all "
        "later ones.",
        "Equal versions do not mean equal packets: the sequences changed in v0.21 under the same "
        "0.8.0, and a changed DLDataType is not seen at all.",
        ("install one release on both sides",),
        _ENDPOINT,
    ),
    KnownMessage(
        "rpc-not-a-server",
        "URL …:… is not TVM RPC server",
        "is not TVM RPC server",
        r"is not TVM RPC server",
        "all",
        "Something else answers at this port, such as a tracker (which has another magic number) "
        "or a web server.",
        "A tracker is asked with tvm.rpc.connect_tracker, a server with tvm.rpc.connect.",
        ("look what listens there: ss -ltnp",),
        "src/runtime/rpc/rpc_socket_impl.cc @ v0.7",
    ),
    KnownMessage(
        "rpc-no-match",
        "URL …:… cannot find server that matches key=…",
        "cannot find server that matches key",
        r"cannot find server that matches key=?(?P<key>[\w:. -]{0,80})",
        "all",
        "The server runs under another key than the client asks for.",
        "The answer code is the magic number + 2; + 1 is a key that is in use already.",
        ("tvm.rpc.connect(host, port, key=…)", "python -m tvm.exec.rpc_server --key=…"),
        "src/runtime/rpc/rpc_socket_impl.cc @ v0.7",
    ),
    KnownMessage(
        "rpc-duplicate-key",
        "URL …:… server already have key=…",
        "server already have key",
        r"server already have key=?(?P<key>[\w:. -]{0,80})",
        "all",
        "Another server is registered at the proxy under this key.",
        "The answer code is the magic number + 1.",
        ("give each server a key of its own",),
        "src/runtime/rpc/rpc_socket_impl.cc @ v0.7",
    ),
    KnownMessage(
        "rpc-pending-bytes",
        "Check failed: size <= pending_request_bytes_",
        "pending_request_bytes_",
        r"(?:size <= pending_request_bytes_|pending_request_bytes_ == 0U?)"
        r"(?: \((?P<read>\d{1,20}) vs\. (?P<left>\d{1,20})\))?",
        "all",
        "A packet was read beyond its end, or has bytes left over: the two sides do not agree how "
        "it is written. Different releases, or different layouts of DLDataType: TVM's padding "
        "behind a data type that was kept on one side is 4 bytes too many.",
        "'Channel closes before we get …' comes where the other side stopped; this where it goes "
        "on.",
        _CAPTURE,
        "src/runtime/rpc/rpc_session.cc @ v0.6, " + _ENDPOINT,
        layout=True,
    ),
    KnownMessage(
        "rpc-channel-closed",
        "Channel closes before we get neded bytes",
        "Channel closes before we get",
        r"Channel closes before we get nee?ded bytes",
        "all",
        "The connection ended within a packet: the other side crashed or was stopped, a timeout "
        "ended the session, or a length was read from the wrong place and so many bytes never "
        "come.",
        "Look at the other side's own output first: it says what happened there. If it goes on "
        "waiting too, the two disagree about the packets.",
        ("look at the server's console", *_CAPTURE),
        _ENDPOINT,
        layout=True,
    ),
    KnownMessage(
        "rpc-unknown-type",
        "RPC cannot handle type …",
        "RPC cannot handle type ",
        r"RPC cannot handle type (?P<type>[\w*()]{1,60})",
        "v0.5, v0.6",
        "An argument, or what a function returned, has a type that cannot be sent.",
        "Sent, not received: where a side reads an unknown type, it lost its place before.",
        ("pass numbers, texts, bytes, arrays of this session, functions or modules of it",),
        "src/runtime/rpc/rpc_session.cc @ v0.6",
    ),
    KnownMessage(
        "rpc-strided",
        "Do not support strided remote array",
        "strided remote array",
        r"Do not support strided remote array",
        "v0.5, v0.6",
        "An array that is not compact was passed to a remote function.",
        "kInvalidDLTensorFieldStride says the same from v0.7 on.",
        ("pass a compact copy",),
        "src/runtime/rpc/rpc_session.cc @ v0.6",
    ),
    KnownMessage(
        "rpc-byte-offset",
        "Do not support send byte offset",
        "Do not support send byte offset",
        r"Do not support send byte offset",
        "v0.5, v0.6",
        "An array that begins within its memory was passed to a remote function.",
        "v0.7 says kInvalidDLTensorFieldByteOffset; from v0.8 on the offset is sent.",
        ("pass a copy",),
        "src/runtime/rpc/rpc_session.cc @ v0.6",
    ),
    KnownMessage(
        "rpc-other-session",
        "Can not pass in local device, … device with a different remote session",
        "Can not pass in ",
        r"Can not pass in (?:local (?:context|device)|(?:context|device) with a different remote)",
        "all",
        "An array of this computer, or of another session, was passed to a remote function.",
        "Remote devices have type + 128 × (session + 1).",
        ("tvm.nd.array(values, device=remote.cpu(0))  (v0.22 and later: tvm.runtime.tensor)",),
        "src/runtime/rpc/rpc_session.cc @ v0.6, rpc_module.cc @ v0.7 and later",
    ),
    KnownMessage(
        "rpc-no-return",
        "Check failed: (code == RPCCode::kReturn) is false: code=kShutdown",
        "RPCCode::kReturn",
        r"code == RPCCode::kReturn\)?(?: is false)?\s{0,4}:?\s{0,4}code ?= ?(?P<code>\w{1,30})",
        "all",
        "The server ended instead of answering: it crashed in this call, or session_timeout was "
        "over and it was stopped. Or the answer was read from the wrong place.",
        "kShutdown, or 1 (4 up to v0.6), is the end of the connection: the server's console says "
        "why. Another code means that the two sides disagree about the packets.",
        ("look at the server's console", "rpc.connect(…, session_timeout=600)", *_CAPTURE),
        _ENDPOINT,
        layout=True,
    ),
    KnownMessage(
        "rpc-server-ended",
        "RuntimeError: Child process … exited unsuccessfully with error code …",
        "exited unsuccessfully with error code",
        r"Child process \d{1,10} exited unsuccessfully with error code (?P<status>-?\d{1,6})",
        "v0.25 at least",
        "The server's process for one session crashed; the server itself goes on.",
        "What stands above it in the server's console is the reason. Negative numbers are signals: "
        "-11 is a segmentation fault.",
        ("look at the lines above it",),
        "python/tvm/rpc/server.py @ v0.25",
    ),
    KnownMessage(
        "rpc-cannot-connect",
        "Check failed: sock.Connect(addr): Connect to …:… failed",
        "Connect to ",
        r"sock\.Connect\(addr\)\)?(?: is false)?\s{0,4}:?\s{0,4}Connect to "
        r"(?P<address>[\w.:\[\]-]{1,100}) failed",
        "all",
        "Nothing listens at this address, or a firewall is between.",
        "A server that is no TVM server says 'is not TVM RPC server'.",
        ("ss -ltnp  (on the server)",),
        "src/runtime/rpc/rpc_socket_impl.cc @ v0.7",
    ),
    KnownMessage(
        "rpc-send-error",
        "Socket SockChannel::Send Error:Broken pipe",
        "SockChannel::",
        r"SockChannel::(?P<way>Send|Recv) Error: ?(?P<reason>[\w ]{1,60})",
        "all",
        "The connection was gone when the next packet was to be sent or read: the server had ended "
        "before.",
        "The first error of the session says why; this one only follows.",
        ("look at the server's console",),
        "src/runtime/rpc/rpc_socket_impl.cc @ v0.7 and later",
    ),
    KnownMessage(
        "rpc-cannot-pass",
        "ValueError: Cannot pass argument 0, type … (type_index = …)",
        "Cannot pass argument ",
        r"Cannot pass argument (?P<index>\d{1,4}), type (?P<type>[\w.*]{1,80})",
        "v0.25 at least",
        "An argument has a type that cannot be sent.",
        "Up to v0.6 it reads 'RPC cannot handle type …'.",
        ("pass numbers, texts, bytes, arrays of this session, functions or modules of it",),
        "run: apache-tvm 0.25.0.post1",
    ),
    KnownMessage(
        "rpc-server-invalid",
        "kInvalidTypeCodeNDArray, kInvalidDLTensorFieldStride, …",
        "kInvalid",
        r"(?<!::)\b(?P<status>kInvalidTypeCodeObject|kInvalidTypeCodeNDArray|kInvalidDLTensorFieldStride"
        r"|kInvalidDLTensorFieldByteOffset)\b",
        "v0.7 and later",
        "The other side was asked to take a value that cannot be sent: an object, an array of this "
        "computer, strides, or in v0.7 a byte offset.",
        "kUnknown… means instead that a side lost its place in the packets.",
        ("look at the arguments of this call", "pass a compact copy on the remote device"),
        _REFERENCE,
    ),
    KnownMessage(
        "rpc-server-unknown",
        "kUnknownTypeCode, kUnknownRPCCode, kUnknownRPCSyscall",
        "kUnknown",
        r"(?<!::)\b(?P<status>kUnknownTypeCode|kUnknownRPCCode|kUnknownRPCSyscall)\b",
        "v0.7 and later",
        "A packet has a code that no release has: the receiver lost its place before, because the "
        "two sides disagree about how packets are written.",
        "Look at the packet before this one. Equal protocol versions do not mean equal packets.",
        _CAPTURE,
        _REFERENCE,
        layout=True,
    ),
)
