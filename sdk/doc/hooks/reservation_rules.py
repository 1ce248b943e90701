# SPDX-License-Identifier: Apache-2.0
#
# reservation_rules.py - a reservation is for at most a day and begins within two weeks; maintenance is free.
#
# Event: resvsub and modifyresv, on the server. At modifyresv `resv` has what is requested; `resv_o`, which is
# not needed here, would be the reservation as it is.
# Install:
#	qmgr -c "create hook reservation_rules event='resvsub,modifyresv'"
#	qmgr -c "import hook reservation_rules application/x-python default reservation_rules.py"
import time

import pbs

LONGEST = pbs.duration("24:00:00")
AHEAD = pbs.duration("336:00:00")

e = pbs.event()
if str(e.resv.resvid).startswith("M"):
    e.accept()
start, duration = e.resv.reserve_start, e.resv.reserve_duration
if start is not None and start > time.time() + AHEAD:
    e.reject("a reservation begins within %d days" % (AHEAD // 86400))
if duration is not None and duration > LONGEST:
    e.reject("a reservation is for %s at most" % LONGEST)
