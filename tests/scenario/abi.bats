#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# scripts/check-abi: what breaks modules that are out there is caught and named, what is appended passes. On
# a repository of the SDK's headers with a tag of its own; there is no daemon.

setup_file()
{
	export TOP=${BATS_TEST_DIRNAME%/tests/scenario}
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_COUNT=2
	export GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=story
	export GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=story@localhost
	mkdir -p "$BATS_FILE_TMPDIR/repo/sdk" && cd "$BATS_FILE_TMPDIR/repo" && cp -r "$TOP/sdk/include" sdk &&
		git init -q . && git add . && git commit -qm headers
}

setup()
{
	cp -r "$BATS_FILE_TMPDIR/repo" "$BATS_TEST_TMPDIR/repo"
	SDK=$BATS_TEST_TMPDIR/repo/sdk
}

check_abi() { run "$TOP"/scripts/check-abi --sdk "$SDK" "$@"; }
tagged() { git -C "$SDK" tag "$1"; } # the headers are those of this release
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
	edit use.h 's/uint32_t optional;/int32_t optional; uint64_t more;/'                     # of a row that cannot grow
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
	says "struct keel_need does not have its 32 bytes any more, and cannot say how many it has"
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
	tagged v1.0
	break_everything
	check_abi --no-abidiff
	[ "$status" -ne 0 ]
	says "not ok 2 - modules built with v1.0 find everything where it was"
	caught_by_assertions
	says "# skip --no-abidiff was given; the assertions hold alone"
	says "What was released stays as it is"
}

@test "abidiff names the same" {
	abidiff_is_there
	tagged v1.0
	edit api.h 's/(const char \*why;)/const char *because;\n\t$1/'
	edit service/prime.h 's/(int64_t)( \(\*next_event\)[^;]*;)/int32_t$2/'
	edit hook_points.def 's/HOOK\(85, task_end/HOOK(89, task_end/'
	check_abi
	[ "$status" -ne 0 ]
	says "not ok 3 - what abidiff finds changed since v1.0"
	says "'struct keel_hold_opts"
	says "'const char* because', at offset 128 (in bits)"
	says "'keel_prime_api::next_event' changed"
	says "'keel_point::KEEL_POINT_task_end' from value '85' to '89'"
}

@test "a header that is gone is named, and the same headers pass" {
	tagged v1.0
	check_abi
	ends_well
	rm "$SDK/include/keel/service/acct.h"
	check_abi --no-abidiff
	[ "$status" -ne 0 ]
	says "keel/service/acct.h: No such file"
}

@test "before 1.0 what has changed is shown and nothing fails" {
	check_abi --no-abidiff
	ends_well
	says "ok 2 - there is no release before HEAD # nothing is promised yet"
	tagged v0.9
	tagged v1.0-rc1
	break_everything
	check_abi --no-abidiff
	ends_well
	says "ok 2 - what has changed since v0.9 # nothing is promised yet"
	caught_by_assertions
}

@test "the nearest release is looked at, or the one that is named; another major promises nothing" {
	tagged v1.0
	edit service/queue.h 's/bool \(\*runs\)/int32_t (*runs)/'
	git -C "$SDK" commit -qam "runs() tells how many"
	check_abi --no-abidiff
	[ "$status" -ne 0 ]
	check_abi --no-abidiff --against HEAD
	ends_well
	says "ok 2 - what has changed since HEAD # nothing is promised yet"
	git -C "$SDK" tag -am "annotated" v1.1
	check_abi --no-abidiff
	ends_well
	says "ok 2 - modules built with v1.1 find everything where it was"
	check_abi --no-abidiff --against v1.0
	[ "$status" -ne 0 ]
	says "struct keel_queue_api runs is not a _Bool (*)("
	edit types.h 's/define KEEL_ABI_MAJOR 1/define KEEL_ABI_MAJOR 2/'
	check_abi --no-abidiff --against v1.0
	ends_well
	check_abi --against v7.7
	[ "$status" -ne 0 ]
	says "there are no headers of modules in v7.7"
}

@test "without git there is nothing to compare with, in a folder unpacked below a clone either" {
	mkdir "$BATS_TEST_TMPDIR/repo/unpacked"
	cp -r "$SDK/include" "$BATS_TEST_TMPDIR/repo/unpacked"
	rm -rf "${SDK:?}/../sdk"
	SDK=$BATS_TEST_TMPDIR/repo/unpacked
	tagged v1.0
	break_everything
	check_abi
	ends_well
	[ "${#lines[@]}" -eq 1 ]
	says "1..0 # skip there is no git here"
	rm -rf "$BATS_TEST_TMPDIR/repo/.git"
	check_abi
	ends_well
	[ "${#lines[@]}" -eq 1 ]
}

