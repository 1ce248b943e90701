/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/sister.h - service "sister" (offered by sisters on a mom and on a server): a job over several hosts acts as one.
 *
 * Its presence says that such jobs can be started: executor refuses them without it. task-manager asks it for tasks on
 * other hosts of a job; for those of its own host it has service "part". Calls from a sister go through the primary.
 */
#ifndef KEEL_SERVICE_SISTER_H
#define KEEL_SERVICE_SISTER_H

#include "keel/service/part.h"
#include "keel/types.h"
#include "keel/use.h"

struct keel_sister_events {
	uint32_t size;
	uint32_t reserved;
	/* A task that this host had started elsewhere has ended: 0..255, 256 + signal; -1: its host is lost. */
	void (*task_over)(struct keel_mod *, const char *id, int64_t run, uint32_t number, int32_t status);
};

struct keel_sister_api {
	uint32_t size, version;
	struct keel_mod *self;
	/* The callbacks: until listen(NULL), in fini(). Any number of modules. -ENOMEM. */
	int32_t (*listen)(struct keel_mod *, struct keel_mod *me, const struct keel_sister_events *);
	/* As those of service part, on the host with this index in the job's hosts. Fails with 17000 (ESYSTEM) when it is
	 * lost, 17006 (ENOTFOUND) when the job has no such host or task. The task's number is unique in the run by its caller:
	 * its slot in the run << 20 | own counter. */
	void (*spawn)(struct keel_mod *, const char *id, uint32_t host, const struct keel_part_task *, struct keel_mod *me, keel_part_done *done, void *arg);
	/* A signal (name or number) to one task, wherever it is; number 0: to every process of the job on that host. */
	void (*signal)(struct keel_mod *, const char *id, uint32_t host, uint32_t number, const char *name, struct keel_mod *me, keel_part_done *done, void *arg);
};

KEEL_SERVICE(sister);
#define keel_sister_listen(...) KEEL_CALL(sister, listen, __VA_ARGS__)
#define keel_sister_spawn(...) KEEL_CALL(sister, spawn, __VA_ARGS__)
#define keel_sister_signal(...) KEEL_CALL(sister, signal, __VA_ARGS__)

#endif
