# SPDX-License-Identifier: Apache-2.0
#
# What stories about jobs in reservations have in common.

resv_attr() { value "$2" "$(pbs_rstat -f "$1")"; }
resv_is_gone() { [ -z "$(pbs_rstat -B "$1" 2>/dev/null)" ]; }
