# SPDX-License-Identifier: Apache-2.0
#
# It stops its own process.
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
