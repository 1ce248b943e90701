# SPDX-License-Identifier: Apache-2.0
#
# It reads what the daemon says to it, and never returns.
import os
import select

fds = [fd for fd in map(int, os.listdir("/proc/self/fd")) if fd > 2]
while True:
    for fd in select.select([fd for fd in fds if os.path.exists("/proc/self/fd/%d" % fd)], [], [], 1)[0]:
        try:
            os.read(fd, 65536)
        except OSError:
            pass
