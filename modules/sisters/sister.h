/* SPDX-License-Identifier: Apache-2.0
 *
 * sister.h - what a host that is no primary says to it, and does for it. Pure, as primary.h.
 *
 *	BEGUN -> READY -> ENDED     said: "joined", "ended"; again at each new link, and when the primary asks
 *	   '---> REFUSED            said: "failed"
 */
#ifndef SISTERS_SISTER_H
#define SISTERS_SISTER_H

#include <stdbool.h>
#include <stdint.h>

#define SISTER_TEXT_MAX 255

enum sister_state { PART_BEGUN, PART_READY, PART_REFUSED, PART_ENDED };

enum sister_kind {
	SAY_JOINED, /* stopped */
	SAY_FAILED, /* status, code, text */
	SAY_ENDED,
	SAY_ANSWER, /* number, code, text */
	DO_ORDER,   /* name: sister_done() follows, with the number */
	DO_END,	    /* the primary is lost */
};
struct sister_act {
	enum sister_kind kind;
	uint64_t number;
	const char *name, *text;
	int32_t status, code;
};

struct sister {
	enum sister_state state;
	bool linked, drained;	/* drained: what its tasks wrote has been taken */
	bool said;		/* the primary was notified of this state on this link */
	bool ending;
	int32_t status, code;	/* of a refusal */
	char text[SISTER_TEXT_MAX + 1];
	uint64_t order;		/* the last one; done: its answer is order_code, order_text */
	bool done;
	int32_t order_code;
	char order_text[SISTER_TEXT_MAX + 1];
	int64_t away_ms, downtime_ms; /* without a link since when; how long before it ends */
	void (*act)(void *arg, const struct sister_act *);
	void *arg;
};

void sister_init(struct sister *s, int64_t now);
void sister_ready(struct sister *s);
void sister_refused(struct sister *s, int32_t status, int32_t code, const char *text);
/* No process is left. It is said when what its tasks wrote has been taken: sister_drained(). */
void sister_ended(struct sister *s);
void sister_drained(struct sister *s);
void sister_link(struct sister *s, bool up, int64_t now);
void sister_asked(struct sister *s); /* the primary does not know its state */
/* An order; one that comes again is not obeyed again, but answered. */
void sister_order(struct sister *s, uint64_t number, const char *name);
void sister_done(struct sister *s, uint64_t number, int32_t code, const char *text);
void sister_tick(struct sister *s, int64_t now);

#endif
