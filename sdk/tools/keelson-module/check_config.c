/* SPDX-License-Identifier: Apache-2.0
 *
 * check_config.c - configurations that a module's rules allow, and some that they do not.
 *
 * One key at a time has a value of its own kind: the edges of its range, each of its choices, another
 * type. All others have their defaults, and those that must be given an ordinary value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_child.h"
#include "check_lifecycle.h"
#include "check_watch.h"
#include "rules/rules.h"

enum { TEXT_MAX = 8192 };

struct attempt {
	char text[TEXT_MAX]; /* "pause = 5;" */
	bool allowed;	     /* by the rule */
};

/* ---- values ---------------------------------------------------------------------------------------- */
/* As libconfig writes it; durations have their unit, as a bare number would be seconds. */
static void number(const struct keel_conf_rule *r, int64_t n, struct attempt *ret)
{
	if (r->type == KEEL_CONF_DURATION)
		snprintf(ret->text, TEXT_MAX, "%s = \"%" PRId64 "ms\";", r->key, n);
	else
		snprintf(ret->text, TEXT_MAX, "%s = %" PRId64 "L;", r->key, n);
	ret->allowed = (r->min == 0 && r->max == 0) || (n >= r->min && n <= r->max);
	if (r->type != KEEL_CONF_INT && n < 0)
		ret->allowed = false;
}

static bool number_case(const struct keel_conf_rule *r, unsigned k, struct attempt *ret)
{
	const bool ranged = r->min != 0 || r->max != 0;
	const int64_t edges[] = { ranged ? r->min : 0, ranged ? r->max : INT32_MAX, 1,
				  r->min == INT64_MIN ? r->min : r->min - 1,
				  r->max == INT64_MAX ? r->max : r->max + 1 };

	if (k < (ranged ? 5 : 3)) {
		number(r, edges[k], ret);
		return true;
	}
	snprintf(ret->text, TEXT_MAX, "%s = \"no number at all\";", r->key);
	ret->allowed = false;
	return k < (ranged ? 6 : 4);
}

/* Each choice, then one that is none. */
static bool choice_case(const struct keel_conf_rule *r, unsigned k, struct attempt *ret)
{
	const char *at = r->choices;
	size_t len = 0;

	for (unsigned i = 0; i <= k; i++) {
		at += len + strspn(at + len, ", ");
		len = strcspn(at, ", ");
		if (len == 0 && i < k)
			return false;
	}
	ret->allowed = len > 0;
	if (len > 0)
		snprintf(ret->text, TEXT_MAX, "%s = \"%.*s\";", r->key, (int)len, at);
	else
		snprintf(ret->text, TEXT_MAX, "%s = \"none-of-these\";", r->key);
	return true;
}

static bool fixed_case(const struct keel_conf_rule *r, unsigned k, const char *const (*values)[2], struct attempt *ret)
{
	for (unsigned i = 0; i <= k; i++)
		if (values[i][0] == NULL)
			return false;
	snprintf(ret->text, TEXT_MAX, "%s = %s;", r->key, values[k][0]);
	ret->allowed = values[k][1] != NULL;
	return true;
}

static bool string_case(const struct keel_conf_rule *r, unsigned k, struct attempt *ret)
{
	static const char *const values[][2] = { { "\"\"", "yes" }, { "\"x\"", "yes" },
						 { "\"/no/such/place %s%n \\\"quoted\\\"\"", "yes" },
						 { "{ x = 1; }", NULL }, { "true", NULL }, { NULL, NULL } };
	static const char letters[] = "abcdefghij";
	int n;

	if (k > 0)
		return fixed_case(r, k - 1, values, ret);
	n = snprintf(ret->text, TEXT_MAX, "%s = \"", r->key);
	for (int i = 0; i < 4096; i++)
		ret->text[n++] = letters[i % 10];
	snprintf(ret->text + n, TEXT_MAX - (size_t)n, "\";");
	ret->allowed = true;
	return true;
}

