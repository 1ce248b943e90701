# SPDX-License-Identifier: Apache-2.0
#
# test_pbs.py - package pbs without a daemon: what scripts see, what their changes become. `python3 test_pbs.py [CLASS]`.
import copy
import importlib
import os
import sys
import traceback
import types
import unittest

keelson = types.ModuleType("_keelson")
sys.modules["_keelson"] = keelson
sys.dont_write_bytecode = True
sys.path.insert(0, os.environ.get("PBS_PACKAGES") or os.path.dirname(os.path.abspath(__file__)))
import pbs  # noqa: E402

READONLY = 0x10000
SETUP = {
    "role": "server", "host": "h1", "server": "svr", "version": "1.0", "hook": "h", "user": "", "script": "",
    "path": "h.PY", "config": "/tmp/h.json", "conf": {"PBS_HOME": "/var/spool/pbs"},
    "tables": {
        "attrs": {
            "job": {
                "Job_Name": ["string", 1, "name of the job"], "job_state": ["job_state", READONLY, "one letter"],
                "queue": ["string", 1, "queue"], "server": ["string", READONLY, "server"],
                "Checkpoint": ["string", 1, ""], "exec_vnode": ["string", READONLY, ""],
                "exec_host": ["string", READONLY, ""], "exec_host2": ["string", READONLY, ""],
                "schedselect": ["string", READONLY, ""], "Execution_Time": ["long", 1, ""],
                "Hold_Types": ["job_holds", 1, ""], "Priority": ["long", 1, ""], "Rerunable": ["bool", 1, ""],
                "Resource_List": ["resource_list", 1, ""], "resources_used": ["resource_list", READONLY, ""],
                "Variable_List": ["string", 1, ""], "euser": ["string", READONLY, ""], "project": ["string", 1, ""],
                "comment": ["string", 1, ""], "depend": ["string", 1, ""], "Error_Path": ["string", 1, ""],
                "Exit_status": ["long", READONLY, ""], "run_count": ["long", 1, ""],
                "eligible_time": ["eligible_clock", 1, ""], "resources_released": ["string", 1, ""],
                "resource_released_list": ["resource_list", READONLY, ""], "stageout": ["string_array", 1, ""],
                "tolerate_node_failures": ["node_failures", 1, "all, job_start or none"],
                "contributed": ["a_type_of_tomorrow", 1, "of a module that nobody here knows"],
            },
            "node": {
                "state": ["node_state", 1, ""], "comment": ["string", 1, ""], "sharing": ["string", 1, ""],
                "resources_available": ["resource_list", 1, ""], "maintenance_jobs": ["string_array", READONLY, ""],
                "ntype": ["string", READONLY, ""], "queue": ["string", 1, ""],
            },
            "queue": {"queue_type": ["string", 1, ""], "enabled": ["bool", 1, ""], "acl_users": ["string_array", 1, ""]},
            "server": {
                "default_queue": ["string", 1, ""], "managers": ["string_array", 1, ""],
                "server_state": ["string", READONLY, ""], "restrict_res_to_release_on_suspend": ["string", 1, ""],
                "job_sort_formula": ["string", 1, ""], "max_run_res": ["resource_limits", 1, ""],
            },
            "resv": {
                "reserve_state": ["resv_state", READONLY, ""], "reserve_start": ["long", 1, ""],
                "Authorized_Users": ["string_array", 1, ""], "reserve_duration": ["resv_seconds", 1, ""],
            },
        },
        "resources": {
            "ncpus": ["long", 0], "mem": ["size", 0], "walltime": ["time", 0], "select": ["string", 0],
            "place": ["string", 0], "site": ["string", 0], "scale": ["float", 0], "big": ["boolean", 0],
            "nodect": ["long", 512], "soft_walltime": ["time", 32], "software": ["string", 0],
            "vntype": ["string_array", 0], "sharing": ["long", 0],
        },
        "node_states": {"offline": 0x4000, "down": 2, "maintenance": 0x20000, "half-asleep": 0x100000},
        "events": {
            "queuejob": ["QUEUEJOB", 1, 0], "modifyjob": ["MODIFYJOB", 2, 0], "resvsub": ["RESVSUB", 4, 0],
            "movejob": ["MOVEJOB", 8, 0], "runjob": ["RUNJOB", 0x10, 0], "jobobit": ["JOBOBIT", 0x800000, 0],
            "management": ["MANAGEMENT", 0x200000, 0], "periodic": ["PERIODIC", 0x8000, 0],
            "postqueuejob": ["POSTQUEUEJOB", 0x8000000, 0], "modifyvnode": ["MODIFYVNODE", 0x400000, 0],
            "resv_begin": ["RESV_BEGIN", 0x1000000, 0], "execjob_begin": ["EXECJOB_BEGIN", 0x40, 1],
            "execjob_launch": ["EXECJOB_LAUNCH", 0x800, 1], "execjob_prologue": ["EXECJOB_PROLOGUE", 0x80, 1],
            "execjob_epilogue": ["EXECJOB_EPILOGUE", 0x100, 1], "execjob_attach": ["EXECJOB_ATTACH", 0x4000, 1],
            "execjob_resize": ["EXECJOB_RESIZE", 0x20000, 1], "exechost_startup": ["EXECHOST_STARTUP", 0x2000, 1],
            "exechost_periodic": ["EXECHOST_PERIODIC", 0x1000, 1],
        },
    },
}
HOOK = {"name": "h", "type": "site", "enabled": 1, "event": "queuejob", "user": "pbsadmin", "alarm": 30, "order": 1,
        "debug": 0, "fail_action": "none"}
J1 = "ncpus=3:mem=1gb+1:ncpus=2:mem=2gb+2:ncpus=1:mem=3gb"


def job(id="1.svr", facts=None, **attrs):
    return {"class": "job", "id": id, "attrs": attrs, "facts": facts or {}}


def vnode(name, **attrs):
    return {"class": "node", "id": name, "attrs": attrs}


class Daemon:
    """Answers questions out of what it was given, and remembers what was asked and logged."""

    def __init__(self):
        self.objects, self.refused, self.answers, self.questions, self.lines = {}, {}, {}, [], []
        self.now = 0

    def ask(self, question):
        self.questions.append(question)
        what = question[0]
        if what == "object":
            return self.objects.get((question[1], question[2]))
        if what == "list":
            return self.page(*question[1:])
        if what == "check":
            return self.refused.get(question[4])
        return self.answers.get(what)

    def page(self, klass, after, of):
        found = [o for (k, _), o in self.objects.items()
                 if k == klass and (of is None or o["attrs"].get("queue") == of)]
        names = [o["id"] for o in found]
        at = names.index(after) + 1 if after else 0
        return [found[at:at + 2], found[at + 1]["id"] if at + 2 < len(found) else None]

    def log(self, events, klass, object, text):
        self.lines.append((events, klass, object, text))


