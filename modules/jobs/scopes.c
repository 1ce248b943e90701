/* SPDX-License-Identifier: Apache-2.0
 *
 * scopes.c - what `match` of a site's configuration may say of jobs and queues: queue, user, host.
 */
#include "jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

KEEL_ATTRS_OF(job, euser, exec_host);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

static int32_t text_of(struct keel_obj *job, const struct keel_attr *attr,
		       char *buf, uint32_t len)
{
	const char *text = keel_get_str(job, attr);

	return text ? snprintf(buf, len, "%s", text) : -ENODATA;
}

static int32_t queue_of_job(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len)
{
	(void)mod;
	return text_of(job, attr_job_queue, buf, len);
}

static int32_t name_of_queue(struct keel_mod *mod, struct keel_obj *queue, char *buf, uint32_t len)
{
	(void)mod;
	return snprintf(buf, len, "%s", keel_id(queue));
}

static int32_t user_of_job(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len)
{
	(void)mod;
	return text_of(job, job_euser, buf, len);
}

/* `n1/0*4+n2/1` is n1 and n2, a line each. */
static int32_t hosts_of_job(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len)
{
	const char *at = keel_get_str(job, job_exec_host);
	uint32_t n = 0;

	(void)mod;
	if (!at)
		return -ENODATA;
	while (*at) {
		size_t part = strcspn(at, "+"), host = strcspn(at, "/+");

		n += (uint32_t)snprintf(n < len ? buf + n : NULL, n < len ? len - n : 0, "%.*s\n",
					(int)host, at);
		at += part + (at[part] == '+');
	}
	return (int32_t)n;
}

#define SCOPE(member, ...)                                                                         \
	const struct keel_scope_def scope_##member = { .size = sizeof(scope_##member), __VA_ARGS__ }
SCOPE(job_queue, .name = "queue", .klass = "job", .text = queue_of_job, .doc = "the job's queue");
SCOPE(queue, .name = "queue", .klass = "queue", .text = name_of_queue, .doc = "a queue's name");
SCOPE(user, .name = "user", .klass = "job", .text = user_of_job, .doc = "the user the job runs as");
SCOPE(host, .name = "host", .klass = "job", .text = hosts_of_job,
      .doc = "the hosts the job runs on, one per line; none before it has a place");
