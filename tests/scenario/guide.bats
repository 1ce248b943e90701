#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The terminal sessions of the module writer's guide, typed word by word: what it promises is what people
# read. Its examples are the modules of tests/fixtures, installed beside the others.

load helper
load shared

setup_file()
{
	INSTALLED=$(mktemp -d "${TMPDIR:-/tmp}/keelson-guide.XXXXXX")
	chmod 755 "$INSTALLED" # a module in a process of its own is opened by nobody
	export INSTALLED
	make -C "$KEELSON_BUILD" -s install DESTDIR="$INSTALLED" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	ln -s "$KEELSON_BUILD"/tests/fixtures/*.so "$INSTALLED/usr/lib/keelson/modules/"
	open_cluster --set modules_dir="$INSTALLED/usr/lib/keelson/modules"
	touch "$SB/server/etc/as_it_was"
	ln -s "$SB/server/etc" "$INSTALLED/usr/etc" && ln -s . "$SB/server/etc/keelson"
}
teardown_file() { close_cluster; rm -rf "$INSTALLED"; }
setup()
{
	join_cluster
	: >"$state_shown" # what differs says enough
	undo keelson reload
	undo find "$SB/server/etc/modules.d" -newer "$SB/server/etc/as_it_was" -name '*.conf' -delete
	export PATH=$INSTALLED/usr/bin:$PATH PKG_CONFIG='pkg-config --define-prefix'
	export PKG_CONFIG_PATH=$INSTALLED/usr/lib/pkgconfig
	export KEEL_ETC=$SB/server/etc KEEL_HOME=$SB/server
	[ "$EUID" -ne 0 ] || export KEEL_USER=$OWNER
}

# chapter FILE [file that lies there ...]
chapter()
{
	local desk
	desk=$(desk "$OWNER")
	(cd "$KEELSON_BUILD/tests/fixtures" && cp "${@:2}" "$desk/") 2>/dev/null || [ $# -eq 1 ]
	"$top/sdk/doc/tools/docs" play "$top/sdk/doc/guide/$1" "$desk" 3>&-
}

@test "guide: What can I hook?" { chapter 01-what-to-hook.md; }
@test "guide: My first module in five minutes" { chapter 02-first-module.md; }
@test "guide: Verdicts, and the errors users see" { chapter 04-verdicts.md; }
@test "guide: Reading and changing objects" { chapter 05-objects.md; }
@test "guide: Ordering" { chapter 06-ordering.md; }
@test "guide: Waiting: holds" { chapter 07-waiting.md; }
@test "guide: State, slots, attributes: what survives" { chapter 08-state.md; }
@test "guide: Configuration" { chapter 09-configuration.md; }
@test "guide: Contributions" { chapter 10-contributions.md; }
@test "guide: Services and needs" { chapter 11-services.md; }
@test "guide: Events: told and asked" { chapter 12-events.md; }
@test "guide: Time, budgets, containment" {
	for m in isolation supervise; do
		[ -e "$KEELSON_BUILD/modules/$m.so" ] || skip "modules/$m is not there"
	done
	chapter 13-time.md
}
@test "guide: Testing" {
	lock=$(desk "$OWNER")/try/home/server_priv/server.lock
	undo sh -c 'test ! -s "$1" || kill "$(head -n 1 "$1")" || true' - "$lock"
	KEEL_ETC=$INSTALLED/etc/keelson chapter 14-testing.md running.so
}
@test "guide: Packaging, versions, the promise" { chapter 15-packaging.md running.so; }
@test "guide: Debugging" { chapter 16-debugging.md; }
