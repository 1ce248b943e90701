/* SPDX-License-Identifier: Apache-2.0
 *
 * dial.c - a mom's way to its server: resolve (on a worker thread), connect, and again after a loss.
 *
 *	timer (backoff) -> resolve -> conn -- lost or refused --> timer (backoff doubled)
 *
 * The addresses of the name are tried in turn. The backoff starts over after a link that was up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link/inside.h"
#include "log/log.h"

/* What the worker thread works on. */
struct resolve {
	struct links *links; /* loop thread only; NULL: nobody waits any more */
	char *host, *port;
	struct addrinfo *found;
	int error; /* of getaddrinfo(), or -errno of address_split() */
};

static void dial_go(void *arg);

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

/* NULL, or why not. */
static const char *connect_to(struct links *l, const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const char *why;

	if (fd < 0)
		return strerrordesc_np(errno);
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) < 0 && errno != EINPROGRESS)
		why = strerrordesc_np(errno);
	else if (conn_create(l, fd, true, ai->ai_addr, ai->ai_addrlen) == NULL)
		why = "no memory";
	else
		return NULL;
	close(fd);
	return why;
}

static void resolved(void *arg)
{
	struct resolve *r = arg;
	struct links *l = r->links;
	const char *why;

	if (l != NULL) {
		l->dial.job = NULL;
		if (r->error != 0 || r->found == NULL)
			why = gai_strerror(r->error);
		else
			why = connect_to(l, nth_address(r->found, l->dial.attempt++));
		if (why != NULL)
			dial_again(l, false, why);
	}
	resolve_free(r);
}

static void dial_go(void *arg)
{
	struct links *l = arg;
	struct resolve *r = calloc(1, sizeof(*r));

	l->dial.timer = NULL;
	if (r == NULL) {
		dial_again(l, false, "no memory");
		return;
	}
	r->links = l;
	if (address_split(l->server, &r->host, &r->port) < 0) {
		free(r);
		dial_again(l, false, "expected HOST:PORT");
		return;
	}
	if (loop_work(l->parts->loop, resolve_work, resolved, r) < 0) {
		resolve_free(r);
		dial_again(l, false, "no memory");
		return;
	}
	l->dial.job = r;
}

void dial_start(struct links *l)
{
	l->dial.backoff_ms = l->limits.backoff_min_ms;
	dial_go(l);
}

void dial_again(struct links *l, bool lasted, const char *why)
{
	struct dial *d = &l->dial;
	int64_t wait_ms;

	if (lasted) {
		d->backoff_ms = l->limits.backoff_min_ms;
		d->told = false;
	} else if (!d->told && why != NULL) {
		log_add(l->parts->log, KEEL_LOG_SYSTEM, "Link", SERVER_PEER,
			"cannot link with %s: %s; trying on", l->server, why);
		d->told = true;
	}
	/* Between half and all of it, so that a thousand moms do not come at once. */
	wait_ms = d->backoff_ms / 2 + (int64_t)randombytes_uniform((uint32_t)(d->backoff_ms / 2 + 1));
	d->backoff_ms *= 2;
	if (d->backoff_ms > l->limits.backoff_max_ms)
		d->backoff_ms = l->limits.backoff_max_ms;
	loop_timer_cancel(d->timer);
	d->timer = loop_timer(l->parts->loop, wait_ms, dial_go, l);
	if (d->timer == NULL)
		log_add(l->parts->log, KEEL_LOG_ERROR, "Link", SERVER_PEER,
			"no memory: this daemon stays without a link; restart it");
}

void dial_stop(struct links *l)
{
	loop_timer_cancel(l->dial.timer);
	l->dial.timer = NULL;
	if (l->dial.job != NULL)
		l->dial.job->links = NULL;
	l->dial.job = NULL;
}
