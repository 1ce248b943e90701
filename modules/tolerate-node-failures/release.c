/* SPDX-License-Identifier: Apache-2.0
 *
 * release.c - on a primary: the job gives hosts back before its program starts. The service "tolerance".
 *
 * A job with spares does it by itself, at task_launch, behind the taps that may have done it already. What is left goes to
 * service "part", which makes it true on this host, on the others and on the server.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "increment.h"
#include "keel/service/tolerance.h"
#include "keep.h"
#include "runs.h"

#define UNSATISFIED "not enough of its hosts are well: "

/* Of each vnode of the job the index of its host. */
struct place {
	UT_hash_handle hh;
	uint32_t host;
	bool out; /* it may not stay */
	char vnode[];
};

struct map {
	struct place *places;
	bool failed; /* no memory, or what a host has cannot be read */
};

static struct place *map_find(const struct map *map, const char *vnode)
{
	struct place *p;

	HASH_FIND_STR(map->places, vnode, p);
	return p;
}

static void map_add(struct map *map, const char *vnode, uint32_t host, bool out)
{
	struct place *p = map_find(map, vnode);

	if (p)
		return;
	p = calloc(1, sizeof(*p) + strlen(vnode) + 1);
	if (!p) {
		map->failed = true;
		return;
	}
	p->host = host;
	p->out = out;
	strcpy(p->vnode, vnode);
	HASH_ADD_STR(map->places, vnode, p);
	if (!p->hh.tbl) {
		map->failed = true;
		free(p);
	}
}

static void map_fill(struct map *map, const struct keel_part *part, const struct run *r)
{
	struct chunks share;

	for (uint32_t i = 0; i < part->n_hosts; i++) {
		const struct keel_part_host *h = &part->hosts[i];

		map->failed |= chunks_of_exec(h->vnodes ? h->vnodes : "", &share) < 0;
		for (uint32_t v = 0; v < share.n_parts; v++)
			map_add(map, share.part[v].vnode, i, run_lost(r, h->name) != NULL);
		chunks_fini(&share);
	}
}

static void map_free(struct map *map)
{
	struct place *p, *next;

	HASH_ITER(hh, map->places, p, next) {
		HASH_DEL(map->places, p);
		free(p);
	}
}

static uint32_t host_of(void *arg, const char *vnode)
{
	const struct place *p = map_find(arg, vnode);

	return p && !p->out ? p->host : KEEP_NOT;
}

/* ---- what is left ---------------------------------------------------------------------------------------------- */

/* What the run has now, when the server has not said it: the shares of its hosts. The caller frees it. */
static char *exec_of(const struct keel_part *part, const struct run *r)
{
	struct keel_text all;
	char *ret;

	if (r->exec_vnode)
		return strdup(r->exec_vnode);
	keel_text_init(&all);
	for (uint32_t i = 0; i < part->n_hosts; i++)
		keel_text_printf(&all, "%s%s", i ? "+" : "", part->hosts[i].vnodes ? part->hosts[i].vnodes : "");
	ret = all.failed ? NULL : strdup(all.data);
	keel_text_fini(&all);
	return ret;
}

/* Cuts exec_vnode, which is ordered by host, into the shares of hosts; they point into it. Returns how many. */
static uint32_t shares_cut(char *exec, const struct map *map, const struct keel_part *part, struct keel_part_host *hosts)
{
	char *at = exec, *end, *sign;
	uint32_t n = 0, host, last = KEEP_NOT;
	const struct place *p;

	for (; at && *at; at = end) {
		end = strchr(at, ')');
		end = end && end[1] ? end + 2 : NULL; /* behind the '+' */
		sign = at + 1 + strcspn(at + 1, ":+)");
		p = NULL;
		if (*sign) {
			char kept = *sign;

			*sign = '\0';
			p = map_find(map, at + 1);
			*sign = kept;
		}
		host = p ? p->host : KEEP_NOT;
		if (host == KEEP_NOT || host == last)
			continue;
		if (n)
			at[-1] = '\0';
		hosts[n] = part->hosts[host];
		hosts[n].ncpus = 0; /* of what stays */
		hosts[n++].vnodes = at;
		last = host;
	}
	return n;
}

