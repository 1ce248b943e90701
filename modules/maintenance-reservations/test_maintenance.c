/* SPDX-License-Identifier: Apache-2.0
 *
 * test_maintenance.c - windows in the mock: resources is the real module; reservations, vnodes, jobs and programs are the test's.
 */
#include "maintenance.h"

#include <stdlib.h>
#include <string.h>

#include "keel/service/admin_suspend.h"
#include "keel/service/supervise.h"
#include "mocked.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_mod *module;
static struct keel_err err;

/* ---- reservations ------------------------------------------------------------------------------------------ */
static char lost[512], retried[256], removed[256];

static int64_t number_of(struct keel_obj *o, const char *attr)
{
	const char *text = keel_mock_text(o, attr, NULL);

	return text ? atoll(text) : 0;
}

static int32_t state(struct keel_mod *m, struct keel_obj *o)
{
	(void)m;
	return (int32_t)number_of(o, "state");
}

static char kind(struct keel_mod *m, struct keel_obj *o)
{
	(void)m;
	return keel_id(o)[0];
}

static bool window(struct keel_mod *m, struct keel_obj *o, uint32_t i, struct keel_resv_window *ret)
{
	(void)m;
	*ret = (struct keel_resv_window){ .size = sizeof(*ret), .occurrence = 1, .from = number_of(o, "from"),
					  .till = number_of(o, "till"), .nodes = keel_mock_text(o, "nodes", NULL) };
	return i == 0;
}

static void put(char *to, size_t size, const char *text)
{
	snprintf(to + strlen(to), size - strlen(to), "%s;", text);
}

static bool lose(struct keel_mod *m, struct keel_obj *o, const struct keel_resv_loss *l)
{
	char text[128];

	(void)m;
	CU_ASSERT_EQUAL(l->substate, 12);
	snprintf(text, sizeof(text), "%s %s %s+%u %lld-%lld", l->by, keel_id(o), l->vnodes[0], l->n_vnodes, (long long)l->from,
		 (long long)l->till);
	put(lost, sizeof(lost), text);
	return true;
}

static void retry(struct keel_mod *m, const char *id)
{
	(void)m;
	put(retried, sizeof(retried), id);
}

static void remove_it(struct keel_mod *m, struct keel_obj *o, const char *who)
{
	(void)m, (void)who;
	put(removed, sizeof(removed), keel_id(o));
}

static void confirmed(struct keel_obj *o)
{
	keel_mock_raise(mock, KEEL_POINT_resv_confirm, KEEL_EVENT(resv_confirm, .id = keel_id(o), .resv = o), NULL);
}

static int32_t replace(struct keel_mod *m, struct keel_obj *o, const char *nodes)
{
	(void)m;
	keel_mock_set(o, "nodes", NULL, nodes);
	confirmed(o);
	return 0;
}

/* ---- vnodes, jobs, programs ------------------------------------------------------------------------------------- */
static char acted[256];
static struct {
	char argv[128];
	keel_run_fn *done;
	struct keel_mod *mod;
	void *arg;
} ran;

static const struct keel_reslist *available(struct keel_mod *m, struct keel_obj *node)
{
	return keel_get_ptr(node, keel_attr_find(m, "node", "resources_available"));
}

/* Each vnode has a job of its number: n1 has 1.svr. */
static void tenants(struct keel_mod *m, struct keel_obj *node, void (*fn)(void *, const char *, bool), void *arg)
{
	char id[64];

	(void)m;
	snprintf(id, sizeof(id), "%c.svr", keel_id(node)[1]);
	fn(arg, id, false);
	fn(arg, id, false);
}

static void each(struct keel_mod *m, struct keel_obj *node, void (*fn)(void *, const char *), void *arg)
{
	char id[64];

	(void)m;
	snprintf(id, sizeof(id), "%c.svr", keel_id(node)[1]);
	fn(arg, id);
}

static char job_state(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	return 'R';
}

static void rerun(struct keel_mod *m, struct keel_obj *job, const char *who, struct keel_mod *me, keel_job_done *done, void *arg)
{
	(void)m, (void)who;
	put(acted, sizeof(acted), keel_id(job));
	done(me, arg, 0, NULL);
}

static void suspend(struct keel_mod *m, struct keel_obj *job, const char *why, const char *who, struct keel_mod *me,
		    keel_job_done *done, void *arg)
{
	(void)m, (void)who;
	put(acted, sizeof(acted), why);
	put(acted, sizeof(acted), keel_id(job));
	done(me, arg, PBSE_BADSTATE, NULL);
}

