/* SPDX-License-Identifier: Apache-2.0
 *
 * make.c - queues that modules make, change and remove (service queue): values through a change set, and the log lines that a
 * request of qmgr has.
 */
#include "queues.h"

#include <string.h>

#define QUEUE_NAME_MAX 15 /* as for queues of managers */

static int32_t fails(struct keel_err *err, int32_t code)
{
	return keel_error(err, code, "%s", keel_pbse_text(code));
}

static void log_sets(struct keel_mod *mod, const char *name, const struct keel_queue_set *set, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		keel_log(mod, KEEL_LOG_ADMIN, "Que", name, "attributes %s: %s%s%s%s%s", set[i].value ? "set" : "unset",
			 set[i].name, set[i].key ? "." : "", set[i].key ? set[i].key : "", set[i].value ? " = " : "",
			 set[i].value ? set[i].value : "");
}

/* Checks and parses all of them, as a manager's request would be. *ret is the caller's to commit. Fails with a PBSE code and *err. */
static int32_t sets_prepare(struct keel_mod *mod, struct keel_obj *queue, const struct keel_queue_set *set, uint32_t n,
			    struct keel_changes **ret, struct keel_err *err)
{
	struct keel_changes *ch = keel_changes(mod);
	int32_t code = ch ? 0 : fails(err, PBSE_SYSTEM);

	for (uint32_t i = 0; i < n && !code; i++)
		code = keel_change(ch, NULL, queue,
				   &(struct keel_attrop){ set[i].name, set[i].key, set[i].value ? set[i].value : "",
							  set[i].value ? KEEL_SET : KEEL_UNSET },
				   err);
	if (code)
		keel_discard(ch);
	else
		*ret = ch;
	return code;
}

int32_t queue_create(struct keel_mod *mod, const char *name, const struct keel_queue_set *set, uint32_t n, const char *who,
		     struct keel_err *err)
{
	struct keel_changes *ch;
	struct keel_obj *queue;
	int32_t code;

	if (keel_find(mod, "queue", name))
		return fails(err, PBSE_QUEEXIST);
	if (strlen(name) > QUEUE_NAME_MAX)
		return fails(err, PBSE_QUENBIG);
	queue = keel_draft(mod, "queue", name, err);
	if (!queue)
		return fails(err, err->code > 0 ? err->code : PBSE_SYSTEM);
	code = sets_prepare(mod, queue, set, n, &ch, err);
	if (!code) {
		keel_commit(ch);
		code = keel_publish(queue) ? fails(err, PBSE_SYSTEM) : 0;
	}
	if (code) {
		keel_destroy(queue);
		return code;
	}
	keel_log(mod, KEEL_LOG_ADMIN, "Que", name, "created at request of %s", who);
	log_sets(mod, name, set, n);
	return 0;
}

int32_t queue_change(struct keel_mod *mod, struct keel_obj *queue, const struct keel_queue_set *set, uint32_t n,
		     const char *who, struct keel_err *err)
{
	struct keel_changes *ch;
	int32_t code = sets_prepare(mod, queue, set, n, &ch, err);

	if (code)
		return code;
	keel_commit(ch);
	keel_log(mod, KEEL_LOG_ADMIN, "Que", keel_id(queue), "attributes set:  at request of %s", who);
	log_sets(mod, keel_id(queue), set, n);
	return 0;
}

int32_t queue_remove(struct keel_mod *mod, struct keel_obj *queue, const char *who)
{
	if (queue_has_jobs(queue))
		return PBSE_OBJBUSY;
	keel_log(mod, KEEL_LOG_ADMIN, "Que", keel_id(queue), "deleted at request of %s", who);
	keel_destroy(queue);
	return 0;
}
