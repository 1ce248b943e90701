# SPDX-License-Identifier: Apache-2.0
#
# A frame whose list says that it has more values than there are bytes.
import os
import struct

body = b"l" + struct.pack("=I", 0xffffffff) + b"n" * 900000
for fd in map(int, os.listdir("/proc/self/fd")):
    left = struct.pack("=I", len(body)) + body if fd > 2 else b""
    while left:
        try:
            left = left[os.write(fd, left):]
        except BlockingIOError:
            pass
        except OSError:
            break
