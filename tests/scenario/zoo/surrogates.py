# SPDX-License-Identifier: Apache-2.0
#
# A text with half a character.
pbs.logmsg(pbs.LOG_DEBUG, "half \ud800 \udcff of \0 it")
pbs.event().job.Account_Name = "a\ud800b"
