# SPDX-License-Identifier: Apache-2.0
#
# stubs.py - pbs.pyi, for editors: what scripts can use, each attribute with its type and the sentence of its row.
import inspect
import re

import pbs

from . import constants, errors, keyed, run, texts
from .event import COMMON, Event, attribute, management

HEAD = '''# What hook scripts import, as this site has it: made by `keelson hook stubs`.
from typing import Any, Dict, Iterator, List, NoReturn, Optional

pbs_int = int
pbs_str = str
pbs_float = float
pbs_list = list
pbs_conf: Dict[str, str]
hook_config_filename: Optional[str]
'''
FUNCTIONS = ("event", "server", "logmsg", "logjobmsg", "get_local_nodename", "reboot", "size_to_kbytes")
TYPES = ("size", "duration", "pbs_bool", "select", "place", "hold_types", "exec_vnode", "vchunk", "exec_host",
         "priority", "version", "pbs_resource", "pbs_env")
OBJECTS = (("job", "job"), ("node", "vnode"), ("queue", "queue"), ("resv", "resv"), ("server", "_server"))
RETURNS = {  # of functions, methods and properties; {type}: of this package
    "event": "_event", "server": "_server", "size_to_kbytes": "int", "get_local_nodename": "str",
    "job": "Optional[{job}]", "vnode": "Optional[{vnode}]", "queue": "Optional[{queue}]",
    "resv": "Optional[{resv}]", "jobs": "Iterator[{job}]", "vnodes": "Iterator[{vnode}]",
    "queues": "Iterator[{queue}]", "resvs": "Iterator[{resv}]", "id": "str", "name": "str", "resvid": "str",
    "event_name": "str", "select": "Optional[{select}]",
    "in_ms_mom": "bool", "is_checkpointed": "bool", "stdout_file": "Optional[str]",
    "stderr_file": "Optional[str]", "failed_mom_list": "List[str]", "succeeded_mom_list": "List[str]",
    "release_nodes": "Optional[{job}]", "increment_chunks": "{select}", "extract_state_ints": "List[int]",
    "extract_state_strs": "List[str]", "keys": "List[str]", "chunks": "List[{vchunk}]", "accept": "NoReturn",
    "reject": "NoReturn", "reboot": "NoReturn",
}
MEMBERS = {  # of pbs.event(), at events that have them
    "job": "{job}", "job_o": "{job}", "resv": "{resv}", "resv_o": "{resv}", "vnode": "{vnode}",
    "vnode_o": "{vnode}", "src_queue": "{queue}", "management": "_management", "aoe": "str", "pid": "int",
    "progname": "str", "argv": "List[str]", "env": "Dict[str, str]", "vnode_list": "Dict[str, {vnode}]",
    "vnode_list_fail": "Dict[str, {vnode}]", "job_list": "Dict[str, {job}]", "resv_list": "Dict[str, {resv}]",
}
NUMBERS = {"type": "int", "alarm": "int", "freq": "int", "order": "int", "debug": "bool", "enabled": "bool"}


def sentence(text, indent):
    clean = " ".join((text or "").replace("\\", "\\\\").replace('"""', "'''").split())
    return ['%s"""%s"""' % (indent, clean + " " if clean.endswith('"') else clean)] if clean else []


def written(annotation):
    """A class may have a member of a type's name: types have another one in annotations, _type_NAME."""
    return re.sub(r"\{(\w+)\}", r"_type_\1", annotation)


def signature(name, function):
    return "%s -> %s" % (inspect.signature(function), written(RETURNS.get(name, "Any")))


def definition(indent, name, arguments, doc):
    body = sentence(doc, indent + "    ")
    return ["%sdef %s%s:%s" % (indent, name, arguments, "" if body else " ...")] + body


