/* SPDX-License-Identifier: Apache-2.0
 *
 * confine.c - what a supervised program may not do.
 *
 * Another user when the daemon is root, no new privileges, bounded memory, no core file; it ends with its parent. The
 * filter of system calls for modules is a list of what is refused, as a module may use any library. It would refuse the
 * execution of the program itself: so it is put into a file, which the program applies before it maps the module.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h> /* SIOCSPGRP */
#include <unistd.h>

#include "keel/service/supervise.h"
#include "tree.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FILES 256
#define THREADS 4096 /* of the user it runs as, which the modules of several daemons may share */

static int failed(char *error, int len, const char *what, const char *of)
{
	snprintf(error, (size_t)len, "%s%s: %s", what, of, strerror(errno));
	return 0;
}

static int become(const char *name, char *error, int len)
{
	const struct passwd *p = getpwnam(name);

	if (p == NULL) {
		snprintf(error, (size_t)len, "there is no user '%s' to run it as; make one, or configure another", name);
		return 0;
	}
	if (setgroups(0, NULL) < 0 || setgid(p->pw_gid) < 0 || setuid(p->pw_uid) < 0)
		return failed(error, len, "it cannot become user ", name);
	return 1;
}

static bool limit(int what, long long most)
{
	struct rlimit r = { (rlim_t)most, (rlim_t)most };

	return most <= 0 || setrlimit((__rlimit_resource_t)what, &r) == 0;
}

static bool limits(const struct tree_order *o, bool own_user)
{
	struct rlimit none = { 0, 0 };
	bool module = o->profile == KEEL_PROFILE_MODULE;

	return setrlimit(RLIMIT_CORE, &none) == 0 && limit(RLIMIT_NOFILE, module ? FILES : 0) &&
	       limit(RLIMIT_NPROC, module && own_user ? THREADS : 0) &&
#if defined(__SANITIZE_ADDRESS__) /* which reserves terabytes of addresses */
	       true;
#else
	       limit(RLIMIT_AS, o->memory);
#endif
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

/* Signals to itself alone, also by way of a descriptor's owner; limits are read, its own; it ends with its parent;
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

	for (size_t i = 0; ret == 0 && i < COUNT(rules); i++)
		ret = seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), rules[i].call, 1, &rules[i].when);
	if (ret == 0) /* whose arguments a filter cannot see: the C library then takes clone */
		ret = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return ret;
}

/* Into the file that the program finds open as TREE_FILTER. */
static bool filter(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int ret = f == NULL ? -ENOMEM : 0, fd = memfd_create("filter", 0);

	for (size_t i = 0; ret == 0 && i < COUNT(refused); i++)
		ret = refuse(f, refused[i]);
	if (ret == 0)
		ret = refuse_others(f);
	if (ret == 0)
		ret = seccomp_export_bpf(f, fd);
	seccomp_release(f);
	if (ret == 0 && fd != TREE_FILTER && (dup2(fd, TREE_FILTER) < 0 || close(fd) < 0))
		ret = -errno;
	errno = -ret;
	return ret == 0;
}

int confine(const struct tree_order *o, char *error, int len)
{
	bool own_user = geteuid() == 0;

	if (own_user && !become(o->user, error, len))
		return 0;
	if (!limits(o, own_user) || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return failed(error, len, "it cannot be confined", "");
	if (o->profile == KEEL_PROFILE_MODULE && !filter())
		return failed(error, len, "its system calls cannot be filtered", "");
	return 1;
}
