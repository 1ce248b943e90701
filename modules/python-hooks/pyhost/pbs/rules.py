# SPDX-License-Identifier: Apache-2.0
#
# rules.py - what a script may set at which event.
from . import run
from .errors import BadAttributeValueError

RUNJOB = ("Hold_Types Execution_Time project Error_Path Output_Path Resource_List Variable_List depend"
          " create_resv_from_job").split()
POSTQUEUE = "Hold_Types project Variable_List Resource_List".split()


class Rule:
    """`sets`: {kind of object: names, None for all}; what is refused raises AssertionError with `text`."""
    __slots__ = ("sets", "text", "adds", "params", "of_server")

    def __init__(self, sets, text, adds=False, params=(), of_server=False):
        self.sets, self.text = sets, text
        self.adds = adds            # vnodes may be added to vnode_list
        self.params = params        # members of the event that may be set
        self.of_server = of_server  # so may vnodes of pbs.server()


NOTHING = Rule({}, "Unexpected event")
OF_MOMS = Rule({"job": None, "vnode": None}, "Can only set job,resource,vnode attributes under mom hook event.")
RULES = {
    "queuejob": Rule({"job": None}, "Can only set job,resource attributes under queuejob event."),
    "modifyjob": Rule({"job": None}, "Can only set job,resource attributes under modifyjob event."),
    "postqueuejob": Rule({"job": POSTQUEUE}, "Can only set job's (%s) attribute under POSTQUEUEJOB event"
                         " - got <%%s>" % ",".join(POSTQUEUE)),
    "movejob": Rule({"job": ["queue"]}, "Can only set job's 'queue' attribute under MOVEJOB event - got <%s>"),
    "runjob": Rule({"job": RUNJOB, "vnode": ["state"]}, "Can only set job's (%s) attribute, or a vnode's (state)"
                   " attribute under RUNJOB event - got <%%s>" % ",".join(RUNJOB), of_server=True),
    "resvsub": Rule({"resv": None}, "Can only set job attributes under resvsub event."),
    "modifyresv": Rule({"resv": None}, "Can only set job attributes under modifyresv event."),
    "periodic": Rule({"vnode": None}, "Can only set node,resource attributes under periodic event."),
    "execjob_launch": Rule({"job": None, "vnode": None}, "Can only set progname, argv, env event parameters as"
                           " well as job, resource, vnode under execjob_launch hook.",
                           params=("progname", "argv", "env")),
    "execjob_attach": Rule({}, "nothing is settable inside an execjob_attach hook!"),
    "execjob_resize": Rule({}, "nothing is settable inside an execjob_resize hook!"),
    "exechost_periodic": Rule({"vnode": None, "job": None}, "Can only set node,resource,job attributes under"
                              " exechost_periodic event.", adds=True),
    "exechost_startup": Rule({"vnode": None}, "Can only set node,resource attributes under exechost_startup"
                             " event.", adds=True),
}
RULES.update({name: OF_MOMS for name in (
    "execjob_begin", "execjob_prologue", "execjob_preterm", "execjob_epilogue", "execjob_end", "execjob_abort",
    "execjob_postsuspend", "execjob_preresume")})


def ended(name, key=None):
    """Nothing may be set after accept() or reject()."""
    if run.said is not None:
        raise BadAttributeValueError("Not permitted to modify attributes (name=%s,res=%s): an event.accept()"
                                     " or event.reject() already called." % (name, key or ""))


def settable(obj, name, key=None):
    """Fails when this attribute of the object cannot be set now."""
    ended(name, key)
    rule = run.rule
    if not rule.sets:
        raise AssertionError(rule.text)
    if obj._sink is None:
        raise BadAttributeValueError("attribute '%s' is part of a readonly object" % name)
    names = rule.sets.get(obj._kind, ())
    if names is not None and name not in names:
        raise AssertionError(rule.text % name if "%s" in rule.text else rule.text)
