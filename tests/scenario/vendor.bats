#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A stranger writes a module, in an afternoon, with nothing but an installation: makes it, builds it in
# several ways, looks at it, runs it, and takes it away again.

load helper

# Installed once for all stories; the stranger's module is built there, and nothing of this tree is seen.
setup_file()
{
	INSTALLED=$(mktemp -d "${TMPDIR:-/tmp}/keelson-installed.XXXXXX") # people run commands of it
	chmod 755 "$INSTALLED"
	export INSTALLED HELLO=$BATS_FILE_TMPDIR/desk/hello
	make -C "$KEELSON_BUILD" -s install DESTDIR="$INSTALLED" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	mkdir "$BATS_FILE_TMPDIR/desk"
	(cd "$BATS_FILE_TMPDIR/desk" && stranger keelson-module new hello >new.log)
	stranger make -C "$HELLO" check >"$BATS_FILE_TMPDIR/check.log" 2>&1 || { cat "$BATS_FILE_TMPDIR/check.log" >&2; false; }
}

teardown_file() { rm -rf "$INSTALLED"; }

# stranger COMMAND...: somebody who has installed Keelson in a place of its own, and knows nothing else.
stranger()
{
	env -i TMPDIR="${TMPDIR:-/tmp}" PATH="$INSTALLED/usr/bin:/usr/lib/ccache:/usr/bin:/bin" HOME="$BATS_FILE_TMPDIR" \
		PKG_CONFIG='pkg-config --define-prefix' PKG_CONFIG_PATH="$INSTALLED/usr/lib/pkgconfig" \
		CMAKE_PREFIX_PATH="$INSTALLED/usr" ACLOCAL_PATH="$INSTALLED/usr/share/aclocal" "$@" 3>&-
}

# new NAME [options]: in a folder of this story
new() { stranger keelson-module new --dir "$BATS_TEST_TMPDIR/$1" "${@:2}" "$1" >/dev/null; }

needs_program() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# is_a_module FILE
is_a_module() { lacks "$(stranger keelson-module check "$@")" '^not ok'; }

# ---- making and building it ------------------------------------------------------------------------

@test "vendor: new, make, make check: a module with its test, checked" {
	has "$(cat "$BATS_FILE_TMPDIR/desk/new.log")" 'cd hello && make && make check'
	has "$(cat "$BATS_FILE_TMPDIR/desk/new.log")" "export PKG_CONFIG_PATH=$INSTALLED/usr/lib/pkgconfig"
	log=$(cat "$BATS_FILE_TMPDIR/check.log")
	has "$log" 'a ticket is looked up ...passed'
	has "$log" '^ok [0-9]+ - '
	lacks "$log" '^not ok|warning'
	same 'old names' '' "$(grep -rwl --include='*.[ch]' --include=README.md --include=Makefile template "$HELLO")"
	same 'its files' 'Makefile README.md hello.c hello.conf test_hello.c' \
		"$(cd "$HELLO" && echo Makefile README.md hello.c hello.conf test_*.c)"
	stranger make -s -C "$HELLO" install DESTDIR="$BATS_TEST_TMPDIR"
	[ -s "$BATS_TEST_TMPDIR$INSTALLED/usr/lib/keelson/modules/hello.so" ]
}

@test "vendor: new, make, make check: beside a build that is not installed, too" {
	near() { env -i PATH="$KEELSON_BUILD/bin:/usr/lib/ccache:/usr/bin:/bin" HOME="$BATS_TEST_TMPDIR" "$@" 3>&-; }
	near keelson-module new --dir "$BATS_TEST_TMPDIR/near" near >/dev/null
	near make -s -C "$BATS_TEST_TMPDIR/near" check >"$BATS_TEST_TMPDIR/log" 2>&1
	lacks "$(cat "$BATS_TEST_TMPDIR/log")" '^not ok|warning'
	is_a_module "$BATS_TEST_TMPDIR/near/near.so"
}

@test "vendor: a sandbox that was stopped starts again in its directory, and its env leads a module's make to its build" {
	SB=$BATS_TEST_TMPDIR/box
	sandbox start
	sandbox stop
	sandbox start
	has "$(. "$SB/env" && pbsnodes -av)" '^n1'
	# of this build, or of the one that it is a copy of
	cmp "$KEELSON_BUILD/bin/keelson-module" "$(. "$SB/env" && pkg-config --variable=tool keelson-module)"
	sandbox stop
}

