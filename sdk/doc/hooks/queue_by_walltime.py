# SPDX-License-Identifier: Apache-2.0
#
# queue_by_walltime.py - jobs that name no queue go to one by their walltime; without a walltime they are refused.
#
# Event: queuejob, on the server.
# Install:
#	qmgr -c "create hook queue_by_walltime event=queuejob,order=10"
#	qmgr -c "import hook queue_by_walltime application/x-python default queue_by_walltime.py"
import pbs

QUEUES = (("1:00:00", "short"), ("24:00:00", "day"), ("168:00:00", "week"))  # up to; in ascending order

e = pbs.event()
server = pbs.server()
walltime = e.job.Resource_List["walltime"]

if e.job.queue is None or str(e.job.queue) == str(server.default_queue):
    if walltime is None:
        e.reject("please say how long the job may take: qsub -l walltime=HH:MM:SS")
    for limit, queue in QUEUES:
        if walltime <= pbs.duration(limit):
            e.job.queue = server.queue(queue)
            e.accept()
    e.reject("no queue takes jobs of more than %s" % QUEUES[-1][0])
