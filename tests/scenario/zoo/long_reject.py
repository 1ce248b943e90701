# SPDX-License-Identifier: Apache-2.0
#
# A reason of nearly 1 MB.
pbs.event().reject("x" * 1000000)
