#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The administrator's guide (sdk/doc/admin), typed word by word on five machines: head, n1, n2, login1 and head2, which have the
# installation and nothing else. The first chapter makes the cluster, the others are typed on that.
#
# needs modules/client-relay

load helper
load admin-machines

setup_file()
{
	has_machines || return 0
	export machines=$BATS_FILE_TMPDIR/machines KEEL_MACHINES=$BATS_FILE_TMPDIR/machines
	chmod a+rx "$BATS_FILE_TMPDIR"
	make_machines head n1 n2 login1 head2
	install_at head
}

# What `make install` of head does, and the archives that the chapters make: of this version, and of another one.
install_at()
{
	local root=$machines/$1 version=${KEEL_VERSION:-0.1.0}
	make -C "$KEELSON_BUILD" -s install DESTDIR="$machines/installed" prefix=/usr/local sysconfdir=/etc >/dev/null 3>&-
	tar -C "$machines/installed" --mode=u+rwX,go+rX -cf "$root/tmp/keelson-0.1.0.tar" etc usr
	tar -C "$root" -xf "$root/tmp/keelson-0.1.0.tar"
	(cd "$machines/installed" && grep -rlF "Keelson $version" usr/local/{bin,sbin,lib,libexec} | xargs sed -i "s/Keelson $version/Keelson 0.1.1/g")
	tar -C "$machines/installed" --mode=u+rwX,go+rX -cf "$root/tmp/keelson-0.1.1.tar" etc usr
	# A build that was configured with --sysconfdir=/etc looks there.
	for root in "$machines"/*/usr/local/etc; do ln -s /etc/keelson "$root/keelson"; done
}

teardown_file() { [ -z "${machines-}" ] || end_machines; }
setup() { state_shown=$BATS_TEST_TMPDIR/shown; }
teardown() { :; }
show_state() { :; }

guide=$top/sdk/doc/admin

# play CHAPTER: as it is written.
play()
{
	export KEEL_SERVER=head KEEL_USER=ann KEEL_PATIENCE=${KEEL_PATIENCE:-60}
	"$top/sdk/doc/tools/docs" play "$guide/$1" "$BATS_TEST_TMPDIR" 3>&-
}

# chapter NAME: where the first one has made the cluster.
chapter()
{
	needs_machines
	[ -e "$machines/cluster" ] || first_cluster
	wait_until 60 on login1 /usr/local/bin/qstat -B # the chapter before may have restarted the server
	play "$1"
}

first_cluster()
{
	play 01-first-cluster.md
	: >"$machines/cluster"
}

@test "administrator #F: guide: a first cluster" { needs_machines; first_cluster; }
@test "administrator #F: guide: users and queues" { chapter 02-users-and-queues.md; }
@test "administrator #F: guide: features on and off" { chapter 03-features.md; }
@test "administrator #F: guide: upgrade and rollback" { chapter 04-upgrade-and-rollback.md; }
@test "administrator #F: guide: backup and restore, also on a host of another name" { chapter 05-backup-and-restore.md; }
@test "administrator #F: guide: firewall" { chapter 06-firewall.md; }
@test "administrator #F: guide: logs, accounting, retention" { chapter 07-logs-and-accounting.md; }
@test "administrator #F: guide: monitoring" { chapter 08-monitoring.md; }
@test "administrator #F: guide: memory and limits on hosts" { chapter 09-memory-and-limits.md; }

@test "administrator #F: guide: moving from PBS" { chapter 10-moving-from-pbs.md; }

# sentences: those of the tables, in pieces; what differs is between them.
sentences() { sed -n 's/^| `\([^`]*\)` |.*/\1/p' "$guide/11-troubleshooting.md" | sed 's/ *\.\.\. */\n/g' | sed 's/^[:,; ]*//' | grep -E '.{4}' | sort -u; }

@test "administrator #F: guide: troubleshooting has the sentences of the programs (11-troubleshooting.md)" {
	same 'how many' yes "$([ "$(sentences | wc -l)" -gt 40 ] && echo yes)"
	cat "$top"/kernel/*/*.[ch] "$top"/modules/*/*.[ch] "$top"/modules/*/*.def "$top"/sdk/client/*.c "$top"/sdk/commands/*/*.c "$top"/sdk/include/keel/*.def "$top"/sdk/include/*.h |
		tr -d '\n' | sed -e 's/"[ \t]*"//g' -e 's/%\(\.\*\|04\|ll\|l\)*[a-z]/%/g' >"$BATS_TEST_TMPDIR/programs"
	sentences | while IFS= read -r piece; do
		grep -qF -e "$piece" "$BATS_TEST_TMPDIR/programs" || { echo "no program says: $piece" >&2; false; }
	done
}

# ---- what is not typed ---------------------------------------------------------------------------------------

# marked WORD: the lines of the blocks with that mark, as they are typed; those that end in \ are one with the next.
marked()
{
	sed -n "/^<!-- checked: $1/,/^\`\`\`\$/p" "$guide"/*.md | grep -vE '^(<!--|```)' | sed -e ':a;/\\$/{N;s/\\\n\t*//;ba}' \
		-e 's/^[a-z0-9]*[#$] //'
}

@test "administrator #F: guide: each block is typed, or says what else is done about it; no chapter is left out" {
	for file in "$guide"/*.md; do
		grep -qE "(chapter |play |\\()${file##*/}([ ;)]|\$)" "$BATS_TEST_FILENAME" || { echo "no story types $file" >&2; false; }
	done
	same 'blocks that are no console' '' "$(grep -hE '^```.' "$guide"/*.md | grep -vx '```console')"
	same 'marks that no story knows' '' \
		"$(sed -n 's/^<!-- checked: \(.*\) -->$/\1/p' "$guide"/*.md | grep -vxE 'packages|build|nft|old|story .*')"
	same 'marks without a block' '' "$(grep -hA 1 '^<!-- ' "$guide"/*.md | grep -vE '^<!-- checked: |^```console$|^--$')"
	sed -n 's/^<!-- checked: story \(.*\) -->$/\1/p' "$guide"/*.md | while read -r name; do
		grep -qrF "@test \"$name\"" "$top/tests/scenario" || { echo "there is no story \"$name\"" >&2; false; }
	done
	[ "$(cat "$guide"/*.md | wc -l)" -le 2000 ]
}

# direct: packages of the libraries that what was built is linked with, but for those that every machine has.
direct()
{
	find "$KEELSON_BUILD"/{bin,keelsond,modules,libexec} -type f \( -perm -100 -o -name '*.so' \) -exec readelf -d {} + 2>/dev/null |
		sed -n 's/.*(NEEDED).*\[\(lib.*\)\]/*\/\1/p' | sort -u | xargs -d '\n' dpkg -S 2>/dev/null | sed 's/:.*//' | grep -vxE 'libc6.*|libgcc-s1|libstdc\+\+6|libpbs.*' | sort -u
}

