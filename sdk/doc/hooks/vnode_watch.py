# SPDX-License-Identifier: Apache-2.0
#
# vnode_watch.py - when a vnode goes down or comes back, the log has a line that a monitor can look for.
#
# Event: modifyvnode, on the server, after the state has changed.
# Install:
#	qmgr -c "create hook vnode_watch event=modifyvnode"
#	qmgr -c "import hook vnode_watch application/x-python default vnode_watch.py"
import pbs

BAD = pbs.ND_DOWN | pbs.ND_OFFLINE | pbs.ND_STATE_UNKNOWN

e = pbs.event()
was, now = e.vnode_o.state & BAD, e.vnode.state & BAD
if was != now:
    what = " ".join(e.vnode.extract_state_strs()) if now else "well again"
    pbs.logmsg(pbs.LOG_WARNING, "vnode_watch: %s is %s" % (e.vnode.name, what))
