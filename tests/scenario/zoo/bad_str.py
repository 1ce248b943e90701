# SPDX-License-Identifier: Apache-2.0
#
# It raises what cannot even be printed.
class Bad(Exception):
    def __str__(self):
        raise self

    __repr__ = __str__


raise Bad
