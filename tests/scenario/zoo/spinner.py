# SPDX-License-Identifier: Apache-2.0
#
# A thread that spins on, and asks the daemon from there.
import threading


def spin():
    while True:
        try:
            pbs.server().job("1")
        except RuntimeError:
            pass


threading.Thread(target=spin, daemon=True).start()
