/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h - a task on its way to its first process. Worker threads see only a struct launch.
 */
#ifndef EXECUTOR_LAUNCH_H
#define EXECUTOR_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "keel/service/task.h"
#include "keel/types.h"
#include "spec.h"

/* Texts of a start message: message key, member. NULL when absent. */
#define LAUNCH_TEXTS(T)                                                                            \
	T("user", user) T("group", group) T("name", name) T("queue", queue)                        \
	T("account", account) T("variables", variables) T("shell", shell) T("join", join)          \
	T("keep", keep) T("output", output) T("error", error) T("remove", remove)                  \
	T("umask", umask) T("sandbox", sandbox) T("executable", executable)                        \
	T("arguments", arguments) T("nodes", nodes) T("walltime", walltime) T("cput", cput)        \
	T("pcput", pcput) T("file", file) T("pvmem", pvmem)

struct user {
	uid_t uid;
	gid_t gid; /* login group */
	char *name, *home, *shell;
	gid_t *groups;
	size_t n_groups;
	char *chosen; /* the group of that name, by a job; NULL none yet */
	gid_t chosen_gid;
};
struct user_entry;
struct nursery;
struct part;

struct launch {
	char *id;
	int64_t run, ncpus, job_ncpus; /* of its first chunk here; of the job */
	int64_t ompthreads; /* of that chunk; 0: as many as processors */
#define LAUNCH_TEXT_MEMBER(key, member) char *member;
	LAUNCH_TEXTS(LAUNCH_TEXT_MEMBER)
	char *script;
	uint32_t script_len;
	bool has_script;

	/* The host, copied. */
	char *pbs_home, *host, *server, *shepherd, *tmpdir;
	const char *mom_socket; /* borrowed from the kernel, for ever */
	char *jobdir_root; /* of private directories; NULL: the user's home */
	bool jobdir_shared; /* it is the same on each host */
	char **usecp; /* NULL-terminated */
	struct nursery *nursery;
	const char *world; /* proc_world() */
	char *groups_dir, *group_path; /* where its cgroup is made, and that; NULL none */
	char *memory_dir, *bound_path; /* the same for one that bounds memory; bound_path may be group_path's */
	int64_t bound_kb; /* <= 0: none is wanted */
	int64_t start_ms, deliver_ms;
	bool output_here, error_here; /* their hosts have an address of this one */
	struct part *part;	   /* until its task has it, */
	const struct part *facts;  /* then that one's */
	bool no_sister_nodes;	   /* sisters have no node file */
	bool follows; /* its shepherd was killed: only another shepherd is wanted */

	struct user account_of; /* resolved already, or by the worker */
	bool resolved;
	int64_t room; /* bytes that must be free where tasks are kept */
	gid_t gid; /* of the job */

	/* Result: status 0, or the error: a negative system code, with `why`. */
	int32_t status;
	char why[256];
	bool own; /* the error is the user's, and says nothing of this host */
	pid_t pid;
	uint64_t start;
	int pidfd, talk;
};

void launch_free(struct launch *l);
int launch_cookie(struct launch *l); /* the server's, or one of this host's. 0; -ENOMEM */

/* health.c, on a worker thread: is there room where tasks and their output are kept? 0; fails with -1 and the error. */
int health_room(const char *pbs_home, int64_t room, char *why, size_t len);
/* Sets the result of a start that fails; returns -1 for the caller to return. */
int launch_fail(struct launch *l, int32_t status, const char *fmt, ...) KEEL_PRINTF(3, 4);

/* user.c: 0; fails with -1, the error in l->status and l->why. */
int user_resolve(struct launch *l);
int user_copy(const struct user *from, struct user *to); /* the caller calls user_fini(); fails with -ENOMEM */
void user_fini(struct user *u);

/* environment.c: env= strings of the spec. */
/* 0; fails with -ENOMEM. */
int environment_write(const struct launch *l, const char *job_dir, struct spec_out *out);

/* output.c: the streams of the spec. */
int output_write(const struct launch *l, struct spec_out *out);
/* Of a file of that host, "own" being this one's name: where it is here. The caller frees it. NULL: it is not, or there is no
 * memory. */
char *path_here(const char *const *usecp, const char *own, const char *host, const char *path);
/* Returns the path on this host, owned by the caller; NULL: on another host. `here`: its host is this one. */
char *output_place(const struct launch *l, const char *text, bool here);
/* The host of a path "host:path", if only the name service knows whether it is this one. False: no query needed. */
bool output_host(const struct launch *l, const char *text, char host[256]);

/* -k d was wanted for a stream whose place is on another host. */
bool output_indirect(const struct launch *l);

/* spawn.c: on a worker thread: files, shepherd, record, "go". */
void spawn_work(void *arg);
/* Likewise, for a task whose shepherd was killed: another one ends it. */
void follow_work(void *arg);
/* Where it runs, once its account is resolved. The caller frees it; NULL without memory. */
char *launch_dir(const struct launch *l);
bool launch_makes_dir(const struct launch *l); /* its shepherd makes that directory */
/* The words of an XML-coded list, `tag` each, NULL-terminated; the caller frees them with one free(). */
char **words_decode(const char *text, const char *tag);

#endif
