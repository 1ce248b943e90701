/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - what this module was told to do: its configuration, or what sched_config says over it.
 */
#include "prime-time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 256

/* The word of sched_config, else ours. */
static void word_of(struct keel_mod *mod, const char *name, const char *ours, char *buf)
{
	struct state *st = mod->state;

	if (!st->sched || !st->sched->setting ||
	    st->sched->setting(st->sched->self, name, buf, WORD_MAX) < 0)
		snprintf(buf, WORD_MAX, "%s", ours ? ours : "");
}

static bool truth_of(struct keel_mod *mod, const char *name, bool ours)
{
	char word[WORD_MAX];

	word_of(mod, name, ours ? "true" : "false", word);
	return strchr("tTyY1", word[0]) && word[0];
}

static void prefix_of(struct keel_mod *mod, const char *name, const char *ours, char ret[PREFIX_MAX])
{
	char word[WORD_MAX];

	word_of(mod, name, ours, word);
	snprintf(ret, PREFIX_MAX, "%.*s", PREFIX_MAX - 1, word);
}

/* `1:30:00`, `90:00`, `5400` */
static int64_t seconds_of(const char *word)
{
	int64_t seconds = 0;
	char *end;

	for (;;) {
		long n = strtol(word, &end, 10);

		if (end == word || n < 0 || n > 100000000)
			return 0;
		seconds = seconds * 60 + n;
		if (*end != ':')
			return seconds;
		word = end + 1;
	}
}

void rules_read(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct rules *r = &st->rules;
	char word[WORD_MAX];

	prefix_of(mod, "dedicated_prefix", conf->dedicated_prefix, r->dedicated);
	prefix_of(mod, "primetime_prefix", conf->primetime_prefix, r->prime);
	prefix_of(mod, "nonprimetime_prefix", conf->nonprimetime_prefix, r->nonprime);
	word_of(mod, "prime_spill", conf->prime_spill, word);
	r->spill = seconds_of(word);
	r->backfill = truth_of(mod, "backfill_prime", conf->backfill_prime);
	r->exempt_anytime = truth_of(mod, "prime_exempt_anytime_queues",
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
