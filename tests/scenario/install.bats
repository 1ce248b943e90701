#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# An installation holds all that people and vendors need. What vendors do with it: vendor.bats.

load helper

# In a folder of the file: installed once for all stories.
setup_file()
{
	export INSTALLED=$BATS_FILE_TMPDIR/root
	make -C "$KEELSON_BUILD" -s install DESTDIR="$INSTALLED" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	export PC_FLAGS=--define-prefix PKG_CONFIG_PATH=$INSTALLED/usr/lib/pkgconfig
	export PATH=$INSTALLED/usr/bin:$PATH
}

@test "install: everything is where it is looked for" {
	for file in sbin/keelsond bin/qsub bin/keelson bin/keelson-key bin/keelson-module lib/libpbs.so \
		lib/libpbs.so.0 lib/libpbs.a lib/pkgconfig/pbs.pc lib/pkgconfig/tm.pc lib/pkgconfig/keelson-module.pc bin/pbs-config bin/pbsdsh include/tm.h include/tm_.h \
		libexec/keelson/keelson-shepherd libexec/keelson/init include/pbs_ifl.h \
		include/keel/keel.h include/keel/hook_points.def include/keel/service/job.h \
		share/man/man1/qsub.1 share/man/man8/keelsond.8 share/man/man7/keelson-hooks.7 \
		share/man/man5/keelson.conf.5 share/man/man1/keelson-module.1 share/aclocal/keelson.m4 \
		lib/cmake/KeelsonModule/KeelsonModuleConfig.cmake share/keelson/template/template.c \
		lib/pkgconfig/keelson-mock.pc lib/libkeelson-mock.a include/keel/mock.h libexec/keelson/keelson-modhost \
		share/doc/keelson/keelson-sdk.html share/doc/keelson/examples/hold.c share/man/man3/job_submit.3keel \
		share/man/man7/keelson-guide.7 lib/systemd/system/keelson-server.service; do
		[ -s "$INSTALLED/usr/$file" ] || { echo "$file is missing" >&2; false; }
	done
	for module in "$top"/modules/*/; do
		[ -s "$INSTALLED/usr/lib/keelson/modules/$(basename "$module").so" ]
	done
	(cd "$KEELSON_BUILD/libexec/keelson" && find . -type f ! -name '.*') | while read -r file; do
		[ -s "$INSTALLED/usr/libexec/keelson/$file" ] || { echo "$file is missing" >&2; false; }
	done
	[ -s "$INSTALLED/etc/keelson/keelson.conf" ]
	[ -s "$INSTALLED/etc/keelson/modules.d/jobs.conf" ]
	[ -s "$INSTALLED/usr/share/keelson/options/pbsnodes/admin-suspend.opt" ]
	grep -qx PBS_EXEC=/usr "$INSTALLED/etc/pbs.conf"
	for pc in pbs tm keelson-module keelson-mock; do grep -qx prefix=/usr "$INSTALLED/usr/lib/pkgconfig/$pc.pc"; done
	grep -q '^ExecStart=/usr/sbin/keelsond ' "$INSTALLED/usr/lib/systemd/system/keelson-server.service"
	! grep -rn /usr/local "$INSTALLED/usr/lib/systemd" "$INSTALLED/usr/libexec/keelson/init" "$INSTALLED/etc"
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
		"$INSTALLED/usr/sbin/keelsond" --conf "$conf" --home "$home" --check
}

@test "install: with another prefix than configure's the daemon finds what is installed there, root only what others cannot write" {
	there=$BATS_TEST_TMPDIR/there
	make -C "$KEELSON_BUILD" -s install prefix="$there" PBS_CONF_TARGET="$there/etc/pbs.conf" >/dev/null 3>&-
	check() { "$there/sbin/keelsond" --home "$BATS_TEST_TMPDIR/home" --check 2>&1 || true; }
	same 'what it says' "$there/etc/keelson/keelson.conf: the configuration is right" "$(check)"
	has "$("$there/sbin/keelsond" --help)" "configuration \($there/etc/keelson/keelson.conf\)"
	needs_root
	chmod go+w "$there/lib/keelson/modules"
	has "$(check)" "is not trusted: $there/lib/keelson/modules may be written by others"
	chmod go-w "$there/lib/keelson/modules"
	chmod go+w "$there/etc/keelson"
	lacks "$(check)" "$there"
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

@test "install: keelson-module check says what is wrong" {
	fixtures=$KEELSON_BUILD/tests/fixtures
	while IFS='|' read -r name pattern; do
		got=0
		found=$(keelson-module check "$fixtures/$name.so") || got=$?
		same "status of $name" 1 "$got"
		has "$found" "^not ok [0-9]+ - $pattern"
	done <<-'END'
		badabi|static/abi
		unresolved|static/imports
		extra_export|static/one-export
		nosuch|static/file
	END
}

@test "install: uninstall takes away what install put there" {
	root=$BATS_TEST_TMPDIR/root
	make -C "$KEELSON_BUILD" -s install DESTDIR="$root" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	make -C "$KEELSON_BUILD" -s uninstall DESTDIR="$root" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	same 'left behind' '' "$(find "$root" ! -type d ! -path "$root/etc/*")"
	same 'folders left behind' '' "$(find "$root" -type d -name 'keel*' ! -path "$root/etc/*")"
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

@test "install: a program with tasks is built with pbs-config, or with pkg-config" {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' '#include <tm.h>' 'int main(void) { struct tm_roots r; return tm_init(0, &r) == TM_EBADENVIRONMENT ? 0 : 1; }' >t.c
	# shellcheck disable=SC2046
	cc -o by-config t.c $(pbs-config --cflags --libs)
	same prefix "$(cd "$INSTALLED/usr" && pwd -P)" "$(pbs-config --prefix)"
	# shellcheck disable=SC2046
	cc -o by-pkg t.c $(pkg-config $PC_FLAGS --cflags --libs tm)
	env -u PBS_JOBID LD_LIBRARY_PATH="$INSTALLED/usr/lib" ./by-config
	env -u PBS_JOBID LD_LIBRARY_PATH="$INSTALLED/usr/lib" ./by-pkg
}
