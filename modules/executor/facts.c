/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.c - see part.h: the facts of a part, from strings and back.
 */
#include "part.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "duration.h"
#include "spread.h"

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

int part_set_text(char **at, const char *text)
{
	char *copy = text && is_plain(text) ? strdup(text) : NULL;

	if (text && !copy)
		return is_plain(text) ? -ENOMEM : -EPROTO;
	free(*at);
	*at = copy;
	return 0;
}

void part_sync(struct part *p)
{
	struct keel_part *v = &p->view;

	v->size = sizeof(*v);
	v->hosts = p->hosts;
	v->nodes = p->nodes;
	v->slots = p->slots;
	v->cookie = p->cookie ? p->cookie : "";
	v->tolerate = p->tolerate ? p->tolerate : "";
	v->user = p->user ? p->user : "";
}

/* The next word of a line, ended in place; NULL: there is none. */
static char *word(char **at)
{
	char *found = *at + strspn(*at, " ");
	size_t len = strcspn(found, " ");

	*at = found + len + (found[len] != '\0');
	found[len] = '\0';
	return len ? found : NULL;
}

static const char *known(const char *text)
{
	return strcmp(text, "-") == 0 ? NULL : text;
}

char *part_host_line(const struct keel_part_host *h)
{
	char *line;

	return asprintf(&line, "%s %s %s %u %s", h->name, h->address ? h->address : "-", h->key ? h->key : "-", h->ncpus,
			*h->vnodes ? h->vnodes : "-") < 0 ? NULL : line;
}

static int host_take(char *line, struct keel_part_host *ret)
{
	char *at = line, *name = word(&at), *address = word(&at), *key = word(&at), *ncpus = word(&at), *vnodes = word(&at);

	if (!ncpus || strlen(name) > 255 || strspn(ncpus, "0123456789") != strlen(ncpus) || strlen(ncpus) > 9)
		return -EPROTO;
	*ret = (struct keel_part_host){
		.size = sizeof(*ret), .ncpus = (uint32_t)strtoul(ncpus, NULL, 10), .name = name,
		.address = known(address), .key = known(key), .vnodes = vnodes && known(vnodes) ? vnodes : "",
	};
	return 0;
}

static int nodes_take(const char *text, uint32_t n_hosts, uint32_t **ret, uint32_t *ret_n)
{
	size_t room = text ? strlen(text) / 2 + 1 : 0, n = 0;
	uint32_t *nodes = calloc(room + 1, sizeof(*nodes));
	const char *at = text ? text : "";

	if (!nodes)
		return -ENOMEM;
	for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
		char *end;
		unsigned long host = strtoul(at, &end, 10);

		if (!isdigit((unsigned char)*at) || (*end && *end != ' ') || host >= n_hosts || n > NODES_MAX) {
			free(nodes);
			return n > NODES_MAX ? -E2BIG : -EPROTO;
		}
		nodes[n++] = (uint32_t)host;
		at = end;
	}
	*ret = nodes;
	*ret_n = (uint32_t)n;
	return 0;
}

static bool is_named(const struct keel_part_host *h, const char *line, size_t len)
{
	size_t own = strlen(h->name), brief = strcspn(h->name, ".");

	return (own == len || (own < len && line[own] == '.') || (brief == len)) &&
	       strncasecmp(h->name, line, own < len ? own : len) == 0;
}

