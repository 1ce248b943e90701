# SPDX-License-Identifier: Apache-2.0
#
# 100 MB of output.
import sys

for _ in range(100):
    sys.stdout.write("x" * 1000000)
    sys.stderr.write("x\n" * 1000)
