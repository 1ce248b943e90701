# SPDX-License-Identifier: Apache-2.0
#
# What it raises takes for ever to print.
class Bad(Exception):
    def __str__(self):
        while True:
            pass


raise Bad
