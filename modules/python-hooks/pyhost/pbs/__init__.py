# SPDX-License-Identifier: Apache-2.0
#
# pbs - what hook scripts import. keelson-pyhost calls _setup() once, _begin() and _end() around each run.
import importlib
import os

import _keelson

from . import constants as _constants
from . import event as _event
from . import objects as _objects
from . import rules as _rules
from . import run as _run
from . import tables as _tables
from . import texts as _texts
from .amounts import duration, pbs_bool, size, size_to_kbytes
from .errors import (BadAttributeValueError, BadAttributeValueTypeError, BadResourceValueError,
                     BadResourceValueTypeError, EventIncompatibleError, UnsetAttributeNameError,
                     UnsetResourceNameError)
from .job import Job as job
from .keyed import pbs_env, pbs_resource
from .objects import Queue as queue, Resv as resv, Vnode as vnode
from .select import select
from .texts import exec_host, exec_vnode, hold_types, place, priority, vchunk, version

pbs_int, pbs_str, pbs_float, pbs_list = int, str, float, list
pbs_conf = {}
hook_config_filename = None
globals().update(_texts.text_types)


def event():
    """What happens."""
    return _run.event


def server():
    """The server."""
    if _run.server is None:
        _run.server = _objects.Server(_run.setup["server"])
    return _run.server


def logmsg(level, message):
    """Writes a line to the daemon's log; pbs.EVENT_...: where events of this class are logged."""
    if level in _levels:
        level = _constants.EVENT_CLASSES["ADMIN"] | _constants.EVENT_CLASSES["SYSTEM"]
    elif level not in _classes:
        raise TypeError("Invalid severity or eventtype value %s" % level)
    _keelson.log(level, "Hook", _run.log_name(), str(message))


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
    _run.wanted["reboot"] = cmd or ""
    raise SystemExit(0)


_levels = {value for name, value in _constants.CONSTANTS.items() if name.startswith("LOG_")}
_classes = set(_constants.EVENT_CLASSES.values())


def _setup(of):
    """First of all, once: names and types from the tables of the daemon."""
    _run.setup.update(of, conf=of.get("conf") or {})
    _tables.fill(of["tables"])
    _constants.fill(of["tables"])
    globals().update(_constants.made)
    globals()["hook_config_filename"] = of.get("config")
    if of.get("config"):
        os.environ["PBS_HOOK_CONFIG_FILE"] = of["config"]
    for value in globals().values():
        if isinstance(value, type) and value.__module__.startswith("pbs."):
            value.__module__ = "pbs"  # as tracebacks and scripts name it
    globals()["__all__"] = [name for name, value in globals().items()
                            if name[0] != "_" and type(value) is not type(os)]


def _begin(of):
    """Before a run: nothing is left of the one before."""
    if pbs_conf != _run.setup["conf"]:
        pbs_conf.clear()
        pbs_conf.update(_run.setup["conf"])
    found = _run.setup["tables"]["events"].get(of["event"])
    _run.begin(_event.Event(of), _rules.RULES.get(of["event"], _rules.NOTHING), bool(found and found[2]))


def _cut(exc):
    """What a script did wrong is in its own lines, not in those of this package."""
    if type(exc).__module__ != "pbs" and not isinstance(exc, (AssertionError, NotImplementedError)):
        return
    last, at = None, exc.__traceback__
    while at is not None:
        last = last if at.tb_frame.f_globals.get("__package__") == "pbs" else at
        at = at.tb_next
    if last is not None:
        last.tb_next = None


def _end(exc):
    """After a run: its RESULT. Of what a script has raised (else exc is None) the process adds how, text and trace."""
    if exc is not None:
        _cut(exc)
    elif _run.said is None:
        _run.event._settle()
    result = dict(_run.said or {"how": "accept", "text": None, "code": 0})
    result["changes"] = [[target, name, key, text.line() or None if isinstance(text, pbs_env) else text]
                         for (target, name, key), text in _run.changes.items()]
    result.update(_run.wanted)
    return result


def __getattr__(name):
    """What keelson-pyhost --stubs needs, and no process that runs scripts."""
    if name == "_stubs":
        return importlib.import_module("pbs.stubs")
    raise AttributeError("module 'pbs' has no attribute '%s'" % name)
