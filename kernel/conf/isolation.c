/* SPDX-License-Identifier: Apache-2.0
 *
 * isolation.c - `isolation = "process"` and `isolation_limits = { ... }` of a module's group.
 */
#include <errno.h>
#include <stdio.h>

#include "conf/inside.h"
#include "util/err.h"

#define MINUTE 60000
#define MB (1024 * 1024)

static const struct keel_conf_rule where_rules[] = {
	CONF_RULE_AS(ENUM, isolation, struct conf_isolation, process, .choices = "inline,process",
		     .fallback = "inline",
		     .doc = "where the module runs: in the daemon, or in a process of its own"),
};

struct limits {
	int64_t memory, deadline, deaths, within;
	const char *user;
};
static const struct keel_conf_rule limit_rules[] = {
	KEEL_CONF_RULE(SIZE, struct limits, memory, .fallback = "512mb", .min = 32LL * MB,
		       .max = INT64_MAX, .doc = "address space of the process"),
	KEEL_CONF_RULE(DURATION, struct limits, deadline, .fallback = "250ms", .min = 10,
		       .max = 60 * MINUTE, .doc = "how long one call may take before the process is killed"),
	KEEL_CONF_RULE(INT, struct limits, deaths, .fallback = "5", .min = 0, .max = 1000000,
		       .doc = "so many deaths within the time below, and it is not started again; 0: always"),
	KEEL_CONF_RULE(DURATION, struct limits, within, .fallback = "10m", .min = 1000,
		       .max = 24 * 60 * MINUTE, .doc = "the time in which deaths are counted"),
	KEEL_CONF_RULE(STRING, struct limits, user, .fallback = "nobody",
		       .doc = "whom the process runs as when the daemon is root"),
};

static int limits_take(struct conf_isolation *ret, const struct limits *l, const char *module,
		       struct keel_err *err)
{
	ret->memory = l->memory;
	ret->deadline_ms = l->deadline;
	ret->deaths = l->deaths;
	ret->within_ms = l->within;
	if ((size_t)snprintf(ret->user, sizeof(ret->user), "%s", l->user) < sizeof(ret->user))
		return 0;
	return err_set(err, -EINVAL, "%s.isolation_limits.user: \"%s\" is too long for a user's name", module,
		       l->user);
}

int conf_isolation(const struct conf *c, const char *module, struct conf_isolation *ret,
		   struct keel_err *err)
{
	struct conf_data *data;
	int code;

	*ret = (struct conf_isolation){ .process = 0 };
	code = conf_fill_some(c, module, where_rules, KEEL_COUNT(where_rules), sizeof(*ret), &data, err);
	if (code < 0)
		return code;
	ret->process = ((const struct conf_isolation *)conf_data(data))->process;
	conf_data_destroy(data);
	code = conf_fill_member(c, module, "isolation_limits", limit_rules, KEEL_COUNT(limit_rules),
				sizeof(struct limits), &data, err);
	if (code < 0)
		return code;
	code = limits_take(ret, conf_data(data), module, err);
	conf_data_destroy(data);
	return code;
}
