/* SPDX-License-Identifier: Apache-2.0
 *
 * check_host.c - the host's half of the service `task`. Nothing runs: a request has succeeded when the function
 * returns, and the start of a task is reported in the next turn.
 */
#include "check_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"
#include "keel/service/task.h"

#define IGNORED __attribute__((unused))
enum { LISTENERS_MAX = 16, SESSION = 1000 };

static struct {
	struct keel_mock *mock;
	struct {
		struct keel_mod *me;
		const struct keel_task_events *events;
	} by[LISTENERS_MAX];
} host;

/* Call `member` of every listener that has it; a table of an older module is shorter. */
#define TELL(member, ...)                                                                                            \
	for (int i_ = 0; i_ < LISTENERS_MAX; i_++)                                                                   \
		if (host.by[i_].events != NULL && host.by[i_].events->member != NULL)                                 \
			host.by[i_].events->member(host.by[i_].me, __VA_ARGS__)

static int32_t on_listen(IGNORED struct keel_mod *m, struct keel_mod *me, const struct keel_task_events *events)
{
	int free = -1;

	for (int i = LISTENERS_MAX - 1; i >= 0; i--)
		if (host.by[i].events == NULL || host.by[i].me == me)
			free = i;
	for (int i = 0; i < LISTENERS_MAX; i++)
		if (host.by[i].me == me)
			host.by[i].events = NULL;
	if (free < 0)
		return -ENOSPC;
	host.by[free].me = me;
	host.by[free].events = events;
	return 0;
}

static void report_start(IGNORED struct keel_mod *m, void *arg)
{
	const struct keel_object_api *object = keel_mock_group(host.mock, "object");
	char *id = arg;
	struct keel_obj *job = object->find(keel_mock_self(host.mock), "job", id);

	if (job != NULL)
		TELL(started, job, SESSION);
	free(id);
}

static int32_t on_start(IGNORED struct keel_mod *m, struct keel_obj *job)
{
	const struct keel_core_api *core = keel_mock_group(host.mock, "core");
	const struct keel_object_api *object = keel_mock_group(host.mock, "object");
	char *id = strdup(object->id(job));

	return id == NULL ? -ENOMEM : core->defer(keel_mock_self(host.mock), report_start, id);
}

/* A request that has succeeded; a call that does nothing. */
#define SUCCEEDS(name, ...)                                                                             \
	static void name(__VA_ARGS__, struct keel_mod *me, keel_task_done *done, void *arg)             \
	{                                                                                               \
		done(me, arg, 0, NULL);                                                                 \
	}
#define NOTHING(type, name, value, ...)       \
	static type name(__VA_ARGS__)         \
	{                                     \
		return value;                 \
	}
SUCCEEDS(on_signal, struct keel_mod *, struct keel_obj *, const char *, const char *)
SUCCEEDS(on_terminate, struct keel_mod *, struct keel_obj *, int64_t)
SUCCEEDS(on_checkpoint, struct keel_mod *, struct keel_obj *)
SUCCEEDS(on_message, struct keel_mod *, struct keel_obj *, int32_t, const char *)
NOTHING(int32_t, on_kill, 0, struct keel_mod *, struct keel_obj *, int64_t)
NOTHING(void, on_job, , struct keel_mod *, struct keel_obj *)
NOTHING(void, on_host_of, , struct keel_mod *, struct keel_mod *, const char *(*)(struct keel_mod *, const char *))
NOTHING(void, on_stop, , struct keel_mod *)
NOTHING(int32_t, on_describe, 0, struct keel_mod *, const char *)

void host_ends(struct keel_obj *job)
{
	TELL(ended, job, 0, SESSION, NULL, 0);
}

void host_up(const char *name)
{
	static const char *const facts[] = { "ncpus=4", "pcpus=4", "mem=4194304kb", "arch=linux" };

	TELL(host_up, name, facts, KEEL_COUNT(facts));
}

void host_offer(struct keel_mock *mock)
{
	static const struct keel_task_api task = {
		.size = sizeof(task), .listen = on_listen, .start = on_start, .signal = on_signal, .kill = on_kill,
		.discard = on_job, .ended_done = on_job, .set_host_of = on_host_of, .terminate = on_terminate,
		.checkpoint = on_checkpoint, .message = on_message, .stop_hosts = on_stop, .describe = on_describe,
		.modify = on_job,
	};

	memset(&host, 0, sizeof(host));
	host.mock = mock;
	keel_mock_service(mock, "task", &task);
}
