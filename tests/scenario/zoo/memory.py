# SPDX-License-Identifier: Apache-2.0
#
# 2 GiB of memory.
kept = [bytearray(64 << 20) for _ in range(32)]
