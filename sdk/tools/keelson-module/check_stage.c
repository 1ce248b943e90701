/* SPDX-License-Identifier: Apache-2.0
 *
 * check_stage.c - a host for one case: made, used, and thrown away.
 */
#include "check_stage.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "check_beside.h"
#include "check_child.h"
#include "check_home.h"
#include "check_host.h"
#include "check_watch.h"

enum { BUDGET_MS = 250 };

/* ---- what it does wrong -------------------------------------------------------------------------- */
static void violated(void *arg, const char *name, const char *words)
{
	static const struct {
		const char *name;
		enum rule rule;
	} rules[] = {
		{ "timer-ended", RULE_calls_handles },
		{ "reply-twice", RULE_calls_requests }, { "reply-missing", RULE_calls_requests },
		{ "bad-verdict", RULE_calls_verdict }, { "wait-without-hold", RULE_calls_wait },
		{ "hold-without-wait", RULE_calls_wait }, { "off-thread", RULE_calls_thread },
	};
	const struct stage *s = arg;
	const struct keel_mod *inside = keel_mock_inside(s->mock);
	enum rule rule = s->leftovers;

	if (inside != NULL && beside_is(inside->name))
		return; /* not the one under test */
	for (size_t i = 0; i < KEEL_COUNT(rules); i++)
		if (strcmp(rules[i].name, name) == 0)
			rule = rules[i].rule;
	finding(rule, "%s: %s, %s", name, words, child_last_step());
}

int64_t worked_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void judge_time(int64_t since)
{
	if (worked_ms() - since > BUDGET_MS)
		finding(RULE_calls_budget, "%s takes longer than %d ms", child_last_step(), BUDGET_MS);
}

/* ---- the cluster --------------------------------------------------------------------------------- */
/* As long as an id of such an object gets. */
#define LONG_NAME "a-queue-or-host-with-a-name-that-is-as-long-as-names-get-123456"

static const struct {
	const char *klass, *id[N_CASTS];
} cast_list[] = {
	{ "server", { "svr", "svr", "svr" } },
	{ "sched", { "default", "default", "default" } },
	{ "resource", { "thing", "gadget", LONG_NAME } },
	{ "queue", { "emptyq", "workq", LONG_NAME } },
	{ "node", { "newhost", "mockhost", LONG_NAME } },
	{ "resv", { "R1001.svr", "R1002.svr", "R999999999999." LONG_NAME } },
	{ "job", { "1001.svr", "1002.svr", "999999999999." LONG_NAME } },
};

const char *stage_id(const char *klass, enum cast cast)
{
	for (size_t i = 0; i < KEEL_COUNT(cast_list); i++)
		if (strcmp(cast_list[i].klass, klass) == 0)
			return cast_list[i].id[cast];
	return NULL;
}

struct value {
	const char *of, *usual, *large;
};

static const char *value_in(const struct value *values, size_t n, const char *of, enum cast cast)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(values[i].of, of) == 0)
			return cast == CAST_FULL ? values[i].large : values[i].usual;
	return NULL;
}

/* What says where a job is, and what lets a queue take it. */
static const struct value known[] = {
	{ "job_state", "Q", "R" }, { "substate", "10", "42" }, { "queue", "workq", "workq" },
	{ "exec_host", NULL, "mockhost/0" }, { "exec_vnode", NULL, "(mockhost:ncpus=1)" }, { "run_version", "0", "1" },
	{ "queue_type", "Execution", "Execution" }, { "enabled", "True", "True" }, { "started", "True", "True" },
	{ "reserve_state", "2", "5" }, { "reserve_substate", "2", "5" }, { "reserve_start", "1700003600", "1700003600" },
	{ "reserve_end", "1700007200", "1700007200" }, { "resv_nodes", "(mockhost:ncpus=1)", "(mockhost:ncpus=1)" },
};

