# SPDX-License-Identifier: Apache-2.0
#
# A text of bytes that are no UTF-8.
pbs.event().job.Variable_List["RAW"] = "a\udcffb"
