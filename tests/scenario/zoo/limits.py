# SPDX-License-Identifier: Apache-2.0
#
# It takes its own limits away, as far as it can.
import resource

for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_DATA, resource.RLIMIT_STACK):
    resource.setrlimit(what, (0, 0))
