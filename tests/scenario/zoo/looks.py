# SPDX-License-Identifier: Apache-2.0
#
# It looks for secrets: the environment of others, the private folder of the server.
import glob
import os

home = os.path.dirname(os.path.dirname(os.environ["TMPDIR"]))
seen = []
for path in ["/proc/1/environ", "/proc/1/mem", "/etc/shadow"] + glob.glob("/proc/[0-9]*/environ"):
    try:
        with open(path, "rb") as f:
            if f.read(64) and os.stat(path).st_uid != os.getuid():
                seen.append(path)
    except OSError:
        pass
for name in ("server_priv/hooks", "server_priv/keelson.db", "server_priv/accounting", "mom_priv"):
    try:
        seen.append(os.listdir(os.path.join(home, name)) and name)
    except OSError:
        pass
assert not seen, seen
