# SPDX-License-Identifier: Apache-2.0
#
# It changes the inside of package pbs: event, run, rules.
import pbs.event
import pbs.run
import pbs.types

pbs.run.said = {"how": "accept", "text": ["no text"], "code": "x"}
pbs.run.changes = {("job", "euser", None): "root", ("vnode:n1", "comment", None): "not mine", ("server", "managers", None): "x@*"}
pbs.run.check = pbs.run.ask = pbs.types.write_text = None
