# SPDX-License-Identifier: Apache-2.0
#
# An endless loop.
while True:
    pass
