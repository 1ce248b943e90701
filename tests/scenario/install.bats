#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# An installation holds all that people and vendors need: a module is built from it alone, in a folder of
# its own, and runs.

load helper

# In a folder of the file: installed once for all stories.
setup_file()
{
	export INSTALLED=$BATS_FILE_TMPDIR/root
	make -C "$KEELSON_BUILD" -s install DESTDIR="$INSTALLED" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	export PC_FLAGS=--define-prefix PKG_CONFIG_PATH=$INSTALLED/usr/lib/pkgconfig
	export PATH=$INSTALLED/usr/bin:$PATH
}

# A module called $1 in a folder of its own.
new_module()
{
	module=$BATS_TEST_TMPDIR/$1
	"$top/scripts/new-module" "$1" "$module" >/dev/null
}

@test "install: everything is where it is looked for" {
	for file in sbin/keelsond bin/qsub bin/keelson bin/keelson-key bin/keelson-module lib/libpbs.so \
		lib/libpbs.so.0 lib/libpbs.a lib/pkgconfig/pbs.pc lib/pkgconfig/keelson-module.pc \
		libexec/keelson/keelson-shepherd libexec/keelson/init include/pbs_ifl.h \
		include/keel/keel.h include/keel/hook_points.def include/keel/service/job.h \
		share/man/man1/qsub.1 share/man/man8/keelsond.8 share/man/man7/keelson-hooks.7 \
		share/man/man5/keelson.conf.5 lib/systemd/system/keelson-server.service; do
		[ -s "$INSTALLED/usr/$file" ] || { echo "$file is missing" >&2; false; }
	done
	for module in "$top"/modules/*/; do
		[ -s "$INSTALLED/usr/lib/keelson/modules/$(basename "$module").so" ]
	done
	[ -s "$INSTALLED/etc/keelson/keelson.conf" ]
	[ -s "$INSTALLED/etc/keelson/modules.d/jobs.conf" ]
	[ -s "$INSTALLED/usr/share/keelson/options/pbsnodes/admin-suspend.opt" ]
}

@test "install: configuration that is there is kept, the new one is put beside it" {
	echo '# mine' >"$INSTALLED/etc/keelson/modules.d/jobs.conf"
	make -C "$KEELSON_BUILD" -s install DESTDIR="$INSTALLED" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	same kept '# mine' "$(cat "$INSTALLED/etc/keelson/modules.d/jobs.conf")"
	cmp "$top/conf/modules.d/jobs.conf" "$INSTALLED/etc/keelson/modules.d/jobs.conf.new"
}

@test "install: the installed daemon runs as it is configured there" {
	home=$BATS_TEST_TMPDIR/home
	conf=$INSTALLED/etc/keelson/keelson.conf
	cp "$top/conf/modules.d/jobs.conf" "$INSTALLED/etc/keelson/modules.d/jobs.conf"
	says 0 "$conf: the configuration is right" \
		"$INSTALLED/usr/sbin/keelsond" --conf "$conf" --home "$home" --check \
		--set modules_dir="$INSTALLED/usr/lib/keelson/modules"
}

@test "install: a program of a user is built with libpbs" {
	cat >"$BATS_TEST_TMPDIR/id.c" <<-'END'
		#include <pbs_error.h>
		#include <pbs_ifl.h>
		#include <stdio.h>
		int main(void) { return printf("%d\n", pbs_connect("nosuchhost")) < 0; }
	END
	# shellcheck disable=SC2046
	cc -o "$BATS_TEST_TMPDIR/id" "$BATS_TEST_TMPDIR/id.c" $(pkg-config $PC_FLAGS --cflags --libs pbs)
	same 'no connection' -1 "$(LD_LIBRARY_PATH=$INSTALLED/usr/lib "$BATS_TEST_TMPDIR/id")"
}

@test "install: a module is built from installed headers alone, checked and described" {
	new_module tickets
	make -C "$module" -s 3>&-
	make -C "$module" -s test_tickets 3>&-
	"$module/test_tickets" >/dev/null
	found=$(keelson-module check "$module/tickets.so")
	lacks "$found" '^not ok'
	has "$found" '^1\.\.[1-9]'
	found=$(keelson-module describe "$module/tickets.so")
	has "$found" 'taps +job_submit'
	has "$found" 'attribute ticket of job'
	has "$found" 'pause = 2s'
}

# enable NAME true|false: the module of this story, in the sandbox; and tell the server.
enable()
{
	echo "$1: { enabled = $2; path = \"$module/$1.so\"; pause = \"1s\"; };" \
		>"$SB/server/etc/modules.d/$1.conf"
	keelson reload
}

@test "install: that module runs: its attribute, its veto, its hold; and goes again" {
	new_module tickets
	make -C "$module" -s 3>&-
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W ticket=ABC-1 -- /bin/true
	enable tickets true
	has "$(keelson hooks job_submit)" tickets
	id=$(submit -h -W ticket=ABC-1)
	same ticket ABC-1 "$(job_attr "$id" ticket)"
	got=0
	found=$(as "$OWNER" qsub -W ticket=nonsense -- /bin/true 2>&1) || got=$?
	same status 166 "$got"
	has "$found" "ticket: expected KEY-NUMBER, got 'nonsense'"

	as "$OWNER" qsub -h -- /bin/true >"$SB/answer" 3>&- &
	waits() { keelson holds | grep -q 'submitted without a ticket'; }
	wait_until 10 waits
	same 'no answer yet' '' "$(cat "$SB/answer")"
	wait $!
	job_is "$(cat "$SB/answer")" H

	enable tickets false
	lacks "$(qstat -f "$id")" '^ *ticket = '
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W ticket=ABC-1 -- /bin/true
	sandbox restart server --hard
	enable tickets true
	same 'kept while its module was away' ABC-1 "$(job_attr "$id" ticket)"
}

@test "install: keelson-module check says what is wrong" {
	fixtures=$KEELSON_BUILD/tests/fixtures
	while IFS='|' read -r name pattern; do
		got=0
		found=$(keelson-module check "$fixtures/$name.so") || got=$?
		same "status of $name" 1 "$got"
		has "$found" "^not ok [0-9]+ - $pattern"
	done <<-'END'
		badabi|its interface is one of
		unresolved|it loads without a daemon
		extra_export|it exports keel_module alone
		nosuch|it is a whole shared object
	END
}

@test "install: uninstall takes away what install put there" {
	root=$BATS_TEST_TMPDIR/root
	make -C "$KEELSON_BUILD" -s install DESTDIR="$root" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	make -C "$KEELSON_BUILD" -s uninstall DESTDIR="$root" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	same 'left behind' '' "$(find "$root" ! -type d ! -path "$root/etc/*")"
}

@test "install: the tarball holds all that the tree holds" {
	(cd "$BATS_TEST_TMPDIR" && cp -a "$KEELSON_BUILD/Makefile" "$KEELSON_BUILD/config.status" . &&
		cp -a "$KEELSON_BUILD"/*.pc . && make -s dist abs_builddir="$PWD" >/dev/null 2>"$BATS_TEST_TMPDIR/dist.log" 3>&-) ||
		{ cat "$BATS_TEST_TMPDIR/dist.log" >&2; false; }
	tar tf "$BATS_TEST_TMPDIR"/keelson-*.tar.gz | sed 's|^[^/]*/||; /\/$/d; /^$/d' | sort >"$BATS_TEST_TMPDIR/has"
	(cd "$top" && find README.md ARCHITECTURE.md CHANGELOG.md LICENSE configure.ac Makefile.am configure \
		kernel modules sdk conf scripts tests mk ! -type d ! -name '*.o' ! -name '*.so' | sort) \
		>"$BATS_TEST_TMPDIR/wanted"
	same 'missing in the tarball' '' "$(comm -13 "$BATS_TEST_TMPDIR/has" "$BATS_TEST_TMPDIR/wanted")"
}
