# SPDX-License-Identifier: Apache-2.0
#
# It leaves its folder and removes it.
import os
import shutil

shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
os.chdir("/")
