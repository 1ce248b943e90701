# SPDX-License-Identifier: Apache-2.0
#
# sys.exit() with a status of its own: that is an end as the last line is.
import sys

sys.exit(7)
