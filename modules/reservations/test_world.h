/* SPDX-License-Identifier: Apache-2.0
 *
 * test_world.h - what tests of this module have around it, in the mock: vnodes a, b and c, jobs and the scheduler are the
 * test's; queues, resources and the server are the real modules.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

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

static inline void record(struct keel_mod *m, char letter, const char *whose, const char *text)
{
	size_t n = strlen(records);

	(void)m, (void)whose, (void)text;
	if (n + 1 < sizeof(records))
		records[n] = letter;
}

static inline char *value(struct keel_mod *m, const char *text)
{
	(void)m;
	return strdup(text);
}

/* ---- vnodes ------------------------------------------------------------------------------------------------ */
static char held[256]; /* of ID */
static const char *sharing_of = "default_shared";
static uint32_t inside; /* jobs of it on vnode b */

static inline uint32_t node_state(struct keel_mod *m, struct keel_obj *node)
{
	const char *text = keel_mock_text(node, "bits", NULL);

	(void)m;
	return text ? (uint32_t)atoi(text) : 0;
}

static inline void set_state(struct keel_mod *m, struct keel_obj *node, uint32_t bits, bool on)
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

static inline bool closed_inside(struct keel_mod *m, struct keel_obj *node)
{
	return node_state(m, node) & (KEEL_NODE_OFFLINE | KEEL_NODE_DOWN);
}

static inline int32_t sharing(struct keel_mod *m, struct keel_obj *node, int32_t share)
{
	(void)m, (void)node;
	if (strcmp(sharing_of, "ignore_excl") == 0)
		return KEEL_SHARE_SHARED;
	return share >= KEEL_SHARE_EXCL ? share : KEEL_SHARE_SHARED;
}

static inline int32_t hold(struct keel_mod *m, const char *holder, const char *exec_vnode, struct keel_err *e)
{
	(void)m, (void)e;
	if (strcmp(holder, ID) == 0)
		snprintf(held, sizeof(held), "%s", exec_vnode ? exec_vnode : "");
	return 0;
}

static inline void on_holder(struct keel_mod *m, struct keel_mod *me, const char *(*fn)(struct keel_mod *, const char *))
{
	(void)m, (void)me, (void)fn;
}

static inline const struct keel_reslist *available(struct keel_mod *m, struct keel_obj *node)
{
	(void)m, (void)node;
	return NULL;
}

static inline const struct keel_reslist *used_inside(struct keel_mod *m, struct keel_obj *node, const char *holder,
					      uint32_t *ret_jobs, bool *ret_alone)
{
	(void)m, (void)holder;
	if (ret_jobs)
		*ret_jobs = strcmp(keel_id(node), "b") == 0 ? inside : 0;
	if (ret_alone)
		*ret_alone = false;
	return NULL;
}

static int64_t lost; /* since when its host does not answer, of each vnode */

static inline int64_t lost_at(struct keel_mod *m, struct keel_obj *node)
{
	(void)m, (void)node;
	return lost;
}

/* a and c are on one host. */
static inline const char *host_of(struct keel_mod *m, const char *vnode)
{
	(void)m;
	return strcmp(vnode, "b") == 0 ? "hb" : "ha";
}

static inline bool linked(struct keel_mod *m, struct keel_obj *node)
{
	(void)m, (void)node;
	return true;
}

/* ---- the scheduler ------------------------------------------------------------------------------------------- */
static struct keel_sched_block blocked[8];
static char blocked_nodes[256]; /* of the last one */
static uint32_t n_blocked, woken, n_finds, drops;
static void (*cycle)(struct keel_mod *me);
static struct keel_mod *cycle_of, *found_for;
static keel_sched_found *found;
static void *found_arg;
static char wish_select[256], wish_beside[256];
static int64_t wish_from, wish_till;

static inline int32_t block(struct keel_mod *m, const struct keel_sched_block *b, struct keel_err *e)
{
	(void)m, (void)e;
	if (b->part >= 8)
		return 0;
	blocked[b->part] = *b;
	snprintf(blocked_nodes, sizeof(blocked_nodes), "%s", b->exec_vnode);
	if (b->part >= n_blocked)
		n_blocked = b->part + 1;
	return 0;
}

static inline void unblock(struct keel_mod *m, const char *whose, uint32_t from_part)
{
	(void)m, (void)whose;
	if (from_part < n_blocked)
		n_blocked = from_part;
}

