#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-manage.bats - hooks through qmgr: created, set, imported, listed, printed, deleted; and what the store keeps of them.
# needs modules/python-hooks

load helper
load shared

framed() { printf 'qmgr obj=%s svr=default: %s\nqmgr: hook error returned from server' "$1" "$2"; }

# refuses NAME SENTENCE COMMAND: qmgr prints the sentence, framed, and ends with 32.
refuses() { says 32 "$(framed "$1" "$2")" qmgr -c "$3"; }

# hook NAME [attr=value,...]: one that goes with the story.
hook()
{
	quietly qmgr -c "create hook $1 ${2-}"
	undo qmgr -c "delete hook $1"
}

# file NAME TEXT: prints its path.
file()
{
	printf '%s' "$2" >"$SB/$1"
	echo "$SB/$1"
}

import() { qmgr -c "import hook $1 application/x-$2 ${4-default} $3"; }
body_of() { qmgr -c "export hook $1 application/x-$2 default"; }

# body_is NAME python|config TEXT
body_is()
{
	body_of "$1" "$2" >"$BATS_TEST_TMPDIR/body"
	printf '%s' "$3" | cmp - "$BATS_TEST_TMPDIR/body"
}

# lists NAME "attr = value" ...: the lines that are not as in a new hook
lists()
{
	local name=$1 line key block
	shift
	block="Hook $name
    type = site
    enabled = true
    event = \"\"
    user = pbsadmin
    alarm = 30
    order = 1
    debug = false
    fail_action = none
"
	for line in "$@"; do
		key=${line%% =*}
		block=$(sed "s|^    $key = .*|    $line|" <<<"$block")
	done
	says 0 "${block%$'\n'}" qmgr -c "list hook $name"
}

hook_names() { qmgr -c 'list hook' | sed -n 's/^Hook //p' | paste -sd ' '; }

good='import pbs
pbs.event().accept()
'
other='import pbs
pbs.logmsg(pbs.LOG_DEBUG, "\xc3\xa4")'

restart() { sandbox kill server; sandbox restart server; }

@test "python-hooks #1: a hook is created and listed" {
	quietly qmgr -c 'list hook'
	quietly qmgr -c 'print hook'
	quietly qmgr -c 'list pbshook'
	hook h1
	lists h1
	hook h2 event=queuejob,order=2,enabled=false
	lists h2 'enabled = false' 'event = queuejob' 'order = 2'
	same 'all of them' 'h1 h2' "$(hook_names)"
	refuses h3 "unexpected value 'maybe', must be (not case sensitive) true|t|y|1|false|f|n|0" 'create hook h3 order=2,enabled=maybe'
	same 'all of them' 'h1 h2' "$(hook_names)"
}

@test "python-hooks #2: hooks are root's alone, on the server's host" {
	needs_root
	hook h1
	local who text
	for who in $OWNER $OPERATOR $MANAGER; do
		text="$who@$(hostname -s) is unauthorized to access hooks data from server svr"
		says 32 "$(framed h9 "$text")" as "$who" qmgr -c 'create hook h9'
		says 32 "$(framed h1 "$text")" as "$who" qmgr -c 'set hook h1 order = 2'
		says 32 "$(framed h1 "$text")" as "$who" qmgr -c 'delete hook h1'
		says 32 "$(framed h1 "$text")" as "$who" qmgr -c 'set pbshook h1 order = 2'
		says 1 "$text" as "$who" qmgr -c 'list hook'
		says 1 "$(framed h1 "$text")" as "$who" qmgr -c 'list hook h1'
		says 32 "$(framed h1 "$text")" as "$who" qmgr -c 'export hook h1 application/x-python default'
	done
	lists h1
}

@test "python-hooks #3: a name is given once" {
	hook h1
	refuses h1 "hook name 'h1' already registered, try another name" 'create hook h1'
}

