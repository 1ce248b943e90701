# SPDX-License-Identifier: Apache-2.0
#
# Scripts in scripts in scripts.
source = "pass"
for _ in range(50):
    source = "exec(%r)" % source if len(source) < 100000 else source
exec(source)
exec(compile("import pbs; pbs.event().job.Priority = 3", "inner", "exec"), {})
