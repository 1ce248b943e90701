# SPDX-License-Identifier: Apache-2.0
#
# A flood of questions.
while True:
    pbs.server().job("1")
    list(pbs.server().vnodes())
