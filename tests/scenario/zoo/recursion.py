# SPDX-License-Identifier: Apache-2.0
#
# Recursion without an end, and without the interpreter's bound.
import sys

sys.setrecursionlimit(1 << 30)


def again(n):
    return [again(n + 1)]


again(0)
