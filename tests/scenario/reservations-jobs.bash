# SPDX-License-Identifier: Apache-2.0
#
# What stories about jobs in reservations have in common.

resv_is_gone() { [ -z "$(pbs_rstat -B "$1" 2>/dev/null)" ]; }
