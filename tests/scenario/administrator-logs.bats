#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What an administrator's first week asks of the logs: day files that are moved away, a host that comes twice, why a link
# fails, clocks that differ.

load helper

# job_is asks about jobs that are over, too.
cluster()
{
	setup_sandbox "$@"
	qmgr -c 'set server job_history_enable = true'
}
today() { date +%Y%m%d; }
# logged NAME TEXT: the daemon's log, whatever its files are called, has it.
logged() { grep -qsF -e "$2" "$SB/$1"/*_logs/*; }
day_has() { grep -qsF -e "$2" "$SB/$1/$(today)"; } # folder, text
hup() { kill -HUP "$(head -n 1 "$SB/$1")"; }

@test "administrator #12: a day file that is moved away or removed is noticed, at SIGHUP and without it" {
	cluster
	for logs in server/server_logs n1/mom_logs; do mv "$SB/$logs/$(today)" "$SB/$logs/moved"; done
	id=$(submit)
	wait_until 20 job_is "$id" R 42
	# also when there is nothing to write
	wait_until 40 day_has server/server_logs ';Log;Log opened'
	wait_until 40 day_has n1/mom_logs ';Log;Log opened'
	has "$(cat "$SB/server/server_logs/moved")" ';Log;Log closed$'
	# nothing is lost on the way
	has "$(cat "$SB"/server/server_logs/*)" ";Job;$id;Job Queued at request of "
	has "$(cat "$SB"/n1/mom_logs/*)" ";Job;$id;Started, pid = "
	rm "$SB/server/server_logs/$(today)"
	hup server/server_priv/server.lock
	wait_until 20 day_has server/server_logs ';Log;Log opened'
	mv "$SB/n1/mom_logs" "$SB/n1/elsewhere"
	hup n1/mom_priv/mom.lock
	wait_until 20 day_has n1/mom_logs ';Log;Log opened'
	# accounting, too
	mv "$SB/server/server_priv/accounting/$(today)" "$SB/server/server_priv/accounting/moved"
	qdel "$id"
	wait_until 20 day_has server/server_priv/accounting ";E;$id;"
}

# lines NAME TEXT: how many of the daemon's log have it.
lines() { cat "$SB/$1"/*_logs/* | grep -cF -e "$2"; }

# A second machine that was made as a copy of the first.
make_twin()
{
	local file
	mkdir -m 755 "$SB/twin"
	cp -r "$SB/n1/etc" "$SB/n1/keys" "$SB/n1/peers" "$SB/twin/"
	mkdir -m 1777 "$SB/twin/tmp"
	for file in keelson.conf settings modules.d/link-tcp.conf; do sed -i "s|$SB/n1/|$SB/twin/|;s|$SB/n1\"|$SB/twin\"|" "$SB/twin/etc/$file"; done
}

@test "administrator #13: a second host with the same name and key is refused in both logs, and the jobs of the first run on" {
	cluster --set link-tcp.grace=30s
	id=$(submit)
	starts "$id"
	session=$(session_of "$id")
	make_twin
	sandbox restart --no-wait twin
	wait_until 20 logged twin 'a host with this name and this key is linked there already and answers, from 127.0.0.1 port '
	has "$(mom_log twin)" ';Link;server;cannot link with .*; this one came from 127\.0\.0\.1\. Each host needs a name and a key of its own'
	has "$(server_log)" ';Link;n1;link from 127\.0\.0\.1 .* refused: a second host with the name and the key of n1, which is linked from 127\.0\.0\.1 port '
	# it goes on trying, in silence, and everything is as it was
	nap 3
	same 'lines there' 1 "$(lines twin 'cannot link with')"
	same 'lines here' 1 "$(lines server 'refused: a second host with the name')"
	lacks "$(mom_log twin)" ';linked with '
	job_is "$id" R 42
	alive "$session"
	lacks "$(server_log)" ';Link;n1;link with .* lost'
	# the first one, killed and started, is taken at once
	sandbox kill twin
	sandbox restart n1 --hard
	wait_until 20 node_is n1 free
	job_is "$id" R 42
	alive "$session"
	same 'session' "$session" "$(session_of "$id")"
}

@test "administrator #14: a host logs each change of the reason why its link fails, and when it is up again" {
	setup_sandbox
	sandbox kill server
	wait_until 20 logged n1 'Connection refused; nothing listens there: does that daemon run'
	nap 2
	same 'lines' 1 "$(lines n1 'cannot link with')"
	mv "$SB/server/peers/n1.pub" "$SB/n1.pub"
	sandbox restart server
	wait_until 20 logged n1 'the key of this host is not enrolled there; copy its .pub file into the directory of peers there'
	wait_until 20 logged server 'refused: no key is enrolled for this host'
	nap 2
	same 'lines' 2 "$(lines n1 'cannot link with')"
	same 'lines of the server' 1 "$(lines server 'refused: no key is enrolled for this host')"
	mv "$SB/n1.pub" "$SB/server/peers/n1.pub"
	wait_until 20 logged n1 ' s without a link'
	has "$(mom_log n1)" ';Link;server;linked with 127\.0\.0\.1 port [0-9]+, after [0-9]+ s without a link$'
	wait_until 20 node_is n1 free
	sed -i 's/server = "[^"]*"/server = "no.such.host.invalid:15001"/' "$SB/n1/etc/modules.d/link-tcp.conf"
	sandbox restart --no-wait n1
	wait_until 40 logged n1 'cannot link with no.such.host.invalid:15001: its name does not resolve: '
}

@test "administrator #12: old day files of logs and accounting are deleted as configured, and nothing else" {
	needs_module retention
	cluster
	mom=$SB/n1/mom_logs logs=$SB/server/server_logs records=$SB/server/server_priv/accounting
	touch "$mom/20200101" "$logs/20200101" "$logs/20200102.1.gz" "$logs/20200103.notes" "$records/20200101" "$records/20990101"
	head -c 5000 /dev/zero >"$records/20200102"
	echo kept >"$SB/kept"
	ln -s "$SB/kept" "$logs/20200104"
	sandbox restart server
	nap 3
	for file in "$logs/20200101" "$records/20200101"; do [ -e "$file" ]; done # by default all are kept
	printf '%s\n' retention.log_days=30 retention.accounting_size=1kb >>"$SB/settings"
	sandbox restart server
	wait_until 20 logged server '2 day files of '
	wait_until 20 logged server 'server_priv/accounting deleted, '
	same 'logs' "20200103.notes 20200104 $(today)" "$(ls "$logs" | xargs)"
	same 'what a link leads to' kept "$(cat "$SB/kept")"
	[ ! -e "$records/20200102" ] && [ -e "$records/20990101" ]
	[ -e "$mom/20200101" ]
	sandbox restart n1
	wait_until 20 logged n1 '1 day files of '
	[ ! -e "$mom/20200101" ]
}

# A clock that is wrong by $CLOCK_SHIFT seconds, for one daemon.
make_clock()
{
	cc -shared -fPIC -o "$SB/clock.so" -x c - <<-'END'
		#define _GNU_SOURCE
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		int clock_gettime(clockid_t id, struct timespec *ts)
		{
			int ret = (int)syscall(SYS_clock_gettime, id, ts);
			const char *shift = getenv("CLOCK_SHIFT");
			if (ret == 0 && id == CLOCK_REALTIME && shift != NULL)
				ts->tv_sec += atoi(shift);
			return ret;
		}
	END
}
node_says() { node_attr "$1" comment | grep -qE -e "$2"; }
has_no_comment() { [ -z "$(node_attr "$1" comment)" ]; }

@test "administrator #15: a clock that is off is a warning on the node and in both logs, until it is right again" {
	needs_module clock-drift
	not_sanitized 'its library has to be the first one'
	cluster --hosts 2
	make_clock
	LD_PRELOAD=$SB/clock.so CLOCK_SHIFT=60 sandbox restart n1
	wait_until 20 node_says n1 '^the clock of this host is (59|60|61) s ahead of the server'
	has "$(server_log)" ';Node;n1;the clock of this host is (59|60|61) s ahead of the server'
	wait_until 20 logged n1 ';Node;n1;the clock of this host is '
	has_no_comment n2
	# a comment of an administrator stays
	qmgr -c 'set node n1 comment = "ask Ann"'
	LD_PRELOAD=$SB/clock.so CLOCK_SHIFT=-3600 sandbox restart n1
	wait_until 20 logged server ' s behind the server'
	node_says n1 '^ask Ann$'
	qmgr -c 'unset node n1 comment'
	LD_PRELOAD=$SB/clock.so CLOCK_SHIFT=60 sandbox restart n1
	wait_until 20 node_says n1 'ahead of the server'
	sandbox restart n1
	wait_until 20 has_no_comment n1
}
