# SPDX-License-Identifier: Apache-2.0
#
# trim_nodes.py - a padded job (pad_nodes.py) starts on the hosts that are well; the others are given back.
#
# Event: execjob_launch, on the job's first host. Hosts that failed are set offline.
# Install:
#	qmgr -c "create hook trim_nodes event=execjob_launch"
#	qmgr -c "import hook trim_nodes application/x-python default trim_nodes.py"
import pbs

e = pbs.event()
if e.job.in_ms_mom() and e.job.Resource_List["site"]:
    for vnode in e.vnode_list_fail.values():
        vnode.state += pbs.ND_OFFLINE
        vnode.comment = "it did not start %s" % e.job.id
    if e.job.release_nodes(keep_select=str(e.job.Resource_List["site"])) is None:
        e.job.rerun()
        e.reject("too few of the job's hosts are well")
