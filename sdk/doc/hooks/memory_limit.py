# SPDX-License-Identifier: Apache-2.0
#
# memory_limit.py - a queue takes jobs up to so much memory, and those that ask for none get a default.
#
# Event: queuejob, modifyjob and movejob, on the server. A job that is moved is looked at in the queue it goes
# to.
# Install:
#	qmgr -c "create hook memory_limit event='queuejob,modifyjob,movejob'"
#	qmgr -c "import hook memory_limit application/x-python default memory_limit.py"
import pbs

LIMITS = {"small": "4gb", "large": "256gb"}  # other queues have none
DEFAULT = "1gb"


def memory_of(job):
    """What all chunks of a job ask for, or the whole job; None: it says nothing."""
    select = job.Resource_List["select"]
    if select is None:
        return job.Resource_List["mem"]
    found = []
    for chunk in str(select).split("+"):
        first, *rest = chunk.split(":")
        count, items = (int(first), rest) if first.isdigit() else (1, [first] + rest)
        found += [pbs.size(item[len("mem="):]) * count for item in items if item.startswith("mem=")]
    return pbs.size(sum(found)) if found else None


e = pbs.event()
job = e.job
# modifyjob has in `job` what is requested, in `job_o` the job as it is.
queue = str(e.job_o.queue if e.type == pbs.MODIFYJOB else job.queue or pbs.server().default_queue)
memory = memory_of(job)
if memory is None and e.type == pbs.QUEUEJOB and job.Resource_List["select"] is None:
    memory = job.Resource_List["mem"] = pbs.size(DEFAULT)
if memory is not None and queue in LIMITS and memory > pbs.size(LIMITS[queue]):
    e.reject("queue %s takes jobs up to %s of memory, this one asks for %s" % (queue, LIMITS[queue], memory))
