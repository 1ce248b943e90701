/* SPDX-License-Identifier: Apache-2.0
 *
 * check_stage.h - a mock host with a small cluster on it, and the module under test.
 *
 *   queue  workq      node  mockhost      server, sched
 *   job    1001.svr   with nothing but an id            (bare)
 *          1002.svr   with ordinary values              (usual)
 *          9999...    with values as large as they get  (full)
 */
#ifndef KEELSON_CHECK_STAGE_H
#define KEELSON_CHECK_STAGE_H

#include "check_process.h"
#include "check_report.h"
#include "keel/keel.h"
#include "keel/mock.h"

enum cast { CAST_BARE, CAST_USUAL, CAST_FULL, N_CASTS };

/* The module under test. Whatever runs code of it takes one of these. */
struct subject {
	const char *path;
	const void *symbol;	     /* its descriptor as it is in the file */
	const struct keel_module *m; /* the same, alone: other modules are neither required nor in the way */
	const char *conf; /* its group; NULL: defaults */
	const char *made_up; /* the same, where the kit chose the keys that must be given; else NULL */
	bool optional;	  /* offer what it may do without */
};

struct stage {
	const struct subject *of;
	struct keel_mock *mock;
	struct keel_mod *mod;  /* NULL: not loaded */
	bool alone;	       /* a module that is to be beside it could not be loaded: s->err */
	enum rule leftovers;   /* what is broken when something is left behind */
	unsigned files, threads; /* there before it was loaded */
	bool child;
	struct process process; /* as it was then */
	struct keel_err err;   /* of stage_load() */
};

/* A host; nothing is loaded. What the module does wrong from now on becomes findings. */
void stage_open(struct stage *s, const struct subject *of);
/* 0, or s->err. */
int stage_load(struct stage *s);
void stage_unload(struct stage *s);
void stage_unload_at_once(struct stage *s); /* while its workers are out */
/* The host goes, the module with it. What is left of memory and files breaks s->leftovers; `after` says
 * after what. */
void stage_close(struct stage *s, const char *after);

/* The id of the class' object in this role; NULL: the host has no such class. */
const char *stage_id(const char *klass, enum cast cast);
/* The object; NULL: there is none (any more). */
struct keel_obj *stage_object(struct stage *s, const char *klass, enum cast cast);
/* "job.licences=a=2": what ordinary objects have there, instead of a made-up value. Borrowed. False: it is not of
 * that form, or there are too many. */
bool stage_say(const char *value);
/* Give the objects values of the attributes of the module, or (not `own`) of those beside it. */
void stage_values(struct stage *s, bool own);
/* Write what was said of a class as attributes of a request that makes such an object. */
void stage_said(struct stage *s, const char *klass, char *buf, size_t size);
/* Row i of the attributes that objects here may have, good until the next call; NULL: no more. */
const struct keel_attr_def *stage_attr(const struct subject *of, unsigned i);
/* Returns whether objects here have it: not when its module may be absent, and is. */
bool stage_has(struct stage *s, const struct keel_attr_def *a);
/* Milliseconds that this thread has worked. */
int64_t worked_ms(void);
/* Tell it when a call that began at `since` (worked_ms) took too long. */
void judge_time(int64_t since);

#endif
