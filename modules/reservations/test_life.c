/* SPDX-License-Identifier: Apache-2.0
 *
 * test_life.c - the life of reservations, in the mock: confirmed, begun, over, deleted, and all of it over restarts. Vnodes,
 * jobs and the scheduler are the test's.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

#define NOW 1700000000
#define ID "R1.svr"

static struct keel_mod *module;
static struct keel_err err;

/* ---- accounting ---------------------------------------------------------------------------------------- */
static char records[64]; /* their letters */

static void record(struct keel_mod *m, char letter, const char *whose, const char *text)
{
	size_t n = strlen(records);

	(void)m, (void)whose, (void)text;
	if (n + 1 < sizeof(records))
		records[n] = letter;
}

static char *value(struct keel_mod *m, const char *text)
{
	(void)m;
	return strdup(text);
}

/* ---- vnodes ------------------------------------------------------------------------------------------------ */
static char held[256]; /* of ID */
static const char *sharing_of = "default_shared";
static uint32_t inside; /* jobs of it on vnode b */

static uint32_t node_state(struct keel_mod *m, struct keel_obj *node)
{
	const char *text = keel_mock_text(node, "bits", NULL);

	(void)m;
	return text ? (uint32_t)atoi(text) : 0;
}

static void set_state(struct keel_mod *m, struct keel_obj *node, uint32_t bits, bool on)
{
	const uint32_t before = node_state(m, node), after = on ? before | bits : before & ~bits;
	char text[16];

	if (before == after)
		return;
	snprintf(text, sizeof(text), "%u", (unsigned)after);
	keel_mock_set(node, "bits", NULL, text);
	keel_mock_raise(mock, KEEL_POINT_node_state,
			KEEL_EVENT(node_state, .id = keel_id(node), .node = node, .before = before, .after = after), NULL);
}

static bool closed_inside(struct keel_mod *m, struct keel_obj *node)
{
	return node_state(m, node) & (KEEL_NODE_OFFLINE | KEEL_NODE_DOWN);
}

static int32_t sharing(struct keel_mod *m, struct keel_obj *node, int32_t share)
{
	(void)m, (void)node;
	if (strcmp(sharing_of, "ignore_excl") == 0)
		return KEEL_SHARE_SHARED;
	return share >= KEEL_SHARE_EXCL ? share : KEEL_SHARE_SHARED;
}

static int32_t hold(struct keel_mod *m, const char *holder, const char *exec_vnode, struct keel_err *e)
{
	(void)m, (void)e;
	if (strcmp(holder, ID) == 0)
		snprintf(held, sizeof(held), "%s", exec_vnode ? exec_vnode : "");
	return 0;
}

static void on_holder(struct keel_mod *m, struct keel_mod *me, const char *(*fn)(struct keel_mod *, const char *))
{
	(void)m, (void)me, (void)fn;
}

static const struct keel_reslist *available(struct keel_mod *m, struct keel_obj *node)
{
	(void)m, (void)node;
	return NULL;
}

static const struct keel_reslist *used_inside(struct keel_mod *m, struct keel_obj *node, const char *holder,
					      uint32_t *ret_jobs, bool *ret_alone)
{
	(void)m, (void)holder;
	if (ret_jobs)
		*ret_jobs = strcmp(keel_id(node), "b") == 0 ? inside : 0;
	if (ret_alone)
		*ret_alone = false;
	return NULL;
}

static bool linked(struct keel_mod *m, struct keel_obj *node)
{
	(void)m, (void)node;
	return true;
}

/* ---- the scheduler ------------------------------------------------------------------------------------------- */
static struct keel_sched_block blocked[8];
static uint32_t n_blocked, woken, n_finds, drops;
static void (*cycle)(struct keel_mod *me);
static struct keel_mod *cycle_of, *found_for;
static keel_sched_found *found;
static void *found_arg;
static char wish_select[256], wish_beside[256];
static int64_t wish_from, wish_till;

