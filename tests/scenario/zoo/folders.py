# SPDX-License-Identifier: Apache-2.0
#
# Folders in folders, ten thousand files, names that are hard to remove.
import os

for i in range(10000):
    open("f%d" % i, "w").close()
os.symlink("/etc", "etc")
os.symlink(".", "self")
open(b"\xff\n\x1b", "w").close()
for _ in range(500):
    os.mkdir("d", 0o700)
    os.chdir("d")
os.mkdir("locked", 0)
