/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - a kernel from its parts, its clock, its log, and what a test raises in it.
 */
#include "host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "hook/inside.h"
#include "link/links.h"
#include "log/log.h"
#include "main/inside.h"
#include "module/modules.h"
#include "object/objects.h"
#include "registry/inside.h"
#include "request/router.h"
#include "store/store.h"
#include "util/file.h"
#include "util/text.h"
#include "virtual.h"

#define ENDLESS 100000

struct keel_mock *host_latest;

static void scratch_remove(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
	rmdir(dir);
}

static void parts_make(struct keel_mock *mock)
{
	static const struct hooks_conf hooks_conf = { .hold_default_ms = 60000 };
	const struct loop_virtual time = { .now_ms = BEGIN_MS, .epoch_us = (INT64_C(1700000000) * 1000 - BEGIN_MS) * 1000,
					   .look_ns = 1000, .fds = true };
	struct parts *p = &mock->parts;

	if (loop_create_virtual(&time, &p->loop) < 0 ||
	    log_open(p->loop, mock->dir, "keelson-mock", UINT32_MAX, false, &p->log, NULL) < 0 ||
	    registry_create(&p->registry) < 0 || registry_offer(p->registry, "core", &core_api) < 0 ||
	    store_create(p, &p->store) < 0 ||
	    objects_create(p->registry, store_dirty, p->store, &p->objects) < 0 ||
	    hooks_create(p, &hooks_conf, &p->hooks) < 0 || router_create(p, &p->router) < 0 ||
	    peers_init(mock) < 0 || modules_create(p, mock->dir, NULL, &p->modules) < 0)
		die("no memory");
}

struct keel_mock *keel_mock_new(uint32_t daemon)
{
	struct keel_mock *mock = host_alloc(sizeof(*mock));

