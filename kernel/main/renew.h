/* SPDX-License-Identifier: Apache-2.0
 *
 * renew.h - another image of this daemon: this process executes itself with a set (keel/renew.h), and has a way back.
 */
#ifndef KEELSON_RENEW_H
#define KEELSON_RENEW_H

#include "keel/api.h"
#include "main/inside.h"

/* renew_api.c: the API group "renew". */
const struct keel_renew_api *renew_api(void);
void renew_draft_drop(struct daemon *d);

/* How this daemon was called, with the set, unless that is NULL, and an option with it, likewise. There is room for 8 more
 * words. The array is malloc'ed, its words are the caller's and d's. NULL without memory. */
const char **renew_words(const struct daemon *d, const char *set, const char *option, const char *value);
/* d->next is to be executed. Returns 0 or -ENOMEM. */
int renew_begin(struct daemon *d, const char *next, const char *back);
/* Peers that are up, for the image that comes; and from the one before, before objects are loaded. */
void renew_links_leave(struct daemon *d);
void renew_links_expect(struct daemon *d);
/* Signals wait for the next image from now on; those that came before have been seen. */
void renew_signals_hold(struct daemon *d);
/* Execute the set d->next. Everything has ended but the process. Returns only on an error. */
void renew_exec(struct daemon *d);
/* This image was executed with a way back: it is taken when the daemon crashes, or is not ready in time. */
int renew_supervise(struct daemon *d, struct keel_err *err);
/* The daemon did not start, for *why: take the way back. Returns when there is none. */
void renew_back(const struct keel_err *why);
void renew_ready(void);
void renew_end(struct daemon *d);

#endif