@test "python-hooks #4: names that begin with PBS are reserved" {
	refuses PBSx "hook_name 'PBSx', cannot use PBS as a prefix it is reserved for pbs hooks" 'create hook PBSx'
	refuses PBS_x "hook_name 'PBS_x', cannot use PBS as a prefix it is reserved for pbs hooks" 'create hook PBS_x'
	hook pbs_x
	refuses h1 'cannot create a PBS hook' 'create pbshook h1'
	refuses pbs_x 'cannot delete a PBS hook' 'delete pbshook pbs_x'
	refuses pbs_x 'pbs_x does not exist!' 'set pbshook pbs_x enabled = false'
	says 3 $'qmgr: Syntax error\ncreate hook 1bad\n            ^' qmgr -c 'create hook 1bad'
}

@test "python-hooks #5: values that are refused change nothing" {
	hook h1 event=queuejob
	local owner="Can't set hook user value to 'pbsuser': hook event must contain at least execjob_prologue,execjob_epilogue,execjob_preterm"
	refuses h1 "set_hook_alarm: alarm value '0' of a hook must be > 0" 'set hook h1 alarm=0'
	refuses h1 "order given (1001) is outside the acceptable range of [1, 1000] for type 'site'." 'set hook h1 order=1001'
	refuses h1 "set_hook_freq: Can't set hook freq value: hook event must contain at least'exechost_periodic' or 'periodic'" \
		'set hook h1 freq=10'
	refuses h1 "unexpected value 'maybe', must be (not case sensitive) true|t|y|1|false|f|n|0" 'set hook h1 enabled = maybe'
	refuses h1 'user value of a hook must be pbsadmin,pbsuser' 'set hook h1 user = nosuch'
	refuses h1 "$owner" 'set hook h1 user = pbsuser'
	refuses h1 'invalid argument to type, must be "site"' 'set hook h1 type = foo'
	refuses h1 "not allowed to set hook to 'pbs' type" 'set hook h1 type = pbs'
	refuses h1 "'+=' operator not =" 'set hook h1 order += 1'
	refuses h1 "Can't set hook fail_action value to 'offline_vnodes': hook event must contain at least one of execjob_begin, exechost_startup, execjob_prologue" \
		'set hook h1 fail_action = offline_vnodes'
	refuses h1 'fail_action value of a hook must be "none" or one or more of "offline_vnodes","clear_vnodes_upon_recovery", "scheduler_restart_cycle"' \
		'set hook h1 fail_action = foo'
	refuses h1 "set_hook_alarm: alarm value '0' of a hook must be > 0" 'set hook h1 order=7,alarm=0'
	lists h1 'event = queuejob'
	quietly qmgr -c 'set hook h1 event=periodic,freq=7,alarm=9'
	has "$(qmgr -c 'list hook h1')" '^    freq = 7$'
	refuses h1 'user value of a server periodic hook must be pbsadmin' 'set hook h1 user = pbsuser'
}

@test "python-hooks #6: events are set, added and taken away" {
	local list='queuejob,postqueuejob,modifyjob,modifyvnode,management,resvsub,modifyresv,movejob,jobobit,runjob,provision,periodic,resv_confirm,resv_begin,resv_end,execjob_begin,execjob_prologue,execjob_epilogue,execjob_preterm,execjob_end,exechost_periodic,execjob_launch,exechost_startup,execjob_attach,execjob_resize,execjob_abort,execjob_postsuspend,execjob_preresume'
	hook h1
	quietly qmgr -c 'set hook h1 event=queuejob'
	quietly qmgr -c 'set hook h1 event += modifyjob'
	lists h1 'event = queuejob,modifyjob'
	quietly qmgr -c 'set hook h1 event -= queuejob'
	lists h1 'event = modifyjob'
	quietly qmgr -c 'set hook h1 event = "runjob,movejob"'
	lists h1 'event = movejob,runjob'
	refuses h1 "invalid argument (foo) to event. Should be one or more of: $list or \"\" for no event" 'set hook h1 event=foo'
	refuses h1 'Event provision is not supported: vnodes are not provisioned by this server' 'set hook h1 event += provision'
	lists h1 'event = movejob,runjob'
}

