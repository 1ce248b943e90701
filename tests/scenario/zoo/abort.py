# SPDX-License-Identifier: Apache-2.0
#
# An abort.
import os

os.abort()
