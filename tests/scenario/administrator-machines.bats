#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs modules/client-relay
#
# A cluster of machines, each with a name, /etc, /home, /var/spool, processes and network of its own: a server, two hosts, two
# login nodes. Installed below /opt, homes are shared; in the last story below /usr, each machine with homes of its own.

load helper
load machines

setup_file()
{
	needs_machines /opt
	open_machines /opt/keelson shared
}
setup() { reaches login1 || true; }
teardown()
{
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	open_ports
	mend login1 || true
}
teardown_file() { close_machines; }

# fails_at MACHINE USER LINE: it does, and does not hang; its output is in $words.
fails_at() { local got=0; words=$(user "$1" "$2" "timeout 60 $3" 2>&1) || got=$?; [ "$got" -ne 0 ] && [ "$got" -ne 124 ]; }
is_one_line() { same lines 1 "$(wc -l <<<"$words")" && has "$words" "$1"; }

@test "administrator #1: a user who has another uid at the server, or none, submits from a login node; output is in the shared home" {
	ann=$(user login1 ann 'echo "id -u; hostname" | qsub -N far')
	bob=$(user login1 bob 'echo "id -u; hostname" | qsub -N far -l host=n2')
	wait_until 30 in_state "$ann" F
	wait_until 30 in_state "$bob" F
	same owner ann@login1 "$(attr_of "$ann" Job_Owner)"
	same owner bob@login1 "$(attr_of "$bob" Job_Owner)"
	same output "7101 n1" "$(user login1 ann "cat far.o${ann%.*}" | xargs)"
	same output "7102 n2" "$(user login1 bob "cat far.o${bob%.*}" | xargs)"
	fails_at login1 bob "qdel -x $ann"
	has "$words" 'Unauthorized Request'
}

@test "administrator #1: on a host a job looks at itself, submits another and waits for it" {
	cat >"$M/home/bob/outer.sh" <<-'END'
		. /etc/profile
		qstat -f $PBS_JOBID | sed -n 's/ *exec_host = //p'
		qsub -N child -W block=true -l host=n1 -- /bin/sh -c 'exit 7' >/dev/null
		echo $?
		qselect -x -N child | wc -l
	END
	id=$(user login1 bob 'qsub -l host=n2 -j oe -o outer.out outer.sh')
	wait_until 60 in_state "$id" F
	same 'what it says' 'n2/0 7 1' "$(user login1 bob 'cat outer.out' | xargs)"
	same owner bob@n2 "$(attr_of "$(on head qselect -x -N child)" Job_Owner)"
}

@test "administrator #1: a script of 16 MiB arrives whole" {
	user login1 ann '{ echo "cksum <\$0 >sum"; head -c 12000000 /dev/urandom | base64 -w 1000 | sed "s/^/# /" | head -c 16700000; echo; } >long.sh'
	id=$(user login1 ann 'qsub long.sh')
	wait_until 60 in_state "$id" F
	same checksum "$(cksum <"$M/home/ann/long.sh")" "$(user login1 ann 'cat sum')"
	rm -f "$M/home/ann/long.sh"
}

# Installed and configured as login1 is, with the server's key; what is its own are its key and its start.
@test "administrator #2: three commands make a login node" {
	fails_at login2 ann qstat
	has "$words" '^cannot reach the server head from this host: no keelsond answers at '
	on login2 keelson-key make --role login --host login2 --dir /var/spool/pbs/mom_priv
	carry login2 /var/spool/pbs/mom_priv/login2.pub head /var/spool/pbs/server_priv/peers/login2.pub
	same start 'keelson: login started' "$(init login2 start)"
	wait_until 20 reaches login2
	id=$(user login2 ann 'qsub -h -- /bin/true')
	same owner ann@login2 "$(attr_of "$id" Job_Owner)"
	same host login2 "$(attr_of "$id" Submit_Host)"
	user login2 ann "qdel $id"
	same nodes 'n1 n2' "$(on head pbsnodes -a | grep -v '^ ' | xargs)"
}

