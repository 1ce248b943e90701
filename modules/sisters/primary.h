/* SPDX-License-Identifier: Apache-2.0
 *
 * primary.h - what a primary knows of the other hosts of its job. Pure: events in, acts out; it calls nothing but act(), so
 * that a simulation runs the same.
 *
 *	SILENT -> JOINED -> ENDED
 *	   '---------'-----> LOST     (it failed, or is gone; the job may go on without it)
 *	(any) -> RELEASED             (the job does not have it any more)
 *
 * Four steps wait for the hosts, one at a time: JOIN, PROLOGUE, ACT, END. Each ends with one PASS or REFUSE.
 */
#ifndef SISTERS_PRIMARY_H
#define SISTERS_PRIMARY_H

#include <stdbool.h>
#include <stdint.h>

#define PRIMARY_NAME_MAX 31 /* of an order: a word or the name of a signal */

#define ORDER_ADMIT "admit"  /* to run what comes before the program */
#define ORDER_PRETERM "preterm" /* to say whether the job may be ended */

#define STATUS_RETRY -3	     /* system codes of a start, and of a job's end */
#define STATUS_LOST -14
#define STATUS_JOIN -30
#define CODE_SILENT 0	     /* of task_lost: it has not answered yet, and is not known to have failed */
#define CODE_BADSTATE 15016
#define CODE_COMM 15059

/* The exit status that the number of a refusal of a start means: what shall become of the job, or nothing more than that. */
int32_t primary_refusal(int32_t code);

enum primary_state { HOST_SILENT, HOST_JOINED, HOST_ENDED, HOST_LOST, HOST_RELEASED };
enum primary_step { STEP_NONE, STEP_JOIN, STEP_PROLOGUE, STEP_ACT, STEP_END };

struct primary_host {
	enum primary_state state;
	bool linked, stopped;	/* stopped: as it said last */
	bool met;		/* there was a link since the job is here: one that is given up now may be an older job's */
	bool asked, excused;	/* task_lost about it has no outcome yet; the job goes on, though it is silent */
	bool owes;		/* it has not answered its last order: */
	uint64_t order;
	char name[PRIMARY_NAME_MAX + 1];
	int64_t away_ms, say_ms; /* without a link since when; when it is said again */
};

enum primary_kind {
	ACT_ASK,    /* host: has it joined? */
	ACT_ORDER,  /* host, number, name */
	ACT_LOST,   /* host, stage, status, code, text: may the job go on without it? primary_verdict() follows */
	ACT_PASS,   /* the step is done */
	ACT_REFUSE, /* status or code, text: the step is not done, and no order of it is under way */
	ACT_FAIL,   /* status, text: the job that runs cannot go on */
	ACT_AWAY,   /* host: no link to it; the job is not ended yet */
	ACT_LATE,   /* the time of the step is over */
	ACT_CUT_OFF, /* host: no link to it, but none to any other daemon either */
};
struct primary_act {
	enum primary_kind kind;
	uint32_t host;
	uint64_t number;
	const char *name, *stage, *text;
	int32_t status, code;
};

struct primary {
	uint32_t n;		    /* hosts; [0] is the primary itself, and not looked at */
	struct primary_host *hosts; /* owned by the caller */
	enum primary_step step;
	bool running, over;	    /* the program was started; all has ended */
	bool stopped;		    /* the job is suspended: what hosts that come back are made to be */
	bool cut_off;		    /* said */
	int64_t now_ms, deadline_ms; /* deadline: of the step */
	int64_t quiet_ms;	    /* until then the job may still become what an act made of its hosts */
	uint64_t number;	    /* of the last order; the caller sets it higher than any of an earlier life */
	char name[PRIMARY_NAME_MAX + 1];
	int32_t status, code;	    /* why the step will be refused */
	char text[256];
	int64_t downtime_ms;	    /* without a link for so long: lost */
	void (*act)(void *arg, const struct primary_act *);
	void *arg;
};

void primary_init(struct primary *p, uint32_t n, struct primary_host *hosts, int64_t now);
/* A step begins: `name` is an order's. It may end within the call. `within_ms`: how long it waits. */
void primary_step(struct primary *p, enum primary_step step, const char *name, int64_t within_ms, int64_t now);
/* The program runs: hosts that are lost from now on end the job. */
void primary_runs(struct primary *p);
/* What a host says. `code` of an answer: 0, or its error; below 0 a system code. */
void primary_joined(struct primary *p, uint32_t host, bool stopped);
void primary_failed(struct primary *p, uint32_t host, int32_t status, int32_t code, const char *text);
void primary_answer(struct primary *p, uint32_t host, uint64_t number, int32_t code, const char *text);
void primary_ended(struct primary *p, uint32_t host);
void primary_nothing(struct primary *p, uint32_t host); /* it has no part of the job */
/* A link came, was lost, or was lost and its grace is over. */
void primary_link(struct primary *p, uint32_t host, bool up, int64_t now);
void primary_down(struct primary *p, uint32_t host);
/* The outcome of an ACT_LOST. */
void primary_verdict(struct primary *p, uint32_t host, int32_t status, int32_t code, const char *text, bool tolerated);
void primary_released(struct primary *p, uint32_t host);
/* Now and then, at least each second; `alone`: there is no link to any daemon, not even to the server. */
void primary_tick(struct primary *p, int64_t now, bool alone);
bool primary_waits_for(const struct primary *p, uint32_t host); /* in this step */

#endif
