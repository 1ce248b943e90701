/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - what this module was told to do: its configuration, or what sched_config says over it.
 */
#include "prime-time.h"

#include "keel/setting.h"

static void prefix_of(struct keel_mod *mod, const char *name, const char *ours, char ret[PREFIX_MAX])
{
	struct state *st = mod->state;
	char word[KEEL_SETTING_MAX];

	keel_setting(st->sched, name, ours, word);
	snprintf(ret, PREFIX_MAX, "%.*s", PREFIX_MAX - 1, word);
}

void rules_read(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct rules *r = &st->rules;
	char word[KEEL_SETTING_MAX];

	prefix_of(mod, "dedicated_prefix", conf->dedicated_prefix, r->dedicated);
	prefix_of(mod, "primetime_prefix", conf->primetime_prefix, r->prime);
	prefix_of(mod, "nonprimetime_prefix", conf->nonprimetime_prefix, r->nonprime);
	keel_setting(st->sched, "prime_spill", conf->prime_spill, word);
	r->spill = keel_setting_seconds(word);
	r->backfill = keel_setting_true(st->sched, "backfill_prime", conf->backfill_prime);
	r->exempt_anytime = keel_setting_true(st->sched, "prime_exempt_anytime_queues",
				     conf->prime_exempt_anytime_queues);
}

static bool begins(const char *name, const char *prefix)
{
	return *prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

enum queue_kind queue_kind(const struct rules *r, const char *name)
{
	if (begins(name, r->dedicated))
		return DEDICATED;
	if (begins(name, r->nonprime))
		return NONPRIME;
	return begins(name, r->prime) ? PRIME : ANYTIME;
}
