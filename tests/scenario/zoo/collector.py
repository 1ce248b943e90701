# SPDX-License-Identifier: Apache-2.0
#
# It turns the collector off and leaves rings of 10 MB.
import gc

gc.disable()
ring = [bytearray(10 << 20)]
ring.append(ring)
