/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/mock.h - a host for tests: a module runs in it as in the daemon, without a daemon.
 *
 * The host is the daemon's own kernel, with objects in memory and a clock that only the test moves. Link with `pkg-config --libs keelson-mock`:
 *
 *	struct keel_mock *mock = keel_mock_new(KEEL_SERVER);
 *	struct keel_obj *job = keel_mock_object(mock, "job", "1.svr");
 *	struct keel_mock_outcome out;
 *	struct keel_err err;
 *
 *	keel_mock_load(mock, &keel_module, "pause = \"2s\";", &err);
 *	keel_mock_raise(mock, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .job = job), &out);
 *	keel_mock_advance(mock, 2000);              a held operation goes on: out.told, out.verdict
 *	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);   what the module did wrong
 *
 * Tests with the clock, with a hold that ends in each way, with a call and with a store that fails: keelson-mock(3).
 *
 * Whose is what: what a function returns is borrowed, never to be freed, and NULL where that is said. Handles (of
 * modules, objects, sessions, clients) are good until what they stand for goes, at last until keel_mock_free().
 * Texts of one object, hold, chain or blob are good until 16 more of those were returned; those of log, messages,
 * and replies until they are cleared, at last until keel_mock_free(). Texts and configurations that a
 * function takes are copied; descriptors, tables, rows and `arg` are not, and must stay. `struct keel_err *` may be
 * NULL; it is filled when the function fails, and empty otherwise.
 *
 * Without memory, or when a test names what does not exist (an attribute, an open hold, an object's id twice), the
 * mock ends the program with an error: the test is wrong, not the module. Everything runs on the thread that made
 * the mock; work() does, too, in a turn of its own. This header is for tests: it is no part of the contract that a module
 * is loaded by.
 *
 * What a daemon has and the mock has not: budgets of time and their strikes, processes for modules (`isolation` of a
 * module's group is read over; `keelson-module check` looks at that), the kernel's part of a store (a test calls the
 * table of a store module), types and scopes (of `match`) of base modules: load the module itself, or bring rows of them.
 */
#ifndef KEEL_MOCK_H
#define KEEL_MOCK_H

#include "keel/keel.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct keel_mock;

/* ---- a host ------------------------------------------------------------------------------------- */
/* `daemon`: enum keel_daemon bits. Server name "svr", clock at 1000000 ms. It has the classes job, queue,
 * node, server, sched and resource, without attributes; a module that brings a CLASS of that name takes it
 * over. Never NULL; keel_mock_free() it. */
struct keel_mock *keel_mock_new(uint32_t daemon);
/* The daemon ends: holds are cancelled, all modules stop, then all go, the newest first. Afterwards the log,
 * messages and violations can be looked at. */
void keel_mock_shutdown(struct keel_mock *);
/* Shuts down first, if that is not done. How many violations there were (below): 0, or the test fails. NULL is fine. */
uint32_t keel_mock_free(struct keel_mock *);
/* Who and where this daemon is; copied. Host "mockhost", home "/tmp" and a wall clock that begins at
 * 1700000000 s, unless said otherwise, which is before loading. */
void keel_mock_host(struct keel_mock *, const char *name);
void keel_mock_home(struct keel_mock *, const char *path);
void keel_mock_epoch(struct keel_mock *, int64_t seconds);
/* The test as a module: for functions of an API group that want one. Its calls are never refused, counted or
 * judged. `state` and `conf` are the test's to set: so functions inside a module are tested that take a
 * keel_mod, without loading it. */
struct keel_mod *keel_mock_self(struct keel_mock *);
/* The table of an API group, or of a service that a module offers; NULL: none does. Good while the module is
 * there that offers it. Call it with keel_mock_self(). */
const void *keel_mock_group(struct keel_mock *, const char *name);
/* Writes what a module uses (KEEL_USE(), KEEL_ATTR_OF(), the kernel's functions) as a load would, without loading it: for
 * tests of functions inside it. What is not there is NULL; again when more is. */
void keel_mock_use(struct keel_mock *, const struct keel_module *);

/* ---- objects -------------------------------------------------------------------------------------- */
/* An attribute that everybody may read and set, and that is stored. Types: those of the kernel (bool long
 * size time float string string_array), and those that modules bring: load `resources` for `resource_list`. */
void keel_mock_attr(struct keel_mock *, const char *klass, const char *name, const char *type);
/* With all that a row says. Its functions get keel_mock_self(). */
void keel_mock_attr_def(struct keel_mock *, const struct keel_attr_def *);
/* A published object; the handle stays good until the object is destroyed. Modules that are there are not notified:
 * it is as if it had come before them. Never NULL. */
struct keel_obj *keel_mock_object(struct keel_mock *, const char *klass, const char *id);
/* One that is not published yet, as at job_submit. keel_publish() publishes it. */
struct keel_obj *keel_mock_draft(struct keel_mock *, const char *klass, const char *id);
/* By the system, as users write it; text NULL: unset. 0, or the PBSE code of a refusal. */
int32_t keel_mock_set(struct keel_obj *, const char *attr, const char *key, const char *text);
/* As users see it, derived ones too; NULL: unset. */
const char *keel_mock_text(struct keel_obj *, const char *attr, const char *key);
/* On behalf of a user: permissions and check functions have a say. 0 or a PBSE code with *err. */
int32_t keel_mock_change(struct keel_obj *, const struct keel_session *, const char *attr,
			 const char *key, const char *text, int32_t op, struct keel_err *err);
/* The object goes, as keel_destroy() makes it go: private memory is given back, holds on it are cancelled. */
void keel_mock_destroy(struct keel_obj *);

/* ---- modules -------------------------------------------------------------------------------------- */
/* A module up to its start(): descriptor, configuration, needs, contributions, init, replay, start. `conf`:
 * what its group would hold ("pause = \"2s\"; names = [ \"a\" ];"), NULL: defaults. NULL with *err: refused,
 * and nothing of it is left. A module is there once. Modules that it requires must be loaded; to do without, load a copy of its descriptor with requires_modules NULL. The
 * handle is good until the module is unloaded; its `state` and `conf` may be looked at. */
struct keel_mod *keel_mock_load(struct keel_mock *, const struct keel_module *, const char *conf,
				struct keel_err *err);
/* The module of a file, as keel_mock_load(); also NULL with *err when it cannot be opened. The file stays open until
 * keel_mock_free(). */
struct keel_mod *keel_mock_load_file(struct keel_mock *, const char *path, const char *conf,
				     struct keel_err *err);
/* Is this descriptor and this configuration good? No effect. 0 or -errno with *err. */
int keel_mock_check(struct keel_mock *, const struct keel_module *, const char *conf,
		    struct keel_err *err);
/* A new configuration for a running module, as a reload brings it. 0 or -errno with *err: the old one
 * serves on. */
int keel_mock_reconf(struct keel_mod *, const char *conf, struct keel_err *err);
/* stop, taps and rows withdrawn, fini; before that the clock goes on for up to two seconds until nothing of it
 * waits: no hold, no request, and it says itself that it is not busy. 0, or -EBUSY with *err. */
int keel_mock_unload(struct keel_mod *, struct keel_err *err);
/* Unload and load again, with the same configuration: replay must lead to the same state. The new handle; NULL with
 * *err: it is busy and stays, or is gone and cannot come again. */
struct keel_mod *keel_mock_reload(struct keel_mod *, struct keel_err *err);
/* The daemon ends and begins again, for this module: the same, but without calling busy(). Its holds are
 * cancelled. */
struct keel_mod *keel_mock_restart(struct keel_mod *, struct keel_err *err);
/* What a module has registered and that must end before it: timers, watches, calls under way. */
uint32_t keel_mock_live(const struct keel_mod *);
/* The test offers a service: `table` begins with size, version and self, as keel_service_def says; it is
 * copied, self becomes keel_mock_self(). */
void keel_mock_service(struct keel_mock *, const char *name, const void *table);
/* Row `i` of a kind as modules brought it ("SIGNAL", "PREEMPT", "JOB_KEY" ...), declared or not; NULL: no
 * more. *ret_owner (may be NULL): the module to call its functions with. */
const void *keel_mock_row(struct keel_mock *, const char *kind, uint32_t i, struct keel_mod **ret_owner);

/* ---- points ---------------------------------------------------------------------------------------- */
struct keel_mock_outcome {
	bool told; /* the operation has ended; what follows holds only then */
	keel_verdict verdict;
	int32_t code;    /* PBSE of a REJECT */
	int64_t sum;     /* of a FOLD */
	char text[512];  /* of a REJECT or FAIL; the answer of an ASK; what a FOLD appended; "" none */
	char by[128];    /* module.tap that decided */
};
/* Raise a point of any kind, by the system. Returns the verdict; KEEL_WAIT: *ret is filled when the
 * operation ends, and must stay until then. `ret` may be NULL. The event and its texts are copied when it waits. */
keel_verdict keel_mock_raise(struct keel_mock *, uint32_t point, const void *event,
			     struct keel_mock_outcome *ret);
/* GATE and ASK on behalf of a client (keel_mock_client, or a request; NULL: the system), with a change
 * set (group object; moved; NULL: none). */
keel_verdict keel_mock_raise_for(struct keel_mock *, struct keel_req *, uint32_t point,
				 const void *event, struct keel_changes *, struct keel_mock_outcome *ret);
/* A tap of the test's own, in the chain like any module's ("test.NAME"). It stays until keel_mock_free(). */
void keel_mock_tap(struct keel_mock *, uint32_t point, const char *name, int32_t order,
		   keel_any_fn *fn, void *arg);
/* The compiled chain: "a.tap b.tap". */
const char *keel_mock_chain(struct keel_mock *, uint32_t point);

/* ---- time, and whatever is under way ------------------------------------------------------------------ */
/* Move the clock by `ms`, doing on the way what becomes due, in order: timers, deferred and posted
 * calls, work, holds that ended. 0: what is due now. */
void keel_mock_advance(struct keel_mock *, int64_t ms);
/* To the next thing that is due, and do it; false: nothing is. */
bool keel_mock_next(struct keel_mock *);
/* For modules with threads or pipes: the clock stands still while real files become readable and other threads
 * post, until fn(arg) is true. False: `real_ms` have passed. */
bool keel_mock_wait(struct keel_mock *, bool (*fn)(void *arg), void *arg, int64_t real_ms);
/* The same, while the clock goes as the real one does: for modules that have children. */
bool keel_mock_run(struct keel_mock *, bool (*fn)(void *arg), void *arg, int64_t real_ms);
int64_t keel_mock_now(struct keel_mock *); /* as keel_now_ms() */

/* ---- holds ------------------------------------------------------------------------------------------- */
uint32_t keel_mock_holds(struct keel_mock *); /* open ones */
/* Of an open hold, in order of taking: "module: why (0s of 60s)"; NULL: there is none. */
const char *keel_mock_hold(struct keel_mock *, uint32_t i);
/* What open hold `i` waits for: "job_purged 1.svr"; NULL: its module alone releases it. */
const char *keel_mock_hold_until(struct keel_mock *, uint32_t i);
/* Ends open hold `i`: as its module would, or by its deadline. Its resume() or cancel() runs with the next advance. */
void keel_mock_release(struct keel_mock *, uint32_t i);
void keel_mock_expire(struct keel_mock *, uint32_t i);
/* How many ended so: an enum keel_cancel, or 0: released. */
uint32_t keel_mock_ended(struct keel_mock *, int32_t reason);
/* Other ends: keel_mock_destroy() of the object, keel_mock_client_gone(), keel_mock_unload(). */

/* ---- clients and requests ------------------------------------------------------------------------------ */
/* A user at a client, for keel_mock_raise_for(); roles: enum keel_role bits. The session stays until
 * keel_mock_free(). */
const struct keel_session *keel_mock_session(struct keel_mock *, const char *user, uint32_t roles);
struct keel_req *keel_mock_client(struct keel_mock *, const struct keel_session *); /* NULL: "test", who may all */
/* It hangs up: holds of its operations are cancelled, answers are dropped. Once more is nothing. */
void keel_mock_client_gone(struct keel_req *);

struct keel_mock_reply {
	bool told; /* the answer is there */
	int32_t code;
	char text[1024];
	/* The body of the answer, "{}" when it has none: {"lines": ["a", "b"]}, a blank behind each ':' and ','. */
	const char *json;
	uint32_t parts;	  /* sent before it */
	const char *const *part; /* as JSON; good until the next one, at last until keel_mock_free() */
};
/* Send a request (a REQUEST row of a module). `body`: its fields as libconfig text, attribute lists as
 * `attrs = ( ("Resource_List", "ncpus", "2"), ("Priority", "", "5", 0) );`, "" being none; NULL: empty.
 * *ret is filled when the answer comes, and must stay until then. NULL: it has been answered already. */
struct keel_req *keel_mock_request(struct keel_mock *, const struct keel_session *, const char *name,
				   const char *body, struct keel_mock_reply *ret);
/* The client reads no further: part() says -ENOBUFS, until it reads again. */
void keel_mock_client_slow(struct keel_req *, bool slow);

/* ---- other daemons, blobs, log ---------------------------------------------------------------------------- */
/* A peer comes or goes; peer_up and peer_down are raised. daemon: enum keel_daemon bit. */
void keel_mock_peer(struct keel_mock *, const char *peer, uint32_t daemon, bool up);
/* Message `i` of those that left for peers, in order: "n1 task.start {...}", the body as JSON; NULL: no more. They leave
 * with an advance. Borrowed until the next is sent or these are cleared. */
const char *keel_mock_sent(struct keel_mock *, uint32_t i);
void keel_mock_sent_clear(struct keel_mock *);
/* A message comes from a peer, at once. `body` as in keel_mock_request(). */
void keel_mock_deliver(struct keel_mock *, const char *peer, const char *name, const char *body);
/* An embedded daemon: what modules send arrives here, in the next turn, as from "server" or as from this
 * host, whichever the receiver listens for. */
void keel_mock_loopback(struct keel_mock *, bool on);
/* The newest log record that contains `text`, as "class;object;words"; NULL: none. */
const char *keel_mock_logged(struct keel_mock *, const char *text);
/* Record `i`, the oldest first; NULL: no more. */
const char *keel_mock_log(struct keel_mock *, uint32_t i);
void keel_mock_log_clear(struct keel_mock *);
/* The module a callback of which runs now, its work() aside; NULL: none. */
const struct keel_mod *keel_mock_inside(struct keel_mock *);
/* ---- faults ------------------------------------------------------------------------------------------------ */
/* Every call of an API function that can fail is counted, when a module that was loaded makes it. The n-th from now
 * on fails as if there were no memory (or no such thing), and that one alone; 0: none does. To let the module's own
 * allocations fail too, run `keelson-module check`. */
void keel_mock_fail_call(struct keel_mock *, uint32_t n);
uint32_t keel_mock_calls(struct keel_mock *); /* counted so far */
/* False: the store cannot write, as with a full disk. Nothing becomes durable, so callbacks of keel_when_durable()
 * wait, and so do replies and messages, until true: then they are due now. */
void keel_mock_store(struct keel_mock *, bool works);

/* What a module must not do, by a name that does not change:
 *	timer-ended             a timer cancelled after it fired or was cancelled
 *	reply-twice             a request answered again; reply-missing: never answered, seen when its module has stopped
 *	bad-verdict             an answer that the kind of the point does not allow
 *	wait-without-hold       KEEL_WAIT and no hold; hold-without-wait: another answer and a hold
 *	off-thread              an API function in work()
 *	left-behind             timers, watches or calls that are there after fini()
 */
typedef void keel_mock_violation_fn(void *arg, const char *name, const char *words);
/* Called at once; without it they go to stderr. */
void keel_mock_on_violation(struct keel_mock *, keel_mock_violation_fn *fn, void *arg);
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