@test "python-hooks #7: a script that was imported is exported as it was" {
	hook h1
	local all
	quietly import h1 python "$(file h1.py "$good")"
	body_is h1 python "$good"
	quietly qmgr -c "export hook h1 application/x-python default $SB/out.py"
	cmp "$SB/h1.py" "$SB/out.py"
	quietly qmgr -c "export hook h1 application/x-python base64 $SB/out.64"
	base64 -d "$SB/out.64" | cmp - "$SB/h1.py"
	hook h2
	quietly import h2 python "$SB/out.64" base64
	body_is h2 python "$good"
	all=$(file big.py "$(for ((i = 0; i < 20000; i++)); do echo "a$i = 'some words that make it long'"; done)")
	says 0 "hook 'h1' contents overwritten" import h1 python "$all"
	body_of h1 python | cmp - "$all"
	printf '# -*- coding: latin-1 -*-\na = "\xe4"\r\n' >"$SB/latin.py"
	says 0 "hook 'h1' contents overwritten" import h1 python "$SB/latin.py"
	body_of h1 python | cmp - "$SB/latin.py"
	printf 'a = "\0"' >"$SB/nul.py"
	says 32 "$(framed h1 "Failed to compile script, hook 'h1' contents not overwritten")" import h1 python "$SB/nul.py"
	body_of h1 python | cmp - "$SB/latin.py"
}

@test "python-hooks #8: a script that is no Python is refused, and the old one still runs" {
	local deep
	printf 'def (\n' >"$SB/bad.py"
	hook h1 event=queuejob
	says 32 "$(framed h1 'Failed to compile script')" import h1 python "$SB/bad.py"
	body_is h1 python ''
	quietly import h1 python "$(file h1.py $'import pbs\npbs.event().reject("the old script")\n')"
	says 32 "$(framed h1 "Failed to compile script, hook 'h1' contents not overwritten")" import h1 python "$SB/bad.py"
	body_is h1 python "$(<"$SB/h1.py")"$'\n'
	log_has ';Hook;h1;an imported script is refused: SyntaxError: '
	says 32 'qsub: the old script' as "$OWNER" qsub -- /bin/true
	printf -v deep '(%.0s' {1..100000}
	says 32 "$(framed h1 "Failed to compile script, hook 'h1' contents not overwritten")" import h1 python "$(file deep.py "$deep")"
	says 32 "$(framed h1 "Failed to compile script, hook 'h1' contents not overwritten")" \
		import h1 python "$(file deep.py "a = $(printf -- '-%.0s' {1..100000})1")"
	says 0 "hook 'h1' contents overwritten" import h1 python "$(file words.py 'this is not python')"
}

@test "python-hooks #9: a hook is deleted once" {
	quietly qmgr -c 'create hook h1 event=queuejob'
	quietly import h1 python "$(file h1.py "$good")"
	quietly qmgr -c 'delete hook h1'
	says 1 "$(framed h1 'hook not found')" qmgr -c 'list hook h1'
	refuses h1 'h1 does not exist!' 'delete hook h1'
	refuses h1 'h1 does not exist!' 'set hook h1 event = queuejob'
	refuses h1 'h1 does not exist!' 'unset hook h1 event'
	refuses h1 'h1 does not exist!' 'export hook h1 application/x-python default'
	hook h1
	lists h1
	body_is h1 python ''
}