static void resume(struct keel_mod *m, struct keel_obj *job, const char *why, const char *who, struct keel_mod *me,
		   keel_job_done *done, void *arg)
{
	(void)m, (void)who, (void)why;
	put(acted, sizeof(acted), "resume");
	put(acted, sizeof(acted), keel_id(job));
	done(me, arg, 0, NULL);
}

static struct keel_run *run(struct keel_mod *self, struct keel_mod *mod, const struct keel_run_opts *o, keel_run_fn *done,
			    void *arg, struct keel_err *e)
{
	(void)self, (void)e;
	ran.argv[0] = '\0';
	for (const char *const *word = o->argv; *word; word++)
		put(ran.argv, sizeof(ran.argv), *word);
	ran.done = done;
	ran.mod = mod;
	ran.arg = arg;
	return (struct keel_run *)&ran;
}

static void run_cancel(struct keel_run *r)
{
	CU_ASSERT_PTR_EQUAL(r, (struct keel_run *)&ran);
	ran.done = NULL;
}

static void says(int32_t status, const char *output)
{
	keel_run_fn *done = ran.done;

	CU_ASSERT_PTR_NOT_NULL_FATAL(done);
	ran.done = NULL;
	done(ran.mod, ran.arg, NULL, status, output, (uint32_t)strlen(output));
	keel_mock_advance(mock, 0);
}

/* ---- the world ----------------------------------------------------------------------------------------------------- */

static void services(bool all)
{
	static const struct keel_resv_api resvs = { .size = sizeof(resvs), .state = state, .kind = kind, .window = window, .lose = lose,
						    .retry = retry, .remove = remove_it, .replace = replace };
	static const struct keel_node_api nodes = { .size = sizeof(nodes), .available = available, .tenants = tenants };
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .state = job_state, .request_rerun = rerun };
	static const struct keel_admin_suspend_api stops = { .size = sizeof(stops), .suspend = suspend, .resume = resume, .each = each };
	static const struct keel_supervise_api programs = { .size = sizeof(programs), .run = run, .run_cancel = run_cancel };

	keel_mock_service(mock, "resv", &resvs);
	keel_mock_service(mock, "node", &nodes);
	keel_mock_service(mock, "job", &jobs);
	if (!all)
		return;
	keel_mock_service(mock, "admin_suspend", &stops);
	keel_mock_service(mock, "supervise", &programs);
}

static void vnode(const char *name, const char *host, const char *ncpus)
{
	struct keel_obj *node = keel_mock_object(mock, "node", name);

	if (host)
		keel_mock_set(node, "resources_available", "host", host);
	if (ncpus)
		keel_mock_set(node, "resources_available", "ncpus", ncpus);
}

static void attrs(const char *klass, const char *const *names)
{
	for (; *names; names += 2)
		keel_mock_attr(mock, klass, names[0], names[1]);
}

