/* SPDX-License-Identifier: Apache-2.0
 *
 * dependencies.h - what the files of this module share.
 *
 * The words: the job that has the attribute is the child, the one it names is the parent. For the
 * before... types it is the other way round in time: the named job waits (it has on:N) for the child.
 */
#ifndef DEPENDENCIES_H
#define DEPENDENCIES_H

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/text.h"
#include "pbs_error.h"

#define ID_MAX 300

/* ---- clause.c: the text of the attribute ---------------------------------------------------------- */

enum type { ON, AFTER, AFTER_OK, AFTER_NOT_OK, AFTER_ANY, BEFORE, BEFORE_OK, BEFORE_NOT_OK, BEFORE_ANY,
	    RUN_ONE, TYPES };

struct item {
	int64_t n;    /* number of a job of this server; ON: reports it still waits for */
	uint8_t type; /* enum type */
	bool array;
};
struct clause {
	struct item *item;
	uint32_t n;
};

/* Reads `text`: ids end in nothing, in `server` or, with `mod`, in a name that the server had before; in anything where
 * `server` is NULL. 0, and the caller calls clause_fini(); fails with 15014 (bad words) or 15054 (a job of
 * another server, or part of an array), and *ret is empty. */
int32_t clause_parse(const char *text, const char *server, struct keel_mod *mod, struct clause *ret);
void clause_fini(struct clause *c);
/* 12.svr, 12[].svr; "" for ON. */
void item_id(const struct item *item, const char *server, char buf[ID_MAX]);
/* As it is shown: ids end in @server, those of one type in a row are joined. false: no memory. */
bool clause_text(const struct clause *c, const char *server, struct keel_mod *mod, struct keel_text *out);
const char *type_name(enum type type);
bool type_is_before(enum type type);
/* Is the job held for as long as it has an item of this type? */
bool type_waits(enum type type);
/* Adds an item; `once`: unless it is there. Fails with a PBSE code: a bad id, or no memory. */
int32_t clause_add(struct clause *c, enum type type, const char *id, bool once);
int32_t clause_append(struct clause *c, const struct item *item);
bool type_at_start(enum type type); /* done when a job starts, else when it is over */
/* What the job that is named shows of a dependency: beforeok of afterok; TYPES: nothing. */
enum type type_mirror(enum type type);

/* What happened to a job. */
struct fate {
	bool started; /* its processes ran */
	bool over;
	bool dropped; /* deleted because what it waited for can never be */
	int64_t exit; /* when over and started */
};
enum verdict { WAITS, DONE, NEVER };
/* What `fate` of the job that is to act first means for a dependency. */
enum verdict type_judge(enum type type, const struct fate *fate);

/* ---- index.c: who waits for whom, in memory --------------------------------------------------------- */

/* Jobs are known by number: ids of one job end in each name that the server has had. Of a subjob: -1. */
static inline int64_t job_key(const char *id)
{
	return keel_id_is_part(id) ? -1 : strtoll(id, NULL, 10) * 2 + keel_id_is_whole(id);
}

struct child;
struct link {
	struct child *child;
	enum type type;
	struct link *prev, *next; /* of the parent */
	struct parent *parent;
	struct link *more; /* of the child */
};
struct parent {
	int64_t key;
	char *id;
	struct link *links;
	struct fate fate; /* as far as its end is known */
	UT_hash_handle hh;
};
struct child {
	int64_t key;
	char *id;
	struct clause clause;
	struct link *links; /* one for each after... item */
	struct fate fate; /* its own, for its before... items */
	UT_hash_handle hh;
};

/* A piece of work: `parent` did what the child waited for, or never will. */
struct news {
	char *child, *parent;
	enum verdict verdict;
	bool report; /* counts down on:N of `child` instead */
	struct news *next;
};

struct state {
	struct parent *parents;
	struct child *children;
	struct news *first, *last;
	struct keel_timer *later; /* the rest of them is settled then */
	bool settling, started;
	char server[256]; /* its name, the end of every id */
};

struct child *child_find(struct state *st, const char *id);
struct parent *parent_find(struct state *st, const char *id);
/* Takes over the clause; replaces what was known of this job. Fails with -ENOMEM: then nothing is known of it. */
int child_set(struct state *st, const char *id, struct clause *clause);
void child_drop(struct state *st, struct child *c);
/* What became of a job, for its children and for those it reports to. */
void keep_fate(struct state *st, const char *id, struct fate fate);
/* All that is shown of a job: its own clause, and its side of others'. Fails with -ENOMEM. */
int child_shown(struct state *st, const char *id, struct clause *ret);
/* Does it wait for anything? (What its set does is runone_waits().) */
bool child_waits(const struct child *c);

/* ---- news.c -------------------------------------------------------------------------------------------- */
keel_verdict on_started(struct keel_call *c, const struct keel_ev_job_started *ev);
void news_over(struct keel_mod *mod, const char *id, const struct fate *fate);
/* A new job names some that were over when it came: what can never be deletes it. */
void news_too_late(struct keel_mod *mod, const char *id);
/* At start: works off what happened to parents while this module was not loaded. */
void news_missed(struct keel_mod *mod);
void news_drop(struct state *st);
/* Delete a job that waits: what `parent` was to do can never be. */
void job_drop(struct keel_mod *mod, struct keel_obj *job, const char *parent);
/* Removes the job's runone items that name this one (NULL: all). */
void clause_drop(struct keel_mod *mod, struct keel_obj *job, const char *id);

/* ---- runone.c -------------------------------------------------------------------------------------------- */
bool runone_waits(struct keel_mod *mod, const char *id);     /* another of its set runs */
void runone_changed(struct keel_mod *mod, const char *id);   /* it runs, or is queued again */
void runone_over(struct keel_mod *mod, const char *id, bool ran);
int32_t runone_join(struct state *st, struct clause *c);     /* name all of the sets it joins */

/* ---- check.c --------------------------------------------------------------------------------------------- */
/* Checks the clause that a request sets: what is done already is left out, what can never be fails with PBSE_BADDEPEND;
 * some of it stays in a `fresh` job, for news_too_late(). Returns 0 or another PBSE code. */
int32_t check_clause(struct keel_mod *mod, struct keel_obj *job, const struct keel_session *who, bool fresh,
		     struct clause *c);
/* What the server knows of a job. false: there is none. */
bool fate_of(struct keel_mod *mod, const char *id, struct fate *ret);

#endif