@test "vendor: one line of the compiler makes a module" {
	# shellcheck disable=SC2016
	stranger sh -c 'cd "$1" && gcc $($PKG_CONFIG --cflags --libs keelson-module) -o "$2" hello.c' - "$HELLO" "$BATS_TEST_TMPDIR/one.so"
	is_a_module "$BATS_TEST_TMPDIR/one.so"
	has "$(stranger keelson-module check --isolated --only isolated/possible "$BATS_TEST_TMPDIR/one.so")" '^ok'
}

@test "vendor: the kit is told what must be configured, and says so" {
	cd "$BATS_TEST_TMPDIR"
	cat >picky.c <<-'END'
		#include <string.h>
		#include "keel/keel.h"
		struct conf { const char *file; };
		static int32_t check(const void *conf, struct keel_err *err)
		{
			strcpy(err->text, "file: expected a path");
			return ((const struct conf *)conf)->file[0] == '/' ? 0 : -1;
		}
		static const struct keel_conf_rule rules[] = {
			KEEL_CONF_RULE(STRING, struct conf, file, .flags = KEEL_CONF_REQUIRED, .doc = "where it is"),
		};
		KEEL_MODULE(.name = "picky", .version = "1", .summary = "wants a path", .roles = KEEL_SERVER,
			    KEEL_CONF(struct conf, rules), .check = check);
	END
	stranger sh -c 'gcc $($PKG_CONFIG --cflags --libs keelson-module) -o picky.so picky.c'
	run stranger keelson-module check ./picky.so
	has "$output" "found: .*file: expected a path \(made up here was file = \"x\"; say with --conf '...' what its group holds\)"
	is_a_module ./picky.so --conf 'file = "/x";'
	run stranger keelson-module check --only static/upgrade --before "$HELLO/hello.so" ./picky.so
	has "$output" "found: a configuration with the key 'patience' is refused now"
	has "$output" "found: a configuration without the key 'file' is refused now"
	says 2 "keelson-module: --before picky.c: it is not an ELF file" stranger keelson-module check --before picky.c ./picky.so
}

@test "vendor: wrong types of handlers and configuration do not compile, unknown functions do not link" {
	cd "$BATS_TEST_TMPDIR"
	sed 's/const struct keel_ev_job_submit \*ev/const struct keel_ev_job_queued *ev/' "$HELLO/hello.c" >wrong.c
	sed 's/fclose(f)/keel_close_it(f)/; s/^#include "keel.*/&\nint keel_close_it(void *);/' "$HELLO/hello.c" >unknown.c
	sed 's/int64_t patience;/int32_t patience;/' "$HELLO/hello.c" >narrow.c
	flags=$(stranger pkg-config --define-prefix --cflags --libs keelson-module)
	# shellcheck disable=SC2086
	sed 's/fclose(f)/keel_node_shape()/; s/^#include "pbs.*/&\n#include "keel\/service\/node.h"/' "$HELLO/hello.c" >unused.c
	sed 's/KEEL_ROW(ATTR, /KEEL_ROW(CLASS, /' "$HELLO/hello.c" >row.c
	for name in wrong unknown narrow unused row; do ! gcc $flags -o "$name.so" "$name.c" 2>"$name.log" || false; done
	has "$(cat wrong.log)" 'error: initialization of .* from incompatible pointer type'
	has "$(cat narrow.log)" 'error: static assertion failed: "this member cannot hold a DURATION'
	has "$(cat unused.log)" 'undefined reference to .KEEL_USE_node'
	has "$(cat row.log)" 'error: static assertion failed: "this is no row of kind CLASS'
	has "$(cat unknown.log)" 'undefined reference to .keel_close_it'
}

@test "vendor: a module may be written in C++" {
	needs_program g++
	cd "$BATS_TEST_TMPDIR"
	cat >plus.cpp <<-'END'
		#include <keel/keel.h>
		#include <map>
		#include <new>
		#include <string>
		static keel_verdict on_queued(keel_call *, const keel_ev_job_queued *ev)
		{
			try { /* what the library brings is not exported, and what catches is no variable */
				std::map<std::string, int> seen;
				return seen[ev->id]++ ? KEEL_FAIL : KEEL_NEXT;
			} catch (const std::bad_alloc &) {
				return KEEL_FAIL;
			}
		}
		static const keel_tap taps[] = { KEEL_TAP(job_queued, on_queued, .order = 1) };
		KEEL_MODULE(.name = "plus", .version = "1", .summary = "one", .roles = KEEL_SERVER, KEEL_TAPS(taps));
	END
	flags=$(stranger pkg-config --define-prefix --cflags --libs keelson-module)
	# shellcheck disable=SC2086
	g++ -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Werror $flags -o plus.so plus.cpp
	has "$(stranger keelson-module describe plus.so)" 'taps +job_queued \(NOTE, order 1\) by on_queued'
	is_a_module plus.so
}

