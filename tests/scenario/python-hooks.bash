# SPDX-License-Identifier: Apache-2.0
#
# python-hooks.bash - what stories about hooks of a server share: load it after helper.bash and shared.bash. Where hosts have to get a
# hook first, a file has a hook() of its own.

# hook_script NAME: stdin becomes the script of that hook.
hook_script()
{
	cat >"$SB/$1.py"
	qmgr -c "import hook $1 application/x-python default $SB/$1.py"
}

# hook NAME [ATTRIBUTES]: its script is stdin; it goes with the story.
hook()
{
	qmgr -c "create hook $1 ${2-event=queuejob}"
	undo qmgr -c "delete hook $1"
	hook_script "$1"
}

held() { submit -h "$@"; }
said() { has "$(server_log)" "$1"; }
hook_said() { said ";0006;Server@[^;]*;Hook;[^;]*;$1\$"; }
