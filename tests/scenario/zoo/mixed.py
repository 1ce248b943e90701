# SPDX-License-Identifier: Apache-2.0
#
# Of all kinds a little, as often as it is called: at modifyjob the priority says what.
import os
import pbs

event = pbs.event()
kind = int(event.job.Priority or 0)
if kind == 0:
    os._exit(1)
if kind < 4:
    event.reject("r" * 100000 * kind)
if kind < 7:
    for i in range(1000 * kind):
        event.job.Variable_List["V%d" % i] = "x" * 20
    event.job.Account_Name = object()
if kind < 10:
    for i in range(100 * kind):
        pbs.logmsg(pbs.EVENT_DEBUG4, "mixed " + "l" * 1000)
if kind < 13:
    [list(pbs.server().jobs()) for _ in range(kind)]
if kind < 16:
    import pbs.run
    pbs.run.changes[("job", "euser", None)] = "root" * 1000 * kind
    event.accept()
if kind == 16:
    import pbs.run
    pbs.run.changes[("vnode:n%d" % id(event), "comment", None)] = "z" * 100000
    event.accept()
raise ValueError("e" * 10000 * kind)
