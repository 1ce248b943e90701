#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What stopped an administrator who read the installed documents only.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_site 2; }

@test "administrator #19: a job whose only host is off: keelson explain says that what became of it is not known" {
	local job
	needs_root
	job=$(running -l select=1:ncpus=1:host=n2)
	lacks "$(keelson explain "$job")" '^link '
	kill_mom n2
	wait_until 60 is_down n2
	has "$(keelson explain "$job")" '^link +none to n2: what became of the job is known when that answers$'
}
