# SPDX-License-Identifier: Apache-2.0
#
# node_health.py - a host whose disk is full, or that misses a mount, takes no jobs until it is well again.
#
# Event: exechost_startup and exechost_periodic, on each execution host, as root. It sets the host's vnodes
# offline with a comment, and takes back only what has that comment: a vnode that an administrator set offline
# stays so.
# Install:
#	qmgr -c "create hook node_health event='exechost_startup,exechost_periodic',freq=60"
#	qmgr -c "import hook node_health application/x-python default node_health.py"
#	qmgr -c "import hook node_health application/x-config default node_health.json"
import json
import os

import pbs

SIGN = "node_health: "


def complaint(config):
    """What is wrong with this host; None: nothing."""
    for path, least in config["free bytes"].items():
        found = os.statvfs(path)
        if found.f_bavail * found.f_frsize < least:
            return "less than %d MB free in %s" % (least >> 20, path)
    missing = [path for path in config["paths"] if not os.path.exists(path)]
    return "%s is missing" % missing[0] if missing else None


e = pbs.event()
with open(pbs.hook_config_filename) as f:
    wrong = complaint(json.load(f))
for vnode in e.vnode_list.values():
    mine = str(vnode.comment or "").startswith(SIGN)
    if wrong and not vnode.state & pbs.ND_OFFLINE:
        vnode.state += pbs.ND_OFFLINE
        vnode.comment = SIGN + wrong
    elif not wrong and mine:
        vnode.state -= pbs.ND_OFFLINE
        vnode.comment = None
