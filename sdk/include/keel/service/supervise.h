/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/supervise.h - service "supervise" (offered by supervise): programs beside the daemon, which nothing
 * waits for and which end with all that they started.
 *
 *   start():  starting -> up -> asked -> up ... -> ending -> waiting -> starting
 *             frames both ways over a socket; a program that ends is started again
 *   run():    once, with its output
 *
 * A frame is four bytes of length in this machine's order, then so many bytes. The program's end of the socket is
 * file descriptor 3. Callbacks come from the loop, but for begins(), which start() calls, and what wait() and look() lead to.
 */
#ifndef KEEL_SERVICE_SUPERVISE_H
#define KEEL_SERVICE_SUPERVISE_H

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "keel/types.h"
#include "keel/use.h"

#define KEEL_SUPERVISE_FD 3	   /* the program's end of the socket */
#define KEEL_SUPERVISE_FILTER_FD 4 /* of profile MODULE: see keel_supervise_confine() */
#define KEEL_SUPERVISE_FRAME_MAX (1024u * 1024u) /* of a program */

struct keel_supervised;
struct keel_run;

enum keel_profile {
	KEEL_PROFILE_PLAIN = 1, /* another user where there is root to give up, no new privileges, no core file */
	/* That, and: no further programs and processes, no signals to others, no mounts, traces, keys or kernel interfaces; it
	 * changes no limits, priorities or processors, neither its own nor those of others of its user. */
	KEEL_PROFILE_MODULE = 2,
	/* PLAIN, and: bounds of processes, memory (addresses of each), open files (256), and the size of a file that it writes (64 MiB). It may
	 * start programs; where the daemon is root they are in a pid namespace, with the groups of `user`, and an unknown user is nobody.
	 * Where it is not they may not look into the daemon's memory. */
	KEEL_PROFILE_SCRIPT = 3,
	/* It stays root (what the daemon is): for what a host's administrator wrote. Bounds of processes and memory are of all that it
	 * starts, in a cgroup; where none can be made the log says so once. No core file. */
	KEEL_PROFILE_HOST = 4,
};

struct keel_supervise_opts {
	uint32_t size, profile;
	const char *name;	      /* for sentences: "module reject" */
	const char *const *argv;      /* NULL-terminated; argv[0] is the absolute path of the program */
	const char *const *env;	      /* NULL-terminated; NULL: PATH and LANG alone */
	const char *user;	      /* when the daemon is root; NULL: the user nobody */
	int64_t memory;		      /* bytes of address space, HOST: of memory; 0: no bound */
	int64_t deadline_ms;	      /* how long it may owe an answer, once it is up */
	int64_t start_ms;	      /* the same until then */
	int64_t deaths, within_ms;    /* so many in that time, and it is not started again; 0: always again, 1: never */
	/* A program was started: send what it needs to know; up() when it serves. May be NULL: one that is never started again can be
	 * sent that once start() has returned. */
	void (*begins)(struct keel_mod *, void *arg);
	void (*frame)(struct keel_mod *, void *arg, const void *bytes, uint32_t len);
	/* It and all it started is gone; what it owed will not come. It is started again in so many ms; -1: it is not. */
	void (*ended)(struct keel_mod *, void *arg, const char *why, int64_t again_ms);
	void *arg;
	int64_t processes; /* of SCRIPT and HOST: how many it may have, threads too; 0: 64, HOST 512 */
	const char *dir;   /* where it runs; NULL: where the daemon does */
};

struct keel_run_opts {
	uint32_t size, profile;
	const char *const *argv, *const *env;
	const char *user;
	const void *input; /* its standard input; copied */
	uint32_t input_len;
	uint32_t output_max; /* bytes of standard output and error that are kept; the rest is dropped */
	int64_t timeout_ms;  /* mandatory */
};
/* `error` NULL: it ran, `status` is its exit status. Else what ended it: a signal, its timeout, or why it could not be
 * started. `output` is terminated, borrowed. */
typedef void keel_run_fn(struct keel_mod *, void *arg, const char *error, int32_t status, const char *output,
			 uint32_t output_len);

