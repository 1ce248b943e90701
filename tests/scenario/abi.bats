#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# scripts/check-abi: what breaks modules that are out there is caught and named, what is appended passes. On
# copies of the SDK; there is no daemon.

setup_file()
{
	export TOP=${BATS_TEST_DIRNAME%/tests/scenario}
}

setup()
{
	SDK=$BATS_TEST_TMPDIR/sdk
	mkdir "$SDK"
	cp -r "$TOP"/sdk/include "$TOP"/sdk/abi "$TOP"/sdk/CHANGES "$SDK"
	# What was appended since is not what these stories are about.
	rm -rf "$SDK/include/keel"
	cp -r "$SDK"/abi/v1.0-draft/include/keel "$SDK/include"
}

check_abi() { run "$TOP"/scripts/check-abi --sdk "$SDK" "$@"; }
abidiff_is_there() { command -v abidiff >/dev/null || skip "abidiff is not there: install abigail-tools"; }

# edit FILE PERL: a change of a header, that must have hit something
edit()
{
	local file=$SDK/include/keel/$1
	cp "$file" "$BATS_TEST_TMPDIR/before"
	perl -0pi -e "$2" "$file"
	if cmp -s "$file" "$BATS_TEST_TMPDIR/before"; then
		echo "the edit of $1 hit nothing: $2"
		return 1
	fi
}

says() { grep -qF -- "$1" <<<"$output" || { echo "expected: $1"; echo "$output"; return 1; }; }
ends_well() { [ "$status" -eq 0 ] || { echo "$output"; return 1; }; }

break_everything()
{
	edit api.h 's/(const char \*why;)/const char *because;\n\t$1/'                         # in the middle
	edit module.h 's/uint32_t optional;/int32_t optional; uint32_t more;/'                  # of a row that cannot grow
	edit service/queue.h 's/bool \(\*runs\)[^;]*;//'                                        # removed
	edit service/prime.h 's/(int64_t)( \(\*next_event\)[^;]*;)/int32_t$2/'                  # another type
	edit service/acct.h 's/(void \(\*record\)[^;]*;)(.*?)(void \(\*job\)[^;]*;)/$3$2$1/s'   # reordered
	edit api.h 's/KEEL_CANCEL_TIMEOUT = 1/KEEL_CANCEL_TIMEOUT = 2/'                         # other numbers
	edit hook_points.def 's/HOOK\(85, task_end/HOOK(89, task_end/'
	edit hook_points.def 's/job_submit, GATE/job_submit, ASK/'
	edit types.h 's/define KEEL_REJECT 2/define KEEL_REJECT 4/'
	edit hook_fields.h 's/(job_hold.F. )(F.STR, id.)( F.OBJ, job.)/$1$3 $2/'
}

append_everything()
{
	edit api.h 's/(void \(\*release\)[^;]*;\n[^}]*)(\};)/$1\tvoid (*new_function)(struct keel_call *);\n$2/'
	edit api.h 's/(keel_outcome_fn \*done;[^}]*void \*arg;\n)(\};)/$1\tint64_t new_field;\n$2/'
	edit api.h 's/KEEL_CANCEL_STOPPING \}/KEEL_CANCEL_STOPPING, KEEL_CANCEL_BORED }/'
	edit hook_fields.h 's/(KEEL_FIELDS_job_hold.F. .*)/$1 F(INT, new_field)/'
	edit hook_fields.h 's/(#define KEEL_FIELDS_host_start)/#define KEEL_FIELDS_new_point(F) F(STR, id)\n$1/'
	edit hook_points.def 's/(HOOK\(80)/HOOK(150, new_point, NOTE, MOM, "new")\n$1/'
	edit service/acct.h 's/(#endif\n)$/struct keel_new_api {\n\tuint32_t size, version;\n};\n\n$1/'
}

