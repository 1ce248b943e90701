/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - how this host introduces itself to the server: what it has and what runs here.
 */
#include "executor.h"
#include "keel/service/carrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t memory_kb(void)
{
	long long kb = 0;
	char line[256];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemTotal: %lld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static void vnodes_put(struct keel_mod *mod, struct keel_out *out)
{
	const struct conf *cf = mod->conf;
	const char *host = keel_host_name(mod);
	char name[300];

	keel_open_array(out, "vnodes");
	if (cf->vnodes <= 1)
		keel_add_str(out, host);
	for (int64_t i = 0; cf->vnodes > 1 && i < cf->vnodes; i++) {
		snprintf(name, sizeof(name), "%s[%lld]", host, (long long)i);
		keel_add_str(out, name);
	}
	keel_close(out);
}

/* "id run state session" each */
static void tasks_put(struct keel_mod *mod, struct keel_out *out)
{
	static const char letters[TASK_STATES] = { 'B', 'R', 'S', 'E', 'F' };
	struct state *st = mod->state;
	struct task *t, *next;
	char text[400];

	keel_open_array(out, "running");
	HASH_ITER(hh, st->mom.tasks, t, next) {
		const struct launch *later = t->next;

		if (t->discarded && !later)
			continue;
		snprintf(text, sizeof(text), "%s %lld %c %d", t->id,
			 (long long)(later ? later->run : t->run), later ? 'B' : letters[t->state],
			 later ? 0 : (int)t->session);
		keel_add_str(out, text);
	}
	keel_close(out);
}

KEEL_USE_OPT(carrier);

/* Where the hosts of a job find this one; nothing without links. */
static void place_put(struct keel_out *out)
{
	char address[KEEL_CARRIER_ADDRESS], key[KEEL_CARRIER_KEY];

	if (!keel_can(carrier, own) || keel_carrier_own(address, key) < 0)
		return;
	if (address[0])
		keel_put_str(out, "address", address);
	keel_put_str(out, "key", key);
}

void host_hello(struct keel_mod *mod)
{
	struct state *st = mod->state;
	const struct conf *cf = mod->conf;
	long found = sysconf(_SC_NPROCESSORS_ONLN);
	struct keel_out *out = keel_out(mod);
	struct task *t, *next;

	if (!out)
		return;
	keel_put_str(out, "host", keel_host_name(mod));
	keel_put_int(out, "ncpus", cf->ncpus > 0 ? cf->ncpus : found > 0 ? found : 1);
	keel_put_int(out, "pcpus", found > 0 ? found : 1);
	keel_put_int(out, "mem_kb", cf->mem > 0 ? cf->mem / 1024 : memory_kb());
	keel_put_str(out, "arch", "linux");
	keel_put_str(out, "version", keel_version_text(mod));
	keel_put_str(out, "sharing", cf->sharing);
	if (st->mom.store[0])
		keel_put_str(out, "store", st->mom.store);
	keel_put_int(out, "last_start", st->mom.last_start);
	place_put(out);
	vnodes_put(mod, out);
	tasks_put(mod, out);
	if (keel_link_send(mod, "server", "task.hello", out) < 0)
		return;
	health_report(mod);
	/* What the server may have missed. */
	HASH_ITER(hh, st->mom.tasks, t, next) {
		t->heard = 0; /* a server that was restarted counts anew */
		task_report(mod, t);
		pruned_report(mod, t);
	}
}
