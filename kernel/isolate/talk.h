/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.h - what the daemon and the process of an isolated module say to each other.
 *
 * A frame of wire/frame.h around MessagePack values, one behind the other. A REQUEST is answered by a
 * REPLY with its number (corr), an EVENT is not. Numbers are given by whoever asks. The first value of a
 * REQUEST or EVENT says what it is about, then come the values that its row here names.
 *
 * Texts carry their terminating NUL, so that they are used where they lie. What a reader gets is bounded
 * by the frame, a text has exactly one NUL, its last byte; the first thing that is not as it should be
 * makes the reader bad, and everything read after that is zero.
 */
#ifndef KEELSON_TALK_H
#define KEELSON_TALK_H

#include "keel/contrib.h"
#include "keel/hooks.h"
#include "keel/module.h"
#include "wire/pack.h"
#include "wire/frame.h"

#define TALK_VERSION 1
#define TALK_FD 3                         /* the process' end of the socket */
#define TALK_BODY_MAX (1024u * 1024u)     /* a message of the module */
#define TALK_BODY_MAX_DOWN WIRE_BODY_MAX  /* a message of the daemon */

/* From the daemon. */
enum talk_down {
	/* REQUEST */
	TALK_OPEN = 1,  /* version, module file -> 0, description; or code, text */
	TALK_CONF,      /* values -> step */
	TALK_INIT,      /* -> step: code, PBSE code, text */
	TALK_START,     /* -> step */
	TALK_RECONF,    /* values -> step */
	TALK_BUSY,      /* -> step */
	TALK_STOP,      /* -> step */
	TALK_FINI,      /* -> step */
	TALK_CALL,      /* call, tap, event -> verdict, code, text */
	TALK_RESUME,    /* call, hold -> verdict, code, text */
	TALK_OUTCOME,   /* number of an operation it raised, verdict, code, text, by -> 0: its module has heard it */
	TALK_CANCEL,    /* call, hold, reason -> 0 */
	TALK_ASKED,     /* request, row, session, body -> 0, and TALK_ANSWER before or later */
	TALK_GONE,      /* request: its client went away -> 0 */
	TALK_DRAINED,   /* request: the client has read what was sent -> 0 */
	TALK_DURABLE,   /* number -> 0 */
	/* EVENT */
	TALK_NOTE = 32, /* tap, event; then TALK_NOTED, now and then */
};

/* From the process. */
enum talk_up {
	/* REQUEST: call (0: none), then what talk_ask says -> code, ... */
	TALK_ASK = 1,
	/* EVENT */
	TALK_LOG = 32,  /* event, class, object, text */
	TALK_NOTED,     /* how many notes were told since the last */
	TALK_RELEASE,   /* hold */
	TALK_ANSWER,    /* request, code, text or nil */
	TALK_ANSWER_OUT, /* request, body */
	TALK_WHEN_DURABLE, /* number */
};

/* What a module asks while it runs. An object is class and id. */
enum talk_ask {
	ASK_SET = 1,    /* object, attribute, key, text -> code, PBSE code, text */
	ASK_GET,        /* object, attribute, key -> length or code, text */
	ASK_HOLD,       /* hold, why, until point, until id, timeout -> WAIT or code, why */
	ASK_SESSION,    /* -> 0, or 1, roles, uid, gid, user, host, who, group, groups */
	ASK_FIND,       /* class, id -> 1 or 0 */
	ASK_COUNT,      /* class -> number */
	ASK_WALK,       /* class, id to begin behind or nil, how many -> n, n ids */
	ASK_ATTR,       /* class, name -> 1, flags; or 0 */
	ASK_TEXT,       /* object, attribute, key -> length or code, text */
	ASK_EMIT,       /* object, attribute, key -> (1, key, text) as often as it has, 0 */
	ASK_INT,        /* object, attribute -> is set, integer */
	ASK_STR,        /* object, attribute -> text or nil */
	ASK_SET_INT,    /* object, attribute, integer -> 0 */
	ASK_SET_TEXT,   /* object, attribute, operation, key, text -> code, PBSE code, text */
	ASK_UNSET,      /* object, attribute, key -> 0 */
	ASK_MATCH,      /* object, attribute, operation, key, text -> 1, 0 or code, PBSE code, text */
	ASK_TAPPED,     /* point -> 1 or 0 */
	ASK_NOTE,       /* point, event -> 0 */
	ASK_HOLDS_TEXT, /* id -> length or code, text */
	ASK_PART,       /* request, body -> code */
	ASK_DRAINED,    /* request -> code, and TALK_DRAINED later */
	ASK_RAISE,      /* number, point, request or 0, event -> outcome: verdict, code, text, by; WAIT: TALK_OUTCOME later */
	ASK_FOLD,       /* point, length, event -> sum, text, why it was not raised or nil */
	ASK_LAST,
};

/* ---- writing ------------------------------------------------------------------------------------- */
/* A message is built in `m` behind what is there: begin, put, end. end writes the header. */
size_t talk_begin(struct buf *m);
void talk_end(struct buf *m, size_t begun, uint16_t type, uint64_t corr);
void talk_put_str(struct buf *m, const char *text); /* NULL: nil */
static inline void talk_put_int(struct buf *m, int64_t n)
{
	pack_number(m, n);
}
void talk_put_bytes(struct buf *m, const void *bytes, uint32_t len);

/* ---- reading ------------------------------------------------------------------------------------- */
struct talk_in {
	struct pack_reader r;
};
void talk_open(struct talk_in *in, const char *body, uint32_t len);
int64_t talk_int(struct talk_in *in);
/* Borrowed from the body; NULL: nil, or bad. */
const char *talk_str(struct talk_in *in);
/* "" for nil. */
const char *talk_text(struct talk_in *in);
const void *talk_bytes(struct talk_in *in, uint32_t *ret_len);
/* Was everything as it should be, and nothing is left? */
bool talk_done(const struct talk_in *in);
static inline bool talk_bad(const struct talk_in *in)
{
	return in->r.bad;
}

/* ---- events -------------------------------------------------------------------------------------- */
/* What an object is called; false: there is none. */
typedef bool talk_name_fn(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id);
void talk_put_event(struct buf *m, const struct keel_field *fields, uint32_t n, const void *event,
		    talk_name_fn *name, void *arg);
/* The other way; `event` has room for `size` bytes and is cleared. */
typedef struct keel_obj *talk_obj_fn(void *arg, const char *klass, const char *id);
void talk_event(struct talk_in *in, const struct keel_field *fields, uint32_t n, void *event,
		uint32_t size, talk_obj_fn *obj, void *arg);

/* The values of a filled configuration, in the order of its rules. */
void talk_put_conf(struct buf *m, const struct keel_conf_rule *rules, uint32_t n, const void *conf);

#endif
