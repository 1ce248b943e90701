# SPDX-License-Identifier: Apache-2.0
#
# Programs in the background, through a shell.
import os

os.system("sleep 600 & setsid sleep 600 & nohup sleep 600 >/dev/null 2>&1 &")