@test "administrator #F: guide: the packages are those that a build and what was built need" {
	command -v dpkg >/dev/null || skip "this is no Debian"
	. <(sed -n '/^build_packages=/,/)$/p; /^python_packages=/p; /^doc_packages=/p' "$top/scripts/lib.sh")
	wanted=$(printf '%s\n' "${build_packages[@]}" "${python_packages[@]}" "${doc_packages[@]}" |
		grep -vxE 'autoconf|automake|libtool|libcunit1-dev' | sort) # of those who change it
	same 'packages of a build' "$wanted" "$(marked packages | grep 'gcc' | sed 's/^apt install //' | tr ' ' '\n' | sort)"
	same 'packages of a host' "$(direct)" "$(marked packages | grep -v 'gcc' | sed 's/^apt install //' | tr ' ' '\n' | sort)"
}

@test "administrator #F: guide: it is built as configure and make know it" {
	same 'what is typed' "tar -xzf keelson-*.tar.gz
cd keelson-*/
./configure --sysconfdir=/etc
make
make install
make install DESTDIR=/tmp/keelson
tar -C /tmp/keelson --mode=u+rwX,go+rX -cf /tmp/keelson-0.1.0.tar etc usr" "$(marked build)"
	has "$("$top/configure" --help)" '--sysconfdir=DIR'
	has "$(sed -n 's/.*KEELSON_RELEASE "\(.*\)"/\1/p' "$top/kernel/util/version.h")" '^0\.1\.0$'
}

@test "administrator #F: guide: the firewall's rules are nftables' own, and leave open the port that the server has" {
	marked nft | sed '1d;$d' >"$BATS_TEST_TMPDIR/rules"
	has "$(cat "$BATS_TEST_TMPDIR/rules")" 'tcp dport 15001 accept$'
	same 'braces' "$(grep -o '{' "$BATS_TEST_TMPDIR/rules" | wc -l)" "$(grep -o '}' "$BATS_TEST_TMPDIR/rules" | wc -l)"
	has "$(cat "$guide/01-first-cluster.md")" 'listen = "\*:15001";'
	command -v nft >/dev/null || skip "nft is missing"
	needs_machines
	unshare -n nft -c -f "$BATS_TEST_TMPDIR/rules"
}

@test "administrator #F: guide: what is typed on the old server are commands that qmgr has" {
	needs_machines
	[ -e "$machines/cluster" ] || first_cluster
	marked old | sed -e 's/ >.*//' | while read -r line; do on head sh -c "PATH=/usr/local/bin:\$PATH; $line" >/dev/null; done
}

@test "administrator #F: guide: each module has its line, and no other" {
	for module in "$top"/modules/*/; do
		module=$(basename "$module")
		grep -qE "\`$module\`|[ ,]$module[ ,.]" "$guide/03-features.md" || { echo "$module is missing" >&2; false; }
	done
	sed -n '/^## The features that can be off/,$s/^| \(`[^|]*\) |.*/\1/p' "$guide/03-features.md" | grep -oE '[a-z][a-z-]+' | while read -r module; do
		[ -d "$top/modules/$module" ] || echo "$module"
	done >"$BATS_TEST_TMPDIR/absent"
	same 'modules that are not there' '' "$(cat "$BATS_TEST_TMPDIR/absent")"
}