static void load(void)
{
	static struct keel_module alone;

	alone = keel_module;
	alone.requires_modules = NULL;
	module = keel_mock_load(mock, &alone, "health_interval = \"10s\";", &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
}

static void world(bool all)
{
	mock = mock_with_resources();
	services(all);
	attrs("node", (const char *const[]){ "resources_available", "resource_list", NULL });
	attrs("resv", (const char *const[]){ "Resource_List", "resource_list", "reserve_rrule", "string", "reserve_job", "string", "qmove",
					     "string", "state", "long", "from", "long", "till", "long", "nodes", "string", NULL });
	attrs("job", (const char *const[]){ "Resource_List", "resource_list", "stime", "long", "queue", "string",
					     "reserve_ID", "string", NULL });
	vnode("n2", "h2", "4");
	vnode("n1", "h1", "2");
	vnode("n0", "h1", NULL);
	vnode("n3", "h1", "3");
	vnode("n4", NULL, "8");
	lost[0] = retried[0] = removed[0] = acted[0] = '\0';
	ran.done = NULL;
}

static void set_up(void)
{
	world(true);
	load();
}

static struct keel_obj *resv(const char *id, int32_t is, int64_t from, int64_t till, const char *nodes)
{
	struct keel_obj *o = keel_mock_object(mock, "resv", id);
	char text[24];

	snprintf(text, sizeof(text), "%d", is);
	keel_mock_set(o, "state", NULL, text);
	snprintf(text, sizeof(text), "%lld", (long long)from);
	keel_mock_set(o, "from", NULL, text);
	snprintf(text, sizeof(text), "%lld", (long long)till);
	keel_mock_set(o, "till", NULL, text);
	keel_mock_set(o, "nodes", NULL, nodes);
	return o;
}

/* past modules/maintenance-reservations/options.c HEALTH_MAX
 * past modules/maintenance-reservations/options.c ROLLING_MAX */
/* ---- place() ---------------------------------------------------------------------------------------------------------- */

/* What the row says about a draft with this select and one attribute more; "" is confirmed nowhere. */
static int32_t place_of(const char *select, const char *attr, const char *value, char *ret, size_t size)
{
	struct keel_mod *owner;
	const struct keel_resv_kind_def *row = keel_mock_row(mock, "RESV_KIND", 0, &owner);
	struct keel_obj *draft = keel_mock_draft(mock, "resv", "M7.svr");
	struct keel_changes *ch = keel_changes(keel_mock_self(mock));
	char *nodes = NULL;
	int32_t code;

	if (select)
		keel_mock_set(draft, "Resource_List", "select", select);
	if (attr && strncmp(attr, "l.", 2) == 0)
		keel_mock_set(draft, "Resource_List", attr + 2, value);
	else if (attr)
		keel_mock_set(draft, attr, NULL, value);
	memset(&err, 0, sizeof(err));
	code = row->place(owner, ch, draft, &nodes, &err);
	snprintf(ret, size, "%s", nodes ? nodes : "");
	if (!code && nodes)
		keel_commit(ch);
	else
		keel_discard(ch);
	if (!code && nodes) {
		const char *place = keel_mock_text(draft, "Resource_List", "place");

		CU_ASSERT_STRING_EQUAL(place ? place : "", "exclhost");
	}
	free(nodes);
	keel_mock_destroy(draft);
	return code;
}

static void hosts_have_their_vnodes(void)
{
	char nodes[256];

	CU_ASSERT_EQUAL(place_of("host=h1:ncpus=1+host=h2:ncpus=4", NULL, NULL, nodes, sizeof(nodes)), 0);
	CU_ASSERT_STRING_EQUAL(nodes, "(n1:ncpus=2)+(n3:ncpus=3)+(n2:ncpus=4)");
	CU_ASSERT_EQUAL(place_of("host=h2:ncpus=4+host=h1:ncpus=5", "l.place", "exclhost", nodes, sizeof(nodes)), 0);
	CU_ASSERT_STRING_EQUAL(nodes, "(n2:ncpus=4)+(n1:ncpus=2)+(n3:ncpus=3)");
}

static void other_requests_are_refused(void)
{
	static const struct {
		const char *select, *attr, *value;
		int32_t code;
	} row[] = {
		{ "1:ncpus=1", NULL, NULL, PBSE_IVALREQ },
		{ "2:host=h1:ncpus=1", NULL, NULL, PBSE_IVALREQ },
		{ "host=h1:ncpus=1:mem=1gb", NULL, NULL, PBSE_IVALREQ },
		{ "host=h1:ncpus=1", "l.place", "free", PBSE_IVALREQ },
		{ "host=h1:ncpus=1", "l.ncpus", "3", PBSE_IVALREQ },
		{ "host=h1:ncpus=1", "reserve_rrule", "FREQ=DAILY;COUNT=2", PBSE_NOSUP },
		{ "host=h1:ncpus=1", "reserve_job", "1.svr", PBSE_NOSUP },
		{ "host=h1:ncpus=1", "qmove", "1.svr", PBSE_NOSUP },
		{ "host=h1:ncpus=1", "maintenance_rolling", "1", PBSE_IVALREQ },
	};
	char nodes[256];

	for (size_t i = 0; i < KEEL_COUNT(row); i++)
		CU_ASSERT_EQUAL(place_of(row[i].select, row[i].attr, row[i].value, nodes, sizeof(nodes)), row[i].code);
}

static void what_needs_a_module_says_so(void)
{
	char nodes[256];

	keel_mock_free(mock);
	world(false);
	load();
	CU_ASSERT_EQUAL(place_of("host=h1:ncpus=1", "maintenance_action", "suspend", nodes, sizeof(nodes)), PBSE_NOSUP);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "admin-suspend"));
	CU_ASSERT_EQUAL(place_of("host=h1:ncpus=1", "maintenance_health", "/x", nodes, sizeof(nodes)), PBSE_NOSUP);
	CU_ASSERT_EQUAL(place_of("host=h1:ncpus=1", "maintenance_action", "drain", nodes, sizeof(nodes)), 0);
}

