# SPDX-License-Identifier: Apache-2.0
#
# guarded_changes.py - users may make their waiting jobs shorter and less important, not the opposite.
#
# Event: modifyjob, on the server. Operators and managers of the site are named here: a hook does not know
# roles.
# Install:
#	qmgr -c "create hook guarded_changes event=modifyjob"
#	qmgr -c "import hook guarded_changes application/x-python default guarded_changes.py"
import pbs

MAY_ALL = ("root",)

e = pbs.event()
new, old = e.job, e.job_o  # what is requested; the job as it is

if e.requestor not in MAY_ALL:
    if new.Priority is not None and new.Priority > (old.Priority or 0):
        e.reject("the priority of a job can be lowered only")
    walltime, before = new.Resource_List["walltime"], old.Resource_List["walltime"]
    if walltime is not None and before is not None and walltime > before:
        e.reject("a longer walltime than %s needs another job" % before)
