# SPDX-License-Identifier: Apache-2.0
#
# admin-machines.bash - machines with an /etc, /var, /usr/local, processes, name and network of their own, on a network that
# they share, for the sessions of the administrator's guide. Without systemd and sshd: tools/systemctl and tools/scp stand in.

has_machines()
{
	[ "$EUID" -eq 0 ] && unshare --mount --uts --ipc --net --pid --fork --mount-proc ip link add br0 type bridge 2>/dev/null
}
needs_machines() { needs_root; has_machines || skip "needs namespaces with a bridge of their own"; }

# make_machines NAME...: the first one carries the network. Below $machines there is a folder for each, and home, which they share.
make_machines()
{
	local name number=0
	mkdir -p "$machines/home"
	for name; do
		number=$((number + 1))
		echo "192.168.10.$number $name" >>"$machines/hosts"
	done
	for name; do make_machine "$name"; done
	for name; do connect "$1" "$name"; done
}

make_machine() # name
{
	local root=$machines/$1 python
	python=$(python3 -c 'import sys; print(sys.executable)')
	mkdir -p "$root"/usr/local/{sbin,etc} "$root"/var/{spool,lib,log,tmp,backups,mail} "$root/run/lock" "$root/opt" "$root/srv"
	mkdir -m 1777 "$root/tmp"
	ln -s /run "$root/var/run"
	cp -a /etc "$root/etc"
	rm -rf "$root"/etc/pbs.conf "$root"/etc/keelson "$root"/etc/default/keelson
	{ echo '127.0.0.1 localhost'; cat "$machines/hosts"; } >"$root/etc/hosts"
	cp "$top/tests/scenario/tools/scp" "$root/usr/local/sbin/"
	sed "1s|.*|#!$python|" "$top/tests/scenario/tools/systemctl" >"$root/usr/local/sbin/systemctl"
	printf '#!/bin/sh\ntail -n "$4" "/run/systemctl/$2.service.log"\n' >"$root/usr/local/sbin/journalctl" # journalctl -u UNIT -n N
	chmod 755 "$root"/usr/local/sbin/*
	unshare --mount --uts --ipc --net --pid --fork --kill-child --mount-proc bash -c "$machine_init" "$machines" "$1" "$python" \
		</dev/null >"$machines/$1.said" 2>&1 3>&- &
	echo $! >"$machines/$1.parent"
	wait_until 10 test -e "$root/run/up"
	pgrep -P "$!" >"$machines/$1/pid"
}

# Process 1 of a machine: its places; then it waits for children without a parent.
machine_init='
	hostname "$1"
	mount --bind "$0" /mnt
	mount --bind /mnt/home /home
	for place in etc var usr/local opt srv run tmp; do mount --bind "/mnt/$1/$place" "/$place"; done
	ip link set lo up
	cd /
	: >/run/up
	exec "$2" -c "
import os, time
while True:
    try:
        os.wait()
    except ChildProcessError:
        time.sleep(0.1)
"
'

# connect FIRST NAME: with an address of its own; the first one has the bridge.
connect()
{
	local address first pid
	address=$(sed -n "s/ $2\$//p" "$machines/hosts")
	first=$(cat "$machines/$1/pid") pid=$(cat "$machines/$2/pid")
	if [ "$1" = "$2" ]; then
		nsenter -t "$first" -n ip link add eth0 type bridge
		nsenter -t "$first" -n ip link set eth0 up
	else
		nsenter -t "$first" -n ip link add "port-$2" type veth peer name eth0 netns "$pid"
		nsenter -t "$first" -n ip link set "port-$2" master eth0 up
		nsenter -t "$pid" -n ip link set eth0 up
	fi
	nsenter -t "$pid" -n ip address add "$address/24" dev eth0
}

# on NAME COMMAND...: as root there.
on() { nsenter -t "$(cat "$machines/$1/pid")" -m -u -i -n -p "${@:2}"; }

end_machines()
{
	local file
	for file in "$machines"/*.parent; do [ ! -e "$file" ] || kill -KILL "$(cat "$file")" 2>/dev/null || true; done
	rm -rf "$machines"
}
