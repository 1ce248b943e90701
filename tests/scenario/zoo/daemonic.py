# SPDX-License-Identifier: Apache-2.0
#
# A process that leaves: two forks, a session of its own, no descriptor, no environment.
import os

name = os.environ["TMPDIR"] + "/daemonic"
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 4096)
        os.chdir("/")
        os.execve("/bin/sh", [name, "-c", "sleep 600; :"], {})
    os._exit(0)
os.wait()
