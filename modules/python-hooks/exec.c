/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - texts like exec_vnode on a host, where no module knows resources.
 */
#include "host.h"

#include <ctype.h>

/* Behind a text that may be in quotes, up to one of `ends`. */
static size_t span(const char *at, const char *end, const char *ends)
{
	const char *p = at;
	char quote = '\0';

	for (; p < end && (quote || !strchr(ends, *p)); p++) {
		if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
	}
	return (size_t)(p - at);
}

bool exec_next(const char **at, uint32_t *chunk, struct exec_item *ret)
{
	const char *p = *at, *end = p + strlen(p);
	size_t len;

	for (; *p == '(' || *p == ')' || *p == '+'; p++)
		*chunk += *p == ')';
	len = span(p, end, "+)");
	if (len == 0)
		return false;
	ret->chunk = *chunk;
	ret->res = p + strcspn(p, ":+)");
	ret->res = ret->res > p + len ? p + len : ret->res;
	snprintf(ret->vnode, sizeof(ret->vnode), "%.*s", (int)(ret->res - p), p);
	ret->res += *ret->res == ':';
	ret->len = (uint32_t)(p + len - ret->res);
	*at = p + len;
	return true;
}

bool exec_amount(const char **at, const char *end, char name[128], char value[256])
{
	const char *p = *at, *is;
	size_t len = p < end ? span(p, end, ":") : 0;

	if (len == 0)
		return false;
	*at = p + len + (p + len < end);
	is = memchr(p, '=', len);
	if (!is)
		return exec_amount(at, end, name, value);
	snprintf(name, 128, "%.*s", (int)(is - p), p);
	snprintf(value, 256, "%.*s", (int)(p + len - is - 1), is + 1);
	return true;
}

/* ---- amounts ------------------------------------------------------------------------------------------ */
/* A number, or a size in bytes. False: neither. */
static bool amount_read(const char *text, double *ret, bool *ret_size)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { "b", 1 }, { "kb", 1024 }, { "mb", 1048576 }, { "gb", 1073741824 }, { "tb", 1099511627776.0 },
		      { "pb", 1125899906842624.0 }, { "w", 8 }, { "kw", 8192 }, { "mw", 8388608 }, { "gw", 8589934592.0 } };
	char *end;

	*ret = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
	if (!isdigit((unsigned char)*text))
		return false;
	*ret_size = *end != '\0';
	for (size_t i = 0; *ret_size && i < KEEL_COUNT(units); i++)
		if (strcasecmp(end, units[i].unit) == 0) {
			*ret *= units[i].bytes;
			return true;
		}
	return !*ret_size;
}

const char *exec_add(const char *old, const char *more, char buf[256])
{
	bool size, old_size;
	double n, had;

	if (!old || !amount_read(more, &n, &size) || !amount_read(old, &had, &old_size) || n + had > 9e15)
		return more;
	if (size || old_size)
		snprintf(buf, 256, "%.0fkb", (n + had) / 1024);
	else
		snprintf(buf, 256, "%.10g", n + had);
	return buf;
}

/* ---- exec_host ---------------------------------------------------------------------------------------- */
struct place {
	char vnode[256]; /* the first of the chunk */
	const char *slot; /* of exec_host: "n1/0*2", to '+' or the end; NULL: not known */
	uint32_t items;
	char ncpus[32];	  /* of one vnode alone */
	bool used;
};

/* The chunks of a text; the caller frees them. */
static struct place *places_of(const char *exec_vnode, const char *hosts, uint32_t *ret_n)
{
	struct place *all = NULL, *more;
	struct exec_item item;
	uint32_t chunk = 0, n = 0, room = 0;
	char name[128], value[256];

	while (exec_next(&exec_vnode, &chunk, &item)) {
		const char *at = item.res;

		if (item.chunk >= n && n == room) {
			more = realloc(all, (room = room ? room * 2 : 16) * sizeof(*all));
			if (!more)
				break;
			all = more;
		}
		if (item.chunk >= n) {
			all[n] = (struct place){ .slot = hosts && *hosts ? hosts : NULL };
			snprintf(all[n++].vnode, sizeof(all->vnode), "%s", item.vnode);
			hosts = hosts ? hosts + strcspn(hosts, "+") : NULL;
			hosts = hosts && *hosts ? hosts + 1 : NULL;
		}
		all[n - 1].items++;
		while (exec_amount(&at, item.res + item.len, name, value))
			if (strcmp(name, "ncpus") == 0)
				snprintf(all[n - 1].ncpus, sizeof(all->ncpus), "%.31s", value);
	}
	*ret_n = n;
	return all;
}

/* The slot that the chunk had; chunks stay in their order. */
static const char *slot_of(struct place *before, uint32_t n, const char *vnode)
{
	for (uint32_t i = 0; i < n; i++)
		if (!before[i].used && strcmp(before[i].vnode, vnode) == 0) {
			before[i].used = true;
			return before[i].slot;
		}
	return NULL;
}

static void place_print(struct keel_text *t, const struct place *p, const char *slot, const char *host)
{
	const char *ncpus = p->items > 1 ? "0" : p->ncpus[0] ? p->ncpus : "0";

	if (t->len)
		keel_text_str(t, "+");
	if (slot)
		keel_text_add(t, slot, strcspn(slot, "*+"));
	else
		keel_text_printf(t, "%s/0", host);
	if (strcmp(ncpus, "1") != 0)
		keel_text_printf(t, "*%s", ncpus);
}

char *exec_hosts(const char *before, const char *hosts_before, const char *after, const char *(*host_of)(void *arg, const char *vnode), void *arg)
{
	uint32_t n_before = 0, n = 0;
	struct place *old = places_of(before, hosts_before, &n_before), *now = places_of(after, NULL, &n);
	struct keel_text text;
	char *ret;

	keel_text_init(&text);
	for (uint32_t i = 0; i < n; i++) {
		const char *host = host_of(arg, now[i].vnode);

		place_print(&text, &now[i], slot_of(old, n_before, now[i].vnode), host ? host : now[i].vnode);
	}
	ret = text.failed ? NULL : strdup(text.data);
	keel_text_fini(&text);
	free(old);
	free(now);
	return ret;
}
