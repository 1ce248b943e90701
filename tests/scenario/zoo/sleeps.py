# SPDX-License-Identifier: Apache-2.0
#
# It sleeps beyond its alarm.
import time

pbs.logmsg(pbs.LOG_DEBUG, "asleep")
time.sleep(600)
