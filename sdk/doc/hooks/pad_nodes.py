# SPDX-License-Identifier: Apache-2.0
#
# pad_nodes.py - jobs over several hosts get one chunk more of each kind, so that they start though a host fails.
#
# Event: queuejob, on the server. What the user asked for is kept in resource "site"; trim_nodes.py gives back
# what is too much when the job starts. Both belong together.
# Install:
#	qmgr -c "create hook pad_nodes event=queuejob,order=900"
#	qmgr -c "import hook pad_nodes application/x-python default pad_nodes.py"
import pbs

MORE = 1

job = pbs.event().job
if job.select is not None:
    same, more = job.select.increment_chunks(0), job.select.increment_chunks(MORE)
    if more != same:  # of a job with one chunk there is none that may fail
        job.Resource_List["site"] = str(job.select)
        job.Resource_List["select"] = more
        job.tolerate_node_failures = "job_start"
