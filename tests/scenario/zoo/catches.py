# SPDX-License-Identifier: Apache-2.0
#
# A bare except catches accept().
try:
    pbs.event().accept()
except:
    pass
try:
    pbs.event().job.Account_Name = "later"
except BaseException as e:
    pbs.logmsg(pbs.LOG_DEBUG, "refused: %s" % e)
