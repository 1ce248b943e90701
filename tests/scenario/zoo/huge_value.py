# SPDX-License-Identifier: Apache-2.0
#
# A value of nearly 1 MB.
pbs.event().job.Variable_List["BIG"] = "y" * 1000000
