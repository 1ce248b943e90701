# SPDX-License-Identifier: Apache-2.0
#
# A wild pointer of a C library.
import ctypes

ctypes.string_at(1)
