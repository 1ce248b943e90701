#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Pages that are made when the tree is built: attributes, resources and accounting records, from the modules' own rows. An
# attribute that is listed and has no entry, or none that says anything, fails here.

load helper
export LC_ALL=C

module() { "$KEELSON_BUILD/bin/keelson-module" "$@"; }
heads=$top/sdk/man/made
classes=(server queue job node resv sched)

# made PAGE [MODULE.so...]: as it is made of these modules; of all that are built without them
made()
{
	local head=$heads/$1
	shift
	[ $# -gt 0 ] || set -- "$KEELSON_BUILD"/modules/*.so
	module page "$head" "$@"
}

# titles <PAGE: what has an entry
titles() { sed -n '/^\.TP$/{n;s/^\\fB\([^\\]*\)\\fR.*/\1/p}' | sort; }

# rows CLASS: attributes that some role may read or set, by `describe --json`, and their sentences
rows()
{
	local so
	for so in "$KEELSON_BUILD"/modules/*.so; do module describe --json "$so"; done |
		jq -r --arg class "$1" '(.adds // .contributions)[] | select(.kind == "ATTR" and .class == $class)
			| select(.read_by != "nobody" or .written_by != "nobody") | "\(.name)\t\(.doc)"'
}

@test "administrator #F: attribute pages are made from rows: each row has an entry with a sentence" {
	for class in "${classes[@]}"; do
		page=$(made pbs_${class}_attributes.7B)
		same "entries of $class" "$(rows "$class" | cut -f1 | sort)" "$(titles <<<"$page")"
		# "boolean" or "priority" says nothing that its name does not: a sentence has three words at least, or refers to a value
		same "no sentence ($class)" '' "$(rows "$class" | awk -F'\t' '$2 !~ /[^ ]+ [^ ]+ [^ ]+/ && $2 !~ /^always/')"
	done
}

@test "administrator #F: attribute pages are made from rows: what is installed is what they are made of" {
	not_sanitized "a sanitizer's build has no pages"
	for head in "$heads"/*; do
		cmp <(made "${head##*/}") "$KEELSON_BUILD/pages/${head##*/}"
	done
	make -C "$KEELSON_BUILD" -s install DESTDIR="$BATS_TEST_TMPDIR/root" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	for page in 7/pbs_server_attributes.7B 7/pbs_hook_attributes.7B 7/pbs_resources.7B 5/keelson-accounting.5; do
		[ -s "$BATS_TEST_TMPDIR/root/usr/share/man/man$page" ] || { echo "$page is not installed" >&2; false; }
	done
}

@test "administrator #F: attribute pages are made from rows: without a module its attributes have no entries" {
	needs_module entity-limits
	cp -r "$KEELSON_BUILD/modules" "$BATS_TEST_TMPDIR/modules"
	with=$(made pbs_queue_attributes.7B "$BATS_TEST_TMPDIR"/modules/*.so | titles)
	rm "$BATS_TEST_TMPDIR/modules/entity-limits.so"
	without=$(made pbs_queue_attributes.7B "$BATS_TEST_TMPDIR"/modules/*.so | titles)
	has "$with" '^max_run_res$'
	lacks "$without" '^(max_(run|queued|user|group).*|queued_jobs.*)$'
	has "$without" '^started$'
}

@test "administrator #F: attribute pages are made from rows: what is listed is in the page, records too" {
	setup_sandbox
	id=$(submit -A charge -l select=1:ncpus=1:mem=10mb -- /bin/true)
	held=$(submit -h)
	wait_until 60 eval 'accounting | grep -q ";E;$id;"'
	listed() # CLASS, listing: "    name = value", "    name.key = value"
	{
		local names
		names=$(sed -n 's/^[[:space:]]*\([A-Za-z_0-9]*\)[.A-Za-z_0-9-]* = .*/\1/p' <<<"$2" | sort -u)
		[ "$(wc -l <<<"$names")" -gt 5 ] || { echo "nothing listed of $1" >&2; return 1; }
		same "listed, and no entry ($1)" '' "$(comm -23 <(echo "$names") <(made "pbs_$1_attributes.7B" | titles | sort -u))"
	}
	listed server "$(qmgr -c 'list server')"
	listed queue "$(qmgr -c 'list queue workq')"
	listed sched "$(qmgr -c 'list sched')"
	listed node "$(qmgr -c 'list node n1')"
	listed job "$(as "$OWNER" qstat -f "$held")"
	items=$(made keelson-accounting.5 | titles)
	accounting | cut -d';' -f2,4 | grep -v '^L' | tr ';' ' ' | while read -r letter rest; do
		has "$items" "^$letter\$"
		[ "$letter" != A ] || continue
		for item in $rest; do
			name=${item%%=*} name=${name/.*/.NAME}
			grep -qxF "$name" <<<"$items" || { echo "no entry for $item of $letter" >&2; exit 1; }
		done
	done
	resources=$(qstat -f "$held" | sed -n 's/.*Resource_List\.\([a-z]*\) = .*/\1/p')
	while read -r resource; do
		has "$(made pbs_resources.7B | titles)" "^$resource\$"
	done <<<"$resources"
}

@test "administrator #F: attribute pages are made from rows: man shows them without a warning" {
	command -v mandoc >/dev/null || skip "mandoc is missing"
	for head in "$heads"/*; do
		same "warnings of ${head##*/}" '' "$(made "${head##*/}" | mandoc -Tlint -Wwarning | grep -v 'missing date')"
	done
}

@test "administrator #F: pbsnodes(8) and pbsnodes --help have the options of modules" {
	needs_module admin-suspend
	export KEELSON_OPTIONS_DIR=$KEELSON_BUILD/share/keelson/options
	help=$("$KEELSON_BUILD/bin/pbsnodes" --help)
	has "$help" 'pbsnodes --admin-suspend \[-C comment\] node'
	has "$help" 'pbsnodes --admin-resume '
	has "$(sed 's/\\//g' "$top/sdk/man/pbsnodes.8")" '^fB--admin-suspendfR$'
	lacks "$(KEELSON_OPTIONS_DIR=/nonexistent "$KEELSON_BUILD/bin/pbsnodes" --help)" admin-suspend
}

@test "administrator #F: qsub(1) does not promise what is refused: each option that it has is taken" {
	setup_sandbox
	options=$(sed -n '/^.SH OPTIONS/,/^.SH NOT THERE YET/p' "$top/sdk/man/qsub.1" | sed 's/\\-/-/g' | grep -o 'fB-[a-zA-Z]' | cut -c4 | sort -u)
	[ "$(wc -w <<<"$options")" -gt 20 ]
	lacks "$options" '^[IX]$'
	declare -A value=([a]=2359 [A]=acct [c]=c=5 [C]='#XX' [e]=e.txt [J]=1-3%2 [j]=oe [k]=oed [l]=walltime=1:00 [m]=abe [M]=$OWNER
		[N]=name [o]=o.txt [p]=5 [P]=project [q]=workq [r]=n [R]=oe [S]=/bin/sh [u]=$OWNER [v]=A=b [W]=umask=022)
	for option in $options; do
		as "$OWNER" qsub -h "-$option" ${value[$option]:+"${value[$option]}"} -- /bin/true >/dev/null || { echo "-$option is refused" >&2; false; }
	done
}
