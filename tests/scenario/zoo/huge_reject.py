# SPDX-License-Identifier: Apache-2.0
#
# A reason of 3 MB: more than can be said.
pbs.event().reject("x" * 3000000)
