# SPDX-License-Identifier: Apache-2.0
#
# A chain of 100,000 exceptions.
last = None
for i in range(100000):
    new = ValueError(i)
    new.__context__, last = last, new
raise last
