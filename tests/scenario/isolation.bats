#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# isolation.bats - a module in a process of its own: the same words, and nothing it does harms the daemon.

load helper

FIXTURES=$KEELSON_BUILD/tests/fixtures

# isolated NAME [KEY=VALUE...]: arguments of a sandbox with that fixture in a process of its own
isolated()
{
	local name=$1 pair
	shift
	printf '%s\n' --enable "$name" --set "$name.path=$FIXTURES/$name.so" --set "$name.isolation=process"
	for pair; do printf '%s\n' --set "$name.$pair"; done
}

@test "a veto from a process of its own reads like one from inside" {
	mapfile -t args < <(isolated reject 'text=no more for today')
	setup_sandbox "${args[@]}"
	says 159 "qsub: no more for today" as "$OWNER" qsub -- /bin/true
}
