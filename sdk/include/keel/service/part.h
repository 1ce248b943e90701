/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/part.h - service "part" (offered by executor on a mom): what this host has of a job.
 *
 * A run of a job has a part on each of its hosts. The server sends each host its part in one message of its own ("task.start"),
 * so that each host has its facts, and the names, addresses and keys of the others, from the server and from no other mom. Host 0
 * is the primary: there the job's program runs, and its reports to the server are the job's. Any other host is a sister: its part
 * is set up (account, directories, node file, cgroup, a shepherd without a program), and waits for tasks. What a sister's part
 * reports goes to the listeners below, never to the server; modules/sisters carries it to the primary.
 *
 * A part is on disk before it is reported, and found again when the daemon restarts. The server is who says that a run is over:
 * its hello with a host ends parts of runs that it does not know ("discarded").
 *
 * One thread: the loop's. Strings and structs are borrowed for the call; a callback copies what it keeps.
 */
#ifndef KEEL_SERVICE_PART_H
#define KEEL_SERVICE_PART_H

#include "keel/types.h"
#include "keel/use.h"

/* A host of a job. address ("host:port") and key (as keelson-key shows it) are NULL where the server knows none. */
struct keel_part_host {
	uint32_t size, ncpus;
	const char *name;    /* the link's peer, and the host's short name */
	const char *address, *key;
	const char *vnodes;  /* its share of exec_vnode: "(n1:ncpus=1+n2:ncpus=1)+(n3:ncpus=2)" */
};

enum keel_part_state {
	KEEL_PART_BEGIN = 1, /* it is being set up */
	KEEL_PART_READY,     /* a sister: tasks may be started. A primary: the program may be, or runs */
	KEEL_PART_STOPPED,   /* suspended */
	KEEL_PART_ENDED,     /* nothing runs; the record is there until it is forgotten or discarded */
};

/* The part of a job that is on this host. */
struct keel_part {
	uint32_t size;
	uint32_t index;      /* of this host, in hosts */
	uint32_t state;	     /* enum keel_part_state */
	uint32_t n_hosts, n_nodes;
	const char *id;	     /* of the job */
	int64_t run;	     /* its run_version */
	const char *user, *cookie;
	int64_t uid;
	const struct keel_part_host *hosts; /* in the order of exec_host; [0] is the primary */
	const uint32_t *nodes; /* of each node number (a line of the node file, from 0) the index of its host */
	const char *tolerate; /* tolerate_node_failures as it was at the start; "" unset */
	uint32_t rerunable, started; /* 0 or 1; started: the primary's program runs */
	const uint32_t *slots; /* of each host the index that it had when the run began; NULL: that of now */
	uint32_t leaving; /* 0 or 1: a sister that the server has given up. That it ends is no loss */
	uint32_t reserved;
	int64_t session; /* of the primary's program; 0 before its start, and on a sister */
	const char *select; /* a primary that was pruned: schedselect of what it keeps; "" else */
};

/* A host's number for as long as the run lasts, whatever hosts the job gives up. */
static inline uint32_t keel_part_slot(const struct keel_part *p, uint32_t index)
{
	return p->slots && index < p->n_hosts ? p->slots[index] : index;
}

/* A task: a program that is started in a part beside the job's own, with the job's user, limits and environment. */
struct keel_part_task {
	uint32_t size;
	uint32_t number;     /* unique in the run: the caller's; PBS_TASKNUM is %08X of it. 1 is the job's program */
	uint32_t node;	     /* PBS_NODENUM of it is the index of this host, whatever this says; for the log */
	uint32_t reserved;
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in the PATH of the job */
	const char *const *env;	 /* NULL-terminated "NAME=value" beside the job's environment, which it overrides; NULL: none */
	const char *dir;	 /* NULL: where the job's program began */
};

/* A reading of a part's processes, all its tasks: at each usage_interval, and when it may be for the last time. */
struct keel_part_reading {
	uint32_t size;
	uint32_t reserved;
	int64_t mem_kb;	     /* resident memory of its processes, summed: what some of them share counts for each */
	int64_t cput_ms;     /* used so far */
	int64_t walltime_ms; /* so far, without the time in which it was suspended */
};

typedef void keel_part_done(struct keel_mod *me, void *arg, int32_t code, const char *text); /* 0, or PBSE and a sentence */

