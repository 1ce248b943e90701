# SPDX-License-Identifier: Apache-2.0
#
# Handlers of signals are replaced, and an alarm of its own is set.
import signal

for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
    signal.signal(number, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
