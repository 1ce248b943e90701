# SPDX-License-Identifier: Apache-2.0
#
# Another program in its place.
import os

os.execv("/bin/sh", ["sh", "-c", "sleep 600"])
