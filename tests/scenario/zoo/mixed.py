# SPDX-License-Identifier: Apache-2.0
#
# Of all kinds a little, as often as it is called: at modifyjob the priority, 0 to 19, says what.
import os

import pbs
import pbs.run

event = pbs.event()
kind = int(event.job.Priority or 0)
if kind == 0:
    os._exit(1)
elif kind < 4:
    event.reject("r" * 100000 * kind)
elif kind < 7:
    for i in range(1000 * kind):
        event.job.Variable_List["V%d" % i] = "x" * 20
    event.job.Account_Name = object()
elif kind < 10:
    for i in range(100 * kind):
        pbs.logmsg(pbs.EVENT_DEBUG4, "mixed " + "l" * 1000)
elif kind == 10:
    list(pbs.server().jobs())
elif kind < 13:
    for i in range(1000):
        pbs.server().job(str(i))
elif kind < 16:
    pbs.run.changes[("job", "euser", None)] = "root" * 1000 * kind
    event.accept()
elif kind == 16:
    pbs.run.changes[("vnode:n%d" % id(event), "comment", None)] = "z" * 100000
    event.accept()
elif kind == 17:
    while True:
        kept = [bytearray(64 << 20) for _ in range(32)]
raise ValueError("e" * 10000 * kind)
