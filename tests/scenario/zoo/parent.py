# SPDX-License-Identifier: Apache-2.0
#
# It kills its parent.
import os
import signal

os.kill(os.getppid(), signal.SIGKILL)