static int32_t prune(struct keel_mod *mod, struct run *r, const struct keel_part *part, const struct map *map,
		     const char *before, const char *exec, const char *select)
{
	struct keel_part_host *hosts = calloc(part->n_hosts ? part->n_hosts : 1, sizeof(*hosts));
	char *copy = strdup(exec), *kept = strdup(exec), *asked = strdup(select);
	int32_t code = -ENOMEM;

	if (hosts && copy && kept && asked)
		code = keel_part_prune(r->id, hosts, shares_cut(copy, map, part, hosts), select);
	if (code == 0) {
		keel_log(mod, KEEL_LOG_JOB, "Job", r->id, "pruned from exec_vnode=%s", before);
		keel_log(mod, KEEL_LOG_JOB, "Job", r->id, "pruned to exec_vnode=%s", exec);
		free(r->exec_vnode);
		free(r->schedselect);
		r->exec_vnode = kept;
		r->schedselect = asked;
		r->pruned = true;
		kept = asked = NULL;
	}
	free(kept);
	free(asked);
	free(copy);
	free(hosts);
	return code;
}

static void log_lines(struct keel_mod *mod, const char *id, char *lines)
{
	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
		keel_log(mod, KEEL_LOG_DEBUG2, "Job", id, "%s", line);
}

/* With a select what satisfies it stays, else whatever may. */
static int32_t choose(struct keel_mod *mod, const struct keep_job *job, const char *id, const char *select,
		      struct keel_text *ret, struct keel_text *ret_select)
{
	struct keel_text why;
	int32_t code;

	keel_text_init(&why);
	code = select ? keep_select(job, select, ret, ret_select, &why) : keep_good(job, ret, ret_select);
	log_lines(mod, id, why.data);
	keel_text_fini(&why);
	return code == -ENOENT ? -ENODATA : code;
}

/* 0: the run may be pruned now. */
static int32_t may_release(struct keel_mod *mod, const struct run *r, const struct keel_part *part)
{
	if (!r)
		return -ENOENT;
	if (!tolerates(part->tolerate, KEEL_STAGE_JOIN)) {
		keel_log(mod, KEEL_LOG_DEBUG, "Job", r->id,
			 "%s: no nodes released as job does not tolerate node failures", r->id);
		return -EPERM;
	}
	if (r->cray) {
		keel_log(mod, KEEL_LOG_DEBUG2, "Job", r->id, "release_nodes(): not currently supported on Cray X* series nodes");
		return -ENOTSUP;
	}
	return part->started ? -EBUSY : 0;
}

static int32_t shrink(struct keel_mod *mod, const char *id, const char *select, const char *const *vnodes, uint32_t n)
{
	const struct keel_part *part;
	struct run *r = run_of(mod, id, &part);
	struct keel_text exec, asked;
	struct map map = { 0 };
	char *before;
	int32_t code = may_release(mod, r, part);

	if (code)
		return code;
	keel_text_init(&exec);
	keel_text_init(&asked);
	before = exec_of(part, r);
	map_fill(&map, part, r);
	for (uint32_t i = 0; i < n; i++) {
		struct place *p = map_find(&map, vnodes[i]);

		if (p)
			p->out = true;
	}
	if (!before || map.failed)
		code = -ENOMEM;
	else
		code = choose(mod, &(struct keep_job){ .exec_vnode = before, .schedselect = r->schedselect, .host_of = host_of,
						       .arg = &map, .words = (const char *const *)r->words,
						       .n_words = r->n_words }, id, select, &exec, &asked);
	if (code == 0 && strcmp(exec.data, before) != 0)
		code = prune(mod, r, part, &map, before, exec.data, asked.data);
	free(before);
	map_free(&map);
	keel_text_fini(&exec);
	keel_text_fini(&asked);
	return code;
}

/* ---- jobs with spares --------------------------------------------------------------------------------------------- */

static int32_t hold_job(struct keel_mod *mod, const char *id, const char *why)
{
	struct run *r = run_of(mod, id, NULL);
	struct keel_out *out = r ? run_message(mod, r) : NULL;

	if (!out)
		return r ? -ENOMEM : -ENOENT;
	keel_put_str(out, "text", why);
	return keel_link_send(mod, "server", "tolerance.hold", out);
}

/* Hosts that failed, with why. */
static void reasons(const struct run *r, char *buf, size_t len)
{
	size_t n = (size_t)snprintf(buf, len, UNSATISFIED "%s", r->lost ? "" : "the select does not fit");

	for (const struct lost *l = r->lost; l && n < len; l = l->next)
		n += (size_t)snprintf(buf + n, len - n, "%s%s: %s", l == r->lost ? "" : "; ", l->host, l->text);
}

