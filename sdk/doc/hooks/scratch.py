# SPDX-License-Identifier: Apache-2.0
#
# scratch.py - each job has a folder of its own, $SCRATCH; at its end it goes, and what was in it is recorded.
#
# Event: execjob_launch makes it and sets the variable, execjob_epilogue adds up what is in it to
# resources_used.scratch_kb (in qstat -xf and the accounting records), execjob_end removes it. On each host
# where the job starts a program, as root.
# Install:
#	qmgr -c "create resource scratch_kb type=long"
#	qmgr -c "create hook scratch event='execjob_launch,execjob_epilogue,execjob_end'"
#	qmgr -c "import hook scratch application/x-python default scratch.py"
import os
import pwd
import shutil

import pbs

e = pbs.event()
folder = os.path.join("/var/tmp", "scratch." + e.job.id)


def launch():
    user = pwd.getpwnam(str(e.job.euser))
    try:
        os.mkdir(folder, 0o700)
        os.chown(folder, user.pw_uid, user.pw_gid)
    except FileExistsError:  # of a task before this one, or somebody's trap
        if os.lstat(folder).st_uid != user.pw_uid:
            e.reject("%s is another user's" % folder)
    e.env["SCRATCH"] = folder


def epilogue():
    size = 0
    for path, _, names in os.walk(folder):
        size += sum(os.lstat(os.path.join(path, name)).st_size for name in names)
    e.job.resources_used["scratch_kb"] = size // 1024


def end():
    shutil.rmtree(folder, ignore_errors=True)


{pbs.EXECJOB_LAUNCH: launch, pbs.EXECJOB_EPILOGUE: epilogue, pbs.EXECJOB_END: end}[e.type]()