static void values_are_checked(void)
{
	const struct keel_session *who = keel_mock_session(mock, "root", KEEL_EVERYBODY);
	struct keel_obj *m = keel_mock_draft(mock, "resv", "M7.svr");
	static const char *const bad[][2] = { { "maintenance_action", "stop" }, { "maintenance_rolling", "0" },
					      { "maintenance_rolling", "-1" }, { "maintenance_rolling", "1000000" },
					      { "maintenance_rolling", "1x" }, { "maintenance_health", "x" },
					      { "maintenance_health", "/x\n" } };
	char longest[1100];

	for (size_t i = 0; i < KEEL_COUNT(bad); i++)
		CU_ASSERT_EQUAL(keel_mock_change(m, who, bad[i][0], NULL, bad[i][1], KEEL_SET, &err), PBSE_BADATVAL);
	memset(longest, '/', 1024);
	longest[1024] = '\0';
	CU_ASSERT_EQUAL(keel_mock_change(m, who, "maintenance_health", NULL, longest, KEEL_SET, &err), 0);
	strcat(longest, "/");
	CU_ASSERT_EQUAL(keel_mock_change(m, who, "maintenance_health", NULL, longest, KEEL_SET, &err), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(keel_mock_change(m, who, "maintenance_rolling", NULL, "999999", KEEL_SET, &err), 0);
	keel_mock_destroy(m);
}

static void an_unconfirmed_one_goes(void)
{
	struct keel_obj *m = resv("M1.svr", KEEL_RESV_UNCONFIRMED, 10, 20, NULL);
	struct keel_mod *owner;
	const struct keel_resv_kind_def *row = keel_mock_row(mock, "RESV_KIND", 0, &owner);
	struct keel_changes *ch = keel_changes(keel_mock_self(mock));
	char *nodes;

	keel_mock_set(m, "Resource_List", "select", "host=h1:ncpus=1+host=other:ncpus=1");
	CU_ASSERT_EQUAL(row->place(owner, ch, m, &nodes, &err), 0);
	CU_ASSERT_PTR_NULL(nodes);
	keel_discard(ch);
	keel_mock_advance(mock, 7000);
	CU_ASSERT_STRING_EQUAL(removed, "");
	keel_mock_advance(mock, 3000);
	CU_ASSERT_STRING_EQUAL(removed, "M1.svr;");
}

/* ---- conflicts ------------------------------------------------------------------------------------------------------------- */

static void a_window_takes_from_others(void)
{
	struct keel_obj *m = resv("M1.svr", KEEL_RESV_CONFIRMED, 10, 20, "(n2:ncpus=4)+(n1:ncpus=2)");
	struct keel_obj *r = resv("R2.svr", KEEL_RESV_CONFIRMED, 10, 20, "(n1:ncpus=1)");

	resv("M3.svr", KEEL_RESV_CONFIRMED, 10, 20, "(n1:ncpus=2)");
	confirmed(m);
	CU_ASSERT_STRING_EQUAL(lost, "M1.svr R2.svr n1+2 10-20;");
	CU_ASSERT_STRING_EQUAL(retried, "");
	lost[0] = '\0';
	confirmed(r); /* by force, or by a command */
	CU_ASSERT_STRING_EQUAL(lost, "M1.svr R2.svr n1+2 10-20;");
	keel_mock_set(m, "till", NULL, "15");
	lost[0] = '\0';
	confirmed(m); /* altered */
	CU_ASSERT_STRING_EQUAL(lost, "M1.svr R2.svr n1+2 10-15;");
	CU_ASSERT_STRING_EQUAL(retried, "M1.svr;");
	keel_mock_raise(mock, KEEL_POINT_resv_end, KEEL_EVENT(resv_end, .id = "M1.svr", .resv = m), NULL);
	CU_ASSERT_STRING_EQUAL(retried, "M1.svr;M1.svr;");
	lost[0] = '\0';
	confirmed(r);
	CU_ASSERT_STRING_EQUAL(lost, "");
}

static void all_are_judged_again_at_the_start(void)
{
	resv("R2.svr", KEEL_RESV_CONFIRMED, 10, 20, "(n1:ncpus=1)");
	resv("M1.svr", KEEL_RESV_RUNNING, 10, 20, "(n1:ncpus=2)");
	resv("M4.svr", KEEL_RESV_UNCONFIRMED, 10, 20, NULL);
	module = keel_mock_restart(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_STRING_EQUAL(lost, "M1.svr R2.svr n1+1 10-20;");
}

/* ---- jobs --------------------------------------------------------------------------------------------------------------------- */

static struct keel_obj *window_that_runs(const char *attr, const char *value)
{
	struct keel_obj *m = resv("M1.svr", KEEL_RESV_CONFIRMED, 10, 20, "(n2:ncpus=4)+(n1:ncpus=2)");

	keel_mock_set(keel_mock_object(mock, "job", "1.svr"), "queue", NULL, "workq");
	keel_mock_set(keel_mock_object(mock, "job", "2.svr"), "queue", NULL, "M1");
	keel_mock_set(m, "Resource_List", "select", "host=h2:ncpus=4+host=h1:ncpus=5");
	keel_mock_set(m, attr, NULL, value);
	confirmed(m);
	return m;
}

static void runs(struct keel_obj *m)
{
	keel_mock_set(m, "state", NULL, "5");
	keel_mock_raise(mock, KEEL_POINT_resv_begin, KEEL_EVENT(resv_begin, .id = keel_id(m), .resv = m), NULL);
	keel_mock_advance(mock, 0);
}

static void jobs_are_drained(void)
{
	struct keel_obj *m = window_that_runs("maintenance_action", "drain");

	runs(m);
	CU_ASSERT_STRING_EQUAL(acted, "1.svr;"); /* 2.svr is inside */
	CU_ASSERT_STRING_EQUAL(keel_mock_text(m, "maintenance_acted", NULL), "1");
	module = keel_mock_restart(module, &err);
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(acted, "1.svr;");
	keel_mock_set(m, "maintenance_acted", NULL, NULL); /* killed before */
	module = keel_mock_restart(module, &err);
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(acted, "1.svr;1.svr;");
}

static void jobs_are_suspended_and_go_on(void)
{
	struct keel_obj *m = window_that_runs("maintenance_action", "suspend");

	runs(m);
	CU_ASSERT_STRING_EQUAL(acted, "M1.svr;1.svr;");
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "was not suspended"));
	keel_mock_advance(mock, 2000); /* it changed its state just then, perhaps */
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "job 1.svr was not suspended"));
	keel_mock_raise(mock, KEEL_POINT_resv_end, KEEL_EVENT(resv_end, .id = "M1.svr", .resv = m), NULL);
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(acted, "M1.svr;1.svr;M1.svr;1.svr;resume;1.svr;");
}

