/* SPDX-License-Identifier: Apache-2.0
 *
 * hosts.c - pbs_rsub --hosts: which vnodes the hosts have, and what is asked of the server with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"
#include "reach.h"
#include "resv.h"
#include "rsub.h"

#define CPUS_MOST 1000000000000LL /* of one vnode: sums of many stay numbers */
#define CONFIRM "PBS_RESV_CONFIRM_SUCCESS"

enum { EXIT_USAGE = 2 };

static int no_memory(void)
{
	fprintf(stderr, "%s: out of memory\n", pbs_rsub.name);
	return 1;
}

void hosts_free(struct hosts *h)
{
	for (int i = 0; i < h->n; i++)
		free(h->host[i].nodes);
	free(h->host);
	free(h->by_name);
	*h = (struct hosts){ 0 };
}

static int by_name(const void *a, const void *b)
{
	const struct host *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

static struct host *host_find(const struct hosts *h, const char *name)
{
	struct host key = { .name = name }, *wanted = &key;
	struct host **found = bsearch(&wanted, h->by_name, (size_t)h->n, sizeof(*h->by_name), by_name);

	return found ? *found : NULL;
}

/* Prints the first one, in the order of the operands, that was there before. */
static int duplicate_check(const struct hosts *h)
{
	for (int i = 0; i < h->n; i++)
		if (host_find(h, h->host[i].name)->ncpus++ > 0) {
			fprintf(stderr, "%s: Duplicate host: %s\n", pbs_rsub.name, h->host[i].name);
			return cmd_usage(&pbs_rsub);
		}
	for (int i = 0; i < h->n; i++)
		h->host[i].ncpus = 0;
	return 0;
}

int hosts_take(struct hosts *h, char **operands, int n)
{
	*h = (struct hosts){ 0 };
	h->host = calloc((size_t)n + 1, sizeof(*h->host));
	h->by_name = calloc((size_t)n + 1, sizeof(*h->by_name));
	if (!h->host || !h->by_name)
		return no_memory();
	for (int i = 0; i < n; i++)
		if (*operands[i]) {
			h->host[h->n].name = operands[i];
			h->by_name[h->n] = &h->host[h->n];
			h->n++;
		}
	if (h->n == 0) {
		fprintf(stderr, "%s: missing host(s)\n", pbs_rsub.name);
		return cmd_usage(&pbs_rsub);
	}
	qsort(h->by_name, (size_t)h->n, sizeof(*h->by_name), by_name);
	return duplicate_check(h);
}

static bool nodes_add(struct host *host, const char *vnode, const char *ncpus)
{
	size_t more = strlen(vnode) + strlen(ncpus) + sizeof("+(:ncpus=)");
	char *grown = realloc(host->nodes, host->len + more);

	if (!grown)
		return false;
	host->nodes = grown;
	host->len += (size_t)sprintf(grown + host->len, "%s(%s:ncpus=%s)", host->len > 0 ? "+" : "", vnode, ncpus);
	return true;
}

static int vnode_count(struct hosts *h, const struct batch_status *vnode)
{
	const char *name = status_value(vnode, ATTR_rescavail, "host"), *ncpus = status_value(vnode, ATTR_rescavail, "ncpus");
	struct host *host = name && ncpus ? host_find(h, name) : NULL;
	long long n;
	char *end;

	if (!name || !ncpus)
		return 0;
	n = strtoll(ncpus, &end, 10);
	if (end == ncpus || *end || n < 0 || n > CPUS_MOST) {
		fprintf(stderr, "%s: Attribute value error\n", pbs_rsub.name);
		return EXIT_USAGE;
	}
	if (!host || n == 0)
		return 0;
	host->ncpus += n;
	return nodes_add(host, vnode->name, ncpus) ? 0 : no_memory();
}

int hosts_count(struct hosts *h, const struct batch_status *vnodes)
{
	int status;

	for (; vnodes; vnodes = vnodes->next) {
		status = vnode_count(h, vnodes);
		if (status != 0)
			return status;
	}
	for (int i = 0; i < h->n; i++)
		if (h->host[i].ncpus == 0) {
			fprintf(stderr, "%s: Host with resources not found: %s\n", pbs_rsub.name, h->host[i].name);
			return EXIT_USAGE;
		}
	return 0;
}

/* Joins what `put` prints of each host with '+'. */
static char *join(const struct hosts *h, void (*put)(FILE *out, const struct host *host))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; out && i < h->n; i++) {
		if (i > 0)
			fputc('+', out);
		put(out, &h->host[i]);
	}
	if (out && fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void put_chunk(FILE *out, const struct host *host)
{
	fprintf(out, "host=%s:ncpus=%lld", host->name, host->ncpus);
}

static void put_nodes(FILE *out, const struct host *host)
{
	fputs(host->nodes, out);
}

char *hosts_select(const struct hosts *h)
{
	return join(h, put_chunk);
}

char *hosts_nodes(const struct hosts *h)
{
	return join(h, put_nodes);
}

static int vnodes_read(struct hosts *h, int c)
{
	struct attrl ncpus = { .name = (char *)ATTR_rescavail, .resource = (char *)"ncpus" };
	struct attrl host = { .next = &ncpus, .name = (char *)ATTR_rescavail, .resource = (char *)"host" };
	struct batch_status *vnodes = pbs_statvnode(c, "", &host, NULL);
	int status;

	if (!vnodes && pbs_errno == 0) {
		fprintf(stderr, "%s: No nodes found\n", pbs_rsub.name);
		return EXIT_USAGE;
	}
	status = vnodes ? hosts_count(h, vnodes) : resv_failed(&pbs_rsub, c);
	pbs_statfree(vnodes);
	return status;
}

/* A server that could not find the vnodes by itself leaves that to this command. */
static int confirm(const struct wish *w, const struct hosts *h, int c, const char *reply)
{
	const char *start = wish_get(w, ATTR_resv_start, "");
	char *id = strndup(reply, strcspn(reply, " ")), *nodes = hosts_nodes(h);
	int status = 0;

	if (!id || !nodes) {
		status = no_memory();
	} else if (pbs_confirmresv(c, id, nodes, start ? strtoul(start, NULL, 10) : 0, CONFIRM) == 0) {
		printf("%s CONFIRMED\n", id);
	} else {
		int error = pbs_errno;
		const char *text = pbs_geterrmsg(c);

		fprintf(stderr, "%s: PBS Failed to confirm resv: %s (%d)\n", pbs_rsub.name, text ? text : "", error);
		status = reach_exit_status(error);
	}
	free(id);
	free(nodes);
	return status;
}

static bool is_unconfirmed(const char *reply)
{
	static const char word[] = " UNCONFIRMED";
	const char *at = strstr(reply, word);

	return at && at[sizeof(word) - 1] == '\0' && !strchr(reply, '\n');
}

static const char *extend_of(const struct wish *w)
{
	if (w->repeat)
		return w->dry_run ? "m,repeat,dry-run" : "m,repeat";
	return w->dry_run ? "m,dry-run" : "m";
}

static int send(struct wish *w, const struct hosts *h, int c)
{
	char *select = hosts_select(h), *reply;
	int status = 0;

	if (!select || attr_list_set(&w->attrs, ATTR_l, "select", select) < 0 ||
	    attr_list_set(&w->attrs, ATTR_l, "place", "exclhost") < 0) {
		free(select);
		return no_memory();
	}
	free(select);
	reply = pbs_submit_resv(c, w->attrs.first, extend_of(w));
	if (!reply)
		return resv_failed(&pbs_rsub, c);
	if (!w->dry_run && is_unconfirmed(reply))
		status = confirm(w, h, c, reply);
	else
		printf("%s%s", reply, *reply && reply[strlen(reply) - 1] != '\n' ? "\n" : "");
	free(reply);
	return status;
}

int hosts_submit(struct wish *w, struct hosts *h, int c)
{
	int status = vnodes_read(h, c);

	return status == 0 ? send(w, h, c) : status;
}