static inline int32_t find(struct keel_mod *m, const struct keel_sched_wish *w, struct keel_mod *me, keel_sched_found *done, void *arg,
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

static inline void find_drop(struct keel_mod *m, struct keel_mod *me, void *arg)
{
	(void)m, (void)me;
	if (found && found_arg == arg) {
		found = NULL;
		drops++;
	}
}

static inline void on_cycle(struct keel_mod *m, struct keel_mod *me, void (*fn)(struct keel_mod *me))
{
	(void)m;
	cycle = fn;
	cycle_of = me;
}

static inline void reconsider(struct keel_mod *m)
{
	(void)m;
	woken++;
}

static inline void answer(const char *nodes, const char *why)
{
	keel_sched_found *done = found;
	const struct keel_sched_place place = { .size = sizeof(place), .exec_vnode = nodes, .from = wish_from, .why = why };

	CU_ASSERT_PTR_NOT_NULL_FATAL(done);
	found = NULL;
	done(found_for, found_arg, &place);
	keel_mock_advance(mock, 0);
}

static inline void run_cycle(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(cycle);
	cycle(cycle_of);
	keel_mock_advance(mock, 0);
}

/* ---- jobs ---------------------------------------------------------------------------------------------------- */
static char deleted[256];

static inline char job_state(struct keel_mod *m, struct keel_obj *job)
{
	const char *text = keel_mock_text(job, "job_state", NULL);

	(void)m;
	return text ? text[0] : '\0';
}

static inline void request_delete(struct keel_mod *m, struct keel_obj *job, const char *who, struct keel_mod *me, keel_job_done *done,
			   void *arg)
{
	(void)m, (void)who;
	strncat(deleted, keel_id(job), sizeof(deleted) - strlen(deleted) - 1);
	strncat(deleted, ";", sizeof(deleted) - strlen(deleted) - 1);
	done(me, arg, 0, NULL);
}

static inline void ask(struct keel_mod *m, struct keel_obj *job, const struct keel_job_ask *a, struct keel_mod *me, keel_job_done *done,
		void *arg)
{
	(void)a;
	request_delete(m, job, "force", me, done, arg);
}

static bool counted; /* numbers are given once, else all are 1 */

static inline int32_t job_substate(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	return KEEL_SUB_RUNNING;
}

/* ann's are all of them. */
static inline int32_t job_permit(struct keel_mod *m, struct keel_obj *job, const struct keel_job_ask *a, uint32_t roles)
{
	(void)m, (void)job, (void)roles;
	return strncmp(a->who, "ann@", 4) == 0 ? 0 : PBSE_PERM;
}

static inline char job_letter(struct keel_mod *m, const char *operand)
{
	(void)m;
	return strcmp(operand, "7[3].svr") == 0 ? 'Q' : '\0';
}

static inline int32_t job_put(struct keel_mod *m, struct keel_obj *job, struct keel_obj *into, const char *who)
{
	(void)m, (void)who;
	keel_mock_set(job, "queue", NULL, keel_id(into));
	return 0;
}

static int32_t move_code; /* what a move answers */

static inline void job_move(struct keel_mod *m, struct keel_obj *job, struct keel_obj *into, const char *who, struct keel_mod *me,
			    keel_job_done *done, void *arg)
{
	if (!move_code)
		job_put(m, job, into, who);
	done(me, arg, move_code, NULL);
}

static inline int64_t take_number(struct keel_mod *m)
{
	static int64_t last;

	(void)m;
	last = counted ? last + 1 : 0;
	return counted ? last : 1;
}

/* ---- a reservation ----------------------------------------------------------------------------------------------- */
static const char *id = ID, *name = "R1";

static inline struct keel_obj *resv(void)
{
	return keel_find(keel_mock_self(mock), "resv", id);
}

static inline struct keel_obj *queue(void)
{
	return keel_find(keel_mock_self(mock), "queue", name);
}

static inline void the_second(bool on)
{
	id = on ? "R2.svr" : ID;
	name = on ? "R2" : "R1";
}

static inline const char *queue_says(const char *attr)
{
	const char *text = queue() ? keel_mock_text(queue(), attr, NULL) : NULL;

	return text ? text : "";
}

static inline void queue_has(const char *total, const char *counts)
{
	if (!queue())
		return;
	keel_mock_set(queue(), "total_jobs", NULL, total);
	keel_mock_set(queue(), "state_count", NULL, counts);
}

static inline const char *text_of(const char *attr)
{
	const char *text = keel_mock_text(resv(), attr, NULL);

	return text ? text : "";
}

static inline int64_t number_of(const char *attr)
{
	return keel_get_int(resv(), keel_attr_find(keel_mock_self(mock), "resv", attr));
}

static inline void number(const char *attr, int64_t n)
{
	keel_set_int(resv(), keel_attr_find(keel_mock_self(mock), "resv", attr), n);
}

static inline bool is(int32_t state, int32_t substate)
{
	return resv() && number_of("reserve_state") == state && number_of("reserve_substate") == substate;
}

static inline int records_of(char letter)
{
	int n = 0;

	for (const char *at = records; *at; at++)
		n += *at == letter;
	return n;
}

static inline void load(const char *file)
{
	const char *build = getenv("KEELSON_BUILD");
	char path[4096];

	snprintf(path, sizeof(path), "%s/modules/%s.so", build ? build : ".", file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, path, NULL, &err));
}

static inline void attrs(const char *klass, const char *const *names)
{
	for (; *names; names += 2)
		keel_mock_attr(mock, klass, names[0], names[1]);
}

