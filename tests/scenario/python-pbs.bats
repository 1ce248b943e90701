#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What a hook script sees of package pbs, without a daemon: a part of modules/python-hooks/pyhost/test_pbs.py each.
#
# needs modules/python-hooks

load helper

setup() { command -v python3 >/dev/null || skip "there is no python3"; }

python() # name of a class, or of one of its tests
{
	python3 "$top/modules/python-hooks/pyhost/test_pbs.py" "$@" 2>&1
}

@test "amounts: sizes, durations and booleans are read, shown, added and compared" { python Amounts; }
@test "texts: each is a str, and what its attribute refuses is refused" { python Texts; }
@test "constants: each name there is, and its number" { python Constants; }
@test "attributes of the daemon's tables are read in their types; unset ones are None" { python Reading; }
@test "what is set becomes a change, or raises with the exact words" { python Setting; }
@test "events: members, ends, vnodes that are changed and added" { python Events; }
@test "jobs on their hosts: rerun, delete, release_nodes" { python Jobs; }
@test "the server: objects by name, and in pages" { python Servers; }
@test "functions: logmsg, logjobmsg, reboot" { python Functions; }
@test "events that people wrote down are completed" { python Written; }
@test "pbs.pyi names all that scripts can use" { python Stubs; }

@test "tolerate-node-failures #8: chunks are incremented by a number" { python Select.test_by_number; }
@test "tolerate-node-failures #9: chunks are incremented by a percentage" { python Select.test_by_percent; }
@test "tolerate-node-failures #10: chunks are incremented item by item, and the select stays as it was" { python Select.test_by_item; }
@test "tolerate-node-failures #11: what is no increment is a ValueError" { python Select.test_bad_specs; }
@test "tolerate-node-failures #53: job.select is the select of its Resource_List" { python Select.test_of_a_job; }
@test "select: counts, quotes and zero" { python Select.test_increment Select.test_percent_of_all; }

@test "keelson-pyhost: a script runs with a record; package pbs is beside the program, with byte code" {
	pyhost=$KEELSON_BUILD/libexec/keelson/keelson-pyhost
	cat >"$BATS_TEST_TMPDIR/record.json" <<-'END'
		{"setup": {"role": "server", "host": "h1", "server": "svr", "tables": {"attrs": {"job": {"Priority": ["integer", 1, ""]}},
			"resources": {}, "node_states": {}, "events": {"queuejob": ["QUEUEJOB", 1, 0]}}},
		 "event": {"type": 1, "event": "queuejob", "hook": {"name": "h1", "type": "site", "debug": 1, "user": "pbsadmin", "alarm": 30},
			"requestor": "root", "requestor_host": "h1", "params": {"job": {"class": "job", "id": "1.svr", "attrs": {}}}}}
	END
	cat >"$BATS_TEST_TMPDIR/hook.py" <<-'END'
		import os, pbs
		print(os.path.exists(pbs.__cached__))
		pbs.event().job.Priority = 5
		pbs.event().reject("no")
	END
	says 1 $'True\nchange job Priority = 5\nrejected: no' "$pyhost" --run "$BATS_TEST_TMPDIR/hook.py" --event "$BATS_TEST_TMPDIR/record.json"
}