static int32_t block(struct keel_mod *m, const struct keel_sched_block *b, struct keel_err *e)
{
	(void)m, (void)e;
	if (b->part >= 8)
		return 0;
	blocked[b->part] = *b;
	if (b->part >= n_blocked)
		n_blocked = b->part + 1;
	return 0;
}

static void unblock(struct keel_mod *m, const char *whose, uint32_t from_part)
{
	(void)m, (void)whose;
	if (from_part < n_blocked)
		n_blocked = from_part;
}

static int32_t find(struct keel_mod *m, const struct keel_sched_wish *w, struct keel_mod *me, keel_sched_found *done, void *arg,
		    struct keel_err *e)
{
	(void)m, (void)e;
	snprintf(wish_select, sizeof(wish_select), "%s", w->select);
	snprintf(wish_beside, sizeof(wish_beside), "%s", w->beside ? w->beside : "");
	wish_from = w->from;
	wish_till = w->till;
	found = done;
	found_for = me;
	found_arg = arg;
	n_finds++;
	return 0;
}

static void find_drop(struct keel_mod *m, struct keel_mod *me, void *arg)
{
	(void)m, (void)me;
	if (found && found_arg == arg) {
		found = NULL;
		drops++;
	}
}

static void on_cycle(struct keel_mod *m, struct keel_mod *me, void (*fn)(struct keel_mod *me))
{
	(void)m;
	cycle = fn;
	cycle_of = me;
}

static void reconsider(struct keel_mod *m)
{
	(void)m;
	woken++;
}

static void answer(const char *nodes, const char *why)
{
	keel_sched_found *done = found;
	const struct keel_sched_place place = { .size = sizeof(place), .exec_vnode = nodes, .from = wish_from, .why = why };

	CU_ASSERT_PTR_NOT_NULL_FATAL(done);
	found = NULL;
	done(found_for, found_arg, &place);
	keel_mock_advance(mock, 0);
}

static void run_cycle(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(cycle);
	cycle(cycle_of);
	keel_mock_advance(mock, 0);
}

/* ---- jobs ---------------------------------------------------------------------------------------------------- */
static char deleted[256];

static char job_state(struct keel_mod *m, struct keel_obj *job)
{
	const char *text = keel_mock_text(job, "job_state", NULL);

	(void)m;
	return text ? text[0] : '\0';
}

static void request_delete(struct keel_mod *m, struct keel_obj *job, const char *who, struct keel_mod *me, keel_job_done *done,
			   void *arg)
{
	(void)m, (void)who;
	strncat(deleted, keel_id(job), sizeof(deleted) - strlen(deleted) - 1);
	strncat(deleted, ";", sizeof(deleted) - strlen(deleted) - 1);
	done(me, arg, 0, NULL);
}

static void ask(struct keel_mod *m, struct keel_obj *job, const struct keel_job_ask *a, struct keel_mod *me, keel_job_done *done,
		void *arg)
{
	(void)a;
	request_delete(m, job, "force", me, done, arg);
}

static int64_t take_number(struct keel_mod *m)
{
	(void)m;
	return 1;
}

/* ---- a reservation ----------------------------------------------------------------------------------------------- */
static const char *id = ID, *name = "R1";

static struct keel_obj *resv(void)
{
	return keel_find(keel_mock_self(mock), "resv", id);
}

static struct keel_obj *queue(void)
{
	return keel_find(keel_mock_self(mock), "queue", name);
}

static void the_second(bool on)
{
	id = on ? "R2.svr" : ID;
	name = on ? "R2" : "R1";
}

static const char *queue_says(const char *attr)
{
	const char *text = queue() ? keel_mock_text(queue(), attr, NULL) : NULL;

	return text ? text : "";
}

static void queue_has(const char *total, const char *counts)
{
	if (!queue())
		return;
	keel_mock_set(queue(), "total_jobs", NULL, total);
	keel_mock_set(queue(), "state_count", NULL, counts);
}

static const char *text_of(const char *attr)
{
	const char *text = keel_mock_text(resv(), attr, NULL);

	return text ? text : "";
}

static int64_t number_of(const char *attr)
{
	return keel_get_int(resv(), keel_attr_find(keel_mock_self(mock), "resv", attr));
}

