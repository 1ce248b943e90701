# SPDX-License-Identifier: Apache-2.0
#
# hooks-page.sh POINTS FIELDS - the manual page keelson-hooks(7), from hook_points.def and hook_fields.h.
cat <<'END'
.\" SPDX-License-Identifier: Apache-2.0
.\" made from hook_points.def and hook_fields.h
.TH KEELSON-HOOKS 7 "" Keelson "Keelson"
.SH NAME
keelson-hooks \- the places where Keelson asks modules or tells them
.SH DESCRIPTION
A module taps a point with
.B KEEL_TAP(point, handler)
in its descriptor, see
.BR keelson-module (3).
The kind of a point decides what a tap may answer:
.TP
.B GATE
May this happen? NEXT, DONE (skip the rest), REJECT (with a number and a text), WAIT (a hold was taken), FAIL. Taps may change the object; the changes are made when the whole chain has accepted, or not at all. A tap that fails rejects, unless its row says otherwise.
.TP
.B ASK
Who provides the answer? NEXT, DONE, WAIT, FAIL; the first DONE wins.
.TP
.B FOLD
Everyone adds to a sum or appends to a text. NEXT, FAIL.
.TP
.B NOTE
It happened. Everyone is told. NEXT, FAIL.
.PP
Taps of a point run in the order that
.B keelson hooks POINT
prints: before and after first, then order from low to high, then name. A NOTE about an object that is in the middle of an operation is told after it.
.SH POINTS
END
awk '
FNR == NR {
	if (match($0, /^#define KEEL_FIELDS_[a-z_]+/)) {
		name = substr($0, 21, RLENGTH - 20)
		text = $0
		sub(/^[^)]*\)/, "", text)
		gsub(/F\(STR, /, "", text); gsub(/F\(INT, /, "integer ", text); gsub(/F\(OBJ, /, "object ", text)
		gsub(/\)/, ",", text)
		sub(/^ +/, "", text); sub(/,$/, "", text)
		fields[name] = text
	}
	next
}
/^\/\* ---- / { sub(/^\/\* -+ /, ""); sub(/ -+ \*\/.*/, ""); print ".SS " $0 }
/^HOOK\(/ {
	line = $0
	sub(/^HOOK\(/, "", line)
	n = split(line, part, /, */)
	sentence = line
	sub(/^[^"]*"/, "", sentence); sub(/"\).*/, "", sentence)
	print ".TP\n.BR " part[2] " \" (" part[3] ")\""
	print sentence (sentence ~ /\?$/ ? "" : ".")
	if (fields[part[2]] != "")
		print ".br\nFields: " fields[part[2]] "."
}' "$2" "$1"
cat <<'END'
.SH SEE ALSO
.BR keelson-module (3),
.BR keelson (8)
END