struct keel_part_events {
	uint32_t size;
	uint32_t reserved;
	/* A sister is ready; also for each that is found READY or STOPPED when the daemon restarts. */
	void (*ready)(struct keel_mod *, const struct keel_part *);
	/* A sister could not be set up: a negative system code (as enum keel_task_failure), the PBSE number of it, and why. */
	void (*refused)(struct keel_mod *, const struct keel_part *, int32_t status, int32_t code, const char *why);
	/* The program of the primary runs. Also when it is found running at a restart. */
	void (*started)(struct keel_mod *, const struct keel_part *);
	/* A task has ended: 0..255, or 256 + signal. Also for one that ended while no daemon was there. */
	void (*task_over)(struct keel_mod *, const struct keel_part *, uint32_t number, int32_t status);
	/* A sister has ended: no process is left. items: what it used, "cput=00:00:01", "mem=10kb" ... */
	void (*ended)(struct keel_mod *, const struct keel_part *, const char *const *items, uint32_t n);
	/* What this part has used so far; at each usage_interval. */
	void (*used)(struct keel_mod *, const struct keel_part *, const char *const *items, uint32_t n);
	/* Its record is gone: the run is over for this host. discarded: the server did not want it any more. */
	void (*gone)(struct keel_mod *, const char *id, int64_t run, bool discarded);
	/* The server gave it other hosts (a job that shrinks): before is what it had. */
	void (*resized)(struct keel_mod *, const struct keel_part *, const struct keel_part *before);
	/* Its processes were read, and it is not ending. The callback may fail() it. */
	void (*measured)(struct keel_mod *, const struct keel_part *, const struct keel_part_reading *);
	/* What weigh() has found. */
	void (*weighed)(struct keel_mod *, const struct keel_part *, int64_t mem_kb);
	/* It has been bounded, and the kernel has ended processes of it because it wanted more: the most it had. At the next reading,
	 * or when a task of it ends; again, while it is not ending. */
	void (*starved)(struct keel_mod *, const struct keel_part *, int64_t mem_kb);
	/* A sister on which fail() was called: the job cannot go on. modules/sisters carries it to the primary. */
	void (*failing)(struct keel_mod *, const struct keel_part *, int32_t status, const char *line);
};

struct keel_part_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below */
	/* The callbacks: until listen(NULL), in fini(). Any number of modules; unused members are NULL. -ENOMEM. */
	int32_t (*listen)(struct keel_mod *, struct keel_mod *me, const struct keel_part_events *);
	/* The part of a job here; NULL: there is none. Borrowed until the next turn of the loop. */
	const struct keel_part *(*find)(struct keel_mod *, const char *id);
	/* Calls fn for each part of this host. */
	void (*each)(struct keel_mod *, void (*fn)(struct keel_mod *me, const struct keel_part *, void *arg), struct keel_mod *me, void *arg);
	/* Starts a task: `done` when its program runs (0), or could not (text). Its output goes where that of the job goes. */
	void (*spawn)(struct keel_mod *, const char *id, const struct keel_part_task *, struct keel_mod *me, keel_part_done *done, void *arg);
	/* A process of the job's user, from outside, becomes part of the job: with its limits, usage and end. */
	void (*attach)(struct keel_mod *, const char *id, uint32_t number, int64_t pid, struct keel_mod *me, keel_part_done *done, void *arg);
	/* A signal (name or number) to one task and its session; number 0: to every process of the part. Names "suspend" and
	 * "resume" are for the whole part: `done` when no process runs any more, or all may. */
	void (*signal)(struct keel_mod *, const char *id, uint32_t number, const char *name, struct keel_mod *me, keel_part_done *done, void *arg);
	/* A sister: TERM now, KILL after delay_ms; ended() follows. -ENOENT. */
	int32_t (*end)(struct keel_mod *, const char *id, int64_t delay_ms);
	/* A sister that has ended, or was refused: its record goes. -ENOENT, -EBUSY when it has not ended. */
	int32_t (*forget)(struct keel_mod *, const char *id, int64_t run);
	/* The job cannot go on. On the primary its start fails, or its program is killed, with this system code; `line` goes to
	 * the log, to the job's stderr, when it has one, and to the server. NULL: none. On a sister the log has the first of these
	 * lines, and the listeners are notified of each: failing(). -ENOENT. */
	int32_t (*fail)(struct keel_mod *, const char *id, int32_t status, const char *line);
	/* The primary: what another host has used in all; it is added to what the server gets to read. */
	int32_t (*add)(struct keel_mod *, const char *id, const char *host, const char *const *items, uint32_t n);
	/* The primary: appends to what the job wrote, stream 1 output or 2 error. A sister: reads what its tasks wrote, from
	 * `at` on; returns the number of bytes, 0 at the end. Both fail with -errno. */
	int64_t (*write)(struct keel_mod *, const char *id, int32_t stream, const void *bytes, uint32_t len);
	/* A sister's, see write. */
	int64_t (*read)(struct keel_mod *, const char *id, int32_t stream, int64_t at, void *buf, uint32_t len);
	/* A tolerant primary, before its program is started: the job goes on with these hosts alone (indexes of now, 0 first, and
	 * what of exec_vnode stays on each). Node file and hosts are as said at once; the server gets to know it, and hosts that
	 * are out are ended by it. select: the new schedselect. -EINVAL, -EBUSY after the start. */
	int32_t (*prune)(struct keel_mod *, const char *id, const struct keel_part_host *hosts, uint32_t n, const char *select);
	/* A sister that is ready: raises task_prologue here. `done` with 0, or with the code of the refusal: below 0 it is the
	 * exit status of the start. */
	void (*admit)(struct keel_mod *, const char *id, struct keel_mod *me, keel_part_done *done, void *arg);
	/* A sister of a job whose start failed: as end(), at once, with task_abort in place of task_epilogue. -ENOENT. */
	int32_t (*abort)(struct keel_mod *, const char *id);
	/* Where the file `path` of that host is on this one: it is this one by its name, or a rule of usecp says that its files
	 * are seen here. The caller frees it. NULL: it is not here. */
	char *(*path_here)(struct keel_mod *, const char *host, const char *path);
	/* The primary: what the job has used on all its hosts, as far as it is known here: "cpupercent=0,cput=00:00:01,...". -ENOENT. */
	int32_t (*usage)(struct keel_mod *, const char *id, char *buf, uint32_t len);
	/* What is about to be started on this host, while task_launch (number 1, the job's program) or task_spawn is raised for it:
	 * its arguments, its whole environment, where it begins. Of a script: its shell, and the script's path. NULL: nothing is,
	 * or there is no memory. Borrowed until the next call. */
	const struct keel_part_task *(*program)(struct keel_mod *, const char *id, uint32_t number);
	/* Replaces its arguments and its whole environment; dir NULL: it stays. argv[0] that has no slash is looked up in the new PATH.
	 * -ENOENT: nothing of that number is about to be started; -EINVAL: no program, or a variable without a name; -E2BIG: more than
	 * the system can execute; -ENOMEM. */
	int32_t (*set_program)(struct keel_mod *, const char *id, uint32_t number, const struct keel_part_task *);
	/* A sister: raises task_preterm here, whether or not it runs anything. `done` with 0, or the code of the refusal. */
	void (*preterm)(struct keel_mod *, const char *id, struct keel_mod *me, keel_part_done *done, void *arg);
	/* How much memory the part's processes have, where memory that they share counts once: weighed() follows, unless the part
	 * ends meanwhile. On a worker thread, for it is dear: some milliseconds for a large process. -ENOENT, -ENOMEM; -EBUSY:
	 * it is under way. */
	int32_t (*weigh)(struct keel_mod *, const char *id);
	/* At task_begin: the part gets a group in which the kernel lets its processes have so much memory and no more. Later: that
	 * changes; < 0: it is bounded no more. Does nothing where it is so already. -ENOENT; -ENOTSUP: this host has no such groups
	 * (known when it runs), or the part has none because it was not bounded at task_begin. */
	int32_t (*bound)(struct keel_mod *, const char *id, int64_t mem_kb);
};