static void number(const char *attr, int64_t n)
{
	keel_set_int(resv(), keel_attr_find(keel_mock_self(mock), "resv", attr), n);
}

static bool is(int32_t state, int32_t substate)
{
	return resv() && number_of("reserve_state") == state && number_of("reserve_substate") == substate;
}

static int records_of(char letter)
{
	int n = 0;

	for (const char *at = records; *at; at++)
		n += *at == letter;
	return n;
}

static void load(const char *file)
{
	const char *build = getenv("KEELSON_BUILD");
	char path[4096];

	snprintf(path, sizeof(path), "%s/modules/%s.so", build ? build : ".", file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, path, NULL, &err));
}

static void attrs(const char *klass, const char *const *names)
{
	for (; *names; names += 2)
		keel_mock_attr(mock, klass, names[0], names[1]);
}

static void services(void)
{
	static const struct keel_acct_api acct = { .size = sizeof(acct), .record = record, .value = value };
	static const struct keel_node_api nodes = {
		.size = sizeof(nodes), .state = node_state, .set_state = set_state, .unavailable = closed_inside,
		.available = available, .sharing = sharing, .linked = linked, .hold = hold, .on_holder = on_holder,
		.used_inside = used_inside, .closed_inside = closed_inside,
	};
	static const struct keel_sched_api sched = {
		.size = sizeof(sched), .block = block, .unblock = unblock, .find = find, .find_drop = find_drop,
		.on_cycle = on_cycle, .reconsider = reconsider,
	};
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .state = job_state, .request_delete = request_delete,
						  .ask = ask, .take_number = take_number };

	keel_mock_service(mock, "acct", &acct);
	keel_mock_service(mock, "node", &nodes);
	keel_mock_service(mock, "sched", &sched);
	keel_mock_service(mock, "job", &jobs);
}

static void set_up(void)
{
	static struct keel_module alone;

	mock = mock_with_resources();
	load("manager");
	load("queues");
	attrs("node", (const char *const[]){ "bits", "string", "resv_enable", "bool", "sharing", "string", NULL });
	attrs("queue", (const char *const[]){ "state_count", "string", "total_jobs", "long", NULL });
	attrs("job", (const char *const[]){ "queue", "string", "job_state", "string", "exec_vnode", "string", NULL });
	services();
	memset(records, 0, sizeof(records));
	held[0] = deleted[0] = '\0';
	sharing_of = "default_shared";
	inside = n_blocked = woken = n_finds = drops = 0;
	cycle = NULL;
	found = NULL;
	the_second(false);
	for (const char *node = "a\0b\0c\0"; *node; node += 2)
		keel_mock_set(keel_mock_object(mock, "node", node), "resv_enable", NULL, "True");
	alone = keel_module;
	alone.requires_modules = NULL;
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
}

/* As submit.c makes it, [NOW + from, NOW + till). */
static void made(int64_t from, int64_t till)
{
	keel_mock_object(mock, "resv", id);
	keel_mock_set(resv(), "Reserve_Owner", NULL, "ann@svr");
	keel_mock_set(resv(), "queue", NULL, name);
	keel_mock_set(resv(), "schedselect", NULL, "1:ncpus=1+1:ncpus=2");
	keel_mock_set(resv(), "Resource_List", "ncpus", "3");
	keel_mock_set(resv(), "Resource_List", "place", "free");
	number("reserve_start", NOW + from);
	number("reserve_end", NOW + till);
	number("reserve_duration", till - from);
	number("reserve_state", KEEL_RESV_UNCONFIRMED);
	number("reserve_substate", KEEL_RESV_UNCONFIRMED);
	number("reserve_count", 1);
	number("reserve_index", 1);
	CU_ASSERT_EQUAL_FATAL(spans_read(module, resv()), 0);
	CU_ASSERT_EQUAL_FATAL(queue_make(module, resv(), &err), 0);
	clock_set(module, resv());
}

