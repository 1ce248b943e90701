# SPDX-License-Identifier: Apache-2.0
#
# licences.py - a job starts when the licences it needs (qsub -l software=matlab) are free; else it waits.
#
# Event: runjob, on the server. What is free says a file, a line "matlab 12" each, which a cron job writes with
# the licence server's own tool: a hook at runjob should not wait for another machine. The configuration file
# has its name.
# Install:
#	qmgr -c "create hook licences event=runjob"
#	qmgr -c "import hook licences application/x-python default licences.py"
#	qmgr -c "import hook licences application/x-config default licences.ini"
import configparser

import pbs

e = pbs.event()
wanted = str(e.job.Resource_List["software"] or "")
if wanted:
    config = configparser.ConfigParser()
    config.read(pbs.hook_config_filename)
    free = {}
    with open(config["licences"]["free"]) as f:
        for line in f:
            name, count = line.split()
            free[name] = int(count)
    # Jobs that began within a minute may not have taken theirs yet; the file is as old as its cron job.
    if free.get(wanted, 0) < 1:
        e.reject("no licence of %s is free" % wanted)  # stands in the job's comment; tried again in the next cycles
