# SPDX-License-Identifier: Apache-2.0
#
# machines.bash - a cluster of machines, each with its own name, /etc, /home, /var/spool, processes and network: head, n1, n2,
# login1 and login2, installed below one prefix. They are set up with the documents' commands. Load it after helper.bash.
#
# The network is a bridge in a namespace of its own, `switch`. A machine lives as long as its first process, and that as long
# as the folder of the cluster: nothing is left of it when a story is broken off.

machines=(head n1 n2 login1 login2)
declare -gA address=([head]=10.77.0.1 [n1]=10.77.0.11 [n2]=10.77.0.12 [login1]=10.77.0.21 [login2]=10.77.0.22)

has_machines() { [ "$EUID" -eq 0 ] && command -v ip && command -v nsenter && unshare -mnuip --fork --mount-proc true; }
needs_machines()
{
	needs_root
	has_machines >/dev/null 2>&1 || skip "needs namespaces"
	[ "$1" != /usr ] || unshare -m sh -c 'mount -t overlay -o lowerdir=/opt:/usr none /usr' 2>/dev/null || skip "needs overlays"
}

# ---- on a machine --------------------------------------------------------------------------------------------

# on MACHINE COMMAND...: as root. user MACHINE NAME LINE: at a terminal of that user.
on()
{
	local pid
	read -r pid <"$M/$1/pid"
	shift
	nsenter -t "$pid" -m -n -u -i -p -- env -i "PATH=$PREFIX/bin:$PREFIX/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
		HOME=/root TERM=dumb "$@" 3>&- {quiet}>&-
}
user()
{
	on "$1" setpriv "--reuid=$2" "--regid=$2" --init-groups env "HOME=/home/$2" "USER=$2" "LOGNAME=$2" sh -c '. /etc/profile; cd; eval "$1"' - "$3"
}
init() { on "$1" /etc/init.d/keelson "$2"; }
on_switch() { local pid; read -r pid <"$M/switch/pid"; nsenter -t "$pid" -n -- "$@"; }

