#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# attack.py - users and hosts that are no friends, for stories.
#
#	attack.py ask SOCKET KEY=VALUE...            one request as it is given; prints code and text of its answer
#	attack.py raw SOCKET < BYTES                 any bytes, then what came back
#	attack.py many SOCKET N SECONDS WHAT         N connections that do WHAT (a function do_WHAT below) for so long
#	attack.py times SOCKET N                     p50, p99 and the longest of N `status` of the server, in ms
#	attack.py records FILE RECORD...             OP:ID:BYTES[*N], what a host sends in one message of client-relay
#
# Values: digits are a number, `@N` N bytes, `[` an empty list, `%XX` a byte. A record's BYTES likewise; `open:USER` begins a request of
# USER with one byte more than 0, `ask:KEY=VALUE,...` is its body.
import os
import select
import socket
import struct
import sys
import time


def pack(v):
    if isinstance(v, bool):
        return b"\xc3" if v else b"\xc2"
    if v is None:
        return b"\xc0"
    if isinstance(v, int):
        return b"\xd3" + struct.pack(">q", v)
    if isinstance(v, str):
        v = v.encode("latin-1")
        return b"\xdb" + struct.pack(">I", len(v)) + v
    if isinstance(v, bytes):
        return b"\xc6" + struct.pack(">I", len(v)) + v
    if isinstance(v, list):
        return b"\xdd" + struct.pack(">I", len(v)) + b"".join(map(pack, v))
    return b"\xdf" + struct.pack(">I", len(v)) + b"".join(pack(k) + pack(x) for k, x in v.items())


def value(text):
    if text.isdigit():
        return int(text)
    if text.startswith("@"):
        return b"x" * int(text[1:])
    if text == "[":
        return []
    at = text.split("%")
    return at[0] + "".join(chr(int(t[:2], 16)) + t[2:] for t in at[1:])


def body(words):
    return pack(dict((w.split("=", 1)[0], value(w.split("=", 1)[1])) for w in words))


def frame(b, kind=1, corr=1):
    return struct.pack(">IHHQ", len(b), kind, 0, corr) + b


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(path)
    return s


def read_all(s, n):
    got = b""
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            raise EOFError
        got += more
    return got


def answer(s):
    """Type and body of the next frame."""
    n, kind, _, _ = struct.unpack(">IHHQ", read_all(s, 16))
    return kind, read_all(s, n)


def unpack(b, at=0):
    t = b[at]
    at += 1
    if t < 0x80:
        return t, at
    if t >= 0xe0:
        return t - 256, at
    if t & 0xf0 == 0x80 or t in (0xde, 0xdf):
        n, at = (t & 15, at) if t < 0x90 else (struct.unpack_from(">HI"[:2] if t == 0xde else ">I", b, at)[0], at + (2 if t == 0xde else 4))
        m = {}
        for _ in range(n):
            k, at = unpack(b, at)
            m[k], at = unpack(b, at)
        return m, at
    if t & 0xf0 == 0x90 or t in (0xdc, 0xdd):
        n, at = (t & 15, at) if t < 0xa0 else (struct.unpack_from(">H" if t == 0xdc else ">I", b, at)[0], at + (2 if t == 0xdc else 4))
        a = []
        for _ in range(n):
            x, at = unpack(b, at)
            a.append(x)
        return a, at
    if t & 0xe0 == 0xa0:
        return b[at:at + (t & 31)].decode("latin-1"), at + (t & 31)
    if t in (0xd9, 0xda, 0xdb, 0xc4, 0xc5, 0xc6):
        w = {0xd9: "B", 0xda: "H", 0xdb: "I", 0xc4: "B", 0xc5: "H", 0xc6: "I"}[t]
        n = struct.unpack_from(">" + w, b, at)[0]
        at += struct.calcsize(w)
        return b[at:at + n].decode("latin-1"), at + n
    if t in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[t], at
    w = {0xcc: "B", 0xcd: "H", 0xce: "I", 0xcf: "Q", 0xd0: "b", 0xd1: "h", 0xd2: "i", 0xd3: "q"}[t]
    return struct.unpack_from(">" + w, b, at)[0], at + struct.calcsize(w)


def reply(s):
    """The REPLY of the one request that was sent; parts are passed over."""
    while True:
        kind, b = answer(s)
        if kind == 2:
            return unpack(b)[0]
        if kind == 7:
            raise EOFError


def show(s):
    try:
        r = reply(s)
        print(r.get("code"), r.get("text", ""), *r.get("lines", []))
        return r.get("code")
    except (EOFError, ConnectionError):
        print("closed")
        return 1


# ---- a user --------------------------------------------------------------------------------------------------
def ask(path, *words):
    s = connect(path)
    s.settimeout(60)
    s.sendall(frame(body(words)))
    return show(s) != 0


def raw(path):
    s = connect(path)
    s.settimeout(60)
    try:
        s.sendall(sys.stdin.buffer.read())
    except ConnectionError:
        pass
    return show(s) != 0


STATUS = ["req=status", "class=server", "id=", "extend="]


def do_connect(s):
    time.sleep(1)


