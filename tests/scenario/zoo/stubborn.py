# SPDX-License-Identifier: Apache-2.0
#
# It catches what would end it, each time.
while True:
    try:
        pbs.event().reject("it ends here")
    except BaseException:
        pass