# Each broken thing, by name.
caught_by_assertions()
{
	says "struct keel_hold_opts why is not at byte 16 any more"
	says "struct keel_need optional is not a uint32_t any more"
	says "struct keel_need does not have 24 bytes any more"
	says "'struct keel_queue_api' has no member named 'runs'"
	says "struct keel_prime_api next_event is not a int64_t (*)("
	says "struct keel_acct_api record is not at byte 16 any more"
	says "KEEL_CANCEL_TIMEOUT is not 1 any more"
	says "KEEL_CANCEL_STOPPING is not 4 any more"
	says "KEEL_POINT_task_end is not 85 any more"
	says "abi_kind_job_submit is not 1 any more"
	says "KEEL_REJECT is not 2 any more"
	says "struct keel_ev_job_hold id is not at byte 8 any more"
}

@test "a field in the middle, another type, a function gone or moved, another number: each is named" {
	abidiff_is_there
	break_everything
	check_abi
	[ "$status" -ne 0 ]
	caught_by_assertions
	says "'struct keel_hold_opts':     'const char* because', at offset 128 (in bits)"
	says "'struct keel_queue_api':   type size changed from 192 to 128 (in bits)"
	says "'keel_prime_api::next_event' changed"
	says "'keel_cancel::KEEL_CANCEL_TIMEOUT' from value '1' to '2'"
	says "'keel_point::KEEL_POINT_task_end' from value '85' to '89'"
	says "scripts/check-abi --rebaseline 'why' takes the change"
}

@test "without abidiff the assertions name the same" {
	break_everything
	check_abi --no-abidiff
	[ "$status" -ne 0 ]
	caught_by_assertions
	says "# skip it was told to do without; the assertions hold alone"
}

@test "what is appended passes: a function, a field, a number, a point, a type" {
	append_everything
	check_abi
	ends_well
	says "ok 2 - modules built with 1.0-draft find everything where it was"
}

@test "a change on purpose is taken with a reason, in a draft" {
	abidiff_is_there
	edit service/queue.h 's/bool \(\*runs\)/int32_t (*runs)/'
	check_abi --rebaseline "runs() tells how many"
	ends_well
	grep -q 'baseline [0-9a-f]*: runs() tells how many$' "$SDK/CHANGES"
	check_abi
	ends_well
	sed -i '/tells how many/d' "$SDK/CHANGES"
	check_abi
	[ "$status" -ne 0 ]
	says "no line of"
}

@test "the rules: no bool, no enum, no hidden padding in what crosses" {
	edit api.h 's/int64_t timeout_ms;/int64_t timeout_ms;\n\tbool late;/'
	edit service/task.h 's/(void \(\*host_health\)[^;]*;)/$1\n\tuint32_t odd;/'
	edit service/job.h 's/(uint32_t reserved;)/enum keel_substate wanted;/'
	check_abi --no-abidiff
	[ "$status" -ne 0 ]
	says "struct keel_hold_opts late is a _Bool; fields are fixed-width integers"
	says "struct keel_job_ask wanted is a enum keel_substate; fields are"
	says "struct keel_task_events ends with padding; name it: uint32_t reserved"
}

