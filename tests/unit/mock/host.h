/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - two hosts behind one face: the daemon's engine, and the mock. Whatever can be done through the
 * API groups is done so, by the same code for both (story.c).
 */
#ifndef TESTS_MOCK_HOST_H
#define TESTS_MOCK_HOST_H

#include "keel/keel.h"

struct host {
	const char *name;
	void (*start)(void);
	/* What was logged: lines "class;object;words"; free() it. */
	char *(*stop)(void);
	struct keel_mod *(*self)(void);
	const void *(*group)(const char *name);
	/* `conf`: of its group. 0, or -1 with *err. */
	int (*load)(const char *module, const char *conf, struct keel_err *err);
	int (*unload)(const char *module, struct keel_err *err);
	int (*reconf)(const char *module, const char *conf, struct keel_err *err);
	void (*advance)(int64_t ms);
	/* Somebody at a client, for keel_raise; and he goes away. */
	struct keel_req *(*client)(void);
	void (*gone)(struct keel_req *);
	/* A class "job" with attributes Priority (long), Name (string, check-less), List (string_array), Mem (size),
	 * Time (time), Share (float), Flag (bool) is there from the beginning. */
	void (*say)(const char *words); /* into the log, class "Story" */
};
extern const struct host kernel_host, mock_host;

const char *probe_path(const char *module); /* good until the next call */
extern const struct keel_class_def job_class;
#define N_JOB_ATTRS 7
extern const struct keel_attr_def job_attrs[N_JOB_ATTRS];

#endif
