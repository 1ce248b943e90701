/* SPDX-License-Identifier: Apache-2.0
 *
 * attributes.c - tolerate_node_failures and spare_nodes of a job.
 *
 * The value is read at the start of a run and sent to its hosts; what is set later counts from the next run on.
 */
#include "tolerate.h"

#include <stdlib.h>
#include <string.h>

#include "keel/type.h"

static const char *const words[TOLERANCES] = {
	[TOLERATE_NONE] = "none", [TOLERATE_JOB_START] = "job_start", [TOLERATE_ALL] = "all",
};

bool tolerance_of(const char *text, enum tolerance *ret)
{
	for (int i = 0; i < TOLERANCES; i++) {
		if (strcmp(text, words[i]) == 0) {
			*ret = (enum tolerance)i;
			return true;
		}
	}
	return false;
}

static int32_t parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op, const char *key,
		     const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	enum tolerance value;
	char *copy;

	(void)mod, (void)attr, (void)key;
	if (op != KEEL_SET || !tolerance_of(text, &value))
		return keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
	copy = strdup(text);
	if (!copy)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	keel_type_take(slot, is_set, copy);
	return 0;
}

static int32_t match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
		     const char *key, const char *text, struct keel_err *err)
{
	bool same = is_set && text && strcmp(slot->p, text) == 0;

	(void)mod, (void)key, (void)err;
	return op == KEEL_NE ? !same : same;
}

const struct keel_type_def tolerance_type = {
	.size = sizeof(struct keel_type_def), .name = "node_failures", .doc = "all, job_start or none",
	KEEL_TYPE_OF_TEXT, .parse = parse, .match = match,
};

/* EMPTY: "" is no value, and no way to unset it. FLAG1: may be set while the job runs. */
const struct keel_attr_def tolerance_row =
	KEEL_ATTR_DEF("job", "tolerate_node_failures", "node_failures", .order = 615,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_FLAG1 | KEEL_ATTR_EMPTY, .read_roles = KEEL_EVERYBODY,
		      .write_roles = KEEL_EVERYBODY, .doc = 
		      "which failures of its hosts the job survives (qsub -W): all, job_start or none");
