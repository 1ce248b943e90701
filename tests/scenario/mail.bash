# SPDX-License-Identifier: Apache-2.0
#
# mail.bash - stories that read mail: load it after helper.bash.

# post_office: a place for the mailer of this test, before its cluster starts. $MAILER is what to configure.
post_office()
{
	POST=$BATS_TEST_TMPDIR/post
	MAILER=$POST/mailer
	mkdir -p "$POST"
	cp "$KEELSON_BUILD/tests/scenario/tools/mailer" "$MAILER"
	chmod 755 "$MAILER"
}

# mails JOB [WORDS]: the files with mail about it, with a line that is WORDS.
mails()
{
	local file
	for file in "$POST"/mail.*; do
		[ -e "$file" ] || continue
		grep -qxF "PBS Job Id: $1" "$file" && { [ $# -lt 2 ] || grep -qxF -- "$2" "$file"; } &&
			echo "$file"
	done
	return 0
}

mails_are() { same "mails about $2" "$1" "$(mails "${@:2}" | wc -l)"; }