static inline void services(void)
{
	static const struct keel_acct_api acct = { .size = sizeof(acct), .record = record, .value = value };
	static const struct keel_node_api nodes = {
		.size = sizeof(nodes), .state = node_state, .set_state = set_state, .unavailable = closed_inside,
		.available = available, .sharing = sharing, .linked = linked, .lost_at = lost_at, .host_of = host_of, .hold = hold, .on_holder = on_holder,
		.used_inside = used_inside, .closed_inside = closed_inside,
	};
	static const struct keel_sched_api sched = {
		.size = sizeof(sched), .block = block, .unblock = unblock, .find = find, .find_drop = find_drop,
		.on_cycle = on_cycle, .reconsider = reconsider,
	};
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .state = job_state, .request_delete = request_delete,
						  .ask = ask, .take_number = take_number, .substate = job_substate,
						  .permit = job_permit, .letter = job_letter, .put = job_put, .move = job_move };

	keel_mock_service(mock, "acct", &acct);
	keel_mock_service(mock, "node", &nodes);
	keel_mock_service(mock, "sched", &sched);
	keel_mock_service(mock, "job", &jobs);
}

static inline void set_up(void)
{
	static struct keel_module alone;

	mock = mock_with_resources();
	load("manager");
	load("queues");
	attrs("node", (const char *const[]){ "bits", "string", "resv_enable", "bool", "sharing", "string", NULL });
	attrs("queue", (const char *const[]){ "state_count", "string", "total_jobs", "long", NULL });
	attrs("job", (const char *const[]){ "queue", "string", "job_state", "string", "exec_vnode", "string", "stime", "long",
					   "Job_Owner", "string", "euser", "string", "Resource_List", "resource_list", NULL });
	services();
	memset(records, 0, sizeof(records));
	held[0] = deleted[0] = '\0';
	sharing_of = "default_shared";
	counted = false;
	lost = 0;
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
static inline void made(int64_t from, int64_t till)
{
	keel_mock_object(mock, "resv", id);
	keel_mock_set(resv(), "Reserve_Owner", NULL, "ann@mockhost");
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

static inline void made_standing(int64_t from, int64_t till)
{
	made(from, till);
	keel_mock_set(resv(), "reserve_rrule", NULL, "FREQ=MINUTELY;COUNT=3");
	keel_mock_set(resv(), "reserve_timezone", NULL, "UTC");
	number("reserve_count", 3);
	CU_ASSERT_EQUAL_FATAL(spans_read(module, resv()), 0);
	clock_set(module, resv());
}

static inline void confirmed(void)
{
	run_cycle();
	for (uint32_t i = resv_slot(module, resv())->n_spans; i; i--)
		answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT_FATAL(is(KEEL_RESV_CONFIRMED, KEEL_RESV_CONFIRMED));
}

static inline void job_comes(const char *job_id, const char *state)
{
	struct keel_obj *job = keel_mock_object(mock, "job", job_id);

	keel_mock_set(job, "queue", NULL, "R1");
	keel_mock_set(job, "job_state", NULL, state);
	queue_has("1", *state == 'R' ? "Queued:0 Running:1 Exiting:0 " : "Queued:1 Running:0 Exiting:0 ");
}

static inline void job_goes(const char *job_id)
{
	struct keel_obj *job = keel_find(keel_mock_self(mock), "job", job_id);

	keel_mock_raise(mock, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = job_id, .job = job), NULL);
	keel_mock_destroy(job);
	queue_has("0", "Queued:0 Running:0 Exiting:0 ");
	keel_mock_advance(mock, 0);
}

static inline void restart(void)
{
	n_blocked = 0;
	held[0] = '\0';
	module = keel_mock_restart(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	keel_mock_advance(mock, 0);
}

static inline const char *node_resv(const char *node)
{
	const char *text = keel_mock_text(keel_find(keel_mock_self(mock), "node", node), "resv", NULL);

	return text ? text : "";
}

static inline uint32_t bits_of(const char *node)
{
	return node_state(NULL, keel_find(keel_mock_self(mock), "node", node));
}

static inline void degrade(const char *vnode)
{
	set_state(NULL, keel_find(keel_mock_self(mock), "node", vnode), KEEL_NODE_OFFLINE, true);
	keel_mock_advance(mock, 0);
}

static inline bool logged(const char *text)
{
	return keel_mock_logged(mock, text) != NULL;
}

static inline const char *where(void)
{
	return text_of("resv_nodes");
}

/* Another reservation takes [NOW + from, NOW + till) of that vnode. */
static inline bool lose(const char *by, int64_t from, int64_t till, const char *vnode)
{
	const struct keel_resv_loss loss = { .size = sizeof(loss), .substate = 12, .by = by, .from = NOW + from, .till = NOW + till,
					     .vnodes = &vnode, .n_vnodes = 1 };

	return resv_lose(module, resv(), &loss);
}

#endif