	mock->thread = pthread_self();
	mock->dir = host_print("%s/keelson-mock.XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	if (mkdtemp(mock->dir) == NULL)
		die("cannot make the directory %s: %s", mock->dir, strerror(errno));
	mock->parts.daemon = daemon;
	mock->parts.home = "/tmp";
	mock->parts.exec_dir = "/usr";
	mock->parts.server_name = "svr";
	mock->parts.host_name = "mockhost";
	mock->parts.daemon_name = "test";
	mock->self.pub.name = "test";
	mock->self.parts = &mock->parts;
	parts_make(mock);
	count_tables(mock);
	module_of_test(mock);
	vocabulary_init(mock);
	clients_init(mock);
	keel_mock_log_clear(mock);
	host_latest = mock;
	return mock;
}

void keel_mock_shutdown(struct keel_mock *mock)
{
	if (mock->down)
		return;
	mock->down = true;
	hooks_stop(mock->parts.hooks);
	modules_down(mock);
}

uint32_t keel_mock_free(struct keel_mock *mock)
{
	struct parts *p;
	uint32_t n;

	if (mock == NULL)
		return 0;
	p = &mock->parts;
	keel_mock_shutdown(mock);
	n = mock->n_violations;
	clients_fini(mock);
	count_fini(mock);
	hooks_detach(p->hooks, &mock->self);
	links_detach(p->links, &mock->self);
	registry_remove(p->registry, &mock->self);
	for (struct stand_in *s = mock->stand_ins; s != NULL; s = s->next)
		registry_remove(p->registry, &s->owner);
	parts_destroy(p);
	modules_fini(mock);
	taps_forget(mock, NULL);
	texts_clear(&mock->ring, NULL);
	texts_clear(&mock->kept, NULL);
	texts_clear(&mock->sent, NULL);
	while (mock->n_memory > 0)
		free(mock->memory[--mock->n_memory]);
	while (mock->n_files > 0)
		dlclose(mock->files[--mock->n_files]);
	free(mock->memory);
	free(mock->files);
	scratch_remove(mock->dir);
	free(mock->dir);
	if (host_latest == mock)
		host_latest = NULL;
	free(mock);
	return n;
}

void keel_mock_host(struct keel_mock *mock, const char *name)
{
	mock->parts.host_name = host_keep(mock, host_dup(name));
}

void keel_mock_home(struct keel_mock *mock, const char *path)
{
	mock->parts.home = host_keep(mock, host_dup(path));
}

void keel_mock_epoch(struct keel_mock *mock, int64_t seconds)
{
	loop_epoch(mock->parts.loop, (seconds * 1000 - BEGIN_MS) * 1000);
}

struct keel_mod *keel_mock_self(struct keel_mock *mock)
{
	return &mock->self.pub;
}

const void *keel_mock_group(struct keel_mock *mock, const char *name)
{
	return registry_service(mock->parts.registry, name, 0, NULL, NULL);
}

/* ---- rows and services -------------------------------------------------------------------------------------- */
void keel_mock_service(struct keel_mock *mock, const char *name, const void *table)
{
	struct keel_service_def *def = host_keep(mock, host_alloc(sizeof(*def)));
	struct keel_err err;

	*def = (struct keel_service_def){ .size = sizeof(*def), .name = host_keep(mock, host_dup(name)), .table = table,
					  .version = ((const uint32_t *)table)[1] };
	if (registry_add(mock->parts.registry, &mock->self, &(struct keel_contrib){ "SERVICE", def }, 1, &err) < 0)
		die("%s", err.text);
}

const void *keel_mock_row(struct keel_mock *mock, const char *kind, uint32_t i, struct keel_mod **ret_owner)
{
	for (const struct row *r = mock->parts.registry->rows; r != NULL; r = r->next) {
		if (strcmp(r->kind_name, kind) != 0 || i-- > 0)
			continue;
		if (ret_owner != NULL)
			*ret_owner = &r->owner->pub;
		return r->def;
	}
	return NULL;
}

/* ---- time ----------------------------------------------------------------------------------------------------- */
void host_settle(struct keel_mock *mock)
{
	loop_settle(mock->parts.loop);
	clients_settle(mock);
}

static bool turn(struct keel_mock *mock, int64_t until)
{
	struct loop *l = mock->parts.loop;
	int64_t next = loop_next_ms(l);

	if (next > loop_now_ms(l) && loop_poll(l, 0))
		return true;
	if (next > until)
		return false;
	loop_turn(l, next);
	clients_settle(mock);
	return true;
}

void keel_mock_advance(struct keel_mock *mock, int64_t ms)
{
	struct loop *l = mock->parts.loop;
	int64_t until = loop_now_ms(l) + ms, was = loop_now_ms(l);

	host_settle(mock);
	for (uint32_t n = 0; turn(mock, until); n++) {
		if (loop_now_ms(l) != was)
			n = 0;
		was = loop_now_ms(l);
		if (n > ENDLESS)
			die("a module goes on for ever without the clock moving");
	}
	loop_turn(l, until);
}

bool keel_mock_next(struct keel_mock *mock)
{
	return turn(mock, INT64_MAX - 1);
}

static int64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool wait_for(struct keel_mock *mock, bool (*fn)(void *arg), void *arg, int64_t ms, bool clock)
{
	int64_t began = real_ms(), was = keel_mock_now(mock);

	for (;;) {
		int64_t passed = real_ms() - began;

		keel_mock_advance(mock, clock ? was + passed - keel_mock_now(mock) : 0);
		if (fn(arg))
			return true;
		if (passed >= ms)
			return false;
		loop_poll(mock->parts.loop, 2);
	}
}

bool keel_mock_wait(struct keel_mock *mock, bool (*fn)(void *arg), void *arg, int64_t ms)
{
	return wait_for(mock, fn, arg, ms, false);
}

bool keel_mock_run(struct keel_mock *mock, bool (*fn)(void *arg), void *arg, int64_t ms)
{
	return wait_for(mock, fn, arg, ms, true);
}

int64_t keel_mock_now(struct keel_mock *mock)
{
	return loop_now_ms(mock->parts.loop);
}

/* ---- points ---------------------------------------------------------------------------------------------------- */
static void on_done(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	struct keel_mock_outcome *ret = arg;

	(void)m;
	if (ret == NULL)
		return;
	*ret = (struct keel_mock_outcome){ .told = true, .verdict = o->verdict, .code = o->code };
	snprintf(ret->text, sizeof(ret->text), "%s", o->text != NULL ? o->text : "");
	snprintf(ret->by, sizeof(ret->by), "%s", o->by != NULL ? o->by : "");
}

keel_verdict keel_mock_raise_for(struct keel_mock *mock, struct keel_req *req, uint32_t point, const void *event,
				 struct keel_changes *changes, struct keel_mock_outcome *ret)
{
	if (ret != NULL)
		*ret = (struct keel_mock_outcome){ .verdict = KEEL_WAIT };
	return hook_raise(&mock->self.pub, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = point, .event = event, .changes = changes, .req = req,
		.done = on_done, .arg = ret });
}

keel_verdict keel_mock_raise(struct keel_mock *mock, uint32_t point, const void *event, struct keel_mock_outcome *ret)
{
	const struct point *p = point_get(mock->parts.hooks, point);
	char text[512] = "";
	int64_t sum = 0;

	if (p == NULL)
		die("there is no point %u", point);
	if (p->kind == KEEL_FOLD)
		sum = hooks_fold(mock->parts.hooks, point, event, text, sizeof(text));
	else if (p->kind == KEEL_NOTE)
		hooks_note(mock->parts.hooks, point, event);
	else
		return keel_mock_raise_for(mock, NULL, point, event, NULL, ret);
	if (ret != NULL) {
		*ret = (struct keel_mock_outcome){ .told = true, .sum = sum };
		memcpy(ret->text, text, sizeof(text));
	}
	return KEEL_NEXT;
}

void keel_mock_tap(struct keel_mock *mock, uint32_t point, const char *name, int32_t order, keel_any_fn *fn, void *arg)
{
	const struct keel_hook_api *api = keel_mock_group(mock, "hook");
	struct keel_err err = { 0 };

	if (api->tap_add(&mock->self.pub, point, host_keep(mock, host_dup(name)), order, fn, arg, &err) != 0)
		die("%s", err.text);
}