static void others_have_no_such_attributes(void)
{
	struct keel_obj *r = keel_mock_draft(mock, "resv", "R7.svr");
	struct keel_mock_outcome out;

	keel_mock_raise(mock, KEEL_POINT_resv_submit, KEEL_EVENT(resv_submit, .id = "R7.svr", .resv = r, .who = "a@b"), &out);
	CU_ASSERT_EQUAL(out.verdict, KEEL_NEXT);
	keel_mock_set(r, "maintenance_action", NULL, "drain");
	keel_mock_raise(mock, KEEL_POINT_resv_submit, KEEL_EVENT(resv_submit, .id = "R7.svr", .resv = r, .who = "a@b"), &out);
	CU_ASSERT_EQUAL(out.code, PBSE_NOSUP);
	keel_mock_destroy(r);
}

/* ---- in turn --------------------------------------------------------------------------------------------------------------------- */

static const char *text_of(struct keel_obj *m, const char *attr)
{
	const char *text = keel_mock_text(m, attr, NULL);

	return text ? text : "";
}

static void hosts_come_in_turn(void)
{
	struct keel_obj *m = window_that_runs("maintenance_health", "/bin/well -q");

	keel_mock_set(m, "maintenance_rolling", NULL, "1");
	replace(NULL, m, "(n2:ncpus=4)");
	runs(m);
	CU_ASSERT_PTR_NULL(ran.done);
	keel_mock_advance(mock, 10000);
	CU_ASSERT_STRING_EQUAL(ran.argv, "/bin/well;-q;h2;");
	says(1, "no\tlink\nmore");
	CU_ASSERT_STRING_EQUAL(text_of(m, "maintenance_comment"), "h2 is not well: exit status 1: no?link");
	keel_mock_advance(mock, 10000);
	says(0, "");
	CU_ASSERT_STRING_EQUAL(text_of(m, "nodes"), "(n1:ncpus=2)+(n3:ncpus=3)");
	CU_ASSERT_STRING_EQUAL(text_of(m, "maintenance_at"), "1");
	CU_ASSERT_STRING_EQUAL(text_of(m, "maintenance_comment"), "");
	module = keel_mock_restart(module, &err);
	keel_mock_advance(mock, 10000);
	CU_ASSERT_STRING_EQUAL(ran.argv, "/bin/well;-q;h1;");
	says(0, "");
	CU_ASSERT_STRING_EQUAL(removed, "M1.svr;");
}

