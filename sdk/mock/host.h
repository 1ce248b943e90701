/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - what the files of this folder share: one kernel whose time is virtual, and what a test adds to it.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

#include "keel/mock.h"
#include "keel/service/carrier.h"
#include "wire/buf.h"
#include "util/owner.h"

#define BEGIN_MS 1000000
#define RING 16
#define REASONS 5 /* enum keel_cancel, 0: released */

/* A vocabulary row that a test host has until a module brings its own. */
struct stand_in {
	struct owner owner;
	const char *kind;
	const void *row;
	const char *name;
	bool there;
	struct stand_in *next;
};

struct texts { /* in order; owned */
	char **at;
	uint32_t n;
};

struct keel_mock {
	struct parts parts; /* first */
	struct owner self;  /* "test" */
	struct stand_in *stand_ins;
	struct loaded *loaded; /* what keel_mock_load() keeps for a reload */
	char *dir;             /* of the log and of configurations */
	uint32_t log_cleared;  /* records that are not shown any more */
	struct texts ring, kept, sent;
	uint32_t n_violations;
	struct watched *watched; /* taps of modules */
	struct blob_of *blobs;
	struct slot_of *slots;
	struct keel_timer *timers;
	struct unstored *unstored;
	bool store_stands; /* keel_mock_store() */
	struct guest *guests;
	struct dummy *dummies; /* requesters without a request */
	struct session *sessions;
	void **memory, **files;
	uint32_t n_memory, n_files;
	uint32_t calls, fail_at, ended[REASONS];
	uint32_t in_module; /* depth of calls into modules from here: init() and the like */
	const struct keel_mod *inside; /* of those calls */
	bool loopback; /* messages to the server and to the own host go through memory */
	struct keel_carrier_api carrier; /* of the peers that a test plays */
	pthread_t thread;
	bool in_work;
	bool down;
	keel_mock_violation_fn *on_violation;
	void *violation_arg;
};

/* The host that was made last: for calls that name no module and no object. */
extern struct keel_mock *host_latest;

static inline struct keel_mock *host_of(struct parts *parts)
{
	return (struct keel_mock *)parts;
}
static inline struct keel_mock *host_of_mod(const struct keel_mod *m)
{
	return host_of(((const struct owner *)m)->parts);
}
struct keel_mock *host_of_obj(const struct keel_obj *o);

/* text.c: the program ends without memory, and where a test is wrong. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *host_alloc(size_t size);
char *host_dup(const char *text);
void *host_keep(struct keel_mock *mock, void *memory); /* freed with the host */
char *host_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void texts_add(struct texts *t, char *text); /* moved */
void texts_clear(struct texts *t, struct texts *to); /* moved there; NULL: freed */
const char *ring(struct keel_mock *mock, char *text); /* moved */
void violation(struct keel_mock *mock, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* body.c: bodies of messages as people write and read them. */
struct keel_out *body_of_text(const char *text);
char *body_json(const char *bytes, size_t len, const char *but); /* without the key `but`, and a text beside it */

/* vocabulary.c */
void vocabulary_init(struct keel_mock *mock);
void stand_aside(struct keel_mock *mock, const struct keel_module *d); /* for what it brings */
void stand_in_again(struct keel_mock *mock);
void values_keep(struct keel_mock *mock, const struct owner *owner); /* before its rows go */
struct stand_in *stand_in_add(struct keel_mock *mock, const char *kind, const char *name, const void *row);
void class_stand_in(struct keel_mock *mock, const char *name); /* if there is none of that name */

/* count.c: the tables that modules get. */
void count_tables(struct keel_mock *mock);
void count_fini(struct keel_mock *mock); /* what was left behind goes */

/* taps.c */
void taps_watch(struct keel_mock *mock, struct owner *owner);
void taps_forget(struct keel_mock *mock, const struct owner *owner);

/* module.c */
void modules_down(struct keel_mock *mock);
void modules_fini(struct keel_mock *mock);
void module_of_test(struct keel_mock *mock); /* the kernel's functions, for the test itself */
const struct keel_mod *module_called(struct keel_mock *mock, const char *tap); /* "module.tap", or the module */

/* client.c */
void clients_settle(struct keel_mock *mock);
void clients_fini(struct keel_mock *mock);
bool client_is_slow(const struct keel_req *q); /* keel_mock_client_slow() */
void client_wants_drained(struct keel_req *q, keel_fn *fn, void *arg);
void clients_init(struct keel_mock *mock);
void replies_missing(struct keel_mock *mock, const struct owner *owner);

/* peer.c */
int peers_init(struct keel_mock *mock);

/* host.c: what a turn's end brings, here and now: replies and messages leave. */
void host_settle(struct keel_mock *mock);

#endif
