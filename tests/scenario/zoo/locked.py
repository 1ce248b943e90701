# SPDX-License-Identifier: Apache-2.0
#
# Folders that not even their owner may enter.
import os

os.makedirs("a/b/c")
for path in ("a/b/c", "a/b", "a", "."):
    os.chmod(path, 0)
