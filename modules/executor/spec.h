/* SPDX-License-Identifier: Apache-2.0
 *
 * spec.h - the daemon's description of a task for its shepherd: "key=value" strings, each ended by a NUL.
 *
 * The daemon writes it to mom_priv/jobs/<id>.JB and hands the open file to the shepherd, which trusts
 * nothing that it cannot check: lengths, numbers and the closing "end=" are verified.
 */
#ifndef EXECUTOR_SPEC_H
#define EXECUTOR_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SPEC_MAX (64u * 1024u * 1024u)
#define SPEC_GROUPS_MAX 65536u
#define SPEC_LIMITS_MAX 16u
#define SPEC_FD 3  /* the spec file, in the shepherd */
#define SPEC_TALK 4 /* socket to the daemon; what is said there: talk.h */

/* What becomes of one output stream. Empty strings are NULL. */
struct spec_stream {
	char *run;   /* file while the task runs; NULL: joined to the other stream */
	char *place; /* where it goes at the end; NULL: it stays where it is */
	bool remove; /* delete it when the task ends with status 0 */
	bool keep;   /* `run` may exist already and is rewritten (no spool file) */
};

struct spec_limit {
	int resource;
	uint64_t value;
};

struct spec {
	char *id, *run;     /* job, its run_version */
	uint32_t index, hosts; /* of this host among the job's: 0 has the program; how many hosts, 0 and 1: this one */
	char *jobs_dir;     /* where <id>.TK is */
	char *undelivered;  /* directory for output that could not be placed */
	char *user, *home, *shell, *script;
	char *dir;          /* start directory; NULL: home */
	char *tmpdir;       /* made before and removed after the task; NULL: none */
	char *sandbox;      /* likewise, and the start directory; NULL: none */
	char *cgroup;       /* its processes are in there (group.h); NULL: none */
	char *bound;	    /* and in there, for their memory */
	bool drop;          /* become uid, gid, groups */
	uid_t uid;
	gid_t gid;
	mode_t umask;
	uint32_t start_ms, deliver_ms; /* how long its start, placing its output may take; 0: not said */
	struct spec_stream out, err;
	char *settled[2];   /* of spec_settle(), owned */
	int fds[2];	    /* the shepherd's: spool files of out and err, open; -1 */
	gid_t *groups;
	size_t n_groups;
	char **env, **args; /* NULL-terminated; args[0] is the program of a task without script */
	size_t n_env, n_args;
	struct spec_limit limits[SPEC_LIMITS_MAX];
	size_t n_limits;
};

/* A growing byte string that remembers that memory ran out. */
struct spec_out {
	char *bytes;
	size_t len, room;
	bool failed;
	bool large; /* because of SPEC_MAX */
};
void spec_put(struct spec_out *out, const char *key, const char *value); /* NULL value: nothing */
void spec_put_number(struct spec_out *out, const char *key, uint64_t value);
int spec_end(struct spec_out *out); /* 0; fails with -ENOMEM or -E2BIG, when any spec_put() has */
void spec_out_fini(struct spec_out *out);

/* The strings of *ret point into `bytes`, which the caller keeps. 0; fails with -EPROTO or -ENOMEM. */
int spec_decode(char *bytes, size_t len, struct spec *ret);
void spec_fini(struct spec *s);
/* The same from an open file; the caller frees the bytes behind spec_fini(). 0; fails with -errno. */
int spec_load(int fd, char **ret_bytes, struct spec *ret);

/* Where a stream goes whose path may be a directory: "dir" and "dir/" become "dir/<id><suffix>" in `buf` of
 * PATH_MAX. Fails with -ENAMETOOLONG. With the user's rights. */
int spec_path(const struct spec *s, const char *path, const char *suffix, char *buf);
/* Replaces `run` of streams that are kept in a directory by the file there. With the user's rights. Fails with -ENOMEM or
 * -ENAMETOOLONG. */
int spec_settle(struct spec *s);

#endif
