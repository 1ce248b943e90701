/* SPDX-License-Identifier: Apache-2.0
 *
 * check_lifecycle.c - a module comes and goes: often, short of memory, refused.
 */
#include "check_lifecycle.h"

#include <stdio.h>
#include <string.h>

#include "check_beside.h"
#include "check_child.h"
#include "check_watch.h"

#ifdef KEELSON_SANITIZED
enum { LOADS = 10 };
#else
enum { LOADS = 100 };
#endif
enum { FAILURES_MAX = 400 };

/* What a daemon refuses or passes over, and the mock, where others' rows make room for the module's, does not. */
static void names_look(const struct keel_module *m)
{
	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_attr_def *a = m->contribs[i].def;
		const char *owner;

		if (strcmp(m->contribs[i].kind, "ATTR") != 0)
			continue;
		owner = beside_owner(a);
		if (owner != NULL)
			finding(RULE_lifecycle_load, "attribute %s.%s already belongs to the module %s: call it otherwise",
				a->klass, a->name, owner);
		else if (stage_id(a->klass, CAST_BARE) == NULL && !beside_has_class(a->klass))
			finding(RULE_lifecycle_load, "attribute %s is of class '%s', which no module brings", a->name, a->klass);
	}
}

/* ---- once, and often ----------------------------------------------------------------------------- */
static bool load_once(void *arg, unsigned i)
{
	struct stage s;

	(void)i;
	child_step("being loaded");
	stage_open(&s, arg);
	if (stage_load(&s) < 0 && strstr(s.err.text, "the mock host") != NULL)
		skip(RULE_lifecycle_load, "%s", s.err.text); /* it wants what that host does not have */
	else if (s.mod == NULL && s.of->made_up != NULL)
		finding(RULE_lifecycle_load, "%s (made up here was%s say with --conf '...' what its group holds)",
			s.err.text, s.of->made_up);
	else if (s.mod == NULL)
		finding(RULE_lifecycle_load, "%s", s.err.text);
	names_look(s.of->m);
	stage_values(&s, true);
	child_step("being unloaded");
	stage_close(&s, "one load");
	return false;
}

static bool load_often(void *arg, unsigned i)
{
	struct stage s;
	unsigned files;

	(void)i;
	stage_open(&s, arg);
	files = watch_files();
	for (int n = 1; n <= LOADS && !rule_broken(RULE_lifecycle_repeat); n++) {
		const char *where;

		child_step("being loaded for the %dth time", n);
		if (stage_load(&s) < 0)
			finding(RULE_lifecycle_repeat, "load %d: %s", n, s.err.text);
		if (n == 1)
			stage_values(&s, true); /* from the second on objects have them, as after a restart */
		stage_unload(&s);
		if (s.mod != NULL)
			break; /* it is busy: its right */
		if (watch_live(&where) > 0)
			finding(RULE_lifecycle_repeat, "after load %d: %s", n, where);
		if (watch_files() > files)
			finding(RULE_lifecycle_repeat, "after load %d: a file is open", n);
	}
	stage_close(&s, "a hundred loads");
	return false;
}

/* ---- failures -------------------------------------------------------------------------------------- */
static bool fail_allocation(void *arg, unsigned i)
{
	unsigned n = i + 1;
	char after[64];
	struct stage s;
	bool failed;

	stage_open(&s, arg);
	s.leftovers = RULE_lifecycle_alloc_failure;
	child_step("with allocation %u failing while it is loaded", n);
	watch_fail(n);
	(void)stage_load(&s);
	failed = watch_failed();
	watch_fail(0);
	stage_unload(&s);
	snprintf(after, sizeof(after), "allocation %u failed", n);
	stage_close(&s, after);
	return failed && n < FAILURES_MAX;
}

static bool fail_call(void *arg, unsigned i)
{
	unsigned n = i + 1, calls;
	char after[96];
	struct stage s;
	bool failed, loaded;

	stage_open(&s, arg);
	s.leftovers = RULE_lifecycle_init_unwinds;
	child_step("with API call %u failing while it is loaded", n);
	calls = keel_mock_calls(s.mock);
	keel_mock_fail_call(s.mock, n);
	loaded = stage_load(&s) == 0;
	failed = keel_mock_calls(s.mock) - calls >= n;
	keel_mock_fail_call(s.mock, 0);
	if (loaded)
		s.leftovers = RULE_lifecycle_api_failure;
	snprintf(after, sizeof(after), "API call %u failed and it was %s", n, loaded ? "unloaded" : "refused");
	stage_close(&s, after);
	return failed && n < FAILURES_MAX;
}

/* ---- the group ------------------------------------------------------------------------------------- */
bool check_lifecycle(const struct subject *s, bool all)
{
	void *arg = (void *)(uintptr_t)s;

	look(RULE_lifecycle_load);
	child_cases(load_once, arg, RULE_lifecycle_load, RULE_lifecycle_load);
	if (rule_broken(RULE_lifecycle_load) || rule_skipped(RULE_lifecycle_load))
		return false;
	if (!all)
		return true;
	look_from_to(RULE_lifecycle_repeat, RULE_lifecycle_init_unwinds);
	child_cases(load_often, arg, RULE_lifecycle_repeat, RULE_lifecycle_repeat);
	if (rule_broken(RULE_lifecycle_repeat))
		return true; /* all else would say it again */
	child_cases(config_case, arg, RULE_lifecycle_config, RULE_lifecycle_config);
	child_cases(fail_allocation, arg, RULE_lifecycle_alloc_failure, RULE_lifecycle_alloc_failure);
	child_cases(fail_call, arg, RULE_lifecycle_api_failure, RULE_lifecycle_api_failure);
	return true;
}