@test "the rules: no bool, no enum, no hidden padding in what crosses" {
	edit api.h 's/int64_t timeout_ms;/int64_t timeout_ms;\n\tbool late;/'
	edit service/task.h 's/(void \(\*remark\)[^;]*;)/$1\n\tuint32_t odd;/'
	edit service/job.h 's/(uint32_t reserved;)/enum keel_substate wanted;/'
	check_abi --no-abidiff
	[ "$status" -ne 0 ]
	says "struct keel_hold_opts late is a _Bool; fields are fixed-width integers"
	says "struct keel_job_ask wanted is a enum keel_substate; fields are"
	says "struct keel_task_events ends with padding; name it: uint32_t reserved"
}

# The life of a fictitious minor 1, as the author of a header lives it.
@test "what is appended breaks no module, and passes when it hides from those that aim at the release" {
	tagged v1.0
	was=$(grep -o 'sizeof(struct keel_call_api) OR_MORE [0-9]*' <("$TOP"/scripts/abi-layout assertions "$SDK/include"))
	was=${was##* }
	append_everything
	check_abi --no-abidiff
	[ "$status" -ne 0 ]
	says "ok 2 - modules built with v1.0 find everything where it was"
	says "not ok 3 - what is newer than v1.0 hides from modules that aim at 1.0"
	says "struct keel_call_api does not have its $was bytes any more"

	edit types.h 's/define KEEL_ABI_MINOR 0/define KEEL_ABI_MINOR 1/'
	edit types.h 's/(#define KEEL_SINCE.*\n)/$1#if KEEL_SINCE(1)\n#define KEEL_ROWS_SINCE_1(...) __VA_ARGS__\n#else\n#define KEEL_ROWS_SINCE_1(...)\n#endif\n/'
	edit api.h 's/(.*new_function.*\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	edit api.h 's/(.*new_field.*\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	edit api.h 's/(, KEEL_CANCEL_BORED)/\n#if KEEL_SINCE(1)\n$1\n#endif\n/'
	edit hook_fields.h 's/(F.INT, new_field.)/KEEL_ROWS_SINCE_1($1)/'
	edit hook_points.def 's/(HOOK\(150.*\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	edit service/acct.h 's/(struct keel_new_api \{\n.*\n\};\n)/#if KEEL_SINCE(1)\n$1#endif\n/'
	check_abi
	ends_well
	says "ok 3 - what is newer than v1.0 hides from modules that aim at 1.0"

	# The same source, aimed at each: sizes and the stamp are those of that minor.
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
		#include "keel/service/fairshare.h"

		KEEL_USE_OPT(fairshare);
		namespace {
		struct conf { int64_t limit; };
		struct state { uint32_t seen; };
		KEEL_ATTR_OF(job, queue);
		KEEL_ATTRS_OF(job, euser, project);

		keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
		{
			auto *st = static_cast<state *>(keel_state(c));
			auto *cf = static_cast<const conf *>(keel_conf(c));
			if (++st->seen && keel_has(fairshare) && keel_fairshare_over_share(ev->job))
				keel_log(c->mod, KEEL_LOG_JOB, "Job", ev->id, "%s", keel_get_str(ev->job, job_queue));
			return ev->id && cf->limit > 0 ? KEEL_NEXT : keel_reject(c, 15007, "no");
		}

		const struct keel_conf_rule rules[] = {
			KEEL_CONF_RULE(INT, conf, limit, .fallback = "3", .min = 1, .max = 9, .doc = "a number") };
		const struct keel_tap taps[] = { KEEL_TAP(job_submit, on_submit, .order = 10) };
		const struct keel_attr_def ticket = KEEL_ATTR_DEF("job", "ticket", "string", .doc = "a ticket");
		const struct keel_contrib contribs[] = { { "ATTR", &ticket } };
		}

		KEEL_MODULE(.name = "cxx", .version = "1.0", .summary = "a module in C++", .roles = KEEL_SERVER,
			    .state_size = sizeof(state), KEEL_CONF(conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps));
	END
	g++ -std=c++20 -Wall -Wextra -pedantic -Wno-missing-field-initializers -Werror -fPIC -shared \
		-fvisibility=hidden -I"$TOP/sdk/include" -Wl,-z,defs -o "$BATS_TEST_TMPDIR/m.so" "$BATS_TEST_TMPDIR/m.cc"
	[ "$(readelf -W --dyn-syms "$BATS_TEST_TMPDIR/m.so" | awk '$7 ~ /^[0-9]/ && $6 == "DEFAULT" { print $8 }')" = keel_module ]
	run "${KEELSON_BUILD:-$TOP/build}"/bin/keelson-module describe "$BATS_TEST_TMPDIR/m.so"
	ends_well
	says "job_submit (GATE, order 10) by on_submit"
	says "# limit = 3;"
}
