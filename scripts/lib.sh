# SPDX-License-Identifier: Apache-2.0
#
# lib.sh - what the scripts share. Sourced, not run.

top=${BASH_SOURCE[0]%/scripts/lib.sh}
case $top/ in [!/]* | *//* | */./* | */../* | *lib.sh/) top=$(cd "${BASH_SOURCE[0]%lib.sh}./.." && pwd) ;; esac

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Debian packages of a build; those of the tests are named where they are needed.
build_packages=(gcc libc6-dev make autoconf automake libtool pkg-config libltdl-dev libuv1-dev libconfig-dev
	libpcre2-dev libsqlite3-dev libsodium-dev libjansson-dev libedit-dev libmuparser-dev libseccomp-dev libical-dev
	libcunit1-dev uthash-dev)
# qsub starts three times as fast with it; everything is the same without.
speed_packages=(musl-tools)
# Hooks in Python; without it everything else is built.
python_packages=(python3-dev)
# What makes the guide and reference of the SDK (without them they are not built), and what looks at them.
doc_packages=(lowdown python3)
test_packages=("${doc_packages[@]}" mandoc bats parallel binutils procps jq sqlite3 git pkg-config cmake)
test_packages+=(abigail-tools g++ socat iproute2)
# Second opinions; what asks them says so where they are missing. (clang: 50 MB to fetch, systemd: 8.)
opinion_packages=(clang systemd)
# Real MPI programs over three hosts.
test_packages+=(mpich libmpich-dev openmpi-bin libopenmpi-dev)

# Install what is missing of the named packages, with sudo when not root.
install_packages()
{
	local missing=() package run=()

	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' ||
			missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			die "these packages are missing and there is no sudo: ${missing[*]}"
		run=(sudo)
	fi
	say "installing ${missing[*]}"
	"${run[@]}" apt-get update -q
	"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		"${missing[@]}"
}

# build_in DIR [configure options]: out of tree, only what changed.
build_in()
{
	local dir=$1
	shift
	if [ ! -x "$top/configure" ] || [ "$top/configure.ac" -nt "$top/configure" ] ||
		[ "$top/Makefile.am" -nt "$top/Makefile.in" ]; then
		say "preparing configure"
		(cd "$top" && autoreconf -fi >"$top/build/autoreconf.log" 2>&1) || {
			cat "$top/build/autoreconf.log" >&2
			die "autoreconf failed"
		}
	fi
	mkdir -p "$dir"
	# A tree that was copied or moved still names the old place.
	[ ! -f "$dir/Makefile" ] || grep -qx "abs_top_srcdir = $top" "$dir/Makefile" || rm -rf "$dir"/{Makefile,obj}
	if [ ! -f "$dir/Makefile" ] || [ "$top/configure" -nt "$dir/Makefile" ]; then
		say "configuring ${dir#"$top"/}"
		(cd "$dir" && "$top/configure" -q "$@") || die "configure failed"
	fi
	say "building ${dir#"$top"/}"
	make -C "$dir" -s -j"$(nproc)" all
	sed -n 's/^configure:[0-9]*: WARNING: \(there will be no \)/== \1/p' "$dir/config.log"
}

# A twentieth of a second, without a program: here nothing is ever written.
exec {quiet}<> <(:)
nap() { read -rt 0.05 -u "$quiet" || true; }

# wait_for SECONDS COMMAND...: until it succeeds, or say what did not happen.
wait_for()
{
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		nap
	done
}
