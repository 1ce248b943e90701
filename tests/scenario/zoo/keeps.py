# SPDX-License-Identifier: Apache-2.0
#
# 100 MB that stay in a module, each time.
import sys

sys.kept = getattr(sys, "kept", [])
import types

holder = sys.modules.setdefault("zoo_holder", types.ModuleType("zoo_holder"))
holder.kept = getattr(holder, "kept", [])
holder.kept.append(bytearray(100 << 20))
