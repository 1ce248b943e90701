# SPDX-License-Identifier: Apache-2.0
#
# Source that the compiler cannot swallow.
eval("(" * 100000 + ")" * 100000)
