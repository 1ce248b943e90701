# SPDX-License-Identifier: Apache-2.0
#
# 10,000 changes.
for i in range(10000):
    pbs.event().job.Variable_List["V%d" % i] = "x" * 20