static void made_standing(int64_t from, int64_t till)
{
	made(from, till);
	keel_mock_set(resv(), "reserve_rrule", NULL, "FREQ=MINUTELY;COUNT=3");
	keel_mock_set(resv(), "reserve_timezone", NULL, "UTC");
	number("reserve_count", 3);
	CU_ASSERT_EQUAL_FATAL(spans_read(module, resv()), 0);
	clock_set(module, resv());
}

static void confirmed(void)
{
	run_cycle();
	for (uint32_t i = resv_slot(module, resv())->n_spans; i; i--)
		answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT_FATAL(is(KEEL_RESV_CONFIRMED, KEEL_RESV_CONFIRMED));
}

static void job_comes(const char *job_id, const char *state)
{
	struct keel_obj *job = keel_mock_object(mock, "job", job_id);

	keel_mock_set(job, "queue", NULL, "R1");
	keel_mock_set(job, "job_state", NULL, state);
	queue_has("1", *state == 'R' ? "Queued:0 Running:1 Exiting:0 " : "Queued:1 Running:0 Exiting:0 ");
}

static void job_goes(const char *job_id)
{
	struct keel_obj *job = keel_find(keel_mock_self(mock), "job", job_id);

	keel_mock_raise(mock, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = job_id, .job = job), NULL);
	keel_mock_destroy(job);
	queue_has("0", "Queued:0 Running:0 Exiting:0 ");
	keel_mock_advance(mock, 0);
}

static void restart(void)
{
	n_blocked = 0;
	held[0] = '\0';
	module = keel_mock_restart(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	keel_mock_advance(mock, 0);
}

static const char *node_resv(const char *node)
{
	const char *text = keel_mock_text(keel_find(keel_mock_self(mock), "node", node), "resv", NULL);

	return text ? text : "";
}

static uint32_t bits_of(const char *node)
{
	return node_state(NULL, keel_find(keel_mock_self(mock), "node", node));
}

/* ---- plain ---------------------------------------------------------------------------------------------------- */
static void is_confirmed(void)
{
	made(60, 120);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1+1:ncpus=2");
	CU_ASSERT(wish_from == NOW + 60 && wish_till == NOW + 120);
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("partition"), "pbs-default");
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "False");
	CU_ASSERT_EQUAL(n_blocked, 1);
	CU_ASSERT_STRING_EQUAL(node_resv("a"), ID);
	CU_ASSERT_STRING_EQUAL(node_resv("c"), "");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Reservation confirmed"));
	CU_ASSERT_EQUAL(records_of('Y'), 1);
	CU_ASSERT_STRING_EQUAL(held, "");
	run_cycle();
	CU_ASSERT_EQUAL(n_finds, 1);
}

static void is_denied(void)
{
	made(60, 120);
	run_cycle();
	answer(NULL, "Insufficient amount of resource: ncpus");
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NULL(queue());
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "PBS Failed to confirm resv: Insufficient amount of resource: ncpus"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Reservation denied"));
	CU_ASSERT_STRING_EQUAL(records, "K");
}

static void is_never_confirmed(void)
{
	made(60, 120);
	keel_mock_advance(mock, 119000);
	CU_ASSERT_PTR_NOT_NULL(resv());
	keel_mock_advance(mock, 2000);
	CU_ASSERT_PTR_NULL(resv());
}

static void begins_once(void)
{
	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 58000);
	CU_ASSERT(is(2, 2));
	keel_mock_advance(mock, 3000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(held, "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "True");
	CU_ASSERT(blocked[0].flags & KEEL_BLOCK_BEGAN);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "vnodes in reservation: 2; "));
	CU_ASSERT_EQUAL(records_of('B'), 1);
	restart();
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(held, "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_EQUAL(n_blocked, 1);
	CU_ASSERT(blocked[0].flags & KEEL_BLOCK_BEGAN);
	CU_ASSERT_EQUAL(records_of('B'), 1);
	CU_ASSERT_STRING_EQUAL(node_resv("b"), ID);
}

