"""Remote runs that went wrong: packets and TCP segments dropped, doubled, moved, cut, changed."""

import struct
from dataclasses import replace
from functools import cache
from itertools import pairwise
from random import Random

from tests.formats.capture_files import (
    ACK,
    ETHERNET,
    FIN,
    NULL,
    PSH,
    RAW,
    RST,
    SYN,
    Tcp,
    frame,
    pcap,
    pcapng,
)
from tests.formats.rpc.rpc_cases import GRAMMARS, conversation
from tests.make.fuzz.files import Files
from tvmdbg_widgets.formats.rpc.grammar import Grammar
from tvmdbg_widgets.formats.rpc.streams import read_stream
from tvmdbg_widgets.sources.given import as_source

_FAR = (1, 100, 65_536, 2**20, 2**28, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1)
_NUMBERS = (0, 1, 255, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)


@cache
def _pieces(number: int) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return what each side sends: its handshake and its packets."""
    own = GRAMMARS[number]
    client, server = conversation(own)
    return _cut_up(client, own), _cut_up(server, own)


def _cut_up(stream: bytes, own: Grammar) -> tuple[bytes, ...]:
    start = 8 + int.from_bytes(stream[4:8], "little")
    read = read_stream(as_source(stream), own, start=start)
    cuts = [start, *(read.offsets + read.sizes).tolist()]
    return (stream[:start], *(stream[a:b] for a, b in pairwise(cuts)))


def session(random: Random) -> Files:
    """Return both directions of a remote run as streams or as a capture, with changes."""
    sides = [list(side) for side in _pieces(random.randrange(len(GRAMMARS)))]
    if random.random() < 0.2:  # a long one
        times = random.choice((10, 10, 100))
        sides = [side[:2] + side[2:-1] * times + side[-1:] for side in sides]
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        _change_packets(random.choice(sides), random)
    if random.random() < 0.35:
        named = {"client.bin": b"".join(sides[0]), "server.bin": b"".join(sides[1])}
        if random.random() < 0.2:
            del named[random.choice(list(named))]
        opener = random.choice(("open", "open_rpc"))
        return Files("changed RPC streams", named, opener=opener)
    return Files("changed capture", {"run.pcap": _captured(sides, random)})


def _change_packets(packets: list[bytes], random: Random) -> None:
    if not packets:
        return
    at, other = random.randrange(len(packets)), random.randrange(len(packets))
    match random.choice(("drop", "double", "swap", "cut", "flip", *("number",) * 3)):
        case "drop":
            del packets[at]
        case "double":
            packets[at:at] = [packets[other]] * random.choice((1, 3, 1000))
        case "swap":
            packets[at], packets[other] = packets[other], packets[at]
        case "cut":
            packets[at] = packets[at][: random.randrange(len(packets[at]) + 1)]
        case "number":
            # The length of a packet, its code, or any number in it.
            any_place = random.randrange(len(packets[at]) + 1) & ~3
            numbers = ((0, "<Q"), (0, "<I"), (8, "<I"), (any_place, "<I"), (any_place, "<Q"))
            packets[at] = _with_number(packets[at], *random.choice(numbers), random)
        case "flip":
            changed = bytearray(packets[at])
            for _ in range(random.choice((1, 4)) if changed else 0):
                changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
            packets[at] = bytes(changed)


def _with_number(packet: bytes, place: int, code: str, random: Random) -> bytes:
    size = struct.calcsize(code)
    if len(packet) < place + size:
        return packet
    (old,) = struct.unpack_from(code, packet, place)
    new = random.choice((*_NUMBERS, old + 1, old - 1, old * 2, old + 8, old * 1000))
    return packet[:place] + struct.pack(code, new % 256**size) + packet[place + size :]


def _captured(sides: list[list[bytes]], random: Random) -> bytes:
    """The packets in TCP segments, as a capture file that may have lost or changed some."""
    first = [random.choice((1000, 2**31 - 100, 2**32 - 50)), 5000]
    ends = (("10.0.0.1", 40000), ("10.0.0.2", 9090))
    at = [first[0] + 1, first[1] + 1]
    segments = [
        Tcp(sequence=first[0], flags=SYN, source=ends[0], destination=ends[1]),
        Tcp(sequence=first[1], flags=SYN | ACK, source=ends[1], destination=ends[0]),
    ]
    most = random.choice((20, 100, 1460, 60_000))
    for turn in range(max(map(len, sides))):
        for side in (0, 1):
            packet = sides[side][turn] if turn < len(sides[side]) else b""
            for start in range(0, len(packet), most):
                part = packet[start : start + most]
                own, to = ends[side], ends[1 - side]
                segments.append(Tcp(part, at[side], PSH | ACK, source=own, destination=to))
                at[side] += len(part)
    for _ in range(random.choice((0, 1, 2, 5))):
        _change_segments(segments, random)
    link = random.choice((ETHERNET, RAW, NULL))
    frames = [frame(each.ip(), link) for each in segments]
    if frames and random.random() < 0.2:
        number = random.randrange(len(frames))
        frames[number] = frames[number][: random.randrange(len(frames[number]) + 1)]
    times = sorted(random.randrange(10**18) for _ in frames) if random.random() < 0.2 else None
    return (pcap if random.random() < 0.5 else pcapng)(frames, link, times=times)


def _change_segments(segments: list[Tcp], random: Random) -> None:
    if not segments:
        return
    at, other = random.randrange(len(segments)), random.randrange(len(segments))
    one = segments[at]
    match random.choice(("far", "far", "drop", "double", "swap", "overlap", "flags", "total")):
        case "far":
            moved = random.choice(_FAR) * random.choice((1, -1))
            last = at + random.choice((1, 1, 5, 10**6))
            segments[at:last] = [
                replace(each, sequence=each.sequence + moved) for each in segments[at:last]
            ]
        case "drop":
            del segments[at : at + random.choice((1, 1, 3, 20))]
        case "double":
            segments.insert(other, one)
        case "swap":
            segments[at], segments[other] = segments[other], one
        case "overlap":
            back = random.choice((1, 7, 100))
            changed = random.randbytes(back) + one.payload
            segments.insert(other, replace(one, payload=changed, sequence=one.sequence - back))
        case "flags":
            segments[at] = replace(one, flags=random.choice((SYN, FIN | ACK, RST, 0, 63)))
        case "total":
            segments[at] = replace(one, total=random.choice((0, 20, 40, 65_535)))
