# SPDX-License-Identifier: Apache-2.0
#
# Descriptors for the daemon, a thousand, on its own socket.
import array
import os
import socket

for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        s = socket.socket(fileno=os.dup(fd))
        for _ in range(100):
            s.sendmsg([b"\x01\x00\x00\x00n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 10))], socket.MSG_DONTWAIT)
    except OSError:
        pass