class Case(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        keelson.ask, keelson.log, keelson.us = self.daemon.ask, self.daemon.log, lambda: self.daemon.now
        pbs._run.fit.clear()
        self.begin("queuejob", job=job(Job_Name="x", queue="workq", Priority="3", Hold_Types="n",
                                       Variable_List="A=1,B=a\\,b", Rerunable="True", contributed="text",
                                       Resource_List={"ncpus": "2", "mem": "1gb", "select": "2:ncpus=1",
                                                      "place": "scatter:excl", "walltime": "01:00:00"}))

    def begin(self, event, user="pbsadmin", hook=None, **params):
        of = {"type": SETUP["tables"]["events"][event][1], "event": event, "hook": dict(HOOK, user=user, **hook or {}),
              "requestor": "alice", "requestor_host": "front", "params": copy.deepcopy(params)}
        pbs._begin(of)
        self.e = pbs.event()
        self.job = self.e.job if "job" in params else None

    def changes(self):
        """What the daemon would be asked to change."""
        return pbs._end(None)["changes"]

    def fails(self, kind, text, call, *args):
        with self.assertRaises(kind) as caught:
            call(*args)
        self.assertEqual(str(caught.exception), text)

    def sets(self, of, name, value):
        """A function that sets it; unittest wants one."""
        return lambda: setattr(of, name, value)


class Amounts(Case):
    def test_size_text(self):
        for text, n in (("10gb", 10 << 30), ("1", 1), ("7b", 7), ("1w", 8), ("2kw", 16384), ("1mb", 1 << 20),
                        ("1tb", 1 << 40), ("1pb", 1 << 50), ("1pw", 1 << 53), ("3KB", 3072), ("5k", 5120)):
            self.assertEqual(int(pbs.size(text)), n, text)
            self.assertEqual(str(pbs.size(text)), text)

    def test_size_of_int(self):
        for n, text in ((1024, "1kb"), (1 << 30, "1gb"), (1025, "1025b"), (0, "0b"), (3 << 19, "1536kb")):
            self.assertEqual(str(pbs.size(n)), text)

    def test_size_is_wrong(self):
        for bad in ("x", "", "1xb", "1.5gb", "-1kb", "gb", "9" * 40):
            self.assertRaises(pbs.BadAttributeValueError, pbs.size, bad)
        for bad in (None, 1.5, [1]):
            self.assertRaises(pbs.BadAttributeValueTypeError, pbs.size, bad)

    def test_size_arithmetic(self):
        a = pbs.size("10gb")
        self.assertEqual(str(a + pbs.size("512mb")), "10752mb")
        self.assertEqual(str(a - "1gb"), "9gb")
        self.assertEqual(str("1gb" + a if False else a + 1024), "10485761kb")
        self.assertIsInstance(a + a, pbs.size)
        a += pbs.size("6gb")
        self.assertEqual(str(a), "16gb")

    def test_size_compares(self):
        self.assertTrue(pbs.size("1gb") == pbs.size("1024mb") == 1 << 30)
        self.assertTrue(pbs.size("1gb") == "1024mb")
        self.assertTrue(pbs.size("1gb") < pbs.size("2gb") <= "2gb")
        self.assertTrue(pbs.size("2gb") > 1024 and pbs.size("2gb") != "1gb" and pbs.size("2gb") != "no size")
        self.assertEqual(len({pbs.size("1gb"), pbs.size("1024mb")}), 1)

    def test_size_to_kbytes(self):
        for value, kb in (("1gb", 1 << 20), (pbs.size("4mb"), 4096), (1, 1), ("3kb", 3)):
            self.assertEqual(pbs.size_to_kbytes(value), kb)

    def test_duration(self):
        for text, n in (("90", 90), ("1:30", 90), ("1:00:00", 3600), ("0:0:7", 7), ("30.250", 30), ("100:00:00", 360000)):
            self.assertEqual(int(pbs.duration(text)), n, text)
            self.assertEqual(str(pbs.duration(text)), text)
        self.assertEqual(str(pbs.duration(3661)), "01:01:01")
        self.assertEqual(str(pbs.duration("1:00:00") + 60), "01:01:00")
        self.assertEqual(pbs.duration("1:00") - pbs.duration("30"), 30)
        self.assertTrue(pbs.duration("1:00:00") == "60:00" and pbs.duration("10") < 11)
        for bad in ("", "x", "1:2:3:4", "-1"):
            self.assertRaises(pbs.BadAttributeValueError, pbs.duration, bad)

    def test_bool(self):
        for text in ("True", "t", "1", "Y", "true"):
            self.assertIs(pbs.pbs_bool(text), True)
        for text in ("False", "F", "0", "n"):
            self.assertIs(pbs.pbs_bool(text), False)
        self.assertRaises(pbs.BadAttributeValueError, pbs.pbs_bool, "maybe")
        self.assertRaises(pbs.BadAttributeValueTypeError, pbs.pbs_bool, 2)


class Texts(Case):
    TYPES = ("checkpoint depend keep_files mail_points email_list join_path path path_list staging_list user_list group_list"
             " acl range args sandbox name project software job_sort_formula node_group_key route_destinations"
             " state_count license_count place select").split()
    GOOD = {"checkpoint": "c=10", "depend": "afterok:1.svr:2,before:3", "join_path": "oe", "keep_files": "oed",
            "mail_points": "abe", "path": "host:/a b", "sandbox": "Private"}

    def test_what_commands_check(self):
        for name, texts in (("checkpoint", "x c= c=x nn"), ("depend", "zzz afterok afterok: a:1,"), ("join_path", "zz o"),
                            ("keep_files", "zz d on"), ("mail_points", "zz j an"), ("path", ":/a host:"), ("sandbox", "x")):
            for text in texts.split():
                with self.assertRaisesRegex(pbs.BadAttributeValueError, "'%s' is no %s: " % (text, name)):
                    getattr(pbs, name)(text)
        for attribute, text in (("Join_Path", "zz"), ("Keep_Files", "zz"), ("Mail_Points", "zz"), ("Checkpoint", "x")):
            if attribute in pbs._run.rows["job"]:
                self.assertRaises(pbs.BadAttributeValueError, setattr, self.job, attribute, text)

    def test_each_is_a_text(self):
        for name in self.TYPES:
            kind, text = getattr(pbs, name), self.GOOD.get(name, "x")
            value = kind(text)
            self.assertTrue(value == text and text == value and value != "y", name)
            self.assertEqual((str(value), hash(value), {value: 1}[text]), (text, hash(text), 1))
            self.assertIs(type(str(value)), str)
            self.assertRaises(pbs.BadAttributeValueTypeError, kind, 5)

    def test_wrong_ones_are_refused(self):
        self.daemon.refused.update({"zzz": "Illegal attribute or resource value select", "c=7": "not here"})
        self.fails(pbs.BadAttributeValueError, "Checkpoint: not here", pbs.checkpoint, "c=7")
        self.assertEqual(self.daemon.questions[-1], ["check", "job", "Checkpoint", None, "c=7"])
        self.assertRaises(pbs.BadAttributeValueError, pbs.select, "zzz")
        self.assertEqual(self.daemon.questions[-1], ["check", "job", "Resource_List", "select", "zzz"])
        self.assertEqual(pbs.node_group_key("zzz"), "zzz")  # nothing here has such an attribute

    def test_what_was_no_error_is_not_asked_again_for_a_while(self):
        for _ in range(2):
            self.job.Job_Name = "y"
        self.assertEqual(self.daemon.questions, [["check", "job", "Job_Name", None, "y"]])
        self.daemon.now += 10_000_001
        self.daemon.refused["y"] = "Illegal attribute or resource value Job_Name"
        for _ in range(2):
            self.assertRaises(pbs.BadAttributeValueError, setattr, self.job, "Job_Name", "y")
        self.assertEqual(len(self.daemon.questions), 3)
        for n in range(1000):
            self.job.Job_Name = "n%d" % n
        self.assertLessEqual(len(pbs._run.fit), 256)
        self.job.Job_Name = "z" * 1000
        self.assertNotIn(("job", "Job_Name", None, "z" * 1000), pbs._run.fit)

    def test_priority(self):
        self.assertTrue(pbs.priority("5") == 5 == pbs.priority(5) == "5")
        self.assertEqual(str(pbs.priority(-1024)), "-1024")
        for bad in (1024, "-1025", "x"):
            self.assertRaises(pbs.BadAttributeValueError, pbs.priority, bad)

    def test_hold_types(self):
        h = pbs.hold_types
        for a, b, plus, minus in (("u", "o", "uo", "u"), ("uo", "o", "uo", "u"), ("u", "u", "u", "n"), ("n", "s", "s", "n"),
                                  ("uos", "us", "uos", "o"), ("n", "n", "n", "n"), ("p", "n", "p", "p")):
            self.assertEqual(str(h(a) + h(b)), plus)
            self.assertEqual(str(h(a) - h(b)), minus)
        self.assertTrue(h("us") == h("su") == "us" and h("u") != "o" and hash(h("us")) == hash(h("su")))
        for bad in ("", "x", "uz"):
            self.assertRaises(pbs.BadAttributeValueError, h, bad)
        self.assertRaises(pbs.BadAttributeValueTypeError, h, None)

    def test_exec_vnode(self):
        v = pbs.exec_vnode("(A[0]:mem=1048576kb:ncpus=1+A[1]:ncpus=1)+(D:ncpus=3:mem=2097152kb)")
        self.assertEqual([c.vnode_name for c in v.chunks], ["A[0]", "A[1]", "D"])
        self.assertEqual(v.chunks[0].chunk_resources, {"mem": "1gb", "ncpus": 1})
        self.assertEqual(str(v.chunks[2]), "D:ncpus=3:mem=2097152kb")
        self.assertEqual(pbs.exec_vnode("").chunks, [])

    def test_vchunk(self):
        c = pbs.vchunk("n:ncpus=1")
        self.assertEqual((c.vnode_name, c.chunk_resources), ("n", {"ncpus": 1}))
        for bad in (":ncpus=1", "n:ncpus"):
            self.assertRaises(pbs.BadAttributeValueError, pbs.vchunk, bad)

    def test_exec_host_and_version(self):
        self.assertEqual(pbs.exec_host("A/0*0+D/0*3"), "A/0*0+D/0*3")
        self.assertEqual(pbs.version("23.06"), "23.06")

    def test_base_types(self):
        self.assertEqual((pbs.pbs_int("3"), pbs.pbs_str("a"), pbs.pbs_float("1.5"), pbs.pbs_list("ab")),
                         (3, "a", 1.5, ["a", "b"]))
        self.assertIsInstance(self.job.Resource_List, pbs.pbs_resource)
        self.assertIsInstance(self.job.Variable_List, pbs.pbs_env)


class Select(Case):
    """Chunks that a hook adds."""

    def becomes(self, *cases):
        for text, spec, made in cases:
            before = pbs.select(text)
            self.assertEqual(before.increment_chunks(spec), made, (text, spec))
            self.assertEqual(before, text)
            self.assertIs(type(before.increment_chunks(spec)), pbs.select)

    def test_by_number(self):
        self.becomes((J1, 2, "1:ncpus=3:mem=1gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=3gb"),
                     (J1, "3", "1:ncpus=3:mem=1gb+4:ncpus=2:mem=2gb+5:ncpus=1:mem=3gb"),
                     ("ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb", 1,
                      "1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb"))

    def test_by_percent(self):
        self.becomes((J1, "23.5%", "1:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb"),
                     ("5:" + J1, "50%", "7:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb"),
                     ("3:ncpus=2", "50%", "4:ncpus=2"))

    def test_by_item(self):
        self.becomes((J1, {0: 0, 1: 4, 2: "50%"}, "1:ncpus=3:mem=1gb+5:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb"),
                     ("ncpus=1+2:ncpus=1", {1: "1"}, "1:ncpus=1+3:ncpus=1"))

    def test_increment(self):
        self.becomes(("2:ncpus=1+3:ncpus=1", -1, "1:ncpus=1+2:ncpus=1"),
                     ("2:ncpus=1+3:ncpus=1", 0, "2:ncpus=1+3:ncpus=1"),
                     ("2:ncpus=1", "0", "2:ncpus=1"),
                     ("0:ncpus=1+0:ncpus=2", 3, "0:ncpus=1+0:ncpus=2"),
                     ("ncpus=1:site='a+b'+2:ncpus=1", 1, "1:ncpus=1:site='a+b'+3:ncpus=1"),
                     ('ncpus=1:site="a+3:b"+ncpus=1', 1, '1:ncpus=1:site="a+3:b"+2:ncpus=1'))

    def test_percent_of_all(self):
        self.assertEqual(pbs.select("3:ncpus=1+4:ncpus=1").increment_chunks("-100%"), "1:ncpus=1+0:ncpus=1")

    def test_bad_specs(self):
        for spec in (None, [1], 1.5, (1,), True, {}, {0: 1}, {1: None}, {1: [1], 2: 1}):
            self.fails(ValueError, "bad increment specs", pbs.select(J1).increment_chunks, spec)
        for spec in ("x", "x%", "1/0%", "nan%", {1: "y", 2: 1}):
            self.assertRaises(ValueError, pbs.select(J1).increment_chunks, spec)

    def test_of_a_job(self):
        self.job.Resource_List["select"] = pbs.select(J1)
        self.job.Resource_List["site"] = str(self.job.Resource_List["select"])
        self.job.Resource_List["select"] = self.job.select.increment_chunks(2)
        self.assertEqual(self.changes(), [
            ["job", "Resource_List", "select", "1:ncpus=3:mem=1gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=3gb"],
            ["job", "Resource_List", "site", J1]])
        self.assertEqual(str(self.job.select), "1:ncpus=3:mem=1gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=3gb")


class Constants(Case):
    def test_numbers(self):
        for name, number in (
                ("JOB_STATE_TRANSIT", 0), ("JOB_STATE_QUEUED", 1), ("JOB_STATE_HELD", 2), ("JOB_STATE_WAITING", 3),
                ("JOB_STATE_RUNNING", 4), ("JOB_STATE_EXITING", 5), ("JOB_STATE_EXPIRED", 6), ("JOB_STATE_BEGUN", 7),
                ("JOB_STATE_MOVED", 8), ("JOB_STATE_FINISHED", 9), ("JOB_SUBSTATE_RUNNING", 42),
                ("JOB_SUBSTATE_PRERUN", 41), ("JOB_SUBSTATE_FAILED", 93), ("RESV_STATE_IN_CONFLICT", 12),
                ("RESV_STATE_NONE", 0), ("RESV_STATE_DEGRADED", 10), ("ND_STATE_MAINTENANCE", 131072),
                ("ND_STATE_VNODE_UNAVAILABLE", 409903), ("ND_FREE", 0), ("ND_OFFLINE", 1), ("ND_STATE_OFFLINE", 1),
                ("ND_STATE_OFFLINE_BY_MOM", 0x4000), ("ND_JOBBUSY", 0x10), ("ND_RESV_EXCLUSIVE", 0x2000),
                ("ND_STATE_HALF_ASLEEP", 0x100000), ("MGR_CMD_NONE", -1), ("MGR_CMD_EXPORT", 8), ("MGR_OBJ_NODE", 3),
                ("MGR_OBJ_PBS_HOOK", 9), ("BATCH_OP_SET", 0), ("BATCH_OP_DFLT", 10), ("EVENT_DEBUG3", 0x400),
                ("EVENT_FORCE", 0x8000), ("QUEUEJOB", 1), ("HOOK_EVENT_QUEUEJOB", 1), ("EXECJOB_LAUNCH", 0x800),
                ("MOM_EVENTS", 0x40 | 0x800 | 0x80 | 0x100 | 0x4000 | 0x20000 | 0x2000 | 0x1000)):
            self.assertEqual(getattr(pbs, name), number, name)

    def test_all_names(self):
        names = """LOG_DEBUG LOG_WARNING LOG_ERROR EVENT_ERROR EVENT_SYSTEM EVENT_ADMIN EVENT_JOB EVENT_JOB_USAGE
            EVENT_SECURITY EVENT_SCHED EVENT_DEBUG EVENT_DEBUG2 EVENT_RESV EVENT_DEBUG3 EVENT_DEBUG4 EVENT_FORCE
            JOB_STATE_SUSPEND JOB_STATE_SUSPEND_USERACTIVE RESV_STATE_UNCONFIRMED RESV_STATE_CONFIRMED RESV_STATE_WAIT
            RESV_STATE_TIME_TO_RUN RESV_STATE_RUNNING RESV_STATE_FINISHED RESV_STATE_BEING_DELETED RESV_STATE_DELETED
            RESV_STATE_DELETING_JOBS RESV_STATE_BEING_ALTERED QTYPE_EXECUTION QTYPE_ROUTE SV_STATE_IDLE SV_STATE_ACTIVE
            SV_STATE_HOT SV_STATE_SHUTDEL SV_STATE_SHUTIMM SV_STATE_SHUTSIG ND_FREE ND_OFFLINE ND_DOWN ND_STALE ND_JOBBUSY
            ND_JOB_EXCLUSIVE ND_RESV_EXCLUSIVE ND_BUSY ND_STATE_UNKNOWN ND_PROV ND_WAIT_PROV ND_UNRESOLVABLE ND_SLEEP
            ND_STATE_FREE ND_STATE_OFFLINE ND_STATE_DOWN ND_STATE_STALE ND_STATE_JOBBUSY ND_STATE_JOB_EXCLUSIVE
            ND_STATE_RESV_EXCLUSIVE ND_STATE_BUSY ND_STATE_PROV ND_STATE_WAIT_PROV ND_STATE_UNRESOLVABLE ND_STATE_SLEEP
            ND_STATE_INIT ND_STATE_DELETED ND_DEFAULT_SHARED ND_DEFAULT_EXCL ND_IGNORE_EXCL ND_FORCE_EXCL
            ND_DEFAULT_EXCLHOST ND_FORCE_EXCLHOST ND_PBS MGR_CMD_CREATE MGR_CMD_DELETE MGR_CMD_SET MGR_CMD_UNSET
            MGR_CMD_LIST MGR_CMD_PRINT MGR_CMD_ACTIVE MGR_CMD_IMPORT MGR_OBJ_NONE MGR_OBJ_SERVER MGR_OBJ_QUEUE MGR_OBJ_JOB
            MGR_OBJ_RESV MGR_OBJ_RSC MGR_OBJ_SCHED MGR_OBJ_HOST MGR_OBJ_HOOK BATCH_OP_UNSET BATCH_OP_INCR BATCH_OP_DECR
            BATCH_OP_EQ BATCH_OP_NE BATCH_OP_GE BATCH_OP_GT BATCH_OP_LE BATCH_OP_LT REVERSE_MGR_CMDS REVERSE_MGR_OBJS
            REVERSE_NODE_STATE EventIncompatibleError UnsetAttributeNameError BadAttributeValueTypeError
            BadAttributeValueError UnsetResourceNameError BadResourceValueTypeError BadResourceValueError"""
        self.assertEqual([name for name in names.split() if not hasattr(pbs, name)], [])

    def test_reverse(self):
        self.assertEqual(pbs.REVERSE_MGR_CMDS[pbs.MGR_CMD_SET], "MGR_CMD_SET")
        self.assertEqual(pbs.REVERSE_MGR_OBJS[pbs.MGR_OBJ_NONE], "MGR_OBJ_NONE")
        self.assertEqual(pbs.REVERSE_NODE_STATE[pbs.ND_DOWN], "ND_STATE_DOWN")

    def test_star(self):
        names = {}
        exec("from pbs import *", names)
        self.assertIs(names["event"], pbs.event)
        self.assertNotIn("os", names)
        self.assertNotIn("types", names)

    def test_errors_are_what_scripts_catch(self):
        self.assertEqual(repr(pbs.BadAttributeValueError), "<class 'pbs.BadAttributeValueError'>")
        for mine, general in ((pbs.EventIncompatibleError, AttributeError), (pbs.UnsetAttributeNameError, AttributeError),
                              (pbs.UnsetResourceNameError, LookupError), (pbs.BadAttributeValueError, ValueError),
                              (pbs.BadAttributeValueTypeError, TypeError), (pbs.BadResourceValueError, ValueError)):
            self.assertTrue(issubclass(mine, general))


class Reading(Case):
    def test_types_of_attributes(self):
        j = self.job
        for value, kind, text in ((j.Job_Name, pbs.name, "x"), (j.Priority, pbs.priority, "3"), (j.Rerunable, bool, "True"),
                                  (j.Hold_Types, pbs.hold_types, "n"), (j.queue, pbs.queue, "workq"),
                                  (j.contributed, str, "text"), (j.Resource_List["mem"], pbs.size, "1gb"),
                                  (j.Resource_List["ncpus"], int, "2"), (j.Resource_List["select"], pbs.select, "2:ncpus=1"),
                                  (j.Resource_List["place"], pbs.place, "scatter:excl"),
                                  (j.Resource_List["walltime"], pbs.duration, "01:00:00")):
            self.assertIs(type(value), kind)
            self.assertEqual(str(value), text)
        self.assertEqual(self.daemon.questions, [])

    def test_names_compare_either_way(self):
        """python-hooks #39"""
        self.assertTrue(self.job.Job_Name == "x" and str(self.job.Job_Name) == "x" and not self.job.Job_Name == "y")

    def test_unset_is_none(self):
        """python-hooks #40"""
        j = self.job
        for name in ("euser", "tolerate_node_failures", "resources_released", "Exit_status", "exec_vnode", "server",
                     "resource_released_list"):
            self.assertIsNone(getattr(j, name))
        self.assertIsNone(j.resources_used["mem"])
        self.assertIsNone(j.Resource_List["site"])
        self.assertIsNone(j.Variable_List["NONE"])

    def test_unknown(self):
        self.fails(pbs.UnsetAttributeNameError, "job attribute 'nosuch' not found", getattr, self.job, "nosuch")
        self.fails(pbs.UnsetAttributeNameError, "server attribute 'nosuch' not found", getattr, pbs.server(), "nosuch")
        self.fails(pbs.UnsetAttributeNameError, "vnode attribute 'x' not found", getattr, pbs.vnode("n"), "x")
        self.fails(pbs.UnsetResourceNameError, "resource attribute 'nosuch' not found",
                   self.job.Resource_List.__getitem__, "nosuch")
        self.assertFalse(hasattr(self.job, "nosuch"))
        self.assertEqual(copy.copy(self.job.Job_Name), "x")
        self.assertRaises(AttributeError, getattr, self.job, "__wrapped__")

    def test_keys(self):
        r = self.job.Resource_List
        self.assertTrue("mem" in r and "MEM" in r and "site" not in r)
        self.assertEqual(r["NCPUS"], 2)
        self.assertEqual(r.keys(), ["ncpus", "mem", "select", "place", "walltime"])
        self.assertEqual(str(r), "ncpus=2,mem=1gb,select=2:ncpus=1,place=scatter:excl,walltime=01:00:00")
        self.assertEqual((r.get("site", 5), len(r), list(r), dict(r.items())["ncpus"]), (5, 5, r.keys(), 2))
        v = self.job.Variable_List
        self.assertEqual((v["A"], v["B"], v.keys(), "A" in v, str(v)), ("1", "a,b", ["A", "B"], True, "A=1,B=a,b"))

    def test_states(self):
        self.begin("jobobit", job=job(job_state="R"))
        state = self.job.job_state
        self.assertTrue(state == pbs.JOB_STATE_RUNNING and state == "R" and state != "Q" and str(state) == "R")
        self.begin("resv_begin", resv={"class": "resv", "id": "R1.svr", "facts": None,
                                       "attrs": {"reserve_state": "RESV_IN_CONFLICT", "reserve_duration": "90"}})
        self.assertTrue(self.e.resv.reserve_state == pbs.RESV_STATE_IN_CONFLICT == 12)
        self.assertEqual((self.e.resv.resvid, self.e.resv.reserve_duration), ("R1.svr", 90))

    def test_broken_values_are_texts(self):
        self.begin("jobobit", job=job(Priority="many", job_state="?", Resource_List={"mem": "much"}))
        self.assertEqual((self.job.Priority, self.job.job_state, self.job.Resource_List["mem"]), ("many", "?", "much"))


class Setting(Case):
    def test_changes(self):
        j = self.job
        j.Job_Name = "renamed"
        j.Priority = 7
        j.Rerunable = False
        j.Hold_Types += pbs.hold_types("u")
        j.Resource_List["NCPUS"] = 4
        j.Resource_List["mem"] = pbs.size("2gb")
        j.Resource_List["walltime"] = 77
        j.Resource_List["scale"] = 1.5
        j.Resource_List["big"] = True
        j.Resource_List["place"] = None
        j.Variable_List["C"] = "q,r"
        j.queue = pbs.queue("q2")
        j.comment = None
        j.stageout = ["a@b:c", "d@e:f"]
        j.eligible_time = pbs.duration("1:00")
        self.assertEqual(self.changes(), [
            ["job", "Job_Name", None, "renamed"], ["job", "Priority", None, "7"], ["job", "Rerunable", None, "False"],
            ["job", "Hold_Types", None, "u"], ["job", "Resource_List", "ncpus", "4"], ["job", "Resource_List", "mem", "2gb"],
            ["job", "Resource_List", "walltime", "00:01:17"], ["job", "Resource_List", "scale", "1.5"],
            ["job", "Resource_List", "big", "True"], ["job", "Resource_List", "place", None],
            ["job", "Variable_List", None, "A=1,B=a\\,b,C=q\\,r"], ["job", "queue", None, "q2"],
            ["job", "comment", None, None], ["job", "stageout", None, "a@b:c,d@e:f"], ["job", "eligible_time", None, "1:00"]])

    def test_what_was_set_is_read(self):
        self.job.Job_Name = "renamed"
        self.job.Resource_List["mem"] = "3gb"
        self.job.Resource_List["walltime"] = None
        self.assertEqual((self.job.Job_Name, self.job.Resource_List["mem"]), ("renamed", pbs.size("3gb")))
        self.assertIsNone(self.job.Resource_List["walltime"])
        self.assertNotIn("walltime", self.job.Resource_List)

    def test_the_last_one_counts(self):
        for name in ("a", "b", "c"):
            self.job.Job_Name = name
        self.assertEqual(self.changes(), [["job", "Job_Name", None, "c"]])

    def test_nothing_is_left_of_another_run(self):
        self.job.Job_Name = "renamed"
        self.setUp()
        self.assertEqual((self.changes(), self.job.Job_Name), ([], "x"))

    def test_wrong_type(self):
        for name, value in (("Priority", 1.5), ("Priority", []), ("Job_Name", 5), ("Rerunable", "x" and 7), ("project", {})):
            self.assertRaises(pbs.BadAttributeValueTypeError, setattr, self.job, name, value)
        for name, value in (("ncpus", 1.5), ("mem", 2.5), ("site", 5), ("walltime", [])):
            self.assertRaises(pbs.BadResourceValueTypeError, self.job.Resource_List.__setitem__, name, value)

    def test_wrong_value(self):
        self.daemon.refused["bogus"] = "tolerate_node_failures is all, job_start or none"
        self.fails(pbs.BadAttributeValueError, "tolerate_node_failures is all, job_start or none",
                   self.sets(self.job, "tolerate_node_failures", "bogus"))
        for name, value in (("Priority", "x"), ("Priority", 1 << 64), ("Rerunable", "perhaps"), ("Job_Name", "a\0b"),
                            ("Hold_Types", "z")):
            self.assertRaises(pbs.BadAttributeValueError, setattr, self.job, name, value)
        for name, value in (("ncpus", "x"), ("mem", "much"), ("walltime", "late"), ("site", "bogus")):
            self.assertRaises(pbs.BadResourceValueError, self.job.Resource_List.__setitem__, name, value)
        self.assertEqual(self.changes(), [])

    def test_readonly(self):
        self.fails(pbs.BadAttributeValueError, "job attribute 'euser' is readonly", self.sets(self.job, "euser", "root"))
        self.fails(pbs.BadAttributeValueError, "event attribute 'type' is readonly", self.sets(self.e, "type", 5))
        self.fails(pbs.BadAttributeValueError, "event attribute 'job' is readonly", self.sets(self.e, "job", None))
        self.fails(pbs.UnsetAttributeNameError, "event attribute 'foo' not found", self.sets(self.e, "foo", None))
        self.fails(pbs.BadAttributeValueError, "job attribute 'resources_used' is readonly",
                   self.job.resources_used.__setitem__, "mem", "1gb")
        for name in ("nodect", "soft_walltime"):
            self.fails(pbs.BadResourceValueError, "resource attribute '%s' is readonly" % name,
                       self.job.Resource_List.__setitem__, name, "1")
        self.fails(pbs.BadAttributeValueError, "job attribute 'id' is readonly", self.sets(self.job, "id", "2"))

    def test_readonly_objects(self):
        self.begin("modifyjob", job=job(), job_o=job(Priority="1"))
        self.fails(pbs.BadAttributeValueError, "attribute 'Priority' is part of a readonly object",
                   self.sets(self.e.job_o, "Priority", 2))
        self.daemon.objects["server", "svr"] = {"class": "server", "id": "svr", "attrs": {"default_queue": "workq"}}
        self.assertEqual(pbs.server().default_queue, "workq")
        self.fails(pbs.BadAttributeValueError, "attribute 'default_queue' is part of a readonly object",
                   self.sets(pbs.server(), "default_queue", "x"))

    def test_closing_an_object(self):
        self.assertIs(self.job._readonly, False)
        self.fails(pbs.BadAttributeValueError, "_readonly can only be set to True!", self.sets(self.job, "_readonly", False))
        self.job._readonly = True
        self.fails(pbs.BadAttributeValueError, "attribute 'Priority' is part of a readonly object",
                   self.sets(self.job, "Priority", 2))

    def test_whole_lists(self):
        for value in {"ncpus": 1}, None:
            self.fails(AssertionError, "can't set the head resource 'Resource_List' directly ",
                       self.sets(self.job, "Resource_List", value))
        for value in "A=1", None:
            self.fails(pbs.BadAttributeValueError, "attribute 'Variable_List' cannot be directly set.",
                       self.sets(self.job, "Variable_List", value))

    def test_variables(self):
        for name in ("PBS_O_HOME", "PBS_JOBID", "TMPDIR"):
            self.fails(pbs.BadAttributeValueError, "env variable '%s' is readonly" % name,
                       self.job.Variable_List.__setitem__, name, "1")
        for name in ("", "a=b", 5):
            self.assertRaises(pbs.BadAttributeValueError, self.job.Variable_List.__setitem__, name, "1")
        self.job.Variable_List["Q"] = "a\\b\"c'"
        del self.job.Variable_List["A"]
        self.assertEqual(self.changes(), [["job", "Variable_List", None, "B=a\\,b,Q=a\\\\b\\\"c\\'"]])
        self.assertEqual(pbs._begin({"type": 1, "event": "queuejob", "hook": HOOK, "requestor": "", "requestor_host": "",
                                     "params": {"job": job(Variable_List="B=a\\,b,Q=a\\\\b\\\"c\\'")}}), None)
        self.assertEqual(pbs.event().job.Variable_List["Q"], "a\\b\"c'")

    def test_unknown(self):
        self.fails(pbs.UnsetAttributeNameError, "job attribute 'nosuch' not found", self.sets(self.job, "nosuch", 1))
        self.fails(pbs.UnsetResourceNameError, "resource attribute 'nosuch' not found",
                   self.job.Resource_List.__setitem__, "nosuch", 1)
        self.job.Resource_List["sharing"] = 5  # a resource may be called like an attribute
        self.assertEqual(self.job.Resource_List["sharing"], 5)

    def test_at_which_event(self):
        run = "Hold_Types,Execution_Time,project,Error_Path,Output_Path,Resource_List,Variable_List,depend"
        for event, name, text in (
                ("queuejob", "Priority", None), ("modifyjob", "Priority", None), ("postqueuejob", "project", None),
                ("postqueuejob", "Priority", "Can only set job's (Hold_Types,project,Variable_List,Resource_List) attribute"
                                             " under POSTQUEUEJOB event - got <Priority>"),
                ("movejob", "queue", None),
                ("movejob", "Priority", "Can only set job's 'queue' attribute under MOVEJOB event - got <Priority>"),
                ("runjob", "project", None), ("runjob", "Execution_Time", None),
                ("runjob", "Priority", "Can only set job's (" + run + ",create_resv_from_job) attribute, or a vnode's (state)"
                                       " attribute under RUNJOB event - got <Priority>"),
                ("jobobit", "Priority", "Unexpected event"), ("execjob_begin", "euser", None),
                ("execjob_epilogue", "Priority", None), ("execjob_launch", "Priority", None),
                ("execjob_attach", "Priority", "nothing is settable inside an execjob_attach hook!"),
                ("execjob_resize", "Priority", "nothing is settable inside an execjob_resize hook!")):
            self.begin(event, job=job())
            value = "9" if name in ("Priority", "Execution_Time") else "x"
            if text:
                self.fails(AssertionError, text, self.sets(self.job, name, value))
                self.assertEqual(self.changes(), [])
            else:
                setattr(self.job, name, value)
                self.assertEqual(self.changes(), [["job", name, None, value]])

    def test_other_objects_of_events(self):
        resv = {"class": "resv", "id": "R1", "attrs": {}}
        for event, name, params, text in (
                ("periodic", "resv_list", {"resv_list": {"R1": resv}}, None),
                ("exechost_startup", "job_list", {"job_list": {"1": job("1")}},
                 "Can only set node,resource attributes under exechost_startup event."),
                ("resv_begin", "resv", {"resv": resv}, "Unexpected event"),
                ("modifyvnode", "vnode", {"vnode": vnode("n1")}, "Unexpected event")):
            self.begin(event, **params)
            of = getattr(self.e, name)
            of = of if not isinstance(of, dict) else list(of.values())[0]
            attribute = "Priority" if isinstance(of, pbs.job) else "reserve_start" if isinstance(of, pbs.resv) else "comment"
            self.fails(AssertionError if text else pbs.BadAttributeValueError,
                       text or "attribute 'reserve_start' is part of a readonly object", self.sets(of, attribute, "5"))
        self.begin("resvsub", resv=resv)
        self.e.resv.reserve_start = 5
        self.assertEqual(self.changes(), [["resv", "reserve_start", None, "5"]])

    def test_a_host_may_name_new_resources(self):
        self.begin("execjob_epilogue", job=job(resources_used={"cput": "5"}))
        self.assertIsNone(self.job.resources_used["foo"])
        self.job.resources_used["foo"] = 7
        self.job.resources_used["mem"] = "1gb"
        self.assertEqual(self.changes(), [["job", "resources_used", "foo", "7"], ["job", "resources_used", "mem", "1gb"]])


class Events(Case):
    def test_members(self):
        e = self.e
        self.assertEqual((e.type, e.hook_name, e.hook_type, e.requestor, e.requestor_host, e.user, e.alarm, e.debug),
                         (pbs.QUEUEJOB, "h", "site", "alice", "front", "pbsadmin", 30, 0))
        self.assertIs(e.job, e.job)
        self.fails(pbs.EventIncompatibleError, '"vnode_list" not found in self._param', getattr, e, "vnode_list")
        self.fails(pbs.EventIncompatibleError, '"freq" not found in self._param', getattr, e, "freq")
        self.begin("periodic", hook={"freq": 10}, vnode_list={})
        self.assertEqual((self.e.freq, self.e.vnode_list), (10, {}))

    def test_members_of_the_hook_are_numbers_and_truths(self):
        self.begin("periodic", hook={"freq": "10", "alarm": "5", "order": "2", "debug": "false", "enabled": "true"}, vnode_list={})
        e = self.e
        self.assertEqual([(v, type(v)) for v in (e.freq, e.alarm, e.order, e.debug, e.enabled)],
                         [(10, int), (5, int), (2, int), (False, bool), (True, bool)])

    def test_texts_and_queues(self):
        self.begin("movejob", job=job(queue="b"), src_queue="a")
        self.assertTrue(self.e.src_queue == "a" and self.e.src_queue.name == "a" and self.job.queue.name == "b")
        self.begin("execjob_attach", job=job(), pid=77, vnode_list={})
        self.assertEqual(self.e.pid, 77)

    def ends(self, call, *args):
        with self.assertRaises(SystemExit) as caught:
            call(*args)
        return pbs._end(caught.exception)

    def test_ends(self):
        for call, how, text, code in (
                (lambda: self.e.accept(), "accept", None, 0), (lambda: self.e.accept(1), "accept", None, 1),
                (lambda: self.e.reject("no"), "reject", "no", 255), (lambda: self.e.reject(), "reject", None, 255),
                (lambda: self.e.reject("with code", 212), "reject", "with code", 212),
                (lambda: sys.exit(), "accept", None, 0)):
            self.setUp()
            result = self.ends(call)
            self.assertEqual((result["how"], result["text"], result["code"], result["changes"]), (how, text, code, []))
        self.setUp()
        self.assertEqual(pbs._end(None)["how"], "accept")

    def test_tracebacks_end_in_the_script(self):
        for line, cut in (("e.job.euser = 1", True), ("e.vnode_list", True), ("e.job.Resource_List[None]", False)):
            try:
                exec(compile(line, "h.PY", "exec"), {"e": self.e})
            except Exception as exc:
                pbs._end(exc)
                files = [os.path.basename(f.filename) for f in traceback.extract_tb(exc.__traceback__)]
                self.assertEqual(files[:2], ["test_pbs.py", "h.PY"])
                self.assertEqual(len(files) == 2, cut)

    def test_what_was_said_first_counts(self):
        self.assertRaises(SystemExit, self.e.reject, "no")
        self.assertRaises(SystemExit, self.e.accept)
        self.assertEqual(pbs._end(None)["text"], "no")

    def test_nothing_is_set_after_the_end(self):
        for call in (self.e.accept, self.e.reject):
            self.setUp()
            self.assertRaises(SystemExit, call)
            text = ("Not permitted to modify attributes (name=%s,res=%s): an event.accept() or event.reject() already"
                    " called.")
            self.fails(pbs.BadAttributeValueError, text % ("Priority", ""), self.sets(self.job, "Priority", 1))
            self.fails(pbs.BadAttributeValueError, text % ("Resource_List", "mem"),
                       self.job.Resource_List.__setitem__, "mem", "1gb")
            self.assertEqual(self.changes(), [])

    def test_changes_of_a_reject(self):
        self.begin("runjob", job=job())
        self.job.Hold_Types = pbs.hold_types("o")
        self.assertEqual(self.ends(self.e.reject, "maintenance")["changes"], [["job", "Hold_Types", None, "o"]])

    def test_launch(self):
        params = {"job": job(), "vnode_list": {}, "progname": "/bin/sh", "argv": ["sh", "-c"], "env": {"A": "1"}}
        self.begin("execjob_launch", **params)
        self.assertEqual((self.e.progname, self.e.argv, self.e.env), ("/bin/sh", ["sh", "-c"], {"A": "1"}))
        self.assertEqual(self.changes(), [])
        self.e.progname = "/bin/bash"
        self.e.argv.append("x")
        self.e.env["PBS_X"] = 1
        self.assertEqual(self.changes(), [
            ["event", "progname", None, "/bin/bash"], ["event", "argv", None, None], ["event", "argv", "0", "sh"],
            ["event", "argv", "1", "-c"], ["event", "argv", "2", "x"], ["event", "env", None, None],
            ["event", "env", "A", "1"], ["event", "env", "PBS_X", "1"]])
        self.begin("execjob_launch", **params)
        self.e.argv = ["a", None]
        self.e.env["A"] = None
        self.assertRaises(pbs.BadAttributeValueTypeError, setattr, self.e, "env", [])
        self.assertRaises(pbs.BadAttributeValueError, setattr, self.e, "vnode_list", {})
        self.assertEqual(self.changes(), [["event", "argv", None, None], ["event", "argv", "0", "a"],
                                          ["event", "env", None, None]])

    def test_management(self):
        self.begin("management", management={
            "cmd": 2, "objtype": 1, "objname": "workq", "request_time": 5, "reply_code": 0, "reply_auxcode": 0,
            "reply_choice": 1, "reply_text": "", "attribs": [
                {"name": "resources_max", "resource": "ncpus", "value": "4", "op": 0, "flags": 0, "sisters": None}]})
        m = self.e.management
        self.assertEqual((m.cmd, m.objtype, m.objname, m.request_time), (pbs.MGR_CMD_SET, pbs.MGR_OBJ_QUEUE, "workq", 5))
        self.assertEqual(str(m), "MGR_CMD_SET:MGR_OBJ_QUEUE:workq")
        one = m.attribs[0]
        self.assertEqual((one.name, one.resource, one.value, one.op, one.sisters),
                         ("resources_max", "ncpus", "4", pbs.BATCH_OP_SET, []))
        self.fails(AssertionError, "Unexpected event", self.sets(m, "cmd", 1))

    def test_vnodes(self):
        self.begin("exechost_startup", vnode_list={"n1": vnode("n1", state="job-busy,down", comment="c")})
        v = self.e.vnode_list["n1"]
        self.assertEqual((v.name, v.state, v.comment), ("n1", pbs.ND_JOBBUSY | pbs.ND_DOWN, "c"))
        self.assertEqual(v.extract_state_strs(), ["ND_STATE_DOWN", "ND_STATE_JOBBUSY"])
        self.assertEqual(v.extract_state_ints(), [2, 16])
        v.state += pbs.ND_OFFLINE
        v.state -= pbs.ND_DOWN
        v.sharing = pbs.ND_FORCE_EXCL
        v.resources_available["NCPUS"] = 8
        self.assertEqual(v.state, pbs.ND_JOBBUSY | pbs.ND_OFFLINE)
        self.assertEqual(self.changes(), [
            ["vnode:n1", "state", None, "offline"], ["vnode:n1", "sharing", None, "force_excl"],
            ["vnode:n1", "resources_available", "ncpus", "8"]])

    def test_states_of_vnodes(self):
        self.begin("exechost_startup", vnode_list={"n1": vnode("n1", state="free"), "n2": vnode("n2")})
        v = self.e.vnode_list["n1"]
        self.assertEqual((v.state, v.extract_state_strs(), self.e.vnode_list["n2"].state), (0, ["ND_STATE_FREE"], None))
        self.fails(pbs.BadAttributeValueError, "invalid vnode state value '512'", self.sets(v, "state", 512))
        self.fails(pbs.BadAttributeValueError, "invalid vnode state value 'tired'", self.sets(v, "state", "tired"))
        self.fails(pbs.BadAttributeValueError, "invalid vnode state value '128'", self.sets(v, "state", pbs.ND_BUSY))
        for value, text in ((pbs.ND_OFFLINE, "offline"), (pbs.ND_FREE, "free"), ("offline,down", "offline,down"),
                            (pbs.ND_STATE_OFFLINE_BY_MOM, "offline_by_mom"), (pbs.ND_SLEEP, "sleep")):
            v.state = value
            self.assertEqual(self.changes(), [["vnode:n1", "state", None, text]])

    def test_vnodes_that_are_added(self):
        for event in ("exechost_startup", "exechost_periodic"):
            self.begin(event, vnode_list={"n1": vnode("n1")})
            v = pbs.vnode("n1[0]")
            v.resources_available["ncpus"] = 2
            self.assertEqual(self.changes(), [])
            self.e.vnode_list["n1[0]"] = v
            v.comment = "here"
            self.assertEqual(self.changes(), [
                ["vnode:n1[0]", "name", None, "n1[0]"], ["vnode:n1[0]", "resources_available", "ncpus", "2"],
                ["vnode:n1[0]", "comment", None, "here"]])
        self.begin("execjob_begin", job=job(), vnode_list={})
        self.assertRaises(AssertionError, self.e.vnode_list.__setitem__, "x", pbs.vnode("x"))

    def test_state_of_the_servers_vnode_at_runjob(self):
        self.daemon.objects["node", "n1"] = vnode("n1", state="free")
        self.begin("runjob", job=job())
        v = pbs.server().vnode("n1")
        v.state = pbs.ND_OFFLINE
        self.assertRaises(AssertionError, setattr, v, "comment", "x")
        self.assertEqual(self.changes(), [["vnode:n1", "state", None, "offline"]])
        self.begin("queuejob", job=job())
        self.fails(pbs.BadAttributeValueError, "attribute 'state' is part of a readonly object",
                   self.sets(pbs.server().vnode("n1"), "state", 1))


class Jobs(Case):
    def begins(self, event="execjob_launch", facts=None, tolerate="job_start", vnodes=None):
        self.begin(event, job=job(facts=dict({"primary": 1}, **facts or {}), tolerate_node_failures=tolerate,
                                  exec_vnode="(A:ncpus=1)+(B:ncpus=1)"),
                   vnode_list=vnodes or {"A": vnode("A"), "B": vnode("B")}, vnode_list_fail={"B": vnode("B")})

    def test_rerun_and_delete(self):
        for what in ("rerun", "delete"):
            self.fails(NotImplementedError, what + "(): only for mom hooks", getattr(self.job, what))
            self.begins("execjob_epilogue")
            getattr(self.job, what)()
            self.assertEqual(pbs._end(None)[what], 1)
            self.begin("exechost_periodic", vnode_list={}, job_list={"1.svr": job()})
            getattr(self.e.job_list["1.svr"], what)()
            self.assertEqual(self.changes(), [["job:1.svr", what, None, "1"]])
            self.setUp()

    def test_facts(self):
        self.begins(facts={"failed_moms": ["B"], "succeeded_moms": ["A", "C"], "stdout": "/o", "stderr": "/e",
                           "checkpointed": 0})
        j = self.job
        self.assertEqual((j.in_ms_mom(), j.is_checkpointed(), j.stdout_file(), j.stderr_file()), (True, False, "/o", "/e"))
        self.assertEqual((j.failed_mom_list, j.succeeded_mom_list), (["B"], ["A", "C"]))
        self.assertEqual((self.e.vnode_list_fail.keys(), self.e.vnode_list.keys()), ({"B"}, {"A", "B"}))
        self.e.vnode_list_fail["B"].state = pbs.ND_OFFLINE
        self.assertEqual(self.changes(), [["vnode:B", "state", None, "offline"]])

    def test_release_nodes(self):
        self.begins()
        answer = {"exec_vnode": "(A:ncpus=1)", "exec_host": "A/0", "exec_host2": "A:1/0", "schedselect": "1:ncpus=1"}
        self.daemon.answers = {"keep": answer, "release": answer}
        for args in ({"keep_select": "ncpus=1"}, {"keep_select": pbs.select("ncpus=1")}):
            self.assertIs(self.job.release_nodes(**args), self.job)
            self.assertEqual(self.daemon.questions[-1], ["keep", "1.svr", "ncpus=1"])
        self.assertEqual((self.job.exec_vnode, self.job.exec_host, self.job.schedselect),
                         ("(A:ncpus=1)", "A/0", "1:ncpus=1"))
        self.assertIs(self.job.release_nodes(node_list=self.e.vnode_list_fail), self.job)
        self.assertEqual(self.daemon.questions[-1], ["release", "1.svr", ["B"]])
        self.assertEqual(self.changes(), [])

    def test_release_nodes_that_cannot_be(self):
        self.begins()
        self.assertIsNone(self.job.release_nodes(keep_select="9:ncpus=9"))
        self.assertEqual(self.job.exec_vnode, "(A:ncpus=1)+(B:ncpus=1)")

    def test_release_nodes_with_nothing(self):
        self.begins()
        for args, text in (({"keep_select": ""}, "empty keep_select value"), ({}, "empty keep_select value"),
                           ({"node_list": [1]}, "node_list is not a dictionary")):
            self.daemon.lines.clear()
            self.assertIsNone(self.job.release_nodes(**args))
            self.assertEqual([line[3] for line in self.daemon.lines], [text])
        self.assertEqual(self.daemon.questions, [])

    def test_release_nodes_elsewhere(self):
        for event in ("execjob_epilogue", "execjob_begin"):
            self.begins(event)
            self.assertIsNone(self.job.release_nodes(keep_select="1:ncpus=1"))
        self.begins(facts={"primary": 0})
        self.assertIsNone(self.job.release_nodes(keep_select="1:ncpus=1"))
        self.assertEqual((self.daemon.lines, self.daemon.questions), ([], []))

    def test_release_nodes_of_others(self):
        self.begins(tolerate="none")
        self.assertIs(self.job.release_nodes(keep_select="1:ncpus=1"), self.job)
        self.assertEqual(self.daemon.lines, [
            (0x80, "Hook", "pbs_python", "1.svr: no nodes released as job does not tolerate node failures")])

    def test_release_nodes_of_cray(self):
        self.begins(vnodes={"A": vnode("A", resources_available={"vntype": "cray_compute"})})
        self.assertIsNone(self.job.release_nodes(keep_select="1:ncpus=1"))
        self.assertEqual(self.daemon.lines, [
            (0x100, "Job", "1.svr", "release_nodes(): not currently supported on Cray X* series nodes")])


class Servers(Case):
    def setUp(self):
        Case.setUp(self)
        for i in range(5):
            queue = "workq" if i % 2 else "other"
            self.daemon.objects["job", "%d.svr" % i] = job("%d.svr" % i, queue=queue)
            self.daemon.objects["node", "n%d" % i] = vnode("n%d" % i, state="free")
        self.daemon.objects["queue", "workq"] = {"class": "queue", "id": "workq",
                                                 "attrs": {"queue_type": "Execution", "enabled": "True"}}
        self.daemon.objects["resv", "R1.svr"] = {"class": "resv", "id": "R1.svr", "attrs": {}}
        self.daemon.objects["server", "svr"] = {"class": "server", "id": "svr",
                                                "attrs": {"server_state": "Active", "managers": "root@*",
                                                          "max_run_res": {"ncpus": "[u:PBS_GENERIC=4]"}}}

    def test_lookup(self):
        s = pbs.server()
        self.assertEqual((s.name, s.job("1").id, s.job("1.svr").id, s.job("99")), ("svr", "1.svr", "1.svr", None))
        self.assertEqual((s.vnode("n1").name, s.vnode("x"), s.queue("workq").name, s.queue("x")), ("n1", None, "workq", None))
        self.assertEqual((s.resv("R1").resvid, s.resv("R2.svr")), ("R1.svr", None))
        self.fails(AssertionError, "Got 'workq@svr', please specify a queue name only (no @)", s.queue, "workq@svr")
        self.assertEqual(s.managers, "root@*")
        self.assertIs(type(s.managers), pbs.acl)
        self.assertEqual((s.max_run_res["ncpus"], s.max_run_res["mem"]), ("[u:PBS_GENERIC=4]", None))
        self.assertTrue(s.server_state == pbs.SV_STATE_ACTIVE and s.server_state == "Active")
        self.assertIsNone(s.restrict_res_to_release_on_suspend)

    def test_lists(self):
        s = pbs.server()
        self.assertEqual([j.id for j in s.jobs()], ["%d.svr" % i for i in range(5)])
        self.assertEqual([v.name for v in s.vnodes()], ["n%d" % i for i in range(5)])
        self.assertEqual([q.name for q in s.queues()], ["workq"])
        self.assertEqual([r.resvid for r in s.resvs()], ["R1.svr"])

    def test_queue(self):
        q = self.job.queue
        self.assertEqual((q.enabled, q.queue_type == pbs.QTYPE_EXECUTION), (True, True))
        self.assertEqual([j.id for j in q.jobs()], ["1.svr", "3.svr"])
        self.assertEqual((q.job("1").id, q.job("2")), ("1.svr", None))
        self.assertIsNone(pbs.queue("gone").enabled)

    def test_restart_cycle(self):
        self.assertNotIn("restart_cycle", pbs._end(None))
        pbs.server().scheduler_restart_cycle()
        self.assertEqual(pbs._end(None)["restart_cycle"], 1)


class Functions(Case):
    def test_logmsg(self):
        for level, events in ((pbs.LOG_ERROR, 6), (pbs.LOG_WARNING, 6), (pbs.LOG_DEBUG, 6), (pbs.EVENT_DEBUG3, 0x400),
                              (pbs.EVENT_ADMIN, 4), (pbs.EVENT_ERROR, 1)):
            pbs.logmsg(level, "hello %s" % 1)
            self.assertEqual(self.daemon.lines[-1], (events, "Hook", "Server@svr", "hello 1"))
        for bad in (0, 12345, 7, "x", None):
            self.fails(TypeError, "Invalid severity or eventtype value %s" % bad, pbs.logmsg, bad, "text")

    def test_logjobmsg(self):
        self.begin("execjob_begin", job=job())
        pbs.logjobmsg(self.job.id, "hi")
        self.assertEqual(self.daemon.lines, [(8, "Job", "1.svr", "hi")])
        for bad in ("", None):
            self.fails(ValueError, "no jobid given!", pbs.logjobmsg, bad, "hi")

    def test_reboot(self):
        self.fails(NotImplementedError, "reboot(): only for mom hooks", pbs.reboot)
        self.begin("execjob_begin", job=job())
        with self.assertRaises(SystemExit) as caught:
            pbs.reboot("/sbin/reboot -f")
        self.assertEqual(pbs._end(caught.exception)["reboot"], "/sbin/reboot -f")
        self.begin("execjob_epilogue", user="pbsuser", job=job())
        self.fails(NotImplementedError, "Not allowed to issue reboot if run as user", pbs.reboot)

    def test_facts_of_the_process(self):
        self.assertEqual((pbs.get_local_nodename(), pbs.pbs_conf["PBS_HOME"]), ("h1", "/var/spool/pbs"))
        self.assertEqual((pbs.hook_config_filename, os.environ["PBS_HOOK_CONFIG_FILE"]), ("/tmp/h.json", "/tmp/h.json"))
        pbs.pbs_conf["X"] = "1"
        Case.setUp(self)
        self.assertNotIn("X", pbs.pbs_conf)


class Stubs(Case):
    def test_text(self):
        text = pbs._stubs.text()
        names = {}
        exec("from __future__ import annotations\n" + text.split("\n", 1)[1].replace("other: Any", "other"), names)
        self.assertIn("contributed", names["job"].__annotations__)
        self.assertEqual(names["job"].__annotations__["Hold_Types"], "Optional[_type_hold_types]")
        self.assertIn('"""of a module that nobody here knows"""', text)
        wanted = {name for name in pbs.__all__ if not name.startswith("_")} - {"hook_config_filename", "pbs_conf"}
        self.assertEqual(wanted - set(names) - set(names["__annotations__"]), set())


class Written(Case):
    """Events that people wrote down: pbs/offline.py."""

    def completed(self, record):
        return importlib.import_module("pbs.offline").completed(record, {"setup": SETUP})

    def test_what_is_left_out(self):
        record = self.completed({"event": "queuejob", "params": {"job": {"Priority": "5"}}, "answers": [[["x"], None]]})
        self.assertEqual((record["setup"], record["answers"]), (SETUP, [[["x"], None]]))
        event = record["event"]
        self.assertEqual((event["type"], event["requestor"], event["requestor_host"]), (1, "user", "h1"))
        self.assertEqual((event["hook"]["event"], event["hook"]["alarm"]), ("queuejob", 30))
        self.assertEqual(event["params"]["job"], {"class": "job", "id": "", "attrs": {"Priority": "5"}, "facts": {}})

    def test_what_is_said_stays(self):
        event = self.completed({"setup": {**SETUP, "host": "h9"}, "event": {
            "event": "execjob_begin", "type": 7, "requestor": "ann", "hook": {"name": "mine"}, "params": {
                "job": {"id": "7.svr", "attrs": {"comment": "x"}}, "vnode_list": {"n1": {"comment": "y"}, "n2": None}, "pid": 5}}})["event"]
        self.assertEqual((event["type"], event["requestor"], event["requestor_host"], event["hook"]["name"]), (7, "ann", "h9", "mine"))
        self.assertEqual(event["params"]["job"], {"class": "job", "id": "7.svr", "attrs": {"comment": "x"}, "facts": {}})
        self.assertEqual(event["params"]["vnode_list"], {"n1": {"class": "node", "id": "n1", "attrs": {"comment": "y"}, "facts": {}}})
        self.assertEqual(event["params"]["pid"], 5)

    def test_what_is_no_event(self):
        self.fails(ValueError, "an event is a map", self.completed, [])
        self.fails(ValueError, "there is no event 'nosuch'", self.completed, {"event": "nosuch"})
        self.fails(ValueError, "there is no event 'None'", self.completed, {})


pbs._setup(SETUP)
if __name__ == "__main__":
    unittest.main()
