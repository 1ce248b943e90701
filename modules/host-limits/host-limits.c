/* SPDX-License-Identifier: Apache-2.0
 *
 * host-limits.c - $enforce of mom_priv/config: a job that uses more of this host than its share there is ended.
 *
 * Readings of its processes come from service part, on each host of a job; nothing is stored: what holds still is seen at
 * the next reading, by the next daemon too. On a sister fail() reaches the primary, which ends the job.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/keel.h"
#include "keel/service/part.h"
#include "keel/strings.h"
#include "rules.h"

/* Exit statuses. */
#define OVER_BURST (-24)
#define OVER_AVERAGE (-25)
#define OVER_MEM (-27)

KEEL_USE_OPT(part);

struct conf {
	bool mem, complexmem, cpuaverage, cpuburst, cgroup;
	int64_t burst_window;
};

struct job {
	int64_t run;
	struct load load;
	UT_hash_handle hh;
	char id[];
};

struct state {
	struct job *jobs; /* with a reading, while cpuburst is on */
	char **said;	  /* by mom_priv/config */
};

static const struct keel_conf_rule conf_rules[] = {
	KEEL_CONF_RULE(BOOL, struct conf, mem, .fallback = "false",
		       .doc = "ends jobs whose processes have more memory resident than the job's share of this host"),
	KEEL_CONF_RULE(BOOL, struct conf, complexmem, .fallback = "false",
		       .doc = "likewise; memory that processes share counts once"),
	KEEL_CONF_RULE(BOOL, struct conf, cpuaverage, .fallback = "false",
		       .doc = "ends jobs that use more processors than their ncpus here, in all their time"),
	KEEL_CONF_RULE(BOOL, struct conf, cpuburst, .fallback = "false", .doc = "ends jobs that do so lately"),
	KEEL_CONF_RULE(BOOL, struct conf, cgroup, .fallback = "true",
		       .doc = "lets the kernel bound the memory of jobs that are watched for it, where this host has cgroups for that: "
			      "none has more between readings"),
	KEEL_CONF_RULE(DURATION, struct conf, burst_window, .fallback = "120s", .min = 1000, .max = 86400000,
		       .doc = "how long lately is: what a job uses in so much time has the weight of delta_weightup or "
			      "delta_weightdown; in less, less"),
};

/* ---- what is on -------------------------------------------------------------------------------------------------- */
static void rules_of(struct keel_mod *mod, struct rules *ret)
{
	const struct state *st = mod->state;
	const struct conf *cf = mod->conf;
	char unused[RULES_WHY];

	rules_init(ret);
	ret->on[LIMIT_MEM] = cf->mem;
	ret->on[LIMIT_COMPLEXMEM] = cf->complexmem;
	ret->on[LIMIT_AVERAGE] = cf->cpuaverage;
	ret->on[LIMIT_BURST] = cf->cpuburst;
	for (char **at = st->said; at && *at; at++)
		rules_set(ret, *at, unused);
}

static int32_t enforce_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	struct rules unused;
	char why[RULES_WHY];

	(void)mod;
	rules_init(&unused);
	return rules_set(&unused, value, why) == 0 ? 0 : keel_error(err, -EINVAL, "%s", why);
}

static void enforce_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;
	char **copy = keel_strings_copy(values, n);

	if (!copy) {
		keel_log(mod, KEEL_LOG_ERROR, "Svr", mod->name, "$enforce stays as it was: no memory; reload again");
		return;
	}
	keel_strings_free(st->said);
	st->said = copy;
}

static const struct keel_mom_directive_def enforce_row = {
	.size = sizeof(enforce_row), .flags = KEEL_MOM_DIRECTIVE_MANY, .name = "$enforce",
	.doc = "[!]mem, complexmem, cpuaverage or cpuburst, or a number of these: limits of jobs that are watched here",
	.check = enforce_check, .apply = enforce_apply,
};

/* ---- readings ------------------------------------------------------------------------------------------------------ */
static struct job *job_of(struct keel_mod *mod, const struct keel_part *part)
{
	struct state *st = mod->state;
	struct job *j;

	HASH_FIND_STR(st->jobs, part->id, j);
	if (!j && (j = calloc(1, sizeof(*j) + strlen(part->id) + 1))) {
		strcpy(j->id, part->id);
		HASH_ADD_STR(st->jobs, id, j);
		if (!j->hh.tbl) {
			free(j);
			return NULL;
		}
	}
	if (j && j->run != part->run) {
		j->run = part->run;
		j->load = (struct load){ .begun = false };
	}
	return j;
}

static void job_drop(struct state *st, struct job *j)
{
	HASH_DEL(st->jobs, j);
	free(j);
}

static void mem_exceeded(const struct keel_part *part, int64_t kb, int64_t limit_kb)
{
	char line[100];

	snprintf(line, sizeof(line), "mem %lldkb exceeded limit %lldkb", (long long)kb, (long long)limit_kb);
	keel_part_fail(part->id, OVER_MEM, line);
}

