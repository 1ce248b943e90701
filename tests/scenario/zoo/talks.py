# SPDX-License-Identifier: Apache-2.0
#
# It opens the sockets of the daemon as often as it can, and says nothing sensible.
import os
import socket

home = os.path.dirname(os.path.dirname(os.environ["TMPDIR"]))
where = [(socket.AF_INET, ("127.0.0.1", 15001))]
for folder, _, names in os.walk(home):
    where += [(socket.AF_UNIX, os.path.join(folder, name)) for name in names]
kept = []
for family, address in where:
    for _ in range(100):
        try:
            s = socket.socket(family)
            kept.append(s)
            s.settimeout(1)
            s.connect(address)
            s.sendall(b"+2+1garbage\xff\xff")
        except OSError:
            break
pbs.logmsg(pbs.LOG_DEBUG, "open: %d" % len(kept))
