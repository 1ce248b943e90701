# SPDX-License-Identifier: Apache-2.0
#
# 100,000 changes: more than can be said.
for i in range(100000):
    pbs.event().job.Variable_List["variable_number_%d" % i] = "x"
