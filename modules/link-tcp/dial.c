/* SPDX-License-Identifier: Apache-2.0
 *
 * dial.c - the way to a daemon that is expected at an address: resolve (on a worker thread), connect, and again after a loss.
 *
 *	timer (backoff) -> resolve -> conn -- lost or refused --> timer (backoff doubled)
 *
 * The addresses of the name are tried in turn. The backoff starts over after a link that was up. The log has each change of the
 * reason why an address fails, with what to do, and when there is a link again after how long.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link-tcp.h"

/* Beginnings of reasons, and what to do. */
static const struct {
	const char *why, *then;
} advice[] = {
	{ "Connection refused", "nothing listens there: does that daemon run, and is this the port where it takes links (link-tcp.listen)?" },
	{ "No route to host", "the network between the two is broken, or a firewall refuses" },
	{ "Network is unreachable", "this host has no network that leads there" },
	{ "Connection timed out", "is that host up, and does a firewall let this port through?" },
	{ "no answer", "is that host up, and does a firewall let this port through?" },
	{ "its name does not resolve", "correct the name, or the name service of this host" },
	{ "it speaks version", "upgrade the older of the two" },
	{ "the server's key", "copy the server's .pub file as server.pub into the directory of peers of this host (keelson-key(8))" },
	{ "its key is not", "if it has a new key, copy its .pub file into the directory of peers of this host (keelson-key(8))" },
	{ "not the link protocol", "is this the port where it takes links (link-tcp.listen)?" },
};

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

/* NULL, or the error and the address. */
static const char *connect_to(struct way *w, const struct addrinfo *ai, char address[ADDRESS_MAX])
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const char *why;

	address_show(ai->ai_addr, ai->ai_addrlen, address);
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
	char words[128], address[ADDRESS_MAX] = "";

	(void)m;
	if (w != NULL) {
		w->job = NULL;
		snprintf(words, sizeof(words), "its name does not resolve: %s", gai_strerror(r->error));
		if (r->error != 0 || r->found == NULL)
			why = words;
		else if (conn_named(w->link, w->host) != NULL)
			why = NULL; /* it was faster */
		else
			why = connect_to(w, nth_address(r->found, w->attempt++), address);
		if (why != NULL)
			dial_again(w, false, address, why);
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
		dial_again(w, false, "", r == NULL ? "no memory" : "expected HOST:PORT");
		return;
	}
	if (keel_work(m, resolve_work, resolved, r) < 0) {
		resolve_free(r);
		dial_again(w, false, "", "no memory");
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

/* Has this address of the way failed for another reason, or not at all? Remembers it. Without an address ("") the name has none,
 * so what was known of its addresses is over; and the other way round. */
static bool failure_is_new(struct way *w, const char *address, const char *why)
{
	struct failure *f = w->failures;

	if (w->n_failures > 0 && (address[0] == '\0') != (f->address[0] == '\0'))
		w->n_failures = 0;
	while (f < w->failures + w->n_failures && strcmp(f->address, address) != 0)
		f++;
	if (f == w->failures + w->n_failures) {
		if (w->n_failures == FAILURES) /* a name with more addresses: the oldest goes */
			memmove(w->failures, w->failures + 1, sizeof(*f) * (FAILURES - 1));
		else
			w->n_failures++;
		f = w->failures + w->n_failures - 1;
		snprintf(f->address, sizeof(f->address), "%s", address);
	} else if (strncmp(f->why, why, sizeof(f->why) - 1) == 0) {
		return false;
	}
	snprintf(f->why, sizeof(f->why), "%s", why);
	return true;
}

static void failure_log(struct way *w, const char *address, const char *why)
{
	const char *then = NULL;

	if (!failure_is_new(w, address, why))
		return;
	for (size_t i = 0; i < KEEL_COUNT(advice) && then == NULL; i++)
		if (strncmp(why, advice[i].why, strlen(advice[i].why)) == 0)
			then = advice[i].then;
	keel_log(w->link->mod, KEEL_LOG_SYSTEM, "Link", w->host, "cannot link with %s%s%s%s: %s%s%s; trying on", w->address,
		 address[0] != '\0' ? " (" : "", address, address[0] != '\0' ? ")" : "", why, then != NULL ? "; " : "",
		 then != NULL ? then : "");
}

int64_t dial_done(struct way *w)
{
	int64_t since_ms = w->failing_ms;

	w->failing_ms = 0;
	w->n_failures = 0;
	return since_ms > 0 ? (keel_now_ms(w->link->mod) - since_ms) / 1000 : -1;
}

void dial_again(struct way *w, bool lasted, const char *address, const char *why)
{
	struct link *l = w->link;
	int64_t wait_ms;

	if (w->failing_ms == 0)
		w->failing_ms = keel_now_ms(l->mod);
	if (lasted)
		w->backoff_ms = l->limits.backoff_min_ms;
	if (why != NULL)
		failure_log(w, address, why);
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
