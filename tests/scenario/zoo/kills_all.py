# SPDX-License-Identifier: Apache-2.0
#
# A signal for all that it may reach, and for its group.
import os
import signal

try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
os.killpg(0, signal.SIGKILL)