static void hosts_that_are_gone_are_passed_by(void)
{
	struct keel_obj *m = window_that_runs("maintenance_health", "/bin/well");

	keel_mock_set(m, "Resource_List", "select", "host=h2:ncpus=4+host=gone:ncpus=1+host=h1:ncpus=5");
	keel_mock_set(m, "maintenance_rolling", NULL, "1");
	runs(m);
	keel_mock_advance(mock, 10000);
	says(0, "");
	CU_ASSERT_STRING_EQUAL(text_of(m, "maintenance_at"), "2");
	keel_mock_advance(mock, 10000);
	CU_ASSERT_PTR_NOT_NULL(ran.done);
	keel_mock_raise(mock, KEEL_POINT_resv_end, KEEL_EVENT(resv_end, .id = "M1.svr", .resv = m), NULL);
	CU_ASSERT_PTR_NULL(ran.done); /* ended */
}

/* ---- a dry run -------------------------------------------------------------------------------------------------------------------- */

static void a_preview_changes_nothing(void)
{
	struct keel_mod *owner;
	const struct keel_resv_kind_def *row = keel_mock_row(mock, "RESV_KIND", 0, &owner);
	const struct keel_resv_window w = { .size = sizeof(w), .from = 1000, .till = 2000, .nodes = "(n1:ncpus=2)+(n2:ncpus=4)" };
	struct keel_obj *job = keel_mock_object(mock, "job", "1.svr"), *other = keel_mock_object(mock, "job", "2.svr");
	char *text;

	keel_mock_set(job, "stime", NULL, "500");
	keel_mock_set(job, "Resource_List", "walltime", "500"); /* until then */
	keel_mock_set(other, "stime", NULL, "500");
	resv("R1.svr", KEEL_RESV_CONFIRMED, 1500, 2500, "(n2:ncpus=1)");
	resv("R2.svr", KEEL_RESV_CONFIRMED, 2000, 2500, "(n2:ncpus=1)"); /* back to back */
	resv("R3.svr", KEEL_RESV_CONFIRMED, 1500, 2500, "(n3:ncpus=1)");
	resv("R4.svr", KEEL_RESV_UNCONFIRMED, 1500, 2500, NULL);
	text = row->preview(owner, &w);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, "Job 2.svr runs there without an end that is known; it would go on\n"
				     "Reservation R1.svr would lose vnodes; others are looked for\n"
				     "2 vnodes, 1 job that would still run, 1 reservation that would lose vnodes; nothing was changed");
	free(text);
	resv("R5.svr", KEEL_RESV_RUNNING, 400, 900, "(n9:ncpus=1)");
	keel_mock_set(other, "reserve_ID", NULL, "R5.svr"); /* it ends with that */
	text = row->preview(owner, &w);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NULL(strstr(text, "Job "));
	free(text);
	CU_ASSERT_STRING_EQUAL(lost, "");
}

TESTS_MAIN_BETWEEN("maintenance", set_up, tear_down, TEST(hosts_have_their_vnodes),
		   TEST(other_requests_are_refused),
		   TEST(what_needs_a_module_says_so),
		   TEST(values_are_checked),
		   TEST(an_unconfirmed_one_goes),
		   TEST(a_window_takes_from_others),
		   TEST(all_are_judged_again_at_the_start),
		   TEST(jobs_are_drained),
		   TEST(jobs_are_suspended_and_go_on),
		   TEST(others_have_no_such_attributes),
		   TEST(hosts_come_in_turn),
		   TEST(hosts_that_are_gone_are_passed_by),
		   TEST(a_preview_changes_nothing))