char *part_nodes_of_file(const char *const *hosts, uint32_t n, const char *file)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = n ? open_memstream(&text, &size) : NULL;
	uint32_t at = 0;

	for (const char *line = file; f && *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t len = strcspn(line, "\n");
		uint32_t tried = 0;
		char name[256];

		for (; tried < n; tried++, at = (at + 1) % n) { /* in their order, most often */
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(hosts[at], " "), hosts[at]);
			if (is_named(&(struct keel_part_host){ .name = name }, line, len))
				break;
		}
		if (tried < n)
			fprintf(f, " %u", at);
	}
	if (f && fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* All lines in one text, and the hosts that point into it. */
static int lines_take(const char *const *lines, uint32_t n, struct keel_part_host **ret, char **ret_text)
{
	struct keel_part_host *hosts = calloc(n, sizeof(*hosts));
	size_t len = 0;
	char *text, *at;
	int r = 0;

	for (uint32_t i = 0; i < n; i++)
		len += strlen(lines[i]) + 1;
	text = at = malloc(len + 1);
	for (uint32_t i = 0; hosts && text && i < n && r == 0; i++) {
		strcpy(at, lines[i]);
		r = is_plain(at) ? host_take(at, &hosts[i]) : -EPROTO;
		at += strlen(lines[i]) + 1;
	}
	if (!hosts || !text || r < 0) {
		free(hosts);
		free(text);
		return r < 0 ? r : -ENOMEM;
	}
	*ret = hosts;
	*ret_text = text;
	return 0;
}

void part_free_hosts(struct part *p)
{
	free(p->hosts);
	free(p->text);
	free(p->nodes);
	free(p->slots);
}

int part_set_hosts(struct part *p, const char *const *lines, uint32_t n, const char *nodes)
{
	struct part fresh = *p;
	int r;

	if (n == 0 || n > PART_HOSTS_MAX)
		return n ? -E2BIG : -EPROTO;
	r = lines_take(lines, n, &fresh.hosts, &fresh.text);
	if (r < 0)
		return r;
	fresh.slots = calloc(n, sizeof(*fresh.slots));
	fresh.nodes = NULL;
	r = fresh.slots ? nodes_take(nodes, n, &fresh.nodes, &fresh.view.n_nodes) : -ENOMEM;
	if (r < 0) {
		part_free_hosts(&fresh);
		return r;
	}
	for (uint32_t i = 0; i < n; i++)
		fresh.slots[i] = i;
	part_free_hosts(p);
	*p = fresh;
	p->view.n_hosts = n;
	p->renewed++;
	part_sync(p);
	return 0;
}

int part_replace_hosts(struct part *p, const char *const *lines, uint32_t n, const char *nodes, struct part *before)
{
	uint32_t at = 0;
	int r;

	*before = *p;
	p->hosts = NULL;
	p->text = NULL;
	p->nodes = p->slots = NULL;
	r = part_set_hosts(p, lines, n, nodes);
	if (r < 0) {
		*p = *before;
		return r;
	}
	for (uint32_t i = 0; i < n; i++) /* they are in their order */
		for (uint32_t tried = 0; tried < before->view.n_hosts; tried++, at = (at + 1) % before->view.n_hosts)
			if (strcmp(p->hosts[i].name, before->hosts[at].name) == 0) {
				p->slots[i] = before->slots[at];
				break;
			}
	return 0;
}

struct part *part_alone(const char *host, int64_t ncpus)
{
	struct part *p = calloc(1, sizeof(*p));
	char line[400], *lines = line;

	snprintf(line, sizeof(line), "%s - - %lld", host, (long long)(ncpus < 0 ? 0 : ncpus));
	if (p && part_set_hosts(p, (const char *const *)&lines, 1, "0") == 0)
		return p;
	part_free(p);
	return NULL;
}

void part_free(struct part *p)
{
	if (!p)
		return;
	for (struct elsewhere *e = p->elsewhere, *next; e; e = next) {
		next = e->next;
		free(e);
	}
	part_free_hosts(p);
	free(p->cookie);
	free(p->tolerate);
	free(p->user);
	free(p->select);
	free(p);
}

/* ---- the diary ----------------------------------------------------------------------------------------- */

void part_print_hosts(FILE *f, const struct part *p)
{
	fprintf(f, "hosts %u\n", p->view.n_hosts);
	for (uint32_t i = 0; i < p->view.n_hosts; i++) {
		char *line = part_host_line(&p->hosts[i]);

		fprintf(f, "host %s\n", line ? line : "");
		free(line);
	}
	fputs("nodes", f);
	for (uint32_t i = 0; i < p->view.n_nodes; i++)
		fprintf(f, " %u", p->nodes[i]);
	fputs("\nslots", f);
	for (uint32_t i = 0; i < p->view.n_hosts; i++)
		fprintf(f, " %u", p->slots[i]);
	fputs("\n", f);
}

void part_print(FILE *f, const struct part *p)
{
	fprintf(f, "index %u\nrerunable %u\n", p->view.index, p->view.rerunable);
	if (p->cookie)
		fprintf(f, "cookie %s\n", p->cookie);
	if (p->tolerate)
		fprintf(f, "tolerate %s\n", p->tolerate);
	part_print_hosts(f, p);
	if (p->pruned)
		fprintf(f, "pruned %s\n", p->select ? p->select : "");
}

/* What stands in a diary so far; "hosts" begins another list. */
struct reading {
	struct part *part;
	char **lines;
	uint32_t n, room;
	char *nodes;
	unsigned long index;
	bool whole;
};

static void lines_drop(struct reading *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->lines[i]);
	r->n = 0;
}

static void host_line(struct reading *r, const char *rest)
{
	if (r->n == r->room) {
		uint32_t room = r->room ? r->room * 2 : 16;
		char **lines = realloc(r->lines, room * sizeof(*lines));

		if (!lines)
			return;
		r->lines = lines;
		r->room = room;
	}
	r->lines[r->n] = strdup(rest);
	r->n += r->lines[r->n] != NULL;
}

/* As many as there are hosts; an older diary has none. */
static void slots_line(struct reading *r, const char *rest)
{
	struct part *p = r->part;
	uint32_t *slots, n;

	if (nodes_take(rest, PART_HOSTS_MAX, &slots, &n) < 0)
		return;
	if (n == p->view.n_hosts)
		memcpy(p->slots, slots, n * sizeof(*slots));
	free(slots);
}

