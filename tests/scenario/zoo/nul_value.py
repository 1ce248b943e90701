# SPDX-License-Identifier: Apache-2.0
#
# A text with a NUL.
pbs.event().job.Account_Name = "a\0b"
