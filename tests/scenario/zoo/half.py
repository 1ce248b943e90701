# SPDX-License-Identifier: Apache-2.0
#
# Half a frame, and then the end of the script.
import os
import struct

for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        if fd > 2:
            os.write(fd, struct.pack("=I", 900000) + b"l")
    except OSError:
        pass
