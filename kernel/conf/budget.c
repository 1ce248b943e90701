/* SPDX-License-Identifier: Apache-2.0
 *
 * budget.c - `budget = { soft = "50ms"; hard = "1s"; strikes = 3; }` of a module's group: how long its taps
 * may take, where that is not what `hooks` says for all.
 */
#include "conf/inside.h"

#define HOUR 3600000
#define AS_FOR_ALL (-1)

struct budget {
	int64_t soft, hard, strikes;
};
static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct budget, soft, .fallback = "0s", .min = 0, .max = HOUR,
		       .doc = "a tap of it that computes or blocks longer is logged"),
	KEEL_CONF_RULE(DURATION, struct budget, hard, .fallback = "0s", .min = 0, .max = HOUR,
		       .doc = "a tap of it that computes or blocks longer gets a strike"),
	KEEL_CONF_RULE(INT, struct budget, strikes, .fallback = "-1", .min = AS_FOR_ALL, .max = 1000000,
		       .doc = "a tap with so many strikes is benched; 0: never"),
};

int conf_budget(const struct conf *c, const char *module, struct owner_budget *ret, struct keel_err *err)
{
	const struct budget *b;
	struct conf_data *data;
	int code = conf_fill_member(c, module, "budget", rules, KEEL_COUNT(rules), sizeof(*b), &data, err);

	if (code < 0)
		return code;
	b = conf_data(data);
	*ret = (struct owner_budget){ .soft_ms = b->soft, .hard_ms = b->hard,
				      .strikes = b->strikes == AS_FOR_ALL ? 0 :
						 b->strikes == 0 ? OWNER_NO_STRIKES : b->strikes };
	conf_data_destroy(data);
	return 0;
}