def do_status(s):
    for _ in range(64):
        s.sendall(frame(body(STATUS)))
    for _ in range(64):
        reply(s)


def do_unread(s):
    """Asks for long listings and reads nothing."""
    s.sendall(frame(body(["req=status", "class=job", "id=", "extend=t"])) * 4)
    time.sleep(1)


def do_trickle(s):
    """Reads as little as makes it no client that stands still."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.sendall(frame(body(["req=status", "class=job", "id=", "extend=t"])) * 4)
    for _ in range(100):
        s.recv(1024)
        time.sleep(0.2)


def do_half(s):
    s.sendall(frame(body(STATUS))[:-3])
    time.sleep(1)


def do_script(s):
    """A job that is refused at last: 16 MiB for nothing."""
    s.sendall(LONG)
    reply(s)


def do_break(s):
    s.sendall(memoryview(LONG)[:8 << 20])


def do_wait(s):
    s.sendall(frame(pack({"req": "wait", "id": os.environ["JOB"]})))
    time.sleep(1)


def do_pile(s):
    """1,000 requests on one connection, of which no answer is read."""
    s.sendall(b"".join(frame(pack({"req": "wait", "id": os.environ["JOB"], "more": b"x" * 2000}), 1, i) for i in range(1000)))
    time.sleep(1)


def do_long(s):
    """Lengths of 128 MiB, of which a little comes."""
    s.sendall(struct.pack(">IHHQ", 128 << 20, 1, 0, 1) + b"\xdf\x00\x00\x00\x01" + b"\x00" * 65536)
    time.sleep(1)


def do_unknown(s):
    for i in range(64):
        s.sendall(frame(pack({"req": "nothing%d" % i})))
    for i in range(64):
        reply(s)


def many(path, n, seconds, what):
    """Threads would share one interpreter: each of up to 8 processes has its part of the connections."""
    global LONG
    if what in ("script", "break"):  # once, for all
        LONG = frame(pack({"req": "submit", "attrs": [["Job_Name", None, " no name ", 0]], "script": b"#" * (16 << 20), "dest": ""}))
    until = time.monotonic() + float(seconds)
    n = int(n)
    parts = min(8, n)
    children = []
    for i in range(parts):
        child = os.fork()
        if child == 0:
            os._exit(many_here(path, n // parts, until, what))
        children.append(child)
    return any([os.waitpid(c, 0)[1] for c in children])


def many_here(path, n, until, what):
    import threading

    def one():
        while time.monotonic() < until:
            try:
                s = connect(path)
                s.settimeout(max(0.1, until - time.monotonic()))
                while time.monotonic() < until:
                    globals()["do_" + what](s)
                    if what == "break":
                        break
                s.close()
            except (OSError, EOFError):
                time.sleep(0.02)

    threads = [threading.Thread(target=one, daemon=True) for _ in range(n)]
    for t in threads:
        t.start()
    time.sleep(max(0, until - time.monotonic()))
    return 0


def times(path, n):
    took = []
    for _ in range(int(n)):
        begin = time.monotonic()
        s = connect(path)
        s.settimeout(120)
        s.sendall(frame(body(STATUS)))
        code = reply(s).get("code")
        if code != 0:
            raise SystemExit("code %s" % code)
        s.close()
        took.append((time.monotonic() - begin) * 1000)
        time.sleep(0.01)
    took.sort()
    print("p50 %.1f p99 %.1f longest %.1f ms" % (took[len(took) // 2], took[int(len(took) * 0.99)], took[-1]))
    return 0


# ---- a host --------------------------------------------------------------------------------------------------
OPS = {"open": 1, "data": 2, "leave": 3, "end": 4, "part": 5, "reply": 6, "refuse": 7, "again": 8, "waits": 9, "bye": 10, "taken": 11}
FIRST = 1 << 40  # the host's own requests have lower ids


def record(op, at, b):
    return struct.pack(">BQI", OPS.get(op) or int(op), at, len(b)) + b


def opening(length, user, group="", groups=""):
    return struct.pack(">I", length) + b"".join(t.encode("latin-1") + b"\0" for t in (user, group, groups))


def records(path, *words):
    """ask:USER:KEY=VALUE,...   open:USER:LENGTH   OP:N[:BYTES]; a `*N` before any: so often, with other ids."""
    out = []
    at = FIRST + int(os.environ.get("FROM", "0"))
    for w in words:
        n, w = (int(w[1:].split(":", 1)[0]), w.split(":", 1)[1]) if w.startswith("*") else (1, w)
        op, a, *rest = w.split(":", 2)
        for _ in range(n):
            if op == "ask":
                b = body(rest[0].split(","))
                at += 1
                out.append(record("open", at, opening(len(b), value(a))) + record("data", at, b))
            elif op == "open":
                at += 1
                out.append(record("open", at, opening(int(rest[0]), value(a))))
            else:
                v = value(rest[0]) if rest else b""
                v = struct.pack(">I", v) if isinstance(v, int) else v if isinstance(v, bytes) else v.encode("latin-1")
                out.append(record(op, FIRST + int(a), v))
    with open(path, "wb") as f:
        f.write(b"".join(out))
    return 0


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
