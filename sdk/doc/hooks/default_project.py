# SPDX-License-Identifier: Apache-2.0
#
# default_project.py - a job without a project (qsub -P) gets one by the group of its user; others are refused.
#
# Event: queuejob, on the server. The table is its configuration file: {"project of a group": {"chem":
# "p-chemistry"}}.
# Install:
#	qmgr -c "create hook default_project event=queuejob"
#	qmgr -c "import hook default_project application/x-python default default_project.py"
#	qmgr -c "import hook default_project application/x-config default default_project.json"
import grp
import json
import pwd

import pbs


def groups_of(user):
    """The names of a user's groups, the primary one first."""
    primary = grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    return [primary] + [g.gr_name for g in grp.getgrall() if user in g.gr_mem]


e = pbs.event()
if e.job.project in (None, "_pbs_project_default"):
    with open(pbs.hook_config_filename) as f:
        projects = json.load(f)["project of a group"]
    found = [projects[group] for group in groups_of(e.requestor) if group in projects]
    if not found:
        e.reject("no project is known for you: say which one with -P, or ask for one")
    e.job.project = found[0]
