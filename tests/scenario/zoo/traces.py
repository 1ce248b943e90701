# SPDX-License-Identifier: Apache-2.0
#
# A trace function and a profiler that stay.
import sys
import threading

sys.settrace(lambda *_: 1 / 0)
threading.settrace(lambda *_: 1 / 0)