KEEL_SERVICE(part);
#define keel_part_listen(...) KEEL_CALL(part, listen, __VA_ARGS__)
#define keel_part_find(...) KEEL_CALL(part, find, __VA_ARGS__)
#define keel_part_each(...) KEEL_CALL(part, each, __VA_ARGS__)
#define keel_part_spawn(...) KEEL_CALL(part, spawn, __VA_ARGS__)
#define keel_part_attach(...) KEEL_CALL(part, attach, __VA_ARGS__)
#define keel_part_signal(...) KEEL_CALL(part, signal, __VA_ARGS__)
#define keel_part_end(...) KEEL_CALL(part, end, __VA_ARGS__)
#define keel_part_forget(...) KEEL_CALL(part, forget, __VA_ARGS__)
#define keel_part_fail(...) KEEL_CALL(part, fail, __VA_ARGS__)
#define keel_part_add(...) KEEL_CALL(part, add, __VA_ARGS__)
#define keel_part_write(...) KEEL_CALL(part, write, __VA_ARGS__)
#define keel_part_read(...) KEEL_CALL(part, read, __VA_ARGS__)
#define keel_part_prune(...) KEEL_CALL(part, prune, __VA_ARGS__)
#define keel_part_admit(...) KEEL_CALL(part, admit, __VA_ARGS__)
#define keel_part_abort(...) KEEL_CALL(part, abort, __VA_ARGS__)
#define keel_part_path_here(...) KEEL_CALL(part, path_here, __VA_ARGS__)
#define keel_part_usage(...) KEEL_CALL(part, usage, __VA_ARGS__)
#define keel_part_program(...) KEEL_CALL(part, program, __VA_ARGS__)
#define keel_part_set_program(...) KEEL_CALL(part, set_program, __VA_ARGS__)
#define keel_part_preterm(...) KEEL_CALL(part, preterm, __VA_ARGS__)
#define keel_part_weigh(...) KEEL_CALL(part, weigh, __VA_ARGS__)
#define keel_part_bound(...) KEEL_CALL(part, bound, __VA_ARGS__)

#endif