keel_verdict on_task_launch(struct keel_call *c, const struct keel_ev_task_launch *ev)
{
	const struct keel_part *part;
	struct run *r = run_of(c->mod, ev->id, &part);
	char why[1024];
	int32_t code;

	if (!r || !r->keep || r->pruned)
		return KEEL_NEXT;
	code = shrink(c->mod, ev->id, r->keep, NULL, 0);
	if (code == 0 || code == -EPERM)
		return KEEL_NEXT;
	reasons(r, why, sizeof(why));
	if (code == -ENODATA)
		hold_job(c->mod, ev->id, why);
	return keel_reject(c, STATUS_RETRY, "%s", why);
}

/* ---- the service ---------------------------------------------------------------------------------------------------- */

static bool is_tolerant(struct keel_mod *mod, const char *id)
{
	const struct keel_part *part;

	return run_of(mod, id, &part) && tolerates(part->tolerate, part->started ? KEEL_STAGE_RUN : KEEL_STAGE_JOIN);
}

static void each_failed(struct keel_mod *mod, const char *id, void (*fn)(void *arg, const struct keel_tolerance_host *),
			void *arg)
{
	const struct run *r = run_of(mod, id, NULL);

	for (const struct lost *l = r ? r->lost : NULL; l; l = l->next)
		if (!l->silent)
			fn(arg, &(struct keel_tolerance_host){ .size = sizeof(struct keel_tolerance_host), .code = l->code,
							       .name = l->host, .stage = l->stage, .text = l->text,
							       .vnodes = l->vnodes ? l->vnodes : "" });
}

static bool is_good(struct keel_mod *mod, const char *id, const char *host)
{
	const struct keel_part *part;
	const struct run *r = run_of(mod, id, &part);

	for (uint32_t i = 0; r && i < part->n_hosts; i++)
		if (strcmp(part->hosts[i].name, host) == 0)
			return !run_lost(r, host);
	return false;
}

static int32_t keep(struct keel_mod *mod, const char *id, const char *select)
{
	if (!select || !*select) {
		keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "empty keep_select value");
		return -EINVAL;
	}
	return shrink(mod, id, select, NULL, 0);
}

static int32_t offline(struct keel_mod *mod, const char *id, const char *vnode, const char *comment)
{
	struct run *r = run_of(mod, id, NULL);
	struct keel_out *out = r ? run_message(mod, r) : NULL;

	if (!out)
		return r ? -ENOMEM : -ENOENT;
	keel_put_str(out, "vnode", vnode);
	keel_put_str(out, "text", comment);
	return keel_link_send(mod, "server", "tolerance.offline", out);
}

static int32_t release(struct keel_mod *mod, const char *id, const char *const *vnodes, uint32_t n)
{
	return shrink(mod, id, NULL, vnodes, n);
}

struct rules {
	const char *const *rule;
	uint32_t n;
};

static const char *rule_of(void *arg, uint32_t item)
{
	const struct rules *rules = arg;

	return rules->n == 0 ? rules->rule[0] : item < rules->n ? rules->rule[item] : NULL;
}

static char *increment(struct keel_mod *mod, const char *select, const char *const *rules, uint32_t n, struct keel_err *err)
{
	struct keel_text text;
	int32_t code;
	char *ret;

	(void)mod;
	keel_text_init(&text);
	code = increment_select(select, rule_of, &(struct rules){ rules, n }, &text);
	ret = code ? NULL : strdup(text.data);
	keel_text_fini(&text);
	if (!ret)
		keel_error(err, code ? code : -ENOMEM, "%s", code == -ENOMEM || !code ? "out of memory" : "bad increment specs");
	return ret;
}

static const struct keel_tolerance_api table = {
	.size = sizeof(table), .version = 1, .is_tolerant = is_tolerant, .each_failed = each_failed, .is_good = is_good,
	.keep = keep, .release = release, .offline = offline, .hold = hold_job, .increment = increment,
};
const struct keel_service_def tolerance_service = {
	.size = sizeof(struct keel_service_def), .version = 1, .name = "tolerance",
	.doc = "jobs that survive the loss of hosts", .table = &table,
};
