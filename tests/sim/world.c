/* SPDX-License-Identifier: Apache-2.0
 *
 * world.c - time: what is due first has the next turn, the world before the server. And
 * the life of the server: start, power cut, start again on the same disk.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hook/hooks.h"
#include "registry/registry.h"
#include "sim.h"

#define EPOCH_US (INT64_C(1700000000) * 1000000)
#define LOOK_NS 20000 /* what code "takes" between two looks at the clock */
#define GRACE_MS 15000 /* of a link that is lost */
#define AWAY_MS 20000 /* the longest that the server is away */
#define SPINS 2000000 /* turns without time going on: it waits for nothing */

void sim_wrong(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (s->wrong[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(s->wrong, sizeof(s->wrong), fmt, ap);
	va_end(ap);
	trace(s, "WRONG: %s", s->wrong);
}

int64_t sim_time(const struct sim *s)
{
	return (EPOCH_US + s->now_ms * 1000) / 1000000;
}

/* ---- the server ---------------------------------------------------------------------------------- */

static int loop_make(void *arg, struct loop **ret_loop)
{
	const struct sim *s = arg;

	return loop_create_virtual(&s->clock, ret_loop);
}

static int furnish(void *arg, struct parts *parts, struct keel_err *err)
{
	struct sim *s = arg;

	s->parts = parts;
	s->owner = (struct owner){ .pub = { .name = "simulation", .state = s }, .parts = parts };
	return disk_offer(s, err) == 0 ? net_offer(s, err) : -1;
}

static keel_verdict job_purged(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_job_purged *ev = event;
	struct sim *s = arg;

	(void)call, (void)point;
	if (s->purged != NULL)
		s->purged(s, ev->id);
	return KEEL_NEXT;
}

static const void *service(struct sim *s, const char *name)
{
	struct keel_err err = { 0 };
	const void *table = registry_service(s->parts->registry, name, 0, NULL, &err);

	if (table == NULL)
		sim_wrong(s, "%s", err.text);
	return table;
}

static void server_start(struct sim *s)
{
	struct keel_err err = { 0 };

	s->clock.now_ms = s->now_ms;
	if (daemon_create(&s->options, &s->world, &s->server, &err) < 0) {
		sim_wrong(s, "the server does not start: %s", err.text);
		s->server = NULL;
		return;
	}
	s->carry = service(s, "carry");
	s->object = service(s, "object");
	s->hook = service(s, "hook");
	s->job = service(s, "job");
	s->node = service(s, "node");
	s->resource = service(s, "resource");
	if (s->wrong[0] != '\0')
		return;
	if (s->hook->tap_add(&s->owner.pub, KEEL_POINT_job_purged, "purged", 0, job_purged, s, &err) < 0)
		sim_wrong(s, "%s", err.text);
	trace(s, "the server is up");
	desk_open(s);
	if (s->server_is_up != NULL)
		s->server_is_up(s);
}

static void inwards_drop(struct sim *s)
{
	while (s->in_first != NULL) {
		struct inward *in = s->in_first;

		s->in_first = in->next;
		free(in);
	}
	s->in_last = NULL;
	s->in_posted = false;
}

static void server_again(void *arg)
{
	server_start(arg);
}

static void server_fell(struct sim *s)
{
	struct daemon *d = s->server;

	s->power_cut = false;
	s->crashes++;
	trace(s, "the server is down");
	s->server = NULL;
	inwards_drop(s);
	for (uint32_t i = 0; i < USERS; i++)
		s->client[i] = NULL;
	loop_freeze(s->parts->loop);
	daemon_abandon(d);
	s->parts = NULL;
	net_server_gone(s);
	desk_close(s);
	loop_timer(s->loop, chance_between(&s->disk, 100, AWAY_MS), server_again, s);
}

void sim_crash(struct sim *s)
{
	if (s->server != NULL)
		server_fell(s);
}

/* ---- what enters the server ------------------------------------------------------------------------ */

static void enter_one(struct sim *s, const struct inward *in)
{
	switch (in->kind) {
	case IN_FRAME:
		if (s->client[in->user] != NULL)
			router_guest_in(s->client[in->user], in->bytes, in->len);
		break;
	case IN_LINKED:
		s->carry->up(&s->owner.pub, in->host->name, KEEL_MOM, GRACE_MS);
		break;
	case IN_LOST:
		s->carry->lost(&s->owner.pub, in->host->name);
		break;
	case IN_MESSAGE:
		s->carry->in(&s->owner.pub, in->host->name, in->bytes, in->len);
		break;
	}
}

static void enter_all(void *arg)
{
	struct sim *s = arg;

	s->in_posted = false;
	while (s->in_first != NULL && !s->power_cut) {
		struct inward *in = s->in_first;

		s->in_first = in->next;
		if (s->in_first == NULL)
			s->in_last = NULL;
		enter_one(s, in);
		free(in);
	}
}

void sim_enter(struct sim *s, int kind, uint32_t user, struct host *h, const void *bytes, size_t len)
{
	struct inward *in;

	if (s->server == NULL)
		return;
	in = malloc(sizeof(*in) + len);
	*in = (struct inward){ .kind = kind, .user = user, .host = h, .len = (uint32_t)len };
	if (len > 0)
		memcpy(in->bytes, bytes, len);
	*(s->in_last != NULL ? &s->in_last->next : &s->in_first) = in;
	s->in_last = in;
	if (!s->in_posted)
		s->in_posted = loop_post(s->parts->loop, enter_all, s) == 0;
}

/* ---- turns ------------------------------------------------------------------------------------------- */

static int64_t server_next(const struct sim *s)
{
	return s->server != NULL ? loop_next_ms(s->parts->loop) : INT64_MAX;
}

/* Of the processor, so that neighbours do not count. For figures only. */
int64_t sim_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What a turn took of the loop's thread; what a worker would have done is not part of it. */
static void measured_turn(struct sim *s)
{
	int64_t began = sim_cpu_ns(), ns;

	s->worker_ns = 0;
	loop_turn(s->parts->loop, s->now_ms);
	ns = sim_cpu_ns() - began - s->worker_ns;
	s->server_ns += ns;
	if (ns > s->stall_ns)
		s->stall_ns = ns;
}

static void server_turn(struct sim *s)
{
	if (s->conf.real_clock)
		measured_turn(s);
	else
		loop_turn(s->parts->loop, s->now_ms);
	s->turns++;
	if (s->power_cut)
		server_fell(s);
	else if (s->after_turn != NULL)
		s->after_turn(s);
}

/* The next turn of the server or the world, if one is due by then. */
static bool turn(struct sim *s, int64_t until_ms)
{
	int64_t world = loop_next_ms(s->loop), server = server_next(s);
	int64_t next = world <= server ? world : server;

	if (next > until_ms || next == INT64_MAX)
		return false;
	if (next > s->now_ms) {
		s->now_ms = next;
		s->spins = 0;
	} else if (++s->spins > SPINS) {
		sim_wrong(s, "time stands still: something is called again and again");
	}
	loop_turn(s->loop, s->now_ms); /* also to let it know the time */
	if (world > server && s->server != NULL)
		server_turn(s);
	return true;
}

void sim_run_until(struct sim *s, int64_t ms)
{
	while (s->wrong[0] == '\0' && turn(s, ms))
		;
	if (s->wrong[0] == '\0' && s->now_ms < ms) {
		s->now_ms = ms;
		loop_turn(s->loop, ms);
	}
}

bool sim_run_while(struct sim *s, bool (*more)(struct sim *s), int64_t most_ms)
{
	while (s->wrong[0] == '\0' && more(s))
		if (!turn(s, most_ms))
			return false;
	return s->wrong[0] == '\0';
}

/* ---- life --------------------------------------------------------------------------------------------- */

int sim_begin(struct sim *s, const struct sim_conf *conf, char **ret_why)
{
	*s = (struct sim){ .conf = *conf };
	s->clock = (struct loop_virtual){ .epoch_us = EPOCH_US, .look_ns = conf->real_clock ? 0 : LOOK_NS,
					  .work_ms = disk_work_ms, .arg = s };
	s->net = chance_of(conf->seed, "net");
	s->work = chance_of(conf->seed, "work");
	s->tasks = chance_of(conf->seed, "tasks");
	s->disk = chance_of(conf->seed, "disk");
	s->driver = chance_of(conf->seed, "driver");
	s->resv = chance_of(conf->seed, "resv");
	s->world = (struct world){ .loop = loop_make, .furnish = furnish, .arg = s };
	if (conf->trace != NULL)
		s->trace = fopen(conf->trace, "w");
	*ret_why = setup(s);
	if (*ret_why != NULL)
		return -1;
	if (loop_create_virtual(&s->clock, &s->loop) < 0 || hosts_make(s) < 0)
		return -1;
	server_start(s);
	return 0;
}

void sim_end(struct sim *s)
{
	inwards_drop(s);
	if (s->server != NULL) {
		loop_freeze(s->parts->loop);
		daemon_abandon(s->server);
	}
	s->server = NULL;
	hosts_free(s);
	loop_destroy(s->loop);
	disk_fini(s);
	if (s->trace != NULL)
		fclose(s->trace);
	setup_remove(s);
}