static void has_vnodes_alone(void)
{
	made(60, 120);
	keel_mock_set(resv(), "Resource_List", "place", "excl");
	confirmed();
	CU_ASSERT(blocked[0].flags & KEEL_BLOCK_ALONE);
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	keel_mock_advance(mock, 61000);
	CU_ASSERT_EQUAL(bits_of("a"), 0x2000);
	CU_ASSERT_EQUAL(bits_of("c"), 0);
	restart();
	CU_ASSERT_EQUAL(bits_of("b"), 0x2000);
	CU_ASSERT(is(5, 5)); /* it is no reason to doubt the vnode */
	keel_mock_advance(mock, 60000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	CU_ASSERT_EQUAL(bits_of("b"), 0);
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "");
}

/* Maintenance, twice. */
static void two_have_it_alone(void)
{
	for (int second = 0; second < 2; second++) {
		the_second(second);
		made(60, 120 + 60 * second);
		keel_mock_set(resv(), "Resource_List", "place", "exclhost");
		number("reserve_rules", RULE_WHATEVER);
		resv_confirmed(module, resv(), "root@svr", (const char *const[]){ "(a:ncpus=4)" }, 1);
		CU_ASSERT(is(2, 2));
		CU_ASSERT(blocked[0].flags & KEEL_BLOCK_WHATEVER);
	}
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "R2.svr, R1.svr");
	CU_ASSERT_EQUAL(woken, 0);
	keel_mock_advance(mock, 61000);
	restart();
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "R2.svr, R1.svr");
	CU_ASSERT_EQUAL(bits_of("a"), 0x2000);
	keel_mock_advance(mock, 60000);
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "R2.svr");
	CU_ASSERT_EQUAL(bits_of("a"), 0x2000);
	keel_mock_advance(mock, 60000);
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	CU_ASSERT_EQUAL(records_of('K'), 2);
}

static void is_never_alone(void)
{
	sharing_of = "ignore_excl";
	made(60, 120);
	keel_mock_set(resv(), "Resource_List", "place", "excl");
	confirmed();
	keel_mock_advance(mock, 61000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	CU_ASSERT_FALSE(blocked[0].flags & KEEL_BLOCK_ALONE);
}

static void ends_with_its_last_job(void)
{
	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "R");
	keel_mock_advance(mock, 60000);
	CU_ASSERT(is(7, 9));
	CU_ASSERT_STRING_EQUAL(deleted, "5.svr;");
	CU_ASSERT_EQUAL(records_of('K'), 1);
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "False");
	CU_ASSERT_STRING_EQUAL(held, "(a:ncpus=1)+(b:ncpus=2)");
	restart();
	CU_ASSERT(is(7, 9));
	CU_ASSERT_EQUAL(records_of('K'), 1);
	job_goes("5.svr");
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NULL(queue());
	CU_ASSERT_STRING_EQUAL(held, "");
	CU_ASSERT_EQUAL(n_blocked, 0);
}

static void a_job_that_stays(void)
{
	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "R");
	keel_mock_advance(mock, 60000);
	CU_ASSERT_STRING_EQUAL(deleted, "5.svr;");
	keel_mock_advance(mock, 60000);
	CU_ASSERT(strlen(deleted) > strlen("5.svr;"));
	CU_ASSERT(is(7, 9));
	job_goes("5.svr");
	CU_ASSERT_PTR_NULL(resv());
}

