#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# An administrator builds, installs and starts what is here: what `make install` puts where, what reads it there, start-up
# scripts and units, compilers other than ours.

load helper

# Installed once, for /opt/keelson, into a folder of the file.
setup_file()
{
	export ROOT=$BATS_FILE_TMPDIR/root
	make -C "$KEELSON_BUILD" -s install DESTDIR="$ROOT" prefix=/opt/keelson >"$BATS_FILE_TMPDIR/said" 3>&-
	chmod -R a+rX "$BATS_FILE_TMPDIR"
}

install_again() { make -C "$KEELSON_BUILD" -s keelson-install-data DESTDIR="$ROOT" prefix=/opt/keelson "$@" 2>&1 3>&-; }

needs_mounts() { needs_root; unshare -m true 2>/dev/null || skip "needs mount namespaces"; }

# machine PREFIX COMMANDS: they run where that installation is the machine's: PREFIX, /etc and /var/spool are of the story.
machine()
{
	local etc=$BATS_TEST_TMPDIR/etc
	[ -d "$etc" ] || { cp -a /etc "$etc" && rm -f "$etc/pbs.conf" "$etc/default/keelson" && cp -a "$ROOT/etc/." "$etc"; }
	cat >"$BATS_TEST_TMPDIR/machine" <<-END
		set -e
		[ -d '$1' ] || { mount -t tmpfs none '${1%/*}' && mkdir '$1'; }
		mount --bind '$ROOT$1' '$1'
		mount --bind '$etc' /etc
		mount -t tmpfs none /var/spool
		unset PBS_CONF_FILE PBS_SERVER PBS_DEFAULT PBS_HOME PBS_EXEC
		PATH=$1/bin:\$PATH
		init() { sh '$1/libexec/keelson/init' "\$@"; }
		trap 'init stop >/dev/null 2>&1 || true' EXIT
		cd /tmp
		$2
	END
	unshare -m bash "$BATS_TEST_TMPDIR/machine" 2>&1 3>&-
}

# What people do on the first day.
first_day='
	init start
	qstat -B | tail -n 1 | cut -d" " -f1
	for ((i = 0; i < 600; i++)); do ! pbsnodes -a | grep -q "state = free" || break; sleep 0.1; done
	setpriv --reuid='$OWNER' --regid='$OWNER' --init-groups qsub -W block=true -o /dev/null -e /dev/null -- /bin/true
	init status | sed "s/pid .*/there/"
	init restart
	init stop
	init status || echo "status $?"
'
first_said='keelson: server and mom started
localhost
0.localhost
keelson server is there
keelson mom is there
keelson: mom stopped
keelson: server and mom started
keelson: mom stopped
keelson server is not running
keelson mom is not running
status 3'

@test "administrator #7: make install, then the first documented command: it starts, stops, restarts, below /opt" {
	needs_mounts
	make_users
	same 'the first day' "$first_said" "$(machine /opt/keelson "$first_day")"
}

@test "administrator #7: the same below /usr/local" {
	needs_mounts
	make_users
	ROOT=$BATS_TEST_TMPDIR/root
	make -C "$KEELSON_BUILD" -s install DESTDIR="$ROOT" prefix=/usr/local >/dev/null 3>&-
	chmod -R a+rX "$BATS_TEST_TMPDIR"
	grep -qx PBS_EXEC=/usr/local "$ROOT/etc/pbs.conf"
	same 'the first day' "$first_said" "$(machine /usr/local "$first_day")"
}

@test "administrator #7: without pbs.conf the init script says so; /etc/default/keelson names another, for daemon and script" {
	needs_mounts
	same 'what it says' 'keelson: there is no /etc/pbs.conf, which says what this host runs: make install writes one; another is named by PBS_CONF_FILE in /etc/default/keelson
status 6
keelson: there is no /etc/pbs.conf, which says what this host runs: make install writes one; another is named by PBS_CONF_FILE in /etc/default/keelson
status 4
keelson: server started
server_priv
keelson: server stopped' "$(machine /opt/keelson '
		mv /etc/pbs.conf /etc/ours.conf
		init start || echo "status $?"
		init status || echo "status $?"
		echo PBS_CONF_FILE=/etc/ours.conf >/etc/default/keelson
		sed -i -e "s/^PBS_START_MOM=.*/PBS_START_MOM=0/" -e "s|^PBS_HOME=.*|PBS_HOME=/var/spool/ours|" /etc/ours.conf
		init start
		ls /var/spool/ours | grep server_priv
		init stop
	')"
}

