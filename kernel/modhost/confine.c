/* SPDX-License-Identifier: Apache-2.0
 *
 * confine.c - what this process may not do, before it maps the module.
 *
 * Another user when the daemon is root, no new privileges, bounded memory, no core file, no further
 * programs. The filter of system calls takes away what no module needs: it is a list of what is refused,
 * because a module may use any library.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h> /* SIOCSPGRP */
#include <unistd.h>

#include "modhost/host.h"
#include "util/err.h"

#define FILES_MAX 256
#define THREADS_MAX 4096 /* of the user this process runs as, whom the modules of several daemons may share */

static int become(const char *name, struct keel_err *err)
{
	const struct passwd *p;

	if (geteuid() != 0)
		return 0;
	p = getpwnam(name);
	if (p == NULL)
		return err_set(err, -ENOENT, "there is no user '%s' for isolated modules; make one, or set "
			       "isolation_limits.user", name);
	if (setgroups(0, NULL) < 0 || setgid(p->pw_gid) < 0 || setuid(p->pw_uid) < 0)
		return err_set(err, -errno, "cannot become user '%s': %s", name, strerror(errno));
	return 0;
}

static int limit(int what, rlim_t most, struct keel_err *err)
{
	struct rlimit r = { most, most };

	if (setrlimit((__rlimit_resource_t)what, &r) == 0)
		return 0;
	return err_set(err, -errno, "cannot limit its process: %s", strerror(errno));
}

static int limits(const struct options *o, bool own_user, struct keel_err *err)
{
	int ret = limit(RLIMIT_CORE, 0, err);

	if (ret == 0)
		ret = limit(RLIMIT_NOFILE, FILES_MAX, err);
	if (ret == 0 && own_user)
		ret = limit(RLIMIT_NPROC, THREADS_MAX, err);
#if !defined(__SANITIZE_ADDRESS__) /* which reserves terabytes of addresses */
	if (ret == 0 && o->memory > 0)
		ret = limit(RLIMIT_AS, (rlim_t)o->memory, err);
#else
	(void)o;
#endif
	return ret;
}

/* ---- system calls --------------------------------------------------------------------------------- */
static const char *const refused[] = {
	/* further programs and processes */
	"execve", "execveat", "fork", "vfork",
	/* other processes */
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_open",
	"pidfd_getfd", "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "process_mrelease",
	"migrate_pages", "move_pages",
	/* what it may use, and others of the same user may; prlimit64 is below */
	"setrlimit", "setpriority", "nice", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
	"ioprio_set",
	/* the machine */
	"mount", "umount2", "move_mount", "fsopen", "fsmount", "open_tree", "pivot_root", "chroot", "unshare",
	"setns", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
	"bpf", "perf_event_open", "swapon", "swapoff", "acct", "quotactl", "settimeofday", "clock_settime",
	"clock_adjtime", "adjtimex", "sethostname", "setdomainname", "syslog", "ioperm", "iopl",
	/* ways around */
	"keyctl", "add_key", "request_key", "userfaultfd", "open_by_handle_at", "io_uring_setup",
	"io_uring_enter", "io_uring_register",
};

static int refuse(scmp_filter_ctx f, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number == __NR_SCMP_ERROR || number < 0)
		return 0; /* this machine has no such call */
	return seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), number, 0);
}

/* Signals to nobody but itself, also by way of a descriptor's owner; limits are read, its own; it ends with the daemon;
 * threads but no processes. The system looks at the lower half of a command. */
static int refuse_others(scmp_filter_ctx f)
{
	const scmp_datum_t self = (scmp_datum_t)getpid();
	const struct {
		int call;
		struct scmp_arg_cmp when;
	} rules[] = {
		{ SCMP_SYS(kill), SCMP_A0(SCMP_CMP_NE, self) },
		{ SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_NE, self) },
		{ SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETOWN) },
		{ SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETOWN_EX) },
		{ SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETSIG) },
		{ SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, FIOSETOWN) },
		{ SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, SIOCSPGRP) },
		{ SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_NE, 0) },
		{ SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_NE, 0) },
		{ SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, PR_SET_PDEATHSIG) },
		{ SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0) },
	};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < KEEL_COUNT(rules); i++)
		ret = seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), rules[i].call, 1, &rules[i].when);
	if (ret == 0) /* whose arguments a filter cannot see: the C library then takes clone */
		ret = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return ret;
}

static int filter(struct keel_err *err)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int ret = f == NULL ? -ENOMEM : 0;

	for (size_t i = 0; ret == 0 && i < KEEL_COUNT(refused); i++)
		ret = refuse(f, refused[i]);
	if (ret == 0)
		ret = refuse_others(f);
	if (ret == 0)
		ret = seccomp_load(f);
	seccomp_release(f);
	return ret == 0 ? 0 :
			  err_set(err, ret, "cannot filter the system calls of its process: %s",
				  strerror(-ret));
}

int confine(const struct options *o, struct keel_err *err)
{
	bool own_user = geteuid() == 0;
	int ret = become(o->user != NULL ? o->user : "nobody", err);

	if (ret == 0)
		ret = limits(o, own_user, err);
	if (ret == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
			 prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0))
		ret = err_set(err, -errno, "cannot confine its process: %s", strerror(errno));
	return ret == 0 ? filter(err) : ret;
}
