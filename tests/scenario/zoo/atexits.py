# SPDX-License-Identifier: Apache-2.0
#
# It has something to do at the end of the process.
import atexit
import time

atexit.register(time.sleep, 600)
