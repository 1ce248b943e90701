/* SPDX-License-Identifier: Apache-2.0
 *
 * renew.h - another set of modules is another image of this daemon: the set is checked in a child, then this process
 * executes itself with it.
 */
#ifndef KEELSON_RENEW_H
#define KEELSON_RENEW_H

#include "main/inside.h"

/* modules_files.renew and .made */
int renew_begin(struct parts *parts, const struct modules_ask *ask, const struct conf *conf, struct keel_err *err);
const char *renew_made(struct parts *parts, const char *token, int *ret);
/* Peers that are up, for the image that comes; and from the one before, before objects are loaded. */
void renew_links_leave(struct daemon *d);
void renew_links_expect(struct daemon *d);
void renew_children_reap(struct daemon *d);
/* What the image before left in the set d->set. */
void renew_answer_read(struct daemon *d);
/* The daemon stops: a set that is still checked is dropped, and who waits for it reads that. */
void renew_stop(struct daemon *d);
/* Signals wait for the next image from now on; those that came before have been seen. */
void renew_signals_hold(struct daemon *d);
/* Execute the set d->next. Everything has ended but the process. Returns only on an error. */
void renew_exec(struct daemon *d);
/* This image was executed with a set that has a way back: it is taken when the daemon crashes, or is not ready in time. */
int renew_supervise(struct daemon *d, struct keel_err *err);
/* The daemon did not start, for *why: take the way back. Returns when there is none. */
void renew_back(struct daemon *d, const struct keel_err *why);
/* The daemon is ready: its set is the last that served. */
void renew_ready(struct daemon *d);
void renew_end(struct daemon *d);

#endif