/* Ordinary values, and as large as they get. */
static const char *value_of_type(const char *type, enum cast cast)
{
	static char endless[4096];
	static const struct value types[] = {
		{ "bool", "True", "True" }, { "long", "7", "9223372036854775807" },
		{ "size", "64kb", "8796093022207kb" }, { "time", "00:10:00", "2000000000" },
		{ "float", "1.5", "1e300" }, { "string_array", "a,b", endless }, { "string", "some text", endless },
	};

	if (endless[0] == '\0')
		for (size_t i = 0; i < sizeof(endless) - 1; i++)
			endless[i] = "%n%s\\\"',;:=[]{}()<>|&$#@!~^*?/-_ Az09"[i % 36];
	return value_in(types, KEEL_COUNT(types), type, cast);
}

static unsigned own_attrs(const struct keel_module *m)
{
	unsigned n = 0;

	for (uint32_t c = 0; c < m->n_contribs; c++)
		n += strcmp(m->contribs[c].kind, "ATTR") == 0;
	return n;
}

const struct keel_attr_def *stage_attr(const struct subject *of, unsigned i)
{
	static struct keel_attr_def own; /* the row of an older module is shorter */
	unsigned n = i;

	for (uint32_t c = 0; c < of->m->n_contribs; c++) {
		const struct keel_attr_def *def = of->m->contribs[c].def;

		if (strcmp(of->m->contribs[c].kind, "ATTR") != 0 || n-- > 0)
			continue;
		own = (struct keel_attr_def){ 0 };
		memcpy(&own, def, def->size < sizeof(own) ? def->size : sizeof(own));
		return &own;
	}
	return beside_attr(i - own_attrs(of->m));
}

/* ---- values that a vendor has said ------------------------------------------------------------------ */
enum { SAID_MAX = 32 };

static struct {
	const char *value[SAID_MAX]; /* "job.licences=a=2" */
	unsigned n;
} said;

bool stage_say(const char *value)
{
	size_t klass = strcspn(value, ".="), name = value[klass] == '.' ? strcspn(value + klass + 1, "=") : 0;

	if (klass == 0 || name == 0 || value[klass + 1 + name] != '=' || said.n == SAID_MAX)
		return false;
	said.value[said.n++] = value;
	return true;
}

/* NULL: nothing was said of it. */
static const char *said_of(const char *klass, const char *name)
{
	size_t k = strlen(klass), n = strlen(name);

	for (unsigned i = 0; i < said.n; i++) {
		const char *at = said.value[i];

		if (strncmp(at, klass, k) == 0 && at[k] == '.' && strncasecmp(at + k + 1, name, n) == 0 &&
		    at[k + 1 + n] == '=')
			return at + k + n + 2;
	}
	return NULL;
}

bool stage_has(struct stage *s, const struct keel_attr_def *a)
{
	const struct keel_object_api *object = keel_mock_group(s->mock, "object");

	return object->attr(keel_mock_self(s->mock), a->klass, a->name) != NULL;
}

/* A value that is not saved ends with its module; a derived one is never set. */
static void value_give(struct stage *s, const struct keel_attr_def *a, bool any)
{
	if (!(a->flags & KEEL_ATTR_SAVE))
		return;
	for (int c = CAST_USUAL; c < N_CASTS; c++) {
		struct keel_obj *o = stage_object(s, a->klass, (enum cast)c);
		const char *text = c == CAST_USUAL ? said_of(a->klass, a->name) : NULL;

		if (text == NULL)
			text = value_in(known, KEEL_COUNT(known), a->name, (enum cast)c);
		if (text == NULL && any)
			text = value_of_type(a->type, (enum cast)c);
		if (o != NULL && text != NULL)
			(void)keel_mock_set(o, a->name, NULL, text);
	}
}

/* Of the modules beside only jobs and nodes have any values: others let no job in. */
void stage_values(struct stage *s, bool own)
{
	const unsigned n_own = own_attrs(s->of->m);
	const struct keel_attr_def *a;

	for (unsigned i = own ? 0 : n_own; (!own || i < n_own) && (a = stage_attr(s->of, i)) != NULL; i++)
		if (stage_has(s, a))
			value_give(s, a, own || strcmp(a->klass, "job") == 0 || strcmp(a->klass, "node") == 0);
}