@test "python-hooks #10: what print prints makes the same hooks again" {
	hook h1 event=\"queuejob,runjob\",alarm=10,order=5,debug=true
	hook h2 event=periodic,freq=7,enabled=f
	hook h3 event=execjob_begin,fail_action=\"offline_vnodes,scheduler_restart_cycle\"
	quietly import h1 python "$(file h1.py "$good")"
	quietly import h1 config "$(file c.json '{ "a": [1, 2] }')"
	local before
	before=$(qmgr -c 'list hook')
	qmgr -c 'print hook' >"$SB/printed"
	quietly qmgr -c 'delete hook h1,h2,h3'
	gone() { [ -z "$(qmgr -c 'list hook')" ]; }
	wait_until 20 gone
	created() { qmgr -c 'create hook h3' && qmgr -c 'delete hook h3'; }
	wait_until 20 created # hosts that had one of them have deleted it
	wait_until 20 gone
	says 0 'Max open servers: 49' qmgr <"$SB/printed"
	same 'list' "$before" "$(qmgr -c 'list hook')"
	body_is h1 python "$good"
	body_is h1 config '{ "a": [1, 2] }'
	qmgr -c 'print hook' | cmp - "$SB/printed"
}

@test "python-hooks #9: the name of a hook is free when the last host has deleted it" {
	quietly qmgr -c 'create hook h1 event=execjob_begin'
	quietly import h1 python "$(file h1.py "$good")"
	has_it() { [ -s "$SB/n1/mom_priv/hooks/h1.PY" ]; }
	wait_until 20 has_it
	kill_mom n1
	quietly qmgr -c 'delete hook h1'
	local when
	for when in now later; do
		quietly qmgr -c 'list hook'
		quietly qmgr -c 'print hook'
		says 1 "$(framed h1 'hook not found')" qmgr -c 'list hook h1'
		refuses h1 "hook name 'h1' is pending delete, try another name" 'create hook h1'
		refuses h1 'h1 is pending delete!' 'set hook h1 event = queuejob'
		refuses h1 'h1 is pending delete!' 'unset hook h1 event'
		refuses h1 'h1 is pending delete!' 'delete hook h1'
		refuses h1 'h1 is pending delete!' "import hook h1 application/x-python default $SB/h1.py"
		[ $when = later ] || restart
	done
	sandbox restart n1
	created() { qmgr -c 'create hook h1'; }
	wait_until 20 created
	undo qmgr -c 'delete hook h1'
	lists h1
	[ ! -e "$SB/n1/mom_priv/hooks/h1.PY" ]
}

printed="#
# Create hooks and set their properties.
#
#
# Create and define hook h1
#
create hook h1
set hook h1 type = site
set hook h1 enabled = true
set hook h1 event = queuejob
set hook h1 event += modifyjob
set hook h1 user = pbsadmin
set hook h1 alarm = 10
set hook h1 order = 5
set hook h1 debug = true
set hook h1 fail_action = none
import hook h1 application/x-python base64 -

import hook h1 application/x-config base64 -
"

@test "python-hooks #10: print is as in the reference" {
	hook h1 event=queuejob,alarm=10,order=5,debug=true
	quietly qmgr -c 'set hook h1 event += modifyjob'
	says 0 "${printed%$'\n'}" qmgr -c 'print hook h1'
	says 0 "${printed%$'\n'}" qmgr -c 'print hook'
	[ "$(qmgr -c 'print hook h1' | tail -n 1)" = '' ]
}