/* What the kernel is to let it have, in kb; -1: what it wants. */
static int64_t bound_of(struct keel_mod *mod, const struct keel_part *part, const struct rules *r)
{
	const struct conf *cf = mod->conf;
	int64_t limit_kb = share_mem_kb(part->hosts[part->index].vnodes);

	return cf->cgroup && (r->on[LIMIT_MEM] || r->on[LIMIT_COMPLEXMEM]) && limit_kb > 0 ? limit_kb : -1;
}

static keel_verdict on_begin(struct keel_call *c, const struct keel_ev_task_begin *ev)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(ev->id) : NULL;
	struct rules r;

	rules_of(c->mod, &r);
	if (part)
		keel_part_bound(ev->id, bound_of(c->mod, part, &r));
	return KEEL_NEXT;
}

/* True: it is ended. */
static bool mem_check(const struct keel_part *part, const struct rules *r, int64_t kb)
{
	int64_t limit_kb = share_mem_kb(part->hosts[part->index].vnodes);

	if (limit_kb <= 0 || kb <= limit_kb)
		return false;
	if (r->on[LIMIT_COMPLEXMEM]) { /* it may have less than that: weighed() */
		keel_part_weigh(part->id);
		return false;
	}
	if (r->on[LIMIT_MEM])
		mem_exceeded(part, kb, limit_kb);
	return r->on[LIMIT_MEM];
}

static void ncpus_exceeded(const struct keel_part *part, double used, uint32_t ncpus, int32_t status, const char *how)
{
	char line[100];

	snprintf(line, sizeof(line), "ncpus %.1f exceeded limit %u (%s)", used, ncpus, how);
	keel_part_fail(part->id, status, line);
}

static void cpu_check(struct keel_mod *mod, const struct keel_part *part, const struct rules *r, const struct keel_part_reading *now)
{
	const struct conf *cf = mod->conf;
	uint32_t ncpus = part->hosts[part->index].ncpus;
	struct job *j = r->on[LIMIT_BURST] ? job_of(mod, part) : NULL;
	double used = 0;

	if (j)
		load_take(&j->load, r, now->cput_ms, now->walltime_ms, cf->burst_window);
	if (ncpus == 0)
		return;
	if (j && over_burst(&j->load, r, ncpus, &used))
		ncpus_exceeded(part, used, ncpus, OVER_BURST, "burst");
	else if (r->on[LIMIT_AVERAGE] && over_average(r, ncpus, now->cput_ms, now->walltime_ms, &used))
		ncpus_exceeded(part, used, ncpus, OVER_AVERAGE, "sum");
}

/* One that stands still cannot take more, and is judged when it goes on. */
static void measured(struct keel_mod *mod, const struct keel_part *part, const struct keel_part_reading *now)
{
	struct rules r;

	rules_of(mod, &r);
	keel_part_bound(part->id, bound_of(mod, part, &r));
	if (part->state == KEEL_PART_STOPPED || mem_check(part, &r, now->mem_kb))
		return;
	cpu_check(mod, part, &r, now);
}

static void weighed(struct keel_mod *mod, const struct keel_part *part, int64_t kb)
{
	int64_t limit_kb = share_mem_kb(part->hosts[part->index].vnodes);
	struct rules r;

	rules_of(mod, &r);
	if (r.on[LIMIT_COMPLEXMEM] && part->state != KEEL_PART_STOPPED && limit_kb > 0 && kb > limit_kb)
		mem_exceeded(part, kb, limit_kb);
}

/* The kernel was quicker. */
static void starved(struct keel_mod *mod, const struct keel_part *part, int64_t kb)
{
	int64_t limit_kb = share_mem_kb(part->hosts[part->index].vnodes);

	(void)mod;
	if (limit_kb > 0)
		mem_exceeded(part, kb > limit_kb ? kb : limit_kb, limit_kb);
}

static void gone(struct keel_mod *mod, const char *id, int64_t run, bool discarded)
{
	struct state *st = mod->state;
	struct job *j;

	(void)run, (void)discarded;
	HASH_FIND_STR(st->jobs, id, j);
	if (j)
		job_drop(st, j);
}

/* ---- the module ------------------------------------------------------------------------------------------------------ */
static const struct keel_part_events events = {
	.size = sizeof(struct keel_part_events), .gone = gone, .measured = measured, .weighed = weighed,
	.starved = starved,
};
static const struct keel_contrib contribs[] = { KEEL_ROW(MOM_DIRECTIVE, enforce_row) };
static const struct keel_tap taps[] = { KEEL_TAP(task_begin, on_begin) };

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_has(part) && keel_part_listen(mod, &events) < 0)
		return keel_error(err, -ENOMEM, "no memory for the limits of jobs");
	return 0;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (keel_has(part))
		keel_part_listen(mod, NULL);
	while (st->jobs)
		job_drop(st, st->jobs);
	keel_strings_free(st->said);
}

KEEL_MODULE(.name = "host-limits", .version = "1.0", .vendor = "Keelson",
	    .summary = "$enforce: memory and processors of jobs on a host", .roles = KEEL_MOM, .state_size = sizeof(struct state),
	    KEEL_CONF(struct conf, conf_rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .start = start, .fini = fini);