@test "vendor: new --c++: the same module in C++, with its test, checked, by make and by CMake" {
	needs_program g++
	new my-mod --c++
	cd "$BATS_TEST_TMPDIR/my-mod"
	same 'its files' 'Makefile README.md my-mod.cc my-mod.conf test_my-mod.c' "$(echo *)"
	has "$(cat README.md)" 'my-mod[.]cc'
	stranger make -s check CXXFLAGS='-O2 -g -Wall -Wextra -Wno-missing-field-initializers -Werror' >log 2>&1 || { cat log >&2; false; }
	has "$(cat log)" 'a requester that goes away takes the question along ...passed'
	lacks "$(cat log)" '^not ok'
	has "$(stranger keelson-module check --isolated --only isolated/possible my-mod.so)" '^ok'
	! stranger keelson-module new --c++ --build autotools other 2>/dev/null || false
	needs_program cmake
	new other --c++ --build cmake
	cd "$BATS_TEST_TMPDIR/other"
	stranger sh -c 'cmake -B build && cmake --build build && ctest --test-dir build' >log 2>&1 || { cat log >&2; false; }
	has "$(cat log)" '100% tests passed, 0 tests failed out of 2'
}

@test "vendor: CMake makes the same from an installation" {
	needs_program cmake
	new my-mod --build cmake
	cd "$BATS_TEST_TMPDIR/my-mod"
	stranger sh -c 'cmake -B build && cmake --build build && ctest --test-dir build' >log 2>&1 || { cat log >&2; false; }
	has "$(cat log)" '100% tests passed, 0 tests failed out of 2'
	is_a_module build/my-mod.so
	DESTDIR=$BATS_TEST_TMPDIR/to stranger env DESTDIR="$BATS_TEST_TMPDIR/to" cmake --install build >/dev/null
	[ -s "$BATS_TEST_TMPDIR/to$INSTALLED/usr/lib/keelson/modules/my-mod.so" ]
}

@test "vendor: autotools make the same from an installation" {
	needs_program autoreconf
	new my-mod --build autotools
	cd "$BATS_TEST_TMPDIR/my-mod"
	stranger sh -c 'autoreconf -i && ./configure -q && make -s check' >log 2>&1 || { cat log >&2; false; }
	has "$(cat log)" '^# PASS: +1'
	lacks "$(cat log)" '^not ok'
	is_a_module my-mod.so
}

@test "vendor: names that would do harm are refused, and nothing is made" {
	cd "$BATS_TEST_TMPDIR"
	while IFS='|' read -r name why; do
		says 1 "keelson-module: '$name': $why" stranger keelson-module new -- "$name"
	done <<-'END'
		../up|a name has small letters, digits, '-' and '_' only
		a b|a name has small letters, digits, '-' and '_' only
		$(id)|a name has small letters, digits, '-' and '_' only
		Hello|a name has small letters, digits, '-' and '_' only
		-x|a name begins with a small letter
		9|a name begins with a small letter
		x-|a name ends with a letter or a digit
		|a name has 1 to 63 characters
		log|that group of the configuration is Keelson's own
		true|that is a value in configuration files
		check|the build has a target of that name
	END
	says 1 "keelson-module: 'a?b': a name has small letters, digits, '-' and '_' only" stranger keelson-module new $'a\nb'
	says 1 "keelson-module: '$INSTALLED/usr/lib/keelson/modules/jobs.so': there is a module of that name already; choose another one" \
		stranger keelson-module new jobs
	got=0
	found=$(stranger keelson-module frob 2>&1) || got=$?
	same status 2 "$got"
	has "$found" "^keelson-module: there is no verb 'frob'"
	has "$(stranger keelson-module --version)" '^keelson-module [0-9.]+, module interface 1\.[0-9]+$'
	same 'made' '' "$(ls)"
	mkdir there
	says 1 "keelson-module: 'there': there exists already; a new module gets a folder of its own" stranger keelson-module new there
	same 'touched' '' "$(ls there)"
}

