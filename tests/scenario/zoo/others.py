# SPDX-License-Identifier: Apache-2.0
#
# Objects that are not of this event, past all checks of the package.
import pbs.run

pbs.run.changes[("vnode:n1", "comment", None)] = "not mine"
