# SPDX-License-Identifier: Apache-2.0
#
# job_ended.py - a line of its own about each job that ended, for the site's own accounts.
#
# Event: jobobit, on the server, before the job's resources are free; also when it was requeued or deleted.
# Install:
#	qmgr -c "create hook job_ended event=jobobit"
#	qmgr -c "import hook job_ended application/x-python default job_ended.py"
import pbs

job = pbs.event().job
used = job.resources_used
pbs.logjobmsg(job.id, "ended user=%s project=%s queue=%s exit=%s cpu=%s mem=%s" % (
    job.euser, job.project, job.queue, job.Exit_status, used["cput"], used["mem"]))
