# SPDX-License-Identifier: Apache-2.0
#
# An import that hangs.
import sys

open("zoo_hangs.py", "w").write("import time\ntime.sleep(600)\n")
sys.path.insert(0, ".")
import zoo_hangs
