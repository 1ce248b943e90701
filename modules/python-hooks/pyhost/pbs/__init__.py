# SPDX-License-Identifier: Apache-2.0
#
# pbs - what hook scripts import. keelson-pyhost calls _setup() once, and _begin() and _end() around each run of a script.
import os

import _keelson

from . import constants as _constants
from . import event as _event
from . import objects as _objects
from . import rules as _rules
from . import run as _run
from . import types as _types
from .errors import (BadAttributeValueError, BadAttributeValueTypeError, BadResourceValueError, BadResourceValueTypeError,
                     EventIncompatibleError, UnsetAttributeNameError, UnsetResourceNameError)
from .objects import Job as job, Queue as queue, Resv as resv, Vnode as vnode, pbs_env, pbs_resource
from .select import select
from .types import duration, exec_host, exec_vnode, hold_types, pbs_bool, place, priority, size, size_to_kbytes, vchunk, version

pbs_int, pbs_str, pbs_float, pbs_list = int, str, float, list
pbs_conf = {}
hook_config_filename = None
globals().update(_types.text_types)


def event():
    """What happens."""
    return _run.event


def server():
    """The server."""
    return _objects.Server(_run.setup["server"])


def logmsg(level, message):
    """Writes one line to the daemon's log: pbs.LOG_... always, pbs.EVENT_... where events of this class are logged."""
    if level in _levels:
        level = _constants.EVENT_CLASSES["ADMIN"] | _constants.EVENT_CLASSES["SYSTEM"]
    elif level not in _classes:
        raise TypeError("Invalid severity or eventtype value %s" % level)
    name = "Server@" + _run.setup["host"] if _run.setup["role"] == "server" else "pbs_python"
    _keelson.log(level, "Hook", name, str(message))


def logjobmsg(jobid, message):
    """Writes a line about a job."""
    if not jobid:
        raise ValueError("no jobid given!")
    _keelson.log(_constants.EVENT_CLASSES["JOB"], "Job", str(jobid), str(message))


def get_local_nodename():
    """This host's own vnode; on a server, its host."""
    return _run.setup["host"]


def reboot(cmd=""):
    """Ends the script; the host reboots."""
    if not _run.mom:
        raise NotImplementedError("reboot(): only for mom hooks")
    if _run.event.user == "pbsuser":
        raise NotImplementedError("Not allowed to issue reboot if run as user")
    _run.asked["reboot"] = cmd or ""
    raise SystemExit(0)


_levels = {value for name, value in _constants.CONSTANTS.items() if name.startswith("LOG_")}
_classes = set(_constants.EVENT_CLASSES.values())


def _setup(of):
    """First of all, once: names and types from the tables of the daemon."""
    _run.setup.update(of)
    _objects.rows(of["tables"])
    _types.owners.update(_owners())
    globals().update(_constants.constants(of["tables"]))
    globals()["hook_config_filename"] = of.get("config")
    if of.get("config"):
        os.environ["PBS_HOOK_CONFIG_FILE"] = of["config"]
    _own.update(globals())


def _owners():
    """Which attribute judges the text of a type: the first that there is."""
    places = [(klass, name, None) for klass in ("job", "resv", "server", "queue", "node") for name in _run.rows.get(klass, ())]
    places += [("job", "Resource_List", key) for key in ("select", "place", "software") if key in _run.resources]
    made = {}
    for where in places:
        kind = _types.NAMED.get(where[2] or where[1])
        if kind and kind.asks and issubclass(kind.type, _types.checked):
            made.setdefault(kind.type, where)
    return made


def _begin(of):
    """Before a run: nothing is left of the one before."""
    names = globals()
    if len(names) != len(_own):
        for name in [name for name in names if name not in _own]:
            del names[name]
    names["pbs_conf"] = dict(_run.setup.get("conf") or {})
    found = _run.setup["tables"]["events"].get(of["event"])
    _run.begin(_event.Event(of), _rules.RULES.get(of["event"], _rules.NOTHING), bool(found and found[2]))


def _end(exc, trace):
    """After a run that ended with this exception (None: none): its RESULT."""
    said = _run.said
    if exc is not None and not isinstance(exc, SystemExit):
        text = "%s: %s" % (type(exc).__name__, exc)
        result = {"how": "exception", "text": text, "trace": trace, "code": 255}
    elif said is not None:
        result = dict(said, trace=None)
    else:
        _run.event._settle()
        result = {"how": "accept", "text": None, "trace": None, "code": 0}
    result["changes"] = [[target, name, key, text] for (target, name, key), text in _run.changes.items()]
    result.update(_run.asked)
    return result


_own = {}
