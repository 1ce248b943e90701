# SPDX-License-Identifier: Apache-2.0
#
# Garbage to every descriptor.
import os

for fd in range(3, 4096):
    try:
        os.set_blocking(fd, False)
        os.write(fd, b"\xff\xff\xff\x7fgarbage" * 10000)
    except OSError:
        pass