const char *keel_mock_chain(struct keel_mock *mock, uint32_t point)
{
	const struct point *p = point_get(mock->parts.hooks, point);
	struct buf t;

	buf_init(&t);
	buf_str(&t, "");
	for (uint32_t i = 0; p != NULL && p->chain != NULL && i < p->chain->n; i++)
		buf_printf(&t, "%s%s", i > 0 ? " " : "", p->chain->tap[i]->name);
	return ring(mock, buf_take(&t, NULL));
}

/* ---- holds ------------------------------------------------------------------------------------------------------ */
static struct hold *hold_at(struct keel_mock *mock, uint32_t i)
{
	for (struct op *op = mock->parts.hooks->parked; op != NULL; op = op->next)
		for (struct hold *h = op->holds; h != NULL; h = h->next)
			if (h->open && i-- == 0)
				return h;
	return NULL;
}

uint32_t keel_mock_holds(struct keel_mock *mock)
{
	uint32_t n = 0;

	while (hold_at(mock, n) != NULL)
		n++;
	return n;
}

const char *keel_mock_hold(struct keel_mock *mock, uint32_t i)
{
	const struct hold *h = hold_at(mock, i);

	if (h == NULL)
		return NULL;
	return ring(mock, host_print("%s: %s (%llds of %llds)", h->tap->owner->pub.name, h->opts.why,
				     (long long)(keel_mock_now(mock) - h->since_ms) / 1000,
				     (long long)h->opts.timeout_ms / 1000));
}

const char *keel_mock_hold_until(struct keel_mock *mock, uint32_t i)
{
	const struct hold *h = hold_at(mock, i);

	if (h == NULL || h->opts.until_id == NULL)
		return NULL;
	return ring(mock, host_print("%s %s", point_get(mock->parts.hooks, h->opts.until_point)->info->name, h->opts.until_id));
}

static void end_hold(struct keel_mock *mock, uint32_t i, int32_t reason)
{
	struct hold *h = hold_at(mock, i);

	if (h == NULL)
		die("there is no open hold %u to end", i);
	hold_end(h, reason);
}

void keel_mock_release(struct keel_mock *mock, uint32_t i)
{
	end_hold(mock, i, 0);
}

void keel_mock_expire(struct keel_mock *mock, uint32_t i)
{
	end_hold(mock, i, KEEL_CANCEL_TIMEOUT);
}

uint32_t keel_mock_ended(struct keel_mock *mock, int32_t reason)
{
	return reason >= 0 && reason < REASONS ? mock->ended[reason] : 0;
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */
static int is_day(const struct dirent *e)
{
	return strspn(e->d_name, "0123456789") == 8;
}

/* Adds the records of a day's file, without those at its head and its end. */
static void records_of(const char *dir, const char *name, struct texts *to)
{
	static const char head[] = "Svr;Log;Log ", daemon[] = "Svr;keelson-mock;";
	char *path = path_join(dir, name), *bytes = NULL;
	size_t len;

	if (file_read(path, 1 << 26, &bytes, &len) == 0)
		for (char *line = bytes, *next; *line != '\0'; line = next) {
			next = line + strcspn(line, "\n");
			if (*next != '\0')
				*next++ = '\0';
			for (int i = 0; i < 3; i++) /* stamp, event, daemon */
				line += strcspn(line, ";") + (line[strcspn(line, ";")] != '\0');
			if (strncmp(line, head, strlen(head)) != 0 && strncmp(line, daemon, strlen(daemon)) != 0)
				texts_add(to, host_dup(line));
		}
	free(bytes);
	free(path);
}

static struct texts records(struct keel_mock *mock)
{
	struct dirent **days;
	struct texts all = { 0 };
	int n = scandir(mock->dir, &days, is_day, alphasort);

	for (int i = 0; i < n; i++) {
		records_of(mock->dir, days[i]->d_name, &all);
		free(days[i]);
	}
	if (n >= 0)
		free(days);
	return all;
}

const char *keel_mock_log(struct keel_mock *mock, uint32_t i)
{
	struct texts all = records(mock);
	char *found = mock->log_cleared + i < all.n ? host_dup(all.at[mock->log_cleared + i]) : NULL;

	texts_clear(&all, NULL);
	if (found != NULL)
		texts_add(&mock->kept, found);
	return found;
}

const char *keel_mock_logged(struct keel_mock *mock, const char *text)
{
	struct texts all = records(mock);
	char *found = NULL;

	for (uint32_t i = all.n; i > mock->log_cleared && found == NULL; i--)
		if (strstr(all.at[i - 1], text) != NULL)
			found = host_dup(all.at[i - 1]);
	texts_clear(&all, NULL);
	if (found != NULL)
		texts_add(&mock->kept, found);
	return found;
}

void keel_mock_log_clear(struct keel_mock *mock)
{
	struct texts all = records(mock);

	mock->log_cleared = all.n;
	texts_clear(&all, NULL);
}

const struct keel_mod *keel_mock_inside(struct keel_mock *mock)
{
	struct hooks_crumb c;

	if (mock->in_work)
		return NULL;
	return hooks_crumb(crumb_top, &c) ? module_called(mock, c.name) : mock->in_module > 0 ? mock->inside : NULL;
}
