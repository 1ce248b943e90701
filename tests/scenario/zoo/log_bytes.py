# SPDX-License-Identifier: Apache-2.0
#
# Few lines for the log, but long ones.
for i in range(300):
    pbs.logmsg(pbs.LOG_DEBUG, "wide " + "w" * 100000)