static void is_idle(void)
{
	made(60, 600);
	number("delete_idle_time", 15);
	confirmed();
	keel_mock_advance(mock, 61000);
	keel_mock_advance(mock, 12000);
	CU_ASSERT(is(5, 5));
	job_comes("5.svr", "Q");
	keel_mock_advance(mock, 30000);
	CU_ASSERT(is(5, 5));
	job_goes("5.svr");
	keel_mock_advance(mock, 13000);
	CU_ASSERT(is(5, 5));
	keel_mock_advance(mock, 4000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Deleting reservation after being idle for 15 seconds"));
}

static void far_away(void)
{
	made(5000000000, 5000000060);
	confirmed();
	keel_mock_advance(mock, 3600000);
	CU_ASSERT(is(2, 2));
	number("reserve_end", INT64_MAX);
	number("reserve_start", INT64_MAX - 1);
	clock_set(module, resv());
	keel_mock_advance(mock, 3600000);
	CU_ASSERT(is(2, 2));
}

static void is_deleted(void)
{
	struct keel_mock_reply reply;
	const struct keel_session *owner = keel_mock_session(mock, "ann", KEEL_USER);

	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "R");
	keel_mock_set(resv(), "Reserve_Owner", NULL, owner->who);
	keel_mock_request(mock, owner, "resv_delete", "id = \"R1\";", &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told && reply.code == 0);
	CU_ASSERT(is(7, 9));
	keel_mock_request(mock, owner, "resv_delete", "id = \"" ID "\";", &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told && reply.code == 0);
	CU_ASSERT_EQUAL(records_of('k'), 1);
	job_goes("5.svr");
	CU_ASSERT_PTR_NULL(resv());
	keel_mock_request(mock, owner, "resv_delete", "id = \"R1\";", &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_UNKRESVID);
}

/* ---- of several times ------------------------------------------------------------------------------------------- */
static void has_several_times(void)
{
	made_standing(60, 80);
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT_EQUAL(wish_from, NOW + 120);
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(1, 1));
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("reserve_execvnodes"), "3#(a:ncpus=1)+(b:ncpus=2){0,2}(c:ncpus=1)+(b:ncpus=2){1}");
	CU_ASSERT_EQUAL(n_blocked, 3);
	CU_ASSERT_EQUAL(blocked[1].from, NOW + 120);
	keel_mock_advance(mock, 61000);
	CU_ASSERT(is(5, 5));
	job_comes("5.svr", "R");
	keel_mock_advance(mock, 20000);
	CU_ASSERT_EQUAL(number_of("reserve_state"), KEEL_RESV_DELETING_JOBS);
	CU_ASSERT_STRING_EQUAL(deleted, "5.svr;");
	job_goes("5.svr");
	CU_ASSERT(is(2, 2));
	CU_ASSERT_EQUAL(number_of("reserve_index"), 2);
	CU_ASSERT_EQUAL(number_of("reserve_start"), NOW + 120);
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(node_resv("a"), ID);
	CU_ASSERT_STRING_EQUAL(held, "");
	CU_ASSERT_EQUAL(n_blocked, 2);
	restart();
	CU_ASSERT_EQUAL(n_blocked, 2);
	CU_ASSERT_EQUAL(blocked[1].from, NOW + 180);
	keel_mock_advance(mock, 40000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_EQUAL(records_of('B'), 2);
	CU_ASSERT_STRING_EQUAL(held, "(c:ncpus=1)+(b:ncpus=2)");
	keel_mock_advance(mock, 60000);
	keel_mock_advance(mock, 60000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(records_of('B'), 3);
	CU_ASSERT_EQUAL(records_of('K'), 1);
}

/* Whatever becomes of the first ones. */
static void begins_stay(void)
{
	made_standing(60, 80);
	confirmed();
	span_move(module, resv(), NOW + 65, NOW + 90);
	restart();
	CU_ASSERT_EQUAL(resv_slot(module, resv())->n_spans, 3);
	CU_ASSERT(blocked[0].from == NOW + 65 && blocked[0].till == NOW + 90);
	CU_ASSERT(blocked[1].from == NOW + 120 && blocked[1].till == NOW + 140);
	keel_mock_advance(mock, 91000);
	CU_ASSERT(is(2, 2));
	restart();
	CU_ASSERT(number_of("reserve_start") == NOW + 120 && number_of("reserve_duration") == 20);
	CU_ASSERT(blocked[1].from == NOW + 180 && blocked[1].till == NOW + 200);
}

static void all_or_none(void)
{
	made_standing(60, 80);
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	answer(NULL, "none");
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(n_finds, 2);
	CU_ASSERT_EQUAL(n_blocked, 0);
}

static void queued_jobs_stay(void)
{
	made_standing(60, 80);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "Q");
	keel_mock_advance(mock, 20000);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(deleted, "");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "False");
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
}

