# SPDX-License-Identifier: Apache-2.0
#
# Attributes that are not to be set, past all checks of the package.
import pbs.run

pbs.run.changes[("job", "euser", None)] = "root"
