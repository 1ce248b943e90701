# SPDX-License-Identifier: Apache-2.0
#
# SIGKILL for each pid it can think of.
import os
import signal

for pid in range(2, 70000):
    if pid != os.getpid():
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
