# SPDX-License-Identifier: Apache-2.0
#
# A flood of lines for the log.
for i in range(200000):
    pbs.logmsg(pbs.LOG_DEBUG, "flood %d %s" % (i, "z" * 50))
