/* SPDX-License-Identifier: Apache-2.0
 *
 * spare.c - spare_nodes of a job: its select has more chunks than it needs, so that it can start without some.
 *
 * The select is padded before defaults and sums are computed, so that limits and the scheduler see the padded one; the one
 * that was submitted is kept in kept_select. At its start the job gives back what is too much: release.c.
 */
#include "tolerate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "increment.h"

KEEL_ATTR_OPT(job, Resource_List);
KEEL_ATTR_OPT(job, tolerate_node_failures);
KEEL_ATTR_OPT(job, spare_nodes);
KEEL_ATTR_OPT(job, kept_select);

static int32_t spares_check(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job, int32_t op,
			    const char *key, const char *text, struct keel_err *err)
{
	int64_t n = text ? strtoll(text, NULL, 10) : 0;

	(void)mod, (void)who, (void)job, (void)key;
	if (op == KEEL_SET && (n < 0 || n >= INCREMENT_COUNT_MAX))
		return keel_error(err, PBSE_BADATVAL, "%s: spare_nodes is from 0 to %d", keel_pbse_text(PBSE_BADATVAL),
				  INCREMENT_COUNT_MAX - 1);
	return 0;
}

const struct keel_attr_def spares_row =
	KEEL_ATTR_DEF("job", "spare_nodes", "long", .order = 616, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY,
		      .write_roles = KEEL_EVERYBODY, .check = spares_check,
		      .doc = "how many chunks it is given beside those it needs, in case hosts fail at its start (qsub -W)");
const struct keel_attr_def kept_row =
	KEEL_ATTR_DEF("job", "kept_select", "string", .order = 617, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY,
		      .doc = "select as submitted, of a job with spare_nodes: what it keeps at its start");

/* The text of an attribute as it will be; the caller frees it. NULL: unset. */
static char *text_of(struct keel_changes *ch, struct keel_obj *job, const struct keel_attr *attr, const char *key)
{
	int32_t len = keel_change_peek(ch, job, attr, key, NULL, 0);
	char *text = len < 0 ? NULL : malloc((size_t)len + 1);

	if (text && keel_change_peek(ch, job, attr, key, text, (uint32_t)len + 1) < 0) {
		free(text);
		text = NULL;
	}
	return text;
}

/* Has the select of a job that is padded been changed to another one? */
static bool is_new(struct keel_obj *job, const char *select)
{
	int32_t len = keel_get_text(job, job_Resource_List, "select", NULL, 0);
	char *old = len < 0 ? NULL : malloc((size_t)len + 1);
	bool same = old && keel_get_text(job, job_Resource_List, "select", old, (uint32_t)len + 1) >= 0 && strcmp(old, select) == 0;

	free(old);
	return !same;
}

/* A job that may lose hosts needs a tolerance; "none" and spares contradict each other. */
static int32_t tolerance_complete(struct keel_changes *ch, struct keel_obj *job, struct keel_err *err)
{
	const union keel_slot *slot = keel_change_slot(ch, job, job_tolerate_node_failures);

	if (!slot)
		return keel_change_text(ch, job, job_tolerate_node_failures, KEEL_SET, NULL, "job_start", err);
	if (strcmp(slot->p, "none") != 0)
		return 0;
	return keel_error(err, PBSE_BADATVAL, "%s: spare_nodes needs tolerate_node_failures=job_start or all",
			  keel_pbse_text(PBSE_BADATVAL));
}

static int32_t pad(struct keel_changes *ch, struct keel_obj *job, const char *base, int64_t spares, struct keel_err *err)
{
	struct keel_text padded;
	char rule[24];
	int32_t code;

	keel_text_init(&padded);
	snprintf(rule, sizeof(rule), "%lld", (long long)spares);
	code = increment_chunks(base, rule, &padded);
	if (code)
		code = keel_error(err, code == -ENOMEM ? PBSE_SYSTEM : PBSE_BADATVAL, "%s: select with %s spare nodes",
				  keel_pbse_text(PBSE_BADATVAL), rule);
	else
		code = keel_change_text(ch, job, job_Resource_List, KEEL_SET, "select", padded.data, err);
	if (!code)
		code = keel_change_text(ch, job, job_kept_select, KEEL_SET, NULL, base, err);
	keel_text_fini(&padded);
	return code ? code : tolerance_complete(ch, job, err);
}

/* Without a select there is one chunk, the primary's, which has no spare. */
static int32_t prepare_select(struct keel_changes *ch, struct keel_obj *job, const char *select, const char *kept,
			      int64_t spares, bool *changed, struct keel_err *err)
{
	const char *base = kept && !is_new(job, select) ? kept : select;

	*changed = true;
	if (spares > 0)
		return pad(ch, job, base, spares, err);
	return keel_change_text(ch, job, job_Resource_List, KEEL_SET, "select", base, err) ||
	       keel_change_text(ch, job, job_kept_select, KEEL_UNSET, NULL, NULL, err);
}

static int32_t prepare(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job, bool *changed,
		       struct keel_err *err)
{
	const union keel_slot *slot = job_spare_nodes ? keel_change_slot(ch, job, job_spare_nodes) : NULL;
	const int64_t spares = slot ? slot->i : 0;
	char *select, *kept, *nodes;
	int32_t code = 0;

	(void)mod;
	if (!job_Resource_List || !job_kept_select || (!spares && !keel_is_set(job, job_kept_select)))
		return 0;
	select = text_of(ch, job, job_Resource_List, "select");
	nodes = text_of(ch, job, job_Resource_List, "nodes");
	kept = text_of(ch, job, job_kept_select, NULL);
	if (nodes && spares)
		code = keel_error(err, PBSE_BADATVAL, "%s: spare_nodes needs -l select, not -l nodes",
				  keel_pbse_text(PBSE_BADATVAL));
	else if (select && !nodes)
		code = prepare_select(ch, job, select, kept, spares, changed, err);
	free(select);
	free(nodes);
	free(kept);
	return code;
}

const struct keel_job_prepare_def spare_prepare = {
	.size = sizeof(struct keel_job_prepare_def), .name = "spare_nodes", .doc = "chunks beside those that the job needs",
	.prepare = prepare,
};
