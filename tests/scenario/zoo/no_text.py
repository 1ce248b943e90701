# SPDX-License-Identifier: Apache-2.0
#
# A value that is no text.
pbs.event().job.Account_Name = object()