# Files of a machine that the story looks at.
log_of() { cat "$M/$1"/spool/pbs/*_logs/[0-9]* 2>/dev/null; } # machine
log_of_has() { log_of "$1" | grep -qE -- "$2"; }
pid_on() { local lock=mom_priv/mom.lock; [ "$1" != head ] || lock=server_priv/server.lock; head -n 1 "$M/$1/spool/pbs/$lock"; }

state_of() { on head qstat -xf "$1" | sed -n 's/^ *job_state = //p'; }
in_state() { same "state of $1" "$2" "$(state_of "$1")"; }
attr_of() { value "$2" "$(on head qstat -xf "$1")"; } # job, attribute
is_up() { on head pbsnodes "$1" | grep -qx ' *state = free'; }
reaches() { on "$1" qstat -B >/dev/null; }

# For those who read why a story failed.
show_state()
{
	local name
	[ ! -e "$BATS_TEST_TMPDIR/state-shown" ] || return 0
	: >"$BATS_TEST_TMPDIR/state-shown"
	{
		on head timeout 10 qstat -xf
		on head timeout 10 pbsnodes -av
		for name in "${machines[@]}"; do echo "---- log of $name"; log_of "$name" | tail -n 15; done
	} >&2 2>&1 || true
}

# ---- the network -----------------------------------------------------------------------------------------------

# unplug: the cable, which both ends see. vanish: nothing arrives any more, without a sign.
unplug() { on_switch ip link set "$1" down; }
vanish() { on_switch ip link set "$1" nomaster; }
mend() { on_switch ip link set "$1" up master br0; }

# ---- setting up --------------------------------------------------------------------------------------------------

# The first process of a machine: bash takes what its daemons leave behind.
first_process()
{
	cat <<-'END'
		set -e
		name=$1 prefix=$2 root=$3 home=$4 m=$PWD
		ip link set lo up
		if [ "$name" != switch ]; then
			hostname "$name"
			mount --bind "$m/$name/etc" /etc
			mount --bind "$home" /home
			mount --bind "$m/$name/spool" /var/spool
			case $prefix in
			/opt/*)
				mount -t tmpfs none /opt && mkdir "$prefix"
				mount --bind "$root$prefix" "$prefix"
				mount -o remount,bind,ro "$prefix"
				mount --bind "$m/$name/conf" "$prefix/etc"
				;;
			*) mount -t overlay -o "lowerdir=$root$prefix:$prefix" none "$prefix" ;;
			esac
		fi
		: >"$m/$name/ready"
		while [ -e "$m/$name" ]; do sleep 2; done
	END
}

boot() # machine
{
	local name=$1 home=$M/home pid
	mkdir -p "$M/$name"
	if [ "$name" != switch ]; then
		mkdir -p "$M/$name/spool"
		cp -a /etc "$M/$name/etc"
		furnish "$M/$name/etc" "$name"
		[ "$PREFIX" = /usr ] || cp -a "$ROOT$PREFIX/etc" "$M/$name/conf"
		[ "$HOMES" = shared ] || home=$M/$name/home
		mkdir -p "$home"
		[ "$name" = head ] || make_homes "$home" "$M/$name/etc"
	fi
	(cd "$M" && exec unshare -mnuip --fork --kill-child --mount-proc bash "$M/first" "$name" "$PREFIX" "$ROOT" "$home") \
		</dev/null >"$M/$name/said" 2>&1 3>&- {quiet}>&- &
	wait_until 20 test -e "$M/$name/ready"
	pid=$(pgrep -P "$!")
	echo "$pid" >"$M/$name/pid"
	[ "$name" = switch ] || plug "$name" "$pid"
}

plug() # machine, its first process
{
	on_switch ip -batch - <<-END
		link add $1 type veth peer name eth0 netns $2
		link set $1 master br0 up
	END
	on "$1" ip -batch - <<-END
		addr add ${address[$1]}/24 dev eth0
		link set eth0 up
	END
}

# People: at the server ann has another uid, and there is no bob. Where homes are shared they have one uid on hosts and login
# nodes, else another on hosts.
furnish() # etc of a machine, its name
{
	local etc=$1 name
	cp -a "$ROOT/etc/." "$etc/"
	rm -f "$etc/profile.d"/* "$etc/default/keelson" "$etc/resolv.conf" "$etc/nologin"
	echo "PATH=$PREFIX/bin:/usr/bin:/bin" >"$etc/profile"
	cp "$ROOT$PREFIX/libexec/keelson/init" "$etc/init.d/keelson"
	chmod 755 "$etc/init.d/keelson"
	{
		echo 127.0.0.1 localhost
		for name in "${machines[@]}"; do echo "${address[$name]} $name"; done
	} >"$etc/hosts"
	case $HOMES.$2 in
	*.head) person "$etc" ann 7601 ;;
	own.n*) person "$etc" ann 7201; person "$etc" bob 7202 ;;
	*) person "$etc" ann 7101; person "$etc" bob 7102 ;;
	esac
}
person() { echo "$2:x:$3:" >>"$1/group"; echo "$2:x:$3:$3::/home/$2:/bin/sh" >>"$1/passwd"; } # etc, name, uid

make_homes() # folder, etc of a machine
{
	local name uid
	while IFS=: read -r name _ uid _; do
		case $name in ann | bob) mkdir -p "$1/$name" && chown "$uid:$uid" "$1/$name" ;; esac
	done <"$2/passwd"
}

# conf_of: the folder of the configuration.
conf_of() { if [ "$PREFIX" = /usr ]; then echo /etc/keelson; else echo "$PREFIX/etc/keelson"; fi; }

# configure MACHINE ROLE: /etc/pbs.conf, keelson.conf and who is where.
configure()
{
	local role=$2
	printf '%s\n' "PBS_EXEC=$PREFIX" PBS_HOME=/var/spool/pbs PBS_SERVER=head "PBS_START_${role^^}=1" | on "$1" tee /etc/pbs.conf >/dev/null
	on "$1" sed -i "s/^roles = .*/roles = [\"$role\"];/" "$(conf_of)/keelson.conf"
	on "$1" sed -i -e "s/sendmail = .*/sendmail = \"\";/" "$(conf_of)/modules.d/mail.conf"
	on "$1" sed -i -e "s/heartbeat = .*/heartbeat = \"${HEARTBEAT:-1s}\";/" -e "s/grace = .*/grace = \"${GRACE:-3s}\";/" \
		-e "$([ "$role" = server ] && echo 's/listen = "";/listen = "*:15001";/' || echo 's/server = "";/server = "head:15001";/')" \
		"$(conf_of)/modules.d/link-tcp.conf"
}

# carry FROM FILE TO FILE: what an administrator does with scp.
carry() { on "$1" cat "$2" | on "$3" sh -c 'umask 077; cat >"$1"' - "$4"; }

home_of=/var/spool/pbs
set_up_server()
{
	configure head server
	on head mkdir -p $home_of/server_priv/peers
	on head keelson-key make --role server --host head --dir $home_of/server_priv >/dev/null
	init head start >/dev/null
}

set_up() # machine, mom or login
{
	configure "$1" "$2"
	on "$1" mkdir -p $home_of/mom_priv/peers
	carry head $home_of/server_priv/head.pub "$1" $home_of/mom_priv/peers/server.pub
	[ "$2" != mom ] || [ "$HOMES" != shared ] || on "$1" sh -c "echo '\$usecp *:/home /home' >>$home_of/mom_priv/config"
}

enrol() # machine, mom or login
{
	on "$1" keelson-key make --role "$2" --host "$1" --dir $home_of/mom_priv >/dev/null
	carry "$1" "$home_of/mom_priv/$1.pub" head "$home_of/server_priv/peers/$1.pub"
	init "$1" start >/dev/null
}

# A daemon that was not configured for /usr looks for its configuration below its prefix, not in /etc.
install_below()
{
	local etc=$PREFIX/etc
	[ "$PREFIX" != /usr ] || etc=/etc
	make -C "$KEELSON_BUILD" -s install DESTDIR="$ROOT" prefix="$PREFIX" sysconfdir=$etc || return
	[ "$PREFIX" != /usr ] || { mkdir -p "$ROOT/usr/etc" && ln -s /etc/keelson "$ROOT/usr/etc/keelson"; }
}

# open_machines PREFIX shared|own: all of the cluster; login2 is left to the stories.
open_machines()
{
	local name
	export PREFIX=$1 HOMES=$2 M=$BATS_FILE_TMPDIR/machines$RANDOM ROOT=$BATS_FILE_TMPDIR/root${1//\//-}
	mkdir -m 755 "$M"
	install_below >"$M/said" 2>&1 3>&- || { cat "$M/said" >&2; false; }
	first_process >"$M/first"
	mkdir "$M/home"
	boot switch
	on_switch ip link add br0 type bridge
	on_switch ip link set br0 up
	for name in "${machines[@]}"; do
		boot "$name"
	done
	set_up_server
	for name in n1 n2; do set_up "$name" mom; enrol "$name" mom; done
	for name in login1 login2; do set_up "$name" login; done
	enrol login1 login
	on head qmgr -c 'set server job_history_enable = True'
	for name in n1 n2; do wait_until 30 is_up "$name"; done
	wait_until 30 reaches login1
}

# All that were opened in this file of stories.
close_machines()
{
	local pid
	for pid in "$BATS_FILE_TMPDIR"/machines*/*/pid; do
		[ ! -e "$pid" ] || kill -KILL "$(cat "$pid")" 2>/dev/null || true
	done
	rm -rf "$BATS_FILE_TMPDIR"/machines*
}