/* The server was down over two of three. */
static void some_were_missed(void)
{
	made_standing(60, 80);
	confirmed();
	keel_alarm_end(&resv_slot(module, resv())->clock);
	keel_mock_advance(mock, 150000);
	CU_ASSERT(is(2, 2));
	restart();
	keel_mock_advance(mock, 6000);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_EQUAL(number_of("reserve_index"), 3);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "reservation occurrence 2/3 scheduled at"));
	CU_ASSERT_EQUAL(records_of('B'), 0);
	keel_alarm_end(&resv_slot(module, resv())->clock);
	keel_mock_advance(mock, 600000);
	restart();
	keel_mock_advance(mock, 3000);
	CU_ASSERT_PTR_NOT_NULL(resv());
	keel_mock_advance(mock, 3000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(records_of('B'), 0);
	CU_ASSERT_EQUAL(records_of('K'), 1);
}

/* ---- searches -------------------------------------------------------------------------------------------------- */
static void what_changed_meanwhile(void)
{
	made(60, 120);
	run_cycle();
	number("reserve_start", NOW + 70);
	spans_read(module, resv());
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(1, 1));
	run_cycle();
	CU_ASSERT_EQUAL(wish_from, NOW + 70);
	resv_remove(module, resv(), "root@svr");
	CU_ASSERT_EQUAL(drops, 1);
	CU_ASSERT_PTR_NULL(resv());
	keel_mock_advance(mock, 0);
	made(60, 120);
	confirmed();
}

static void degrade(const char *vnode)
{
	set_state(NULL, keel_find(keel_mock_self(mock), "node", vnode), KEEL_NODE_OFFLINE, true);
	keel_mock_advance(mock, 0);
}

static void keeps_what_works(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	degrade("a");
	CU_ASSERT(is(5, 10));
	number("reserve_retry", NOW);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1");
	CU_ASSERT_STRING_EQUAL(wish_beside, "(b:ncpus=2)");
	answer("(c:ncpus=1)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(held, "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "");
	CU_ASSERT_STRING_EQUAL(node_resv("c"), ID);
	CU_ASSERT_EQUAL(records_of('Y'), 2);
}

static void jobs_stay_where_they_are(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	inside = 1;
	degrade("b");
	CU_ASSERT(is(5, 10));
	number("reserve_retry", NOW);
	n_finds = 0;
	run_cycle();
	CU_ASSERT_EQUAL(n_finds, 0);
	CU_ASSERT(is(5, 10));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "PBS Failed to confirm resv: Reservation has running jobs in it"));
	CU_ASSERT(number_of("reserve_retry") > NOW);
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
}

