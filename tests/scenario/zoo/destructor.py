# SPDX-License-Identifier: Apache-2.0
#
# What it leaves behind acts when it goes.
class Late:
    def __del__(self):
        pbs.event().job.Account_Name = "late"
        while True:
            pass


late = Late()