static void pruned_line(struct reading *r, const char *rest)
{
	r->part->pruned = part_set_text(&r->part->select, rest) == 0;
}

static void line_take(struct reading *r, const char *line)
{
	struct part *p = r->part;
	size_t len = strcspn(line, " ");
	const char *rest = line + len + (line[len] == ' ');

	if (len == 5 && strncmp(line, "hosts", 5) == 0)
		lines_drop(r);
	else if (len == 4 && strncmp(line, "host", 4) == 0)
		host_line(r, rest);
	else if (len == 5 && strncmp(line, "nodes", 5) == 0)
		part_set_hosts(p, (const char *const *)r->lines, r->n, rest);
	else if (len == 5 && strncmp(line, "slots", 5) == 0)
		slots_line(r, rest);
	else if (len == 5 && strncmp(line, "index", 5) == 0)
		p->view.index = (uint32_t)strtoul(rest, NULL, 10);
	else if (len == 9 && strncmp(line, "rerunable", 9) == 0)
		p->view.rerunable = *rest == '1';
	else if (len == 6 && strncmp(line, "cookie", 6) == 0)
		part_set_text(&p->cookie, rest);
	else if (len == 8 && strncmp(line, "tolerate", 8) == 0)
		part_set_text(&p->tolerate, rest);
	else if (len == 4 && strncmp(line, "user", 4) == 0)
		part_set_text(&p->user, rest);
	else if (len == 6 && strncmp(line, "pruned", 6) == 0)
		pruned_line(r, rest);
	else if (strcmp(line, "prune_done") == 0)
		p->pruned = false;
}

struct part *part_read(const char *jobs_dir, const char *id, const char *own_host)
{
	struct reading r = { .part = part_alone(own_host, 1) };
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.TK", jobs_dir, id);
	f = r.part ? fopen(path, "re") : NULL;
	while (f && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		line_take(&r, line);
	}
	if (f)
		fclose(f);
	free(line);
	lines_drop(&r);
	free(r.lines);
	if (r.part) {
		if (r.part->view.index >= r.part->view.n_hosts)
			r.part->view.index = 0;
		r.part->renewed = 0;
		part_sync(r.part);
	}
	return r.part;
}

/* ---- what other hosts use ---------------------------------------------------------------------------------- */

void part_elsewhere_sum(const struct part *p, struct elsewhere *ret)
{
	for (const struct elsewhere *e = p ? p->elsewhere : NULL; e; e = e->next) {
		ret->cput_ms += e->cput_ms;
		ret->mem_kb += e->mem_kb;
		ret->vmem_kb += e->vmem_kb;
		ret->cpupercent += e->cpupercent;
	}
}

const struct elsewhere *part_elsewhere(const struct part *p, const char *host)
{
	const struct elsewhere *e = p->elsewhere;

	while (e && strcmp(e->host, host) != 0)
		e = e->next;
	return e;
}

static struct elsewhere *elsewhere_of(struct part *p, const char *host)
{
	struct elsewhere *e = (struct elsewhere *)part_elsewhere(p, host);

	if (e)
		return e;
	e = calloc(1, sizeof(*e) + strlen(host) + 1);
	if (!e)
		return NULL;
	strcpy(e->host, host);
	e->number = p->elsewhere ? p->elsewhere->number + 1 : 0;
	e->next = p->elsewhere;
	p->elsewhere = e;
	return e;
}

/* What it has used never becomes less. */
static void most(uint64_t *at, int64_t value)
{
	if (value > 0 && (uint64_t)value > *at)
		*at = (uint64_t)value;
}

int part_elsewhere_set(struct part *p, const char *host, const char *const *items, uint32_t n)
{
	struct elsewhere *e = elsewhere_of(p, host);

	if (!e)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const char *value = strchr(items[i], '=');

		if (!value)
			continue;
		if (strncmp(items[i], "cput=", 5) == 0)
			most(&e->cput_ms, duration_parse(value + 1) * 1000);
		else if (strncmp(items[i], "mem=", 4) == 0)
			most(&e->mem_kb, size_parse(value + 1) / 1024);
		else if (strncmp(items[i], "vmem=", 5) == 0)
			most(&e->vmem_kb, size_parse(value + 1) / 1024);
		else if (strncmp(items[i], "cpupercent=", 11) == 0)
			most(&e->cpupercent, strtoll(value + 1, NULL, 10));
	}
	return 0;
}

int part_elsewhere_put(struct part *p, const char *host, const struct elsewhere *what)
{
	struct elsewhere *e = elsewhere_of(p, host);

	if (!e)
		return -ENOMEM;
	e->cput_ms = what->cput_ms;
	e->mem_kb = what->mem_kb;
	e->vmem_kb = what->vmem_kb;
	e->cpupercent = what->cpupercent;
	return 0;
}