/* The first of two chunks was taken from it. */
static void lost_chunks_come_back(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	CU_ASSERT_EQUAL(span_place(module, resv(), 0, "(b:ncpus=2)"), 0);
	CU_ASSERT_STRING_EQUAL(held, "(b:ncpus=2)");
	number("reserve_rules", number_of("reserve_rules") | RULE_LOST);
	number("reserve_substate", 12);
	number("reserve_retry", NOW);
	restart();
	CU_ASSERT(is(5, 12));
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1");
	CU_ASSERT_STRING_EQUAL(wish_beside, "(b:ncpus=2)");
	answer("(c:ncpus=1)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_FALSE(number_of("reserve_rules") & RULE_LOST);
}

/* Altered while it runs: all is found anew, those with jobs where they are. */
static void altered_where_jobs_are(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	inside = 1;
	number("reserve_state", KEEL_RESV_BEING_ALTERED);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1+1:ncpus=2:vnode=b");
	CU_ASSERT_STRING_EQUAL(wish_beside, "");
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(held, "(c:ncpus=1)+(b:ncpus=2)");
}

/* A chunk on two vnodes stays one. */
static void whole_groups_move(void)
{
	made(60, 1200);
	keel_mock_set(resv(), "schedselect", NULL, "2:ncpus=1+1:ncpus=3");
	run_cycle();
	answer("(a:ncpus=1)+(a:ncpus=1)+(b:ncpus=2+c:ncpus=1)", NULL);
	keel_mock_advance(mock, 61000);
	degrade("c");
	number("reserve_retry", NOW);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=3");
	CU_ASSERT_STRING_EQUAL(wish_beside, "(a:ncpus=1)+(a:ncpus=1)");
	answer("(b:ncpus=2+a:ncpus=1)", NULL);
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(a:ncpus=1)+(b:ncpus=2+a:ncpus=1)");
	CU_ASSERT(is(5, 5));
}

/* One that waits gives up all. */
static void all_are_given_up(void)
{
	made(600, 1200);
	confirmed();
	degrade("a");
	CU_ASSERT(is(10, 10));
	number("reserve_retry", NOW);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1+1:ncpus=2");
	CU_ASSERT_STRING_EQUAL(wish_beside, "");
	answer(NULL, "none");
	CU_ASSERT(is(10, 10));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Reservation is in degraded mode"));
	CU_ASSERT_EQUAL(n_blocked, 1);
	set_state(NULL, keel_find(keel_mock_self(mock), "node", "a"), KEEL_NODE_OFFLINE, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT(is(2, 2));
}

/* ---- restarts --------------------------------------------------------------------------------------------------- */
static void nothing_is_left_of_its_vnodes(void)
{
	made(600, 1200);
	confirmed();
	number("reserve_state", KEEL_RESV_DEGRADED);
	number("reserve_substate", 12);
	number("reserve_rules", RULE_LOST);
	span_place(module, resv(), 0, NULL);
	restart();
	CU_ASSERT(is(10, 12));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "");
	CU_ASSERT(number_of("reserve_retry") >= NOW && number_of("reserve_retry") <= NOW + 5);
	if (queue())
		keel_mock_destroy(queue());
	restart();
	CU_ASSERT_PTR_NOT_NULL(queue());
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
}

static void of_a_kind_without_a_decision(void)
{
	made(600, 1200);
	number("reserve_rules", RULE_WHATEVER);
	run_cycle();
	CU_ASSERT_EQUAL(n_finds, 0);
	restart();
	CU_ASSERT_PTR_NULL(resv());
}

static void a_vnode_of_maintenance_stays(void)
{
	struct keel_mock_outcome out;
	struct keel_obj *a;

	made(600, 1200);
	confirmed();
	a = keel_find(keel_mock_self(mock), "node", "a");
	keel_mock_raise(mock, KEEL_POINT_node_delete, KEEL_EVENT(node_delete, .id = "a", .node = a, .who = "root@svr"), &out);
	CU_ASSERT_NOT_EQUAL(out.verdict, KEEL_REJECT);
	number("reserve_rules", RULE_WHATEVER);
	keel_mock_raise(mock, KEEL_POINT_node_delete, KEEL_EVENT(node_delete, .id = "a", .node = a, .who = "root@svr"), &out);
	CU_ASSERT(out.verdict == KEEL_REJECT && out.code == PBSE_OBJBUSY);
	degrade("a");
	CU_ASSERT(is(2, 2));
}

TESTS_MAIN_BETWEEN("life of reservations", set_up, tear_down, TEST(is_confirmed), TEST(is_denied), TEST(is_never_confirmed),
		   TEST(begins_once), TEST(has_vnodes_alone), TEST(is_never_alone), TEST(two_have_it_alone), TEST(ends_with_its_last_job),
		   TEST(a_job_that_stays), TEST(is_idle), TEST(far_away), TEST(is_deleted), TEST(has_several_times),
		   TEST(all_or_none), TEST(begins_stay), TEST(queued_jobs_stay), TEST(some_were_missed), TEST(what_changed_meanwhile),
		   TEST(keeps_what_works), TEST(jobs_stay_where_they_are), TEST(lost_chunks_come_back), TEST(altered_where_jobs_are),
		   TEST(whole_groups_move), TEST(all_are_given_up),
		   TEST(nothing_is_left_of_its_vnodes), TEST(of_a_kind_without_a_decision), TEST(a_vnode_of_maintenance_stays))
