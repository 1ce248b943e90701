# SPDX-License-Identifier: Apache-2.0
#
# A file of 200 MB.
with open("big", "wb") as f:
    for _ in range(200):
        f.write(b"x" * 1000000)
