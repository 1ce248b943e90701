# SPDX-License-Identifier: Apache-2.0
#
# As many descriptors as there are.
kept = []
try:
    while True:
        kept.append(open("/dev/null"))
except OSError:
    pbs.server().job("1")
