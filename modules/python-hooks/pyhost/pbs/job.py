# SPDX-License-Identifier: Apache-2.0
#
# job.py - a job as scripts see it.
import _keelson

from . import constants, objects, rules, run


class Job(objects.Object):
    """A job."""
    __slots__ = ()
    _class = _kind = "job"
    id = property(str)
    select = property(lambda self: self.Resource_List["select"])
    failed_mom_list = property(lambda self: list(self._fact("failed_moms") or ()))
    succeeded_mom_list = property(lambda self: list(self._fact("succeeded_moms") or ()))

    def _fact(self, name):
        if self._attrs is None:
            self._load()
        return self._facts.get(name)

    def in_ms_mom(self):
        """Is this the job's first host?"""
        return bool(self._fact("primary"))

    def is_checkpointed(self):
        return bool(self._fact("checkpointed"))

    def stdout_file(self):
        """Path of its spooled output."""
        return self._fact("stdout")

    def stderr_file(self):
        return self._fact("stderr")

    def rerun(self):
        """The job is requeued when the script has ended."""
        self._want("rerun")

    def delete(self):
        """The job is deleted when the script has ended."""
        self._want("delete")

    def _want(self, what):
        if not run.mom:
            raise NotImplementedError("%s(): only for mom hooks" % what)
        rules.ended(what)
        if self._target == "job":
            run.wanted[what] = 1
        elif self._sink is not None:
            self._sink[(self._target, what, None)] = "1"

    def release_nodes(self, node_list=None, keep_select=None):
        """Gives hosts back before the job begins: those that keep_select does not need, or the vnodes of
        node_list. Returns the job, or None when that cannot be."""
        if run.event.event_name not in RELEASE_EVENTS:
            return None
        if not self._is_tolerant():
            note("%s: no nodes released as job does not tolerate node failures" % self._id)
            return self
        if not self.in_ms_mom():
            return None
        if has_cray(run.event):
            _keelson.log(constants.EVENT_CLASSES["DEBUG2"], "Job", self._id,
                         "release_nodes(): not currently supported on Cray X* series nodes")
            return None
        if node_list is not None and keep_select is None:
            return self._release(node_list)
        if not isinstance(keep_select, str) or not keep_select.strip():
            return note("empty keep_select value")
        return self._became(run.ask("keep", self._id, str(keep_select)))

    def _release(self, vnodes):
        if not isinstance(vnodes, dict):
            return note("node_list is not a dictionary")
        return self._became(run.ask("release", self._id, [str(name) for name in vnodes]))

    def _is_tolerant(self):
        return bool(self._fact("tolerant")) or self.tolerate_node_failures in ("job_start", "all")

    def _became(self, found):
        """The job with what an answer says of it."""
        if found is None:
            return None
        for name, text in found.items():
            self._attrs[name] = text
            self._values.pop(name, None)
        return self


RELEASE_EVENTS = ("execjob_prologue", "execjob_launch")


def note(text):
    _keelson.log(constants.EVENT_CLASSES["DEBUG"], "Hook", run.log_name(), text)


def has_cray(event):
    return any((vnode.resources_available["vntype"] or "").startswith("cray_")
               for vnode in getattr(event, "vnode_list", {}).values())


objects.CLASSES["job"] = objects.CLASSES["host_job"] = Job
