/* SPDX-License-Identifier: Apache-2.0
 *
 * dial.c - the way to a daemon that is expected at an address: resolve (on a worker thread), connect, and again after a loss.
 *
 *	timer (backoff) -> resolve -> conn -- lost or refused --> timer (backoff doubled)
 *
 * The addresses of the name are tried in turn. The backoff starts over after a link that was up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link-tcp.h"

/* What the worker thread works on. */
struct resolve {
	struct way *way; /* loop thread only; NULL: it is not needed any more */
	char *host, *port;
	struct addrinfo *found;
	int error; /* of getaddrinfo(), or -errno of address_split() */
};

static void resolve_free(struct resolve *r)
{
	if (r->found != NULL)
		freeaddrinfo(r->found);
	free(r->host);
	free(r->port);
	free(r);
}

static void resolve_work(void *arg)
{
	struct resolve *r = arg;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };

	r->error = getaddrinfo(r->host, r->port, &hints, &r->found);
}

static const struct addrinfo *nth_address(const struct addrinfo *ai, uint32_t n)
{
	uint32_t count = 0;

	for (const struct addrinfo *a = ai; a != NULL; a = a->ai_next)
		count++;
	for (n %= count; n > 0; n--)
		ai = ai->ai_next;
	return ai;
}

/* NULL, or the error. */
static const char *connect_to(struct way *w, const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const char *why;

	if (fd < 0)
		return strerrordesc_np(errno);
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) < 0 && errno != EINPROGRESS)
		why = strerrordesc_np(errno);
	else if (conn_create(w->link, fd, w, ai->ai_addr, ai->ai_addrlen) == NULL)
		why = "no memory";
	else
		return NULL;
	close(fd);
	return why;
}

/* The module may have gone, and come back: this lives by `arg`. */
static void resolved(struct keel_mod *m, void *arg)
{
	struct resolve *r = arg;
	struct way *w = r->way;
	const char *why;

	(void)m;
	if (w != NULL) {
		w->job = NULL;
		if (r->error != 0 || r->found == NULL)
			why = gai_strerror(r->error);
		else if (conn_named(w->link, w->host) != NULL)
			why = NULL; /* it was faster */
		else
			why = connect_to(w, nth_address(r->found, w->attempt++));
		if (why != NULL)
			dial_again(w, false, why);
	}
	resolve_free(r);
}

/* A link that is there is dialled when it is lost (conn_drop). */
static void dial_go(struct keel_mod *m, void *arg)
{
	struct way *w = arg;
	struct resolve *r;

	w->timer = NULL;
	if (conn_named(w->link, w->host) != NULL)
		return;
	r = calloc(1, sizeof(*r));
	if (r == NULL || address_split(w->address, &r->host, &r->port) < 0) {
		free(r);
		dial_again(w, false, r == NULL ? "no memory" : "expected HOST:PORT");
		return;
	}
	if (keel_work(m, resolve_work, resolved, r) < 0) {
		resolve_free(r);
		dial_again(w, false, "no memory");
		return;
	}
	r->way = w;
	w->job = r;
}

void dial_start(struct way *w)
{
	dial_stop(w);
	w->backoff_ms = w->link->limits.backoff_min_ms;
	dial_go(w->link->mod, w);
}

void dial_again(struct way *w, bool lasted, const char *why)
{
	struct link *l = w->link;
	int64_t wait_ms;

	if (lasted) {
		w->backoff_ms = l->limits.backoff_min_ms;
		w->logged = false;
	} else if (!w->logged && why != NULL) {
		keel_log(l->mod, KEEL_LOG_SYSTEM, "Link", w->host, "cannot link with %s: %s; trying on", w->address,
			 why);
		w->logged = true;
	}
	/* Between half and all of it, so that a thousand moms do not come at once. */
	wait_ms = w->backoff_ms / 2 + (int64_t)randombytes_uniform((uint32_t)(w->backoff_ms / 2 + 1));
	w->backoff_ms *= 2;
	if (w->backoff_ms > l->limits.backoff_max_ms)
		w->backoff_ms = l->limits.backoff_max_ms;
	dial_stop(w);
	w->timer = keel_timer(l->mod, wait_ms, dial_go, w);
	if (w->timer == NULL)
		keel_log(l->mod, KEEL_LOG_ERROR, "Link", w->host,
			 "no memory: this daemon stays without a link; restart it");
}

void dial_stop(struct way *w)
{
	keel_timer_cancel(w->timer);
	w->timer = NULL;
	if (w->job != NULL)
		w->job->way = NULL;
	w->job = NULL;
}
