# SPDX-License-Identifier: Apache-2.0
#
# A result that is too deep.
import pbs.run

deep = []
for _ in range(100000):
    deep = [deep]
pbs.run.wanted["deep"] = deep