@test "administrator #7: on a login node the init script starts, restarts and stops the login daemon" {
	needs_mounts
	same 'what it says' 'keelson: login started
keelson login is there
keelson: login stopped
keelson: login started
keelson: login stopped
keelson login is not running
status 3' "$(machine /opt/keelson '
		sed -i -e "/^PBS_START_/d" -e "\$aPBS_START_LOGIN=1" /etc/pbs.conf
		sed -i "s/server = \"\";/server = \"127.0.0.1:1\";/" /opt/keelson/etc/keelson/modules.d/link-tcp.conf
		mkdir -p /var/spool/pbs/mom_priv/peers
		echo "PBS_MOM_NODE_NAME=login1" >>/etc/pbs.conf
		keelson-key make --role login --host login1 --dir /var/spool/pbs/mom_priv >/dev/null
		mv /var/spool/pbs/mom_priv/login1.key /var/spool/pbs/mom_priv/link.key
		keelson-key make --role server --host svr --dir /var/spool/pbs/mom_priv/peers >/dev/null
		rm /var/spool/pbs/mom_priv/peers/svr.key
		init start
		init status | sed "s/pid .*/there/"
		init restart
		init stop
		init status || echo "status $?"
		sed -i "s/server = \".*\";/server = \"\";/" /opt/keelson/etc/keelson/modules.d/link-tcp.conf
	')"
}

# says_why SERVER MOM LOGIN: the init script, where the daemon does not start. It is of this story, and fails.
says_why()
{
	mkdir -p "$BATS_TEST_TMPDIR/exec/sbin"
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/exec/sbin/keelsond"
	chmod 755 "$BATS_TEST_TMPDIR/exec/sbin/keelsond"
	printf '%s\n' PBS_EXEC="$BATS_TEST_TMPDIR/exec" PBS_HOME=/srv/pbs PBS_MOM_HOME=/srv/mom PBS_START_SERVER="$1" PBS_START_MOM="$2" \
		PBS_START_LOGIN="$3" >"$BATS_TEST_TMPDIR/pbs.conf"
	PBS_CONF_FILE=$BATS_TEST_TMPDIR/pbs.conf says 1 "$4" sh "$top/sdk/init/keelson" start
}

@test "administrator #7: where a daemon does not start, the init script names the logs of its role, and nothing else" {
	says_why 1 0 0 'keelson: server did not start, see the message above and /srv/pbs/server_logs'
	says_why 0 1 0 'keelson: mom did not start, see the message above and /srv/mom/mom_logs'
	says_why 0 0 1 'keelson: login did not start, see the message above and /srv/mom/mom_logs'
	says_why 1 1 0 'keelson: server and mom did not start, see the message above and /srv/pbs/server_logs'
	says_why 1 0 1 "keelson: $BATS_TEST_TMPDIR/pbs.conf wants server login: a login node has neither server nor mom"
}

@test "administrator #7: pbs.conf and keelson.conf that do not say the same are noticed" {
	needs_mounts
	has "$(machine /opt/keelson '
		sed -i "s/^roles = .*/roles = [\"server\"];/" /opt/keelson/etc/keelson/keelson.conf
		init start || echo "status $?"
		sed -i "s/^roles = .*/roles = [\"server\", \"mom\"];/" /opt/keelson/etc/keelson/keelson.conf
	')" '/etc/pbs.conf starts a mom on this host, which the roles of keelson.conf leave out: let both say the same
status 1$'
}

@test "administrator #7: make install keeps an administrator's pbs.conf, and says where it could not write one" {
	echo '# mine' >>"$ROOT/etc/pbs.conf"
	mine=$(cat "$ROOT/etc/pbs.conf")
	has "$(install_again)" "^  $ROOT/etc/pbs.conf is kept, the new one is $ROOT/etc/pbs.conf.new$"
	same pbs.conf "$mine" "$(cat "$ROOT/etc/pbs.conf")"
	grep -qx PBS_EXEC=/opt/keelson "$ROOT/etc/pbs.conf.new"
	lacks "$mine" "$ROOT"
	has "$(make -C "$KEELSON_BUILD" -s keelson-install-data prefix="$BATS_TEST_TMPDIR/there" PBS_CONF_TARGET=/proc/none/pbs.conf 2>&1 3>&-)" \
		"/proc/none/pbs.conf cannot be written: root is to copy $BATS_TEST_TMPDIR/there/etc/keelson/pbs.conf there, or PBS_CONF_FILE names it"
	grep -qx "PBS_EXEC=$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/there/etc/keelson/pbs.conf"
}