/* False: the key has no case k. */
static bool case_of(const struct keel_conf_rule *r, unsigned k, struct attempt *ret)
{
	static const char *const bools[][2] = { { "true", "yes" }, { "false", "yes" }, { "5", NULL },
						{ "\"perhaps\"", NULL }, { NULL, NULL } };
	static const char *const lists[][2] = { { "[ ]", "yes" }, { "[ \"\" ]", "yes" },
						{ "[ \"a\", \"b\", \"b\" ]", "yes" }, { "[ 1, 2 ]", NULL },
						{ "true", NULL }, { NULL, NULL } };

	switch (r->type) {
	case KEEL_CONF_BOOL: return fixed_case(r, k, bools, ret);
	case KEEL_CONF_LIST: return fixed_case(r, k, lists, ret);
	case KEEL_CONF_STRING: return string_case(r, k, ret);
	case KEEL_CONF_ENUM: return choice_case(r, k, ret);
	default: return number_case(r, k, ret);
	}
}

/* ---- what must be given ---------------------------------------------------------------------------- */
/* All keys that must be, but `but` (NULL: all of them). */
static void required_add(const struct keel_module *m, const char *but, char *text)
{
	struct attempt a;

	for (uint32_t i = 0; i < m->n_conf; i++) {
		const struct keel_conf_rule r = rule_at(m->conf, i);
		size_t len = strlen(text);

		if (!(r.flags & KEEL_CONF_REQUIRED) || (but != NULL && strcmp(but, r.key) == 0))
			continue;
		if (case_of(&r, r.type == KEEL_CONF_STRING ? 2 : 0, &a))
			snprintf(text + len, TEXT_MAX - len, " %.200s", a.text);
	}
}

char *config_required(const struct keel_module *m)
{
	char *text = calloc(1, TEXT_MAX);

	if (text != NULL)
		required_add(m, NULL, text);
	if (text != NULL && text[0] == '\0') {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- the rule -------------------------------------------------------------------------------------- */
static bool attempt_at(const struct keel_module *m, unsigned i, struct attempt *ret)
{
	for (uint32_t row = 0; row < m->n_conf; row++) {
		const struct keel_conf_rule r = rule_at(m->conf, row);
		unsigned k = 0;

		for (; case_of(&r, k, ret); k++)
			if (i-- == 0) {
				required_add(m, r.key, ret->text);
				return true;
			}
		if (!(r.flags & KEEL_CONF_REQUIRED) || i-- > 0)
			continue;
		ret->text[0] = '\0';
		ret->allowed = false;
		required_add(m, r.key, ret->text);
		return true;
	}
	snprintf(ret->text, TEXT_MAX, "no_such_key_%s = 1;", m->name);
	ret->allowed = false;
	required_add(m, NULL, ret->text);
	return i == 0;
}

static void judge(struct stage *s, const struct attempt *a)
{
	bool taken = keel_mock_check(s->mock, s->of->m, a->text, &s->err) == 0;

	if (taken && !a->allowed)
		finding(RULE_lifecycle_config, "%.200s: it was taken, its rules do not allow it", a->text);
	if (!taken && a->allowed && s->err.text[0] == '\0')
		finding(RULE_lifecycle_config, "%.200s: it was refused without a word", a->text);
	if (taken && stage_load(s) < 0 && s->err.text[0] == '\0')
		finding(RULE_lifecycle_config, "%.200s: it was refused without a word", a->text);
	if (s->mod != NULL && keel_mock_reconf(s->mod, s->of->conf, &s->err) < 0 && s->err.text[0] == '\0')
		finding(RULE_lifecycle_config, "%.200s: a reload was refused without a word", a->text);
}

bool config_case(void *arg, unsigned i)
{
	struct attempt a;
	struct subject with = *(const struct subject *)arg;
	struct stage s;

	if (!attempt_at(with.m, i, &a))
		return false;
	with.conf = a.text;
	stage_open(&s, &with);
	s.leftovers = RULE_lifecycle_config;
	child_step("with %.200s", a.text);
	judge(&s, &a);
	stage_close(&s, a.text);
	return true;
}
