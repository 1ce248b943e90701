# SPDX-License-Identifier: Apache-2.0
#
# no_interactive_at_night.py - interactive jobs (qsub -I) are for the day.
#
# Event: queuejob, on the server.
# Install:
#	qmgr -c "create hook no_interactive_at_night event=queuejob"
#	qmgr -c "import hook no_interactive_at_night application/x-python default no_interactive_at_night.py"
import datetime

import pbs

DAY = range(7, 21)  # hours in which they begin

e = pbs.event()
if e.job.interactive and datetime.datetime.now().hour not in DAY:
    e.reject("interactive jobs are taken from %d:00 to %d:00" % (DAY.start, DAY.stop))