@test "administrator #8: units for a server, a mom, both and a login node, as systemd wants them" {
	command -v systemd-analyze >/dev/null || skip "there is no systemd-analyze (package systemd)"
	mkdir "$BATS_TEST_TMPDIR/units"
	for unit in keelson keelson-server keelson-mom keelson-login; do
		file=$ROOT/opt/keelson/lib/systemd/system/$unit.service
		grep -qx 'EnvironmentFile=-/etc/default/keelson' "$file"
		grep -q '^ExecStart=/opt/keelson/sbin/keelsond --foreground' "$file"
		# The program is to be there.
		sed "s|/opt/keelson/sbin|$ROOT&|" "$file" >"$BATS_TEST_TMPDIR/units/$unit.service"
	done
	says 0 '' systemd-analyze --man=no verify "$BATS_TEST_TMPDIR"/units/*.service
	sed -i 's/^Restart=.*/Restart=sometimes/' "$BATS_TEST_TMPDIR/units/keelson.service"
	has "$(systemd-analyze --man=no verify "$BATS_TEST_TMPDIR/units/keelson.service" 2>&1 || true)" 'sometimes' # it does look
}

# configured OPTION...: what it prints; the Makefile is in the story's folder.
configured() { (cd "$BATS_TEST_TMPDIR" && "$top/configure" "$@" 2>&1 3>&-); }
variable() { sed -n "s/^$1 = //p" "$BATS_TEST_TMPDIR/Makefile"; }

@test "administrator #8 #11a: configure for /usr: configuration in /etc, units where systemd reads them; warnings are no errors" {
	configured --prefix=/usr >/dev/null
	same sysconfdir /etc "$(variable sysconfdir)"
	has "$(variable systemdsystemunitdir)" '^/usr/lib/systemd/system$'
	same pbs.conf /etc/pbs.conf "$(variable PBS_CONF_TARGET)"
	has "$(variable KEEL_CFLAGS)" '-Wall -Wextra'
	lacks "$(variable KEEL_CFLAGS)" '-Werror'
	has "$(sed -n 's/^KEEL_CFLAGS = //p' "$KEELSON_BUILD/Makefile")" '-Werror' # scripts/build
}

@test "administrator #8 #11a: configure with clang for /opt: options that it has, a word about units that systemd does not find" {
	command -v clang >/dev/null || skip "there is no clang"
	has "$(configured CC=clang --prefix=/opt/keelson)" 'systemd units go to /opt/keelson/lib/systemd/system, where systemd does not look'
	lacks "$(variable KEEL_CFLAGS)" 'format-truncation'
	has "$(variable KEEL_CFLAGS)" '-fstack-protector-strong'
	# Where clang warned once.
	says 0 '' make -C "$BATS_TEST_TMPDIR" -s V=1 obj/kernel/conf/read.o obj/modules/executor/executor.o obj/sdk/client/not_supported.o
}

@test "administrator #11a: a module is built out of tree with clang, without a warning" {
	command -v clang >/dev/null || skip "there is no clang"
	cd "$BATS_TEST_TMPDIR"
	export PKG_CONFIG_PATH=$ROOT/opt/keelson/lib/pkgconfig PKG_CONFIG='pkg-config --define-prefix'
	"$ROOT/opt/keelson/bin/keelson-module" new hello >/dev/null
	found=$(make -C hello CC=clang check 2>&1 3>&-) || { echo "$found" >&2; false; }
	lacks "$found" 'warning'
	has "$found" '^clang '
}

@test "administrator #F: installed documents: README, LICENSE, CHANGELOG, guides; their links lead somewhere, nothing names this machine" {
	docs=$ROOT/opt/keelson/share/doc/keelson
	for file in README.md LICENSE CHANGELOG.md guide/01-what-to-hook.md hooks-guide.md hooks-python.md glossary.md examples/hold.c; do
		[ -s "$docs/$file" ] || { echo "$file is missing" >&2; false; }
	done
	for file in "$top"/sdk/doc/admin/*.md; do
		[ ! -e "$file" ] || cmp "$file" "$docs/admin/${file##*/}"
	done
	find "$docs" -name '*.md' | while read -r file; do
		grep -oE '\]\([^)#:]+' "$file" | sed 's/^](//' | while read -r link; do
			[ -e "${file%/*}/$link" ] || echo "${file#"$docs"/}: $link"
		done
	done >"$BATS_TEST_TMPDIR/nowhere"
	same 'links that lead nowhere' '' "$(cat "$BATS_TEST_TMPDIR/nowhere")"
	same 'what names this machine' '' "$(grep -rlF -e "$top" -e "$KEELSON_BUILD" "$docs" "$ROOT/opt/keelson/share/man" "$ROOT/etc")"
}
