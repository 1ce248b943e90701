# SPDX-License-Identifier: Apache-2.0
#
# who_changed_what.py - each change that somebody makes with qmgr or pbsnodes is a line of the server's log.
#
# Event: management, on the server, after the change; refused ones, too. Listings are no changes.
# Install:
#	qmgr -c "create hook who_changed_what event=management"
#	qmgr -c "import hook who_changed_what application/x-python default who_changed_what.py"
import pbs

OPERATORS = {pbs.BATCH_OP_SET: "=", pbs.BATCH_OP_INCR: "+=", pbs.BATCH_OP_DECR: "-=", pbs.BATCH_OP_UNSET: "unset"}


def written(a):
    """An attribute as qmgr has it: resources_available.ncpus += 4."""
    name = "%s.%s" % (a.name, a.resource) if a.resource else a.name
    return "%s %s %s" % (name, OPERATORS.get(a.op, "?"), a.value or "")


e = pbs.event()
m = e.management
verb = pbs.REVERSE_MGR_CMDS.get(m.cmd, m.cmd)
outcome = "refused (%d)" % m.reply_code if m.reply_code else "done"
pbs.logmsg(pbs.LOG_DEBUG, "%s@%s: %s %s: %s: %s" % (
    e.requestor, e.requestor_host, verb, m.objname, ", ".join(written(a).strip() for a in m.attribs), outcome))