def members(cls, indent="    "):
    """Methods and properties of a class that have no underscore before them."""
    for name, value in inspect.getmembers(cls):
        if name[0] == "_" or name in dir(int) or name in dir(str):
            continue
        if isinstance(value, property):
            yield "%s@property" % indent
            yield from definition(indent, name, "(self) -> " + written(RETURNS.get(name, "Any")), None)
        elif inspect.isfunction(value):
            yield from definition(indent, name, signature(name, value), value.__doc__)


def type_name(row):
    if row.make is keyed.pbs_env or row.make is keyed.pbs_resource:
        return "{%s}" % row.make.__name__
    if row.make is keyed.resource_or_none:
        return "Optional[{pbs_resource}]"
    if row.make is not None:
        return "Optional[%s]" % ("{queue}" if row.name == "queue" else "_server")
    kind = row.kind.type.__name__
    if row.kind.type in (bool, int, float, str):
        return "Optional[%s]" % kind
    return "Optional[{%s}]" % kind if hasattr(pbs, kind) else "Optional[int]"


def block(head, doc, lines):
    yield ""
    yield head
    body = sentence(doc, "    ") + list(lines)
    yield from body or ["    ..."]


def attributes(klass):
    for name, row in run.rows.get(klass, {}).items():
        if not name.isidentifier():
            continue
        yield "    %s: %s" % (name, written(type_name(row)))
        yield from sentence(row.doc, "    ")


def objects():
    for klass, name in OBJECTS:
        cls = pbs.server().__class__ if klass == "server" else getattr(pbs, name)
        yield from block("class %s:" % name, cls.__doc__, list(members(cls)) + list(attributes(klass)))


def types():
    for name in TYPES:
        cls = getattr(pbs, name)
        base = next((b.__name__ for b in (int, str) if issubclass(cls, b)), None)
        lines = [] if name != "vchunk" else ["    vnode_name: str", "    chunk_resources: Dict[str, Any]",
                                             "    def __init__(self, text: str) -> None: ..."]
        if name in ("size", "duration", "hold_types"):
            lines += ["    def %s(self, other: Any) -> %s: ..." % (op, name) for op in ("__add__", "__sub__")]
        if cls in (keyed.pbs_resource, keyed.pbs_env):
            lines += ["    def __getitem__(self, name: str) -> Any: ...",
                      "    def __setitem__(self, name: str, value: Any) -> None: ..."]
        head = "class %s%s:" % (name, "(%s)" % base if base else "")
        yield from block(head, cls.__doc__, lines + list(members(cls)))
    for name, cls in sorted(texts.text_types.items()):
        yield from block("class %s(str):" % name, cls.__doc__, [])


def functions():
    for name in FUNCTIONS:
        function = getattr(pbs, name)
        yield ""
        yield from definition("", name, signature(name, function), function.__doc__)


def events():
    lines = ["    %s: %s" % (name, NUMBERS.get(name, "str")) for name in COMMON]
    lines += ["    %s: %s" % (name, written(of)) for name, of in MEMBERS.items()]
    yield from block("class _event:", Event.__doc__, lines + list(members(Event)))
    for name, cls in (("_management", management), ("_attribute", attribute)):
        yield from block("class %s:" % name, cls.__doc__, [
            "    %s: %s" % (slot, "List[_attribute]" if slot == "attribs" else "Any") for slot in cls.__slots__])


def failures():
    for name, cls in vars(errors).items():
        if isinstance(cls, type):
            yield from block("class %s(%s):" % (name, cls.__base__.__name__), cls.__doc__, [])


def text():
    """The whole of pbs.pyi."""
    numbers = ["%s: %s" % (name, "int" if isinstance(value, int) else "Dict[int, str]")
               for name, value in sorted(constants.made.items())]
    parts = list(failures()) + list(types()) + list(objects()) + list(events()) + list(functions())
    names = [name for _, name in OBJECTS[:-1]] + list(TYPES) + sorted(texts.text_types)
    aliases = [""] + ["_type_%s = %s" % (name, name) for name in names]
    return "\n".join([HEAD] + numbers + parts + aliases) + "\n"