has_no_daemon() { fails_at "$1" ann qstat && has "$words" '^cannot reach the server head from this host: no keelsond answers at '; }

@test "administrator #4: a restart of the server, of the login node's daemon and its kill -9 are not noticed by who waits for a job" {
	user login1 ann 'qsub -W block=true -- /bin/sh -c "until test -e go; do sleep 0.1; done; exit 5" >blocked 2>&1' & waits=$!
	wait_until 20 test -s "$M/home/ann/blocked"
	init head restart
	init login1 restart
	wait_until 20 reaches login1
	on login1 kill -KILL "$(pid_on login1)"
	wait_until 20 has_no_daemon login1
	same start 'keelson: login started' "$(init login1 start)"
	wait_until 20 reaches login1
	user login1 ann ': >go'
	status=0; wait "$waits" || status=$?
	same "exit status of the job" 5 "$status"
	same 'what it says' 1 "$(wc -l <"$M/home/ann/blocked")"
}

# cut_off HOW: of a login node; and mended.
cut_off()
{
	"$1" login1
	wait_until 60 fails_at login1 ann qstat # the command that notices may have been on its way
	wait_until 20 log_of_has head 'Link;login1;link is down'
	fails_at login1 ann qstat
	is_one_line 'cannot reach the server from this host: its daemon has no link to it, for [0-9]+ s now; mom_logs of host login1 says why'
	fails_at login1 ann 'qsub -- /bin/true'
	is_one_line 'cannot reach the server from this host: '
	reaches n1
	mend login1
	wait_until 30 reaches login1
}

@test "administrator #4: a network that is cut off without a sign: one line, no hang; it works again by itself" { cut_off vanish; }
@test "administrator #4: a cable is unplugged: one line, no hang; it works again by itself" { cut_off unplug; }

@test "administrator #4: a server that is killed: one line at once; it works again by itself" {
	on head kill -KILL "$(pid_on head)"
	wait_until 20 fails_at login1 ann qstat
	is_one_line 'cannot reach the server from this host: '
	init head start
	wait_until 30 reaches login1
	for name in n1 n2; do wait_until 30 is_up $name; done
}

# ---- firewall ----------------------------------------------------------------------------------------------------
# What may not pass has no route.

passes() { on "$1" ip rule add pref 7700 ipproto tcp "${@:2}" lookup main; } # machine, what leaves it
nothing_else() { on "$1" ip rule add pref 7701 to 10.77.0.0/24 blackhole; }
open_ports()
{
	local name pref
	for name in "${machines[@]}"; do
		for pref in 7700 7701; do while on "$name" ip rule del pref $pref 2>/dev/null; do :; done; done
	done
}

says_why_not() { has "$(attr_of "$1" comment)" "$2"; }

@test "administrator #1: one port inbound at the server is enough; hosts of one job need theirs between them" {
	passes head sport 15001 || skip "this kernel has no rules by port"
	nothing_else head
	for name in n1 n2 login1; do
		passes $name to ${address[head]} dport 15001
		nothing_else $name
	done
	init head restart
	for name in n1 n2; do
		on $name sed -i 's/listen = ".*";/listen = "*:15002";/' "$(conf_of)/modules.d/link-tcp.conf"
		on $name sh -c 'echo "\$sister_join_job_alarm 3" >>/var/spool/pbs/mom_priv/config'
		init $name restart
		wait_until 30 is_up $name
	done
	init login1 restart
	wait_until 30 reaches login1
	! on n1 timeout 5 bash -c ': >/dev/tcp/n2/15002' 2>/dev/null
	id=$(user login1 ann 'qsub -W block=true -l host=n2 -- /bin/true')
	same status 0 "$(attr_of "$id" Exit_status)"
	id=$(user login1 ann 'qsub -j oe -o both -l select=2:ncpus=1 -l place=scatter -- '$PREFIX'/bin/pbsdsh hostname')
	wait_until 30 says_why_not "$id" 'n[12] could not start it: n[12]: it has not joined in time'
	for name in n1 n2; do
		passes $name to 10.77.0.0/28 dport 15002
		passes $name to 10.77.0.0/28 sport 15002
	done
	wait_until 60 in_state "$id" F
	same 'hosts of the job' 'n1 n2' "$(user login1 ann 'sort both' | xargs)"
}