@test "vendor: the worked examples are built as they are installed, and checked, with one line" {
	cp -r "$INSTALLED/usr/share/doc/keelson/examples" "$BATS_TEST_TMPDIR/"
	cd "$BATS_TEST_TMPDIR/examples"
	stranger make -s -j2 check >log 2>&1 || { cat log >&2; false; }
	lacks "$(cat log)" '^not ok|warning|error'
	same 'checked' "$(ls ./*.c | wc -l)" "$(grep -c '^1[.][.]' log)"
	has "$(stranger make -s list)" '^budget.c - '
	while read -r point; do [ -s "$point.so" ]; done < <(sed -n -E 's/^HOOK[(][0-9]+, ([a-z_]+),.*/\1/p' \
		"$INSTALLED/usr/include/keel/hook_points.def")
}

# ---- looking at it -------------------------------------------------------------------------------------

describe() { stranger keelson-module describe "$@"; }

@test "vendor: describe says what a module is, from its file alone" {
	found=$(describe "$HELLO/hello.so")
	for line in 'name +hello' 'isolation +it may run in a process of its own' 'version +1.0' 'interface +1\.0' 'runs in +server' 'uses +job.hello_id' \
		'taps +job_submit \(GATE, order 10\) by on_submit; when that fails: reject' \
		'adds +attribute hello_id of job: the ticket that the job belongs to' \
		' +type string; read by everybody; written by everybody; .*kept over a restart' \
		'\t# duration .* from 0ms to 1h' '\t# patience = "2s";'; do
		has "$found" "^$(printf '%b' "${line//\\./[.]}")"
	done
	describe --json "$HELLO/hello.so" >"$BATS_TEST_TMPDIR/json"
	same 'as JSON' 'job_submit 10 hello_id tickets' \
		"$(jq -r '"\(.taps[0].point) \(.taps[0].order) \(.contributions[0].name) \(.configuration[0].key)"' "$BATS_TEST_TMPDIR/json")"
}

@test "vendor: the same is read whatever linked it, and no code of it is run" {
	cd "$BATS_TEST_TMPDIR"
	flags=$(stranger pkg-config --define-prefix --cflags --libs keelson-module)
	sed 's/^KEEL_MODULE/__attribute__((constructor)) static void harm(void) { abort(); }\n&/' "$HELLO/hello.c" >hello.c
	# shellcheck disable=SC2086
	gcc $flags -o gnu.so hello.c
	# shellcheck disable=SC2086
	gcc $flags -Wl,--hash-style=sysv -Wl,-z,pack-relative-relocs -o other.so hello.c
	strip other.so
	describe --json gnu.so | jq 'del(.build)' >gnu
	describe --json other.so | jq 'del(.build)' >other
	has "$(cat gnu)" '"name": "hello"'
	cmp gnu other
}

@test "vendor: a sample of every module's configuration is what the daemon takes, and its page is clean" {
	etc=$BATS_TEST_TMPDIR/etc
	mkdir -p "$etc/modules.d"
	cp "$top/conf/keelson.conf" "$etc/"
	for so in "$INSTALLED"/usr/lib/keelson/modules/*.so "$HELLO/hello.so"; do
		name=$(basename "$so" .so)
		keelson_module=$INSTALLED/usr/bin/keelson-module
		"$keelson_module" describe --conf "$so" >"$etc/modules.d/$name.conf"
		"$keelson_module" describe --man "$so" >"$BATS_TEST_TMPDIR/$name.7"
	done
	sed -i 's/enabled = false/enabled = true/' "$etc"/modules.d/*.conf
	sed -i "s|enabled = true;|& path = \"$HELLO/hello.so\";|" "$etc/modules.d/hello.conf"
	says 0 "$etc/keelson.conf: the configuration is right" "$INSTALLED/usr/sbin/keelsond" --conf "$etc/keelson.conf" \
		--home "$BATS_TEST_TMPDIR" --check --set modules_dir="$INSTALLED/usr/lib/keelson/modules"
	needs_program mandoc
	same 'mandoc -Tlint' '' "$(mandoc -Tlint "$BATS_TEST_TMPDIR"/*.7 2>&1)"
}

@test "vendor: files that are no modules get one sentence" {
	cd "$BATS_TEST_TMPDIR"
	head -c 5000 "$HELLO/hello.so" >short.so
	head -c 300000 /dev/urandom >noise.so
	{ head -c 18 "$HELLO/hello.so"; printf '\x28\0'; tail -c +21 "$HELLO/hello.so"; } >arm.so
	while IFS='|' read -r file why; do
		says 1 "keelson-module: $file: $why" describe "$file"
	done <<-'END'
		short.so|it is cut short
		noise.so|it is not an ELF file
		arm.so|it was built for another kind of machine
		nosuch.so|it cannot be read: No such file or directory
		/bin/true|it has no KEEL note, so it was not made with KEEL_MODULE()
		/|it is empty or not a file
	END
	says 1 "keelson-module: $KEELSON_BUILD/tests/fixtures/badabi.so: it was built for module interface 99.0, this program knows 1" \
		describe "$KEELSON_BUILD/tests/fixtures/badabi.so"
}

# ---- using it ------------------------------------------------------------------------------------------

# What was installed, with the folders of a build: a sandbox of the installation.
installed_as_build()
{
	KEELSON_BUILD=$INSTALLED/as-build
	mkdir "$KEELSON_BUILD"
	ln -s "$INSTALLED/usr/sbin/keelsond" "$INSTALLED/usr/bin" "$INSTALLED/usr/libexec" "$INSTALLED/usr/share" "$KEELSON_BUILD"
	ln -s "$INSTALLED/usr/lib/keelson/modules" "$KEELSON_BUILD/modules"
}

# enable true|false [key = value;]: the stranger's module in the sandbox; and tell the server.
enable()
{
	echo "hello: { enabled = $1; ${2-} };" >"$SB/server/etc/modules.d/hello.conf"
	keelson reload
}

@test "vendor: from installing a module to removing it" {
	installed_as_build
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W hello_id=ABC-1 -- /bin/true

	# installed, but not enabled: its configuration as it came
	stranger make -s -C "$HELLO" install
	cp "$HELLO/hello.conf" "$SB/server/etc/modules.d/"
	keelson reload
	lacks "$(keelson modules)" '^hello '

	# a mistake in it, told by the daemon that runs and by one that would
	got=0
	found=$(enable true 'patience = "soon";' 2>&1) || got=$?
	same status 1 "$got"
	has "$found" "$SB/server/etc/modules.d/hello.conf:1: hello.patience: expected duration .*, got \"soon\""
	found=$(keelsond --conf "$SB/server/etc/keelson.conf" --check 2>&1) || got=$?
	has "$found" "hello.conf:1: hello.patience: expected duration"
	lacks "$(keelson modules)" '^hello '

	# its attribute, its veto
	mkdir "$SB/tickets"
	touch "$SB/tickets/ABC-1"
	mkfifo "$SB/tickets/ABC-2"
	chmod 755 "$SB/tickets"
	chmod 644 "$SB/tickets/"*
	enable true "tickets = \"$SB/tickets\"; patience = \"1m\";"
	has "$(keelson modules)" '^hello +1\.0 +Example +1\.0 '
	has "$(keelson hooks job_submit)" 'hello.on_submit'
	id=$(submit -h -W hello_id=ABC-1)
	same hello_id ABC-1 "$(job_attr "$id" hello_id)"
	got=0
	found=$(as "$OWNER" qsub -W hello_id=nonsense -- /bin/true 2>&1) || got=$?
	same status 166 "$got"
	same 'its own words' "qsub: hello_id: expected KEY-NUMBER, got 'nonsense'" "$found"

	# its hold
	as "$OWNER" qsub -h -W hello_id=ABC-2 -- /bin/true >"$SB/answer" 3>&- &
	waits() { keelson holds | grep -q 'looking up the ticket'; }
	wait_until 10 waits
	same 'no answer yet' '' "$(cat "$SB/answer")"
	: >"$SB/tickets/ABC-2"
	wait $!
	job_is "$(cat "$SB/answer")" H

	# its time
	has "$(keelson hooks --time job_submit)" '^job_submit +hello.on_submit +[1-9][0-9]* +[0-9.]+[num]?s '

	# off and on again: what it kept is there
	enable false
	lacks "$(keelson hooks job_submit)" hello
	lacks "$(qstat -f "$id")" '^ *hello_id = '
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W hello_id=ABC-1 -- /bin/true
	sandbox restart server --hard
	enable true
	same 'kept while its module was away' ABC-1 "$(job_attr "$id" hello_id)"

	# gone
	rm "$SB/server/etc/modules.d/hello.conf"
	keelson reload
	stranger make -s -C "$HELLO" uninstall
	[ ! -e "$INSTALLED/usr/lib/keelson/modules/hello.so" ]
	lacks "$(keelson modules)" '^hello '
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W hello_id=ABC-1 -- /bin/true
}
