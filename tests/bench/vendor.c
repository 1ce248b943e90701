/* SPDX-License-Identifier: Apache-2.0
 *
 * vendor.c - a module as sites have many of: a key, an attribute, memory on each job, taps where jobs come and
 * go. scripts/bench builds it under thirty names, -DVENDOR=n.
 */
#include "keel/keel.h"

#define TEXT_OF(n) #n
#define TEXT(n) TEXT_OF(n)
#define NAME "vendor" TEXT(VENDOR)

struct conf {
	int64_t most;
};
struct state {
	const struct keel_attr *mark;
	int64_t jobs;
};
struct note {
	int64_t seen;
};

static void see(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct note *note = keel_slot(mod, job);

	st->jobs++;
	if (note)
		note->seen = st->jobs;
}

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	see(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	see(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	struct state *st = keel_state(c);

	(void)ev;
	st->jobs--;
	return KEEL_NEXT;
}

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	const struct state *st = keel_state(c);
	const struct conf *cf = keel_conf(c);

	(void)ev;
	return st->jobs < cf->most ? KEEL_NEXT : keel_reject(c, 0, "enough");
}

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	st->mark = keel_attr_find(mod, "job", NAME);
	if (keel_slot_bind(mod, "job", sizeof(struct note), NULL))
		return keel_error(err, -1, "cannot attach to jobs");
	return 0;
}

static const struct keel_attr_def mark = KEEL_ATTR_DEF("job", NAME, "long", .flags = KEEL_ATTR_SAVE,
						       .read_roles = KEEL_EVERYBODY, .doc = "a mark");
static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct conf, most, .fallback = "1000000000", .min = 1, .max = INT64_MAX,
		       .doc = "how many jobs there may be"),
};
static const struct keel_contrib contribs[] = { KEEL_ROW(ATTR, mark) };
static const struct keel_tap taps[] = {
	KEEL_TAP(job_known, on_known),
	KEEL_TAP(job_queued, on_queued),
	KEEL_TAP(job_purged, on_purged),
	KEEL_TAP(job_submit, on_submit),
};

KEEL_MODULE(.name = NAME, .version = "1.0", .vendor = "bench", .summary = "a module of a vendor",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init);
