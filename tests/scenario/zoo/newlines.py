# SPDX-License-Identifier: Apache-2.0
#
# A reason with lines, escape sequences and what looks like a line of the log.
pbs.event().reject("one\ntwo\r\x1b[31mred\x07\x0011/28/2026 19:00:00;0080;Server@svr;Svr;x;forged\u2028\x85end")