# ---- the init script ---------------------------------------------------------------------------------------------

is_right() { has "$(on "$1" keelsond --check)" '^/.*etc/keelson/keelson.conf: the configuration is right$'; }
does_all() # machine, role
{
	is_right "$1"
	same status "keelson $2 is pid $(pid_on "$1")" "$(init "$1" status)"
	same again "keelson: $2 is running already, pid $(pid_on "$1")" "$(init "$1" start)"
	same restart "keelson: $2 stopped keelson: $2 started" "$(init "$1" restart | xargs)"
	same stop "keelson: $2 stopped" "$(init "$1" stop)"
	status=0; init "$1" status >/dev/null || status=$?
	same 'status of status' 3 $status
	same start "keelson: $2 started" "$(init "$1" start)"
}

@test "administrator #7: on each machine the configuration is right, and the init script starts, stops and restarts its daemon" {
	does_all head server & all=$!
	does_all n1 mom & all+=" $!"
	does_all n2 mom & all+=" $!"
	does_all login1 login & all+=" $!"
	for pid in $all; do wait "$pid"; done
	wait_until 30 reaches login1
	for name in n1 n2; do wait_until 30 is_up $name; done
}

# ---- below /usr, homes not shared -----------------------------------------------------------------------------------

# In scp's place: a connection to the other machine's port 22, where the same user writes the file.
other_machines()
{
	local name
	for name in n1 n2 login1; do
		cat >"$M/$name/etc/copy" <<-'END'
			#!/usr/bin/env python3
			import os, pwd, shutil, socket, socketserver, sys
			class Copies(socketserver.StreamRequestHandler):
			    def handle(self):
			        user, path = self.rfile.readline().decode().rstrip('\n').split('\t')
			        who = pwd.getpwnam(user)
			        os.setgid(who.pw_gid)
			        os.setuid(who.pw_uid)
			        os.chdir(who.pw_dir)
			        with open(path, 'wb') as f:
			            shutil.copyfileobj(self.rfile, f)
			        self.wfile.write(b'done')
			if len(sys.argv) == 1:
			    socketserver.ForkingTCPServer(('', 22), Copies).serve_forever()
			host, path = sys.argv[3].split(':')
			with socket.create_connection((host, 22)) as there, open(sys.argv[2], 'rb') as f:
			    there.sendall(f'{pwd.getpwuid(os.getuid()).pw_name}\t{path}\n'.encode() + f.read())
			    there.shutdown(socket.SHUT_WR)
			    sys.exit(there.recv(9) != b'done')
		END
		chmod 755 "$M/$name/etc/copy"
		echo PBS_SCP=/etc/copy >>"$M/$name/etc/pbs.conf"
	done
	on login1 /etc/copy </dev/null >/dev/null 2>&1 3>&- &
	for name in n1 n2; do init $name restart; done
}

@test "administrator #1: below /usr, without shared homes and uids: output comes to the login node's home by copy" {
	needs_machines /usr
	command -v python3 >/dev/null || skip "there is no python3"
	close_machines
	open_machines /usr own
	other_machines
	for name in n1 n2; do wait_until 30 is_up $name; done
	id=$(user login1 ann 'echo "id -u; hostname; pwd" | qsub -W block=true -N far -l host=n2 -j oe')
	same output "7201 n2 /home/ann" "$(user login1 ann "cat far.o${id%.*}" | xargs)"
	same 'its owner' 7101 "$(stat -c %u "$M/login1/home/ann/far.o${id%.*}")"
	same 'left on the host' '' "$(ls "$M/n2/home/ann")"
	for name in head n1 n2 login1; do is_right $name; done
}