struct keel_supervise_api {
	uint32_t size, version;
	struct keel_mod *self; /* first argument of every function below that takes a keel_mod twice */
	/* Starts a program, and starts it again when it ends. The caller calls stop(). Fails with NULL and *err when the first
	 * start fails. */
	struct keel_supervised *(*start)(struct keel_mod *self, struct keel_mod *mod, const struct keel_supervise_opts *,
					 struct keel_err *);
	/* A frame of these bytes. Returns 0, or 1: queued, as it reads slowly. Fails with -ENOTCONN when it is not there now;
	 * -ENOBUFS when it has not read too much, or -ENOMEM: then it is ended. */
	int32_t (*send)(struct keel_supervised *, const void *bytes, uint32_t len);
	/* It owes one more answer. While it owes any the deadline runs; while the daemon itself stands still it does not. */
	void (*owes)(struct keel_supervised *);
	void (*paid)(struct keel_supervised *); /* It has given one: the deadline begins anew. */
	void (*up)(struct keel_supervised *); /* It serves. */
	/* Read what is there now, without waiting. */
	void (*look)(struct keel_supervised *);
	/* Reads until done() returns true, while the caller's loop stands still: for start-up, and the end. Fails with
	 * -ETIMEDOUT, or -ECHILD: it has ended. */
	int32_t (*wait)(struct keel_supervised *, bool (*done)(void *arg), void *arg, int64_t timeout_ms);
	/* It cannot be trusted: ended, and started again like one that died. */
	void (*give_up)(struct keel_supervised *, const char *why);
	/* Kill it with all it started, and forget it: none of its callbacks runs any more. Waits for at most 100 ms. NULL
	 * is fine. */
	void (*stop)(struct keel_supervised *);
	/* "process 812 up, restarts: 1", like snprintf(). */
	int32_t (*text)(const struct keel_supervised *, char *buf, uint32_t len);
	/* Runs a program once, never through a shell. `done` is called once, after the caller has returned, unless run_cancel()
	 * was. Fails with NULL and *err: `done` is not called. */
	struct keel_run *(*run)(struct keel_mod *self, struct keel_mod *mod, const struct keel_run_opts *, keel_run_fn *done,
				void *arg, struct keel_err *);
	void (*run_cancel)(struct keel_run *); /* Kill it; `done` is not called. NULL is fine. */
	void (*drop)(struct keel_supervised *); /* As stop(), and returns at once. */
};

KEEL_SERVICE(supervise);
#define keel_supervise_start(...) KEEL_CALL(supervise, start, __VA_ARGS__)
#define keel_supervise_send(...) KEEL_CALL_PLAIN(supervise, send, __VA_ARGS__)
#define keel_supervise_owes(...) KEEL_CALL_PLAIN(supervise, owes, __VA_ARGS__)
#define keel_supervise_paid(...) KEEL_CALL_PLAIN(supervise, paid, __VA_ARGS__)
#define keel_supervise_up(...) KEEL_CALL_PLAIN(supervise, up, __VA_ARGS__)
#define keel_supervise_look(...) KEEL_CALL_PLAIN(supervise, look, __VA_ARGS__)
#define keel_supervise_wait(...) KEEL_CALL_PLAIN(supervise, wait, __VA_ARGS__)
#define keel_supervise_give_up(...) KEEL_CALL_PLAIN(supervise, give_up, __VA_ARGS__)
#define keel_supervise_stop(...) KEEL_CALL_PLAIN(supervise, stop, __VA_ARGS__)
#define keel_supervise_text(...) KEEL_CALL_PLAIN(supervise, text, __VA_ARGS__)
#define keel_supervise_run(...) KEEL_CALL(supervise, run, __VA_ARGS__)
#define keel_supervise_run_cancel(...) KEEL_CALL_PLAIN(supervise, run_cancel, __VA_ARGS__)
#define keel_supervise_drop(...) KEEL_CALL_PLAIN(supervise, drop, __VA_ARGS__)

/* For programs started with KEEL_PROFILE_MODULE, before they map what they do not trust: apply the filter of system calls
 * that was prepared for this process. 0, or -1 with errno. */
static inline int keel_supervise_confine(void)
{
	struct {
		unsigned short len;
		void *filter;
	} program = { 0, malloc(8u * 65535u) };
	bool there = program.filter && lseek(KEEL_SUPERVISE_FILTER_FD, 0, SEEK_SET) == 0;
	ssize_t n = there ? read(KEEL_SUPERVISE_FILTER_FD, program.filter, 8u * 65535u) : -1;
	int ret = -1;

	if (n > 0 && n % 8 == 0) {
		program.len = (unsigned short)(n / 8);
		ret = prctl(PR_SET_SECCOMP, 2 /* a filter */, &program, 0, 0);
	}
	free(program.filter);
	close(KEEL_SUPERVISE_FILTER_FD);
	return ret;
}

#endif
