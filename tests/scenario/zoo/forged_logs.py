# SPDX-License-Identifier: Apache-2.0
#
# Lines for the log past the package: of another object, with what looks like other lines.
import _keelson

_keelson.log(-1, "Svr\n11/28/2026 19:00:00;0002;Server@svr;Svr;x", "x" * 5000 + "\n", "forged\n11/28/2026 19:00:00;0002;Server@svr;Svr;x;y")
_keelson.log(1 << 40, "", "", "")
_keelson.log(0x0080, "Job", "0.svr", "a\0b\udcff\u2028")