@test "python-hooks #21: a configuration file keeps its suffix, and is checked" {
	hook h1
	quietly import h1 config "$(file c.json '{ "a": [1, 2] }')"
	body_is h1 config '{ "a": [1, 2] }'
	says 0 "hook 'h1' contents overwritten" import h1 config "$(file c.ini $'[a]\nb = 1\n')"
	says 0 "hook 'h1' contents overwritten" import h1 config "$(file c.py 'a = 1')"
	says 0 "hook 'h1' contents overwritten" import h1 config "$(file c.xml '<a')"
	says 0 "hook 'h1' contents overwritten" import h1 config "$(file plain 'no suffix')"
	says 32 "$(framed h1 '<input-file> contains an invalid suffix, should be one of: .json .ini .py .xml .txt')" \
		import h1 config "$(file c.toml 'a = 1')"
	body_is h1 config 'no suffix'
	local bad
	for bad in 'c.json={ "a": 1' 'c.ini=a = 1' 'c.py=def ('; do
		says 32 "$(framed h1 "Failed to validate config file, hook 'h1' config file not overwritten")" \
			import h1 config "$(file "${bad%%=*}" "${bad#*=}")"
	done
	body_is h1 config 'no suffix'
	body_is h1 python ''
}

@test "python-hooks #34: hooks are as they were after a restart" {
	hook b event=periodic,freq=9,enabled=false
	hook a event=\"queuejob,execjob_epilogue\",user=pbsuser,order=3,alarm=7
	hook c
	quietly import a python "$(file a.py "$good")"
	quietly import a config "$(file c.json '{}')"
	quietly import c python "$(file c.py "$(printf "$other")")"
	local before
	before=$(qmgr -c 'list hook'; qmgr -c 'print hook')
	quietly sandbox restart server
	same 'list and print' "$before" "$(qmgr -c 'list hook'; qmgr -c 'print hook')"
	same 'their order' 'b a c' "$(hook_names)"
}

@test "python-hooks #34: what was acknowledged survives kill -9" {
	hook h1 event=queuejob
	quietly import h1 python "$(file h1.py "$good")"
	restart
	body_is h1 python "$good"
	says 0 "hook 'h1' contents overwritten" import h1 python "$(file h2.py "$(printf "$other")")" && restart
	body_is h1 python "$(printf "$other")"
	quietly qmgr -c 'set hook h1 order = 9' && restart
	lists h1 'event = queuejob' 'order = 9'
	quietly import h1 config "$(file c.json '{}')" && restart
	body_is h1 config '{}'
	quietly qmgr -c 'delete hook h1' && restart
	says 1 "$(framed h1 'hook not found')" qmgr -c 'list hook h1'
}

@test "python-hooks #34: a server that is killed while scripts are imported has the old one or the new one" {
	hook h1
	local n now before=
	for n in 1 2 3 4; do
		file "s$n.py" "$(printf "a = '$n%.0s'\n" {1..5000})" >/dev/null
		import h1 python "$SB/s$n.py" >/dev/null 2>&1 3>&- &
		nap ".0$n"
		sandbox kill server
		wait $! || true
		sandbox restart server
		now=$(body_of h1 python)
		[ "$now" = "$before" ] || [ "$now" = "$(<"$SB/s$n.py")" ]
		import h1 python "$SB/s$n.py"
		before=$(<"$SB/s$n.py")
		same "script $n" "$before" "$(body_of h1 python)"
	done
}

@test "python-hooks #36: an unknown attribute, an order that is no number" {
	hook h1
	refuses h1 'Undefined attribute  - nosuch' 'set hook h1 nosuch = 1'
	refuses h1 'Undefined attribute  - nosuch' 'unset hook h1 nosuch'
	refuses h1 "order given (0) is outside the acceptable range of [1, 1000] for type 'site'." 'set hook h1 order = abc'
	refuses nosuch 'nosuch does not exist!' 'set hook nosuch event = queuejob'
	lists h1
}

@test "python-hooks #37: what import says" {
	hook h1
	file h1.py "$good" >/dev/null
	quietly import h1 python "$SB/h1.py"
	says 0 "hook 'h1' contents overwritten" import h1 python "$SB/h1.py"
	says 1 "$SB/nosuch.py - No such file or directory" import h1 python "$SB/nosuch.py"
	says 1 "$SB - Is a directory" import h1 python "$SB"
	refuses h1 '<content-type> must be application/x-python or application/x-config' "import hook h1 text/plain default $SB/h1.py"
	refuses h1 "<content-encoding> must be 'default' or 'base64'" "import hook h1 application/x-python nosuchenc $SB/h1.py"
	refuses nosuch 'nosuch does not exist!' "import hook nosuch application/x-python default $SB/h1.py"
	refuses nosuch 'nosuch does not exist!' "import pbshook nosuch application/x-config default $SB/h1.py"
	says 1 "$(framed nosuch 'hook not found')" qmgr -c 'list hook nosuch'
	says 0 $'Max open servers: 49\nhook \'h1\' contents overwritten' qmgr <<<$'import hook h1 application/x-python default -\nimport pbs'
	body_is h1 python $'import pbs\n'
}

@test "python-hooks #38: a hook without a script" {
	hook h1
	quietly qmgr -c 'export hook h1 application/x-python default'
	quietly qmgr -c 'export hook h1 application/x-config default'
	local block=$'import hook h1 application/x-python base64 -\n\nimport hook h1 application/x-config base64 -\n'
	qmgr -c 'print hook h1' >"$SB/printed"
	[[ $(<"$SB/printed") == *"${block%$'\n'}" ]]
	quietly qmgr -c 'delete hook h1'
	says 0 'Max open servers: 49' qmgr <"$SB/printed"
	lists h1
	quietly import h1 python "$(file h1.py "$good")"
	says 0 "hook 'h1' contents overwritten" import h1 python "$(file empty.py '')"
	body_is h1 python ''
	quietly import h1 python "$SB/h1.py"
}

@test "python-hooks #41: unset restores the default" {
	hook h1 event=queuejob,order=7,alarm=3,enabled=f,debug=t
	quietly qmgr -c 'unset hook h1 order'
	quietly qmgr -c 'unset hook h1 event'
	lists h1 'alarm = 3' 'enabled = false' 'debug = true'
	quietly qmgr -c 'unset hook h1 alarm,enabled,debug,user,type,fail_action,freq'
	lists h1
}

@test "python-hooks: two at once" {
	local n found
	for n in 1 2 3 4 5 6 7 8; do
		file "s$n.py" "a = '$n$n$n$n'
" >/dev/null
	done
	for n in 1 2 3 4; do qmgr -c 'create hook h1' >"$BATS_TEST_TMPDIR/made$n" 2>&1 3>&- & done
	wait
	undo qmgr -c 'delete hook h1'
	same 'how many were refused' 3 "$(cat "$BATS_TEST_TMPDIR"/made? | grep -c 'already registered')"
	for n in 1 2 3 4 5 6 7 8; do import h1 python "$SB/s$n.py" >/dev/null 2>&1 3>&- & done
	wait
	found=$(body_of h1 python)
	has "$found" "^a = '([1-8])\1\1\1'$"
	restart
	same 'the script' "$found" "$(body_of h1 python)"
	import h1 python "$SB/s1.py" >/dev/null 2>&1 3>&- &
	qmgr -c 'delete hook h1' 3>&- &
	wait
	says 1 "$(framed h1 'hook not found')" qmgr -c 'list hook h1'
	hook h1
	body_is h1 python ''
}

raw() { "$KEELSON_BUILD/tests/scenario/tools/raw" "$@" || true; }

@test "python-hooks: names, values and bodies that do harm elsewhere are refused" {
	local name text long
	printf -v long 'a%.0s' {1..120} # past modules/python-hooks/manage.h NAME_LEN_MAX
	for name in ../x a/b .x '' 1a $'a\nb' $'a\x1b[2J' 'a b' 'ä' "${long}a"; do
		text=$(raw manage:0:8 "$name")
		has "$text" '^15136 '
		[[ $text != *$'\x1b'* && $text != *$'\n'* ]]
	done
	same 'hooks' '' "$(hook_names)"
	same 'the longest name' '' "$(raw manage:0:8 "$long")"
	quietly qmgr -c "delete hook $long"
	hook h1
	text=$(raw manage:2:8 h1 $'enabled=\x1b[2J')
	has "$text" "^15136 unexpected value '\?\[2J'"
	has "$(raw manage:2:8 h1 event.x=queuejob)" '^15136 Undefined attribute  - event\.x$'
	has "$(raw manage:2:8 h1 alarm=9223372036854775808)" '^15136 set_hook_alarm'
	has "$(raw manage:4:8 h1)" '^15004 '
	has "$(raw manage:7:8 h1 content=aGk=)" '^15136 hook import command has no <content-type> argument$'
	local import='content-type=application/x-config content-encoding=default'
	# shellcheck disable=SC2086
	has "$(raw manage:7:8 h1 $import input-file=../c.json content=e30=)" \
		"^15136 <input-file> path must be relative to $SB/server/server_priv/hooks$"
	# shellcheck disable=SC2086
	has "$(raw manage:7:8 h1 $import input-file=- 'content=aGk')" "^15136 hook 'h1' is not changed: the content is not base64$"
	says 32 "$(framed h1 "hook 'h1' is not changed: the content is not base64")" import h1 python "$(file x '!!!!')" base64
	# past modules/python-hooks/manage.h SCRIPT_LEN_MAX, past modules/python-hooks/manage.h CONFIG_LEN_MAX
	head -c 2000000 /dev/zero | tr '\0' '#' >"$SB/big.py"
	says 32 "$(framed h1 "hook 'h1' is not changed: the content has 2000000 bytes, at most 921600 are possible")" \
		import h1 python "$SB/big.py"
	head -c 921601 "$SB/big.py" >"$SB/big1.py"
	says 32 "$(framed h1 "hook 'h1' is not changed: the content has 921601 bytes, at most 921600 are possible")" \
		import h1 python "$SB/big1.py"
	head -c 921600 "$SB/big.py" >"$SB/fits.py"
	quietly import h1 python "$SB/fits.py"
	body_of h1 python | cmp - "$SB/fits.py"
	says 32 "$(framed h1 "hook 'h1' is not changed: the content has 921600 bytes, at most 524288 are possible")" \
		import h1 config "$(cp "$SB/fits.py" "$SB/fits.txt"; echo "$SB/fits.txt")"
	lists h1
}

@test "python-hooks: no more than 1000 hooks" { # past modules/python-hooks/manage.h HOOKS_MAX
	local i
	for ((i = 1; i <= 1000; i++)); do echo "create hook n$i"; done | qmgr >/dev/null
	undo eval 'for ((i = 1; i <= 1000; i++)); do echo "delete hook n$i"; done | qmgr >/dev/null'
	refuses one 'there are 1000 hooks already, and no more are possible: delete some' 'create hook one'
	same 'hooks in the list' 1000 "$(qmgr -c 'list hook' | grep -c '^Hook ')"
}

@test "python-hooks: off, hooks are an unknown type, and stay in the store" {
	hook h1 event=queuejob,order=4
	quietly import h1 python "$(file h1.py "$good")"
	local before unknown='Unknown object type: no module of this server has objects of that type'
	before=$(qmgr -c 'print hook')
	sandbox reload --disable python-hooks
	undo sandbox reload --enable python-hooks
	says 181 "qmgr obj=h2 svr=default: $unknown
qmgr: Error (15029) returned from server" qmgr -c 'create hook h2'
	says 181 "qmgr obj=h1 svr=default: $unknown
qmgr: Error (15029) returned from server" qmgr -c 'delete hook h1'
	says 1 "qmgr obj=h1 svr=default: $unknown
qmgr: Error (15004) returned from server" qmgr -c 'list hook h1'
	restart
	sandbox reload --enable python-hooks
	same 'print' "$before" "$(qmgr -c 'print hook')"
}

@test "python-hooks: off, another module may manage and list objects of that type" {
	local conf=$SB/server/etc/modules.d/shelf.conf
	echo "shelf: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/shelf.so\"; };" >"$conf"
	[[ $(keelson reload 2>&1) == *'lists that class'* || $(keelson reload 2>&1) == *'is not its own'* ]]
	undo sandbox reload --enable python-hooks
	undo rm "$conf"
	sandbox reload --disable python-hooks
	says 0 'it is on the shelf' qmgr -c 'create hook cup'
	says 156 $'qmgr obj=pot svr=default: the shelf is full: take away what is there\nqmgr: Error (15004) returned from server' \
		qmgr -c 'create hook pot'
	says 0 'Hook cup' qmgr -c 'list hook'
	quietly qmgr -c 'delete hook cup'
	quietly qmgr -c 'list hook'
}
