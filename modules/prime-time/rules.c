/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - the settings: the module's configuration, overridden by sched_config.
 */
#include "prime-time.h"

#include "keel/setting.h"

#include <stdlib.h>

static void prefix_of(const char *name, const char *ours, char **ret)
{
	free(*ret);
	*ret = keel_setting(name, ours);
}

void rules_read(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct rules *r = &st->rules;
	char *word;

	prefix_of("dedicated_prefix", conf->dedicated_prefix, &r->dedicated);
	prefix_of("primetime_prefix", conf->primetime_prefix, &r->prime);
	prefix_of("nonprimetime_prefix", conf->nonprimetime_prefix, &r->nonprime);
	word = keel_setting("prime_spill", conf->prime_spill);
	r->spill = keel_setting_seconds(word ? word : "");
	free(word);
	r->backfill = keel_setting_true("backfill_prime", conf->backfill_prime);
	r->exempt_anytime = keel_setting_true("prime_exempt_anytime_queues",
				     conf->prime_exempt_anytime_queues);
}

static bool begins(const char *name, const char *prefix)
{
	return prefix && *prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

enum queue_kind queue_kind(const struct rules *r, const char *name)
{
	if (begins(name, r->dedicated))
		return DEDICATED;
	if (begins(name, r->nonprime))
		return NONPRIME;
	return begins(name, r->prime) ? PRIME : ANYTIME;
}
