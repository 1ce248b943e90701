# SPDX-License-Identifier: Apache-2.0
#
# What stories about jobs in reservations have in common.

# A moment so many seconds from now, as -R and -E have it.
moment() { date -d "+$1 seconds" +%Y%m%d%H%M.%S; }

resv_attr() { value "$2" "$(pbs_rstat -f "$1")"; }
resv_is() { same "state of $1" "RESV_$2" "$(resv_attr "$1" reserve_state)"; }
resv_is_gone() { [ -z "$(pbs_rstat -B "$1" 2>/dev/null)" ]; }
