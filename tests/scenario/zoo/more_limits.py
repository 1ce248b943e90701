# SPDX-License-Identifier: Apache-2.0
#
# It would have more than its limits.
import resource

for what in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
    try:
        resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        continue
    raise AssertionError("limit %d is gone" % what)