void stage_said(struct stage *s, const char *klass, char *buf, size_t size)
{
	const struct keel_attr_def *a;
	size_t n = (size_t)snprintf(buf, size, "attrs = ( (\"Job_Name\", \"\", \"check\", 0)");

	for (unsigned i = 0; (a = stage_attr(s->of, i)) != NULL && n < size; i++)
		if (strcmp(a->klass, klass) == 0 && said_of(klass, a->name) != NULL && stage_has(s, a) && a->write_roles != 0)
			n += (size_t)snprintf(buf + n, size - n, ", (\"%s\", \"\", \"%s\", 0)", a->name, said_of(klass, a->name));
	if (n < size)
		snprintf(buf + n, size - n, " );");
}

struct keel_obj *stage_object(struct stage *s, const char *klass, enum cast cast)
{
	const struct keel_object_api *object = keel_mock_group(s->mock, "object");
	const char *id = stage_id(klass, cast);

	return id == NULL ? NULL : object->find(keel_mock_self(s->mock), klass, id);
}

/* ---- a case ---------------------------------------------------------------------------------------- */
void stage_open(struct stage *s, const struct subject *of)
{
	*s = (struct stage){ .of = of, .leftovers = RULE_lifecycle_repeat };
	s->files = watch_files();
	process_see(&s->process);
	s->mock = keel_mock_new(of->m->roles);
	keel_mock_on_violation(s->mock, violated, s);
	watch_blocking(s->mock);
	keel_mock_home(s->mock, home_make());
	s->alone = !beside_load(s->mock, of->optional, &s->err);
	for (size_t i = 0; i < KEEL_COUNT(cast_list); i++)
		for (int c = 0; c < N_CASTS; c++)
			if (stage_object(s, cast_list[i].klass, (enum cast)c) == NULL)
				keel_mock_object(s->mock, cast_list[i].klass, cast_list[i].id[c]);
	stage_values(s, false);
	/* As after a restart: the modules beside are notified of what is there. */
	for (int c = 0; c < N_CASTS && (of->m->roles & KEEL_SERVER); c++) {
		const char *node = stage_id("node", (enum cast)c), *job = stage_id("job", (enum cast)c);
		const char *resv = stage_id("resv", (enum cast)c);

		(void)keel_mock_raise(s->mock, KEEL_POINT_node_known, KEEL_EVENT(node_known, .id = node,
				      .node = stage_object(s, "node", (enum cast)c)), NULL);
		(void)keel_mock_raise(s->mock, KEEL_POINT_job_known, KEEL_EVENT(job_known, .id = job,
				      .job = stage_object(s, "job", (enum cast)c)), NULL);
		(void)keel_mock_raise(s->mock, KEEL_POINT_resv_known, KEEL_EVENT(resv_known, .id = resv,
				      .resv = stage_object(s, "resv", (enum cast)c)), NULL);
	}
	if (of->m->roles & KEEL_SERVER)
		host_up(stage_id("node", CAST_USUAL));
	keel_mock_advance(s->mock, 0);
	s->threads = watch_threads(0);
	s->child = watch_child();
}

int stage_load(struct stage *s)
{
	if (s->alone)
		return -1;
	s->mod = keel_mock_load(s->mock, s->of->m, s->of->conf, &s->err);
	if (s->mod != NULL)
		keel_mock_advance(s->mock, 0);
	return s->mod == NULL ? -1 : 0;
}

void stage_unload_at_once(struct stage *s)
{
	if (s->mod != NULL && keel_mock_unload(s->mod, &s->err) == 0)
		s->mod = NULL;
}

void stage_unload(struct stage *s)
{
	if (s->mod != NULL)
		keel_mock_advance(s->mock, 0);
	stage_unload_at_once(s);
}

void stage_close(struct stage *s, const char *after)
{
	const char *where = "";
	unsigned live, files;

	stage_unload(s);
	watch_blocking(NULL);
	keel_mock_free(s->mock);
	home_remove();
	live = watch_live(&where);
	if (live > 0)
		finding(s->leftovers, "%u blocks are left after %s, one of them %s", live, after, where);
	watch_forget();
	process_judge(&s->process, after);
	if (watch_threads(s->threads) > s->threads)
		finding(s->leftovers, "a thread of it runs after %s", after);
	if (watch_child() && !s->child)
		finding(s->leftovers, "a child process of it is left after %s", after);
	files = watch_files();
	if (files > s->files)
		finding(s->leftovers, "%u files are open after %s that were not before", files - s->files, after);
}