# The life of a fictitious minor 1, as the author of a header lives it.
@test "a released minor: what is newer hides from those who aim at it, and only that passes" {
	abidiff_is_there
	check_abi --release "everything is in"
	ends_well
	append_everything
	check_abi
	[ "$status" -ne 0 ] # not hidden
	grep -Eq "struct keel_call_api does not have its [0-9]+ bytes of that minor" <<<"$output"
	says "1.0 is released and stays as it is"
	check_abi --rebaseline "we would like to"
	[ "$status" -ne 0 ]
	says "set KEEL_ABI_MINOR to 1"

	edit types.h 's/define KEEL_ABI_MINOR 0/define KEEL_ABI_MINOR 1/'
	edit types.h 's/(#define KEEL_SINCE.*\n)/$1#if KEEL_SINCE(1)\n#define KEEL_ROWS_SINCE_1(...) __VA_ARGS__\n#else\n#define KEEL_ROWS_SINCE_1(...)\n#endif\n/'
	edit api.h 's/(.*new_function.*\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	edit api.h 's/(.*new_field.*\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	edit api.h 's/(, KEEL_CANCEL_BORED)/\n#if KEEL_SINCE(1)\n$1\n#endif\n/'
	edit hook_fields.h 's/(F.INT, new_field.)/KEEL_ROWS_SINCE_1($1)/'
	edit hook_points.def 's/(HOOK\(150.*\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	edit service/acct.h 's/(struct keel_new_api \{\n.*\n\};\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	check_abi --rebaseline "points of one's own"
	ends_well
	check_abi
	ends_well
	says "modules built with 1.0 find everything where it was"
	says "abidiff sees what modules of 1.1-draft see"

	# The same source, aimed at each: sizes and the stamp are those of that minor.
	printf '#include "keel/keel.h"\nchar was[sizeof(struct keel_call_api)] = { 1 };\n' |
		gcc -x c -c -I"$SDK/abi/v1.0/include" -o "$BATS_TEST_TMPDIR/was.o" -
	was=$((0x$(nm -S "$BATS_TEST_TMPDIR/was.o" | awk '$4 == "was" { print $2 }')))
	cat >"$BATS_TEST_TMPDIR/m.c" <<-END
		#include "keel/keel.h"
		_Static_assert(sizeof(struct keel_call_api) == $was + 8 * KEEL_SDK_TARGET, "size");
		KEEL_MODULE(.name = "m", .version = "1", .summary = "m", .roles = KEEL_SERVER);
	END
	for minor in 0 1; do
		gcc -shared -fPIC -fvisibility=hidden -I"$SDK/include" -DKEEL_SDK_TARGET=$minor \
			-o "$BATS_TEST_TMPDIR/m.so" "$BATS_TEST_TMPDIR/m.c"
		readelf -n "$BATS_TEST_TMPDIR/m.so" | grep -q "4c 45 45 4b 01 00 00 00 0$minor 00 00 00"
	done
	run gcc -fsyntax-only -I"$SDK/include" -DKEEL_SDK_TARGET=2 "$BATS_TEST_TMPDIR/m.c"
	says "KEEL_SDK_TARGET is newer than these headers"
}

@test "a module in C++ is built, exports one symbol and is described" {
	command -v g++ >/dev/null || skip "g++ is not there"
	cat >"$BATS_TEST_TMPDIR/m.cc" <<-'END'
		#include "keel/keel.h"

		namespace {
		struct conf { int64_t limit; };
		struct state { const struct keel_core_api *core; const struct keel_call_api *call; };

		keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
		{
			auto *st = static_cast<state *>(keel_state(c));
			auto *cf = static_cast<const conf *>(keel_conf(c));
			return ev->id && cf->limit > 0 ? KEEL_NEXT : st->call->reject(c, 15007, "no");
		}

		const struct keel_conf_rule rules[] = {
			KEEL_CONF_RULE(INT, conf, limit, .fallback = "3", .min = 1, .max = 9, .doc = "a number") };
		const struct keel_need needs[] = { KEEL_NEED(core, 0, state, core), KEEL_NEED(call, 0, state, call) };
		const struct keel_tap taps[] = { KEEL_TAP(job_submit, on_submit, .order = 10) };
		const struct keel_attr_def ticket = KEEL_ATTR_DEF("job", "ticket", "string", .doc = "a ticket");
		const struct keel_contrib contribs[] = { { "ATTR", &ticket } };
		}

		KEEL_MODULE(.name = "cxx", .version = "1.0", .summary = "a module in C++", .roles = KEEL_SERVER,
			    .state_size = sizeof(state), .conf_size = sizeof(conf), .n_conf = KEEL_COUNT(rules),
			    .n_needs = KEEL_COUNT(needs), .n_contribs = KEEL_COUNT(contribs),
			    .n_taps = KEEL_COUNT(taps), .conf = rules, .needs = needs, .contribs = contribs,
			    .taps = taps);
	END
	g++ -std=c++20 -Wall -Wextra -pedantic -Wno-missing-field-initializers -Werror -fPIC -shared \
		-fvisibility=hidden -I"$TOP/sdk/include" -Wl,-z,defs -o "$BATS_TEST_TMPDIR/m.so" "$BATS_TEST_TMPDIR/m.cc"
	[ "$(nm -D --defined-only "$BATS_TEST_TMPDIR/m.so" | awk '{ print $3 }')" = keel_module ]
	run "${KEELSON_BUILD:-$TOP/build}"/bin/keelson-module describe "$BATS_TEST_TMPDIR/m.so"
	ends_well
	says "job_submit (GATE, order 10) by on_submit"
	says "# limit = 3;"
}
