# SPDX-License-Identifier: Apache-2.0
#
# run.py - what the other files share: the setup of this process, and the run that goes on.
import _keelson

from .errors import BadAttributeValueError

setup = {}      # what the daemon sent at first
rows = {}       # {class: {attribute: Row}}
resources = {}  # {name in lower case: Row}

event = None    # the Event that goes on
rule = None     # what it lets a script set, of rules.py
mom = False     # is it an event of an execution host?
changes = {}    # {(target, attribute, key): text}, in order
wanted = {}     # rerun, delete, restart_cycle, reboot: what the script wants at its end
server = None   # pbs.server()
said = None     # {how, text, code} of accept() or reject()

FIT_MAX, FIT_LEN, FIT_US = 256, 256, 10_000_000
fit = {}        # {(class, attribute, key, text): until when the daemon need not judge it again, at most FIT_MAX}


def begin(new, new_rule, of_moms):
    global event, rule, mom, changes, wanted, server, said
    event, rule, mom, changes, wanted, server, said = new, new_rule, of_moms, {}, {}, None, None


def log_name():
    """The daemon, as its log calls it."""
    return "pbs_python" if mom else "Server@" + setup["server"]


def say(how, text, code):
    """What accept() and reject() do: nothing may be changed after it, and the script ends."""
    global said
    if said is None:
        event._settle()
        said = {"how": how, "text": text, "code": code}
    raise SystemExit(0)


def ask(*question):
    return _keelson.ask(list(question))


def check(klass, attribute, key, text, refused=BadAttributeValueError):
    """Fails with the sentence of the attribute's module when the text is no value of it. The daemon judges the
    changes of a run once more, so what it has said a moment ago may serve."""
    what, now = (klass, attribute, key, text), _keelson.us()
    if fit.get(what, 0) > now:
        return
    why = ask("check", *what)
    if why is not None:
        name = key or attribute
        raise refused(why if name in why else "%s: %s" % (name, why))
    if len(fit) >= FIT_MAX:
        fit.clear()
    if len(text) <= FIT_LEN:
        fit[what] = now + FIT_US
