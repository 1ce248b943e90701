# SPDX-License-Identifier: Apache-2.0
#
# What everything stands on is gone.
import builtins
import sys

pbs.event = pbs._end = pbs._begin = None
for name in list(vars(builtins)):
    if name not in ("setattr", "vars"):
        setattr(builtins, name, None)
sys.modules.clear()
