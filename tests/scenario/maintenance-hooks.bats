#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Maintenance windows and hooks of a site, which fixtures play at the same points. Scripts in Python: python-hooks-others.bats.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

setup_file()
{
	local fixtures=$KEELSON_BUILD/tests/fixtures name
	for name in refuse_resv node_state resv_confirm resv_begin resv_end; do
		echo "$name: { enabled = true; path = \"$fixtures/$name.so\"; };"
	done >"$BATS_FILE_TMPDIR/fixtures.conf"
	open_maintenance
	cp "$BATS_FILE_TMPDIR/fixtures.conf" "$SB/server/etc/modules.d/"
	keelson reload
}

noted() { server_log | sed -n "s/.*;Fixture;$1;fixture //p"; } # id: lines of the fixtures
states_of() { noted n1 | grep '^node_state'; }

@test "maintenance-reservations #50: a hook refuses it" {
	# shellcheck disable=SC2046
	says 32 'pbs_rsub: no' pbs_rsub $(within 3600 7200) -N refused --hosts n1
	all_forgotten
	resv_is "$(window 3600 7200 -N other n1)" CONFIRMED
}

@test "maintenance-reservations #47: its host is closed at the start and opened at the end, and nothing is seen of its confirmation" {
	local m before lines
	before=$(states_of | wc -l)
	m=$(window 4 6 n1)
	same 'at confirmation' "$before" "$(states_of | wc -l)"
	wait_until 60 resv_gone "$m"
	wait_until 30 at_rest
	lines=$(states_of | tail -n +$((before + 1)))
	same events 'node_state before=0 after=8192
node_state before=8192 after=0' "$lines"
	same 'of the window' 'resv_confirm resv_begin resv_end' "$(noted "$m" | cut -d' ' -f1 | xargs)"
}
