/* SPDX-License-Identifier: Apache-2.0
 *
 * confine.c - what a supervised program may not do.
 *
 * Another user when the daemon is root, no new privileges, bounded memory, no core file; it ends with its parent. The
 * filter of system calls for modules is a list of what is refused, as a module may use any library. It would refuse the
 * execution of the program itself: so it is put into a file, which the program applies before it maps the module.
 *
 * A script of a daemon that is no root runs as the daemon's own user: it may not look into the daemon. What runs for a host
 * stays root: its cgroup (group.c) bounds it.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h> /* SIOCSPGRP */
#include <sys/stat.h>
#include <unistd.h>

#include "keel/service/supervise.h"
#include "tree.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FILES 256
#define FILE_SIZE (64ll * 1024 * 1024) /* of a file that a script writes */
#define PROCESSES_SCRIPT 64
#define PROCESSES_HOST 512
#define THREADS 4096 /* of the user it runs as, which the modules of several daemons may share */

static int failed(char *error, int len, const char *what, const char *of)
{
	snprintf(error, (size_t)len, "%s%s: %s", what, of, strerror(errno));
	return 0;
}

int processes_of(const struct tree_order *o)
{
	if (o->processes > 0)
		return o->processes;
	return o->profile == KEEL_PROFILE_HOST ? PROCESSES_HOST : PROCESSES_SCRIPT;
}

/* A script has the groups of its user. */
static int become(const char *name, bool script, char *error, int len)
{
	const struct passwd *p = getpwnam(name);

	if (p == NULL && script)
		p = getpwnam("nobody");
	if (p == NULL) {
		snprintf(error, (size_t)len, "there is no user '%s' to run it as; make one, or configure another", name);
		return 0;
	}
	if ((script ? initgroups(p->pw_name, p->pw_gid) : setgroups(0, NULL)) < 0 || setgid(p->pw_gid) < 0 ||
	    setuid(p->pw_uid) < 0)
		return failed(error, len, "it cannot become user ", name);
	return 1;
}

/* ---- limits ------------------------------------------------------------------------------------------ */
static bool limit(int what, long long most)
{
	struct rlimit r = { (rlim_t)most, (rlim_t)most };

	return most <= 0 || setrlimit((__rlimit_resource_t)what, &r) == 0;
}

static long threads_of(const char *pid)
{
	char path[300], line[256];
	long n = 1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Threads:", 8) == 0)
			n = atol(line + 8);
	if (f != NULL)
		fclose(f);
	return n;
}

/* What the user runs already: the system's bound is for the user, ours for this program. */
static long threads_now(void)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	struct stat s;
	long n = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && fstatat(dirfd(dir), e->d_name, &s, 0) == 0 &&
		    s.st_uid == getuid())
			n += threads_of(e->d_name);
	if (dir != NULL)
		closedir(dir);
	return n;
}

static bool limits_of_script(const struct tree_order *o)
{
	return limit(RLIMIT_NOFILE, FILES) && limit(RLIMIT_FSIZE, FILE_SIZE) &&
	       limit(RLIMIT_NPROC, threads_now() + processes_of(o));
}

static bool limits_of_module(bool own_user)
{
	return limit(RLIMIT_NOFILE, FILES) && limit(RLIMIT_NPROC, own_user ? THREADS : 0);
}

static bool limits(const struct tree_order *o, bool own_user)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 || (o->profile == KEEL_PROFILE_SCRIPT && !limits_of_script(o)) ||
	    (o->profile == KEEL_PROFILE_MODULE && !limits_of_module(own_user)))
		return false;
#if defined(__SANITIZE_ADDRESS__) /* which reserves terabytes of addresses */
	return true;
#else
	return limit(RLIMIT_AS, o->profile == KEEL_PROFILE_HOST ? 0 : o->memory);
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

/* Of a script that has the daemon's user: what that holds in memory and keys. */
static const char *const looks[] = {
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd", "keyctl", "add_key",
	"request_key", "perf_event_open", "bpf", "userfaultfd",
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
		{ SCMP_SYS(kill), SCMP_A0(SCMP_CMP_NE, self, 0) },
		{ SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_NE, self, 0) },
		{ SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETOWN) },
		{ SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETOWN_EX) },
		{ SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETSIG) },
		{ SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, FIOSETOWN) },
		{ SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, SIOCSPGRP) },
		{ SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_NE, 0, 0) },
		{ SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_NE, 0, 0) },
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

static bool look_away(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int ret = f == NULL ? -ENOMEM : 0;

	for (size_t i = 0; ret == 0 && i < COUNT(looks); i++)
		ret = refuse(f, looks[i]);
	if (ret == 0)
		ret = seccomp_load(f);
	seccomp_release(f);
	errno = -ret;
	return ret == 0;
}

/* ---- all of it ------------------------------------------------------------------------------------------ */
static bool is_filtered(const struct tree_order *o, bool root)
{
	if (o->profile == KEEL_PROFILE_MODULE)
		return filter();
	return o->profile != KEEL_PROFILE_SCRIPT || root || look_away();
}

int confine(const struct tree_order *o, char *error, int len)
{
	bool root = geteuid() == 0, host = o->profile == KEEL_PROFILE_HOST;

	if (root && !host && !become(o->user, o->profile == KEEL_PROFILE_SCRIPT, error, len))
		return 0;
	if (!limits(o, root) || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || (!host && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0))
		return failed(error, len, "it cannot be confined", "");
	if (o->dir[0] != '\0' && chdir(o->dir) < 0)
		return failed(error, len, "", o->dir);
	if (!is_filtered(o, root))
		return failed(error, len, "its system calls cannot be filtered", "");
	return 1;
}
