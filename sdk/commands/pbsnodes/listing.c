/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.c - hosts and vnodes: full text, dsv, JSON, and the short list of those in trouble.
 *
 * Without -v a host with several vnodes is one entry, which the library merges.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "pbs_error.h"
#include "pbsnodes.h"

const char *node_next_job(struct nodes *l, const char **at, size_t *ret_len)
{
	const char *job = *at;
	size_t len;

	for (; *job; job += strcspn(job, ","), job += *job == ',') {
		job += strspn(job, " ");
		len = strcspn(job, "/, ");
		if (len == 0 || names_add(&l->seen, job, len) != 1)
			continue;
		*at = job + strcspn(job, ",");
		*at += **at == ',';
		*ret_len = len;
		return job;
	}
	*at = job;
	return NULL;
}

void node_json_jobs(struct nodes *l, const char *jobs)
{
	const char *job;
	size_t len;
	bool any = false;

	jout_key(&l->json, ATTR_NODE_jobs, strlen(ATTR_NODE_jobs));
	jout_raw(&l->json, "[", 1);
	names_clear(&l->seen);
	while ((job = node_next_job(l, &jobs, &len)) != NULL) {
		if (any)
			jout_raw(&l->json, ", ", 2);
		jout_string(&l->json, job, len);
		any = true;
	}
	jout_raw(&l->json, "]", 1);
}

static bool json_special(struct json_show *j, const struct attrl *a)
{
	struct nodes *l = (struct nodes *)((char *)j - offsetof(struct nodes, json_show));
	const char *value = a->value ? a->value : "";

	if (strcmp(a->name, ATTR_rescassn) == 0 && a->resource) { /* what is not used is not shown */
		size_t zeros = strspn(value, "0");

		return zeros > 0 && value[zeros + strspn(value + zeros, "kmgtpKMGTPbBwW")] == '\0';
	}
	if (strcmp(a->name, ATTR_NODE_jobs) != 0)
		return false;
	node_json_jobs(l, value);
	return true;
}

static void put_node(struct nodes *l, const struct batch_status *node)
{
	struct out *o = &l->out;

	if (l->opt->summary) {
		summary_node(l, node);
	} else if (l->opt->format == FORMAT_JSON) {
		jout_open(&l->json, node->name);
		json_show_attributes(&l->json_show, node->attribs, json_special);
		jout_close(&l->json);
	} else if (l->opt->format == FORMAT_DSV) {
		out_str(o, "Name=");
		show_dsv_text(o, node->name, strlen(node->name), l->opt->delimiter);
		show_dsv(&l->show, node->attribs, l->opt->delimiter, ATTR_NODE_jobs);
		out_char(o, '\n');
	} else {
		out_str(o, node->name);
		out_char(o, '\n');
		show_attributes_plain(&l->show, node->attribs, 5);
		out_char(o, '\n');
	}
}

static bool state_has(const char *state, const char *word)
{
	size_t n = strlen(word), m;

	for (; *state; state += m, state += *state == ',') {
		m = strcspn(state, ",");
		if (m == n && memcmp(state, word, n) == 0)
			return true;
	}
	return false;
}

static void put_in_trouble(struct nodes *l, const struct batch_status *node)
{
	const char *state = status_value(node, ATTR_NODE_state, NULL);
	const char *comment = status_value(node, ATTR_comment, NULL);

	if (!state || (!l->opt->torque_list && !state_has(state, "down") &&
		       !state_has(state, "offline")))
		return;
	out_left(&l->out, node->name, 20);
	out_char(&l->out, ' ');
	out_str(&l->out, state);
	out_char(&l->out, ' ');
	out_in_line(&l->out, comment ? comment : "", comment ? strlen(comment) : 0);
	out_char(&l->out, '\n');
}

static void put_all(struct nodes *l, struct batch_status *list)
{
	for (const struct batch_status *node = list; node && !l->out.error; node = node->next)
		if (l->opt->list)
			put_in_trouble(l, node);
		else
			put_node(l, node);
	pbs_statfree(list);
}

/* Prints the name of an entry that does not exist, and the error. The status is 1, in JSON 0: the error is in the
 * document. */
static int put_unknown(struct nodes *l, const char *name)
{
	const char *text = pbs_geterrmsg(l->c);

	text = text && *text ? text : "Unknown node ";
	if (l->opt->format == FORMAT_JSON) {
		jout_open(&l->json, name);
		jout_key(&l->json, name, strlen(name));
		jout_string(&l->json, text, strlen(text));
		jout_close(&l->json);
		return 0;
	}
	out_flush(&l->out);
	if (!l->opt->quiet)
		fprintf(stderr, "Node: %s,  Error: %s\n", name, text);
	return 1;
}

static int list_everything(struct nodes *l)
{
	struct batch_status *list;
	const char *text;

	list = l->opt->vnodes ? pbs_statvnode(l->c, "", NULL, NULL) :
				pbs_stathost(l->c, "", NULL, NULL);
	if (list) {
		put_all(l, list);
		return 0;
	}
	text = pbs_errno != 0 ? pbs_geterrmsg(l->c) : NULL;
	out_flush(&l->out);
	if (!l->opt->quiet)
		fprintf(stderr, "pbsnodes: %s\n", text ? text : "Server has no node list");
	return 1;
}

/* All vnodes of a host, each by itself. */
static int list_vnodes_of(struct nodes *l, const struct batch_status *all, const char *host)
{
	const struct batch_status *node;
	const char *of;
	bool found = false;

	for (node = all; node; node = node->next) {
		of = status_value(node, ATTR_rescavail, "host");
		if (strcasecmp(of ? of : node->name, host) != 0)
			continue;
		found = true;
		put_node(l, node);
	}
	return found ? 0 : put_unknown(l, host);
}

static int list_operands(struct nodes *l, char **names, int n)
{
	struct batch_status *all = NULL, *list;
	int status = 0, i, rc, before;

	if (l->opt->by_host)
		all = pbs_statvnode(l->c, "", NULL, NULL);
	for (i = 0; i < n; i++) {
		for (before = 0; before < i && strcmp(names[before], names[i]) != 0;)
			before++;
		if (before < i && l->opt->format == FORMAT_JSON)
			continue; /* a key comes once */
		if (l->opt->by_host) {
			rc = list_vnodes_of(l, all, names[i]);
		} else {
			list = l->opt->vnodes ? pbs_statvnode(l->c, names[i], NULL, NULL) :
						pbs_stathost(l->c, names[i], NULL, NULL);
			rc = list ? 0 : put_unknown(l, names[i]);
			put_all(l, list);
		}
		status = rc ? rc : status;
	}
	pbs_statfree(all);
	return status;
}

static void json_root(struct nodes *l)
{
	struct attrl want = { .name = (char *)ATTR_version };
	struct batch_status *server = pbs_statserver(l->c, &want, NULL);
	const char *version = server ? status_value(server, ATTR_version, NULL) : NULL;

	version = version ? version : "";
	jout_begin(&l->json, &l->out);
	jout_key(&l->json, "timestamp", 9);
	jout_integer(&l->json, (long long)time(NULL));
	jout_key(&l->json, "pbs_version", 11);
	jout_string(&l->json, version, strlen(version));
	jout_key(&l->json, "pbs_server", 10);
	jout_string(&l->json, l->default_server, strlen(l->default_server));
	jout_open(&l->json, "nodes");
	pbs_statfree(server);
}

int list_nodes(struct nodes *l, char **names, int n)
{
	bool json = l->opt->format == FORMAT_JSON && !l->opt->list;
	int status;

	if (json)
		json_root(l);
	else if (l->opt->summary && l->opt->format == FORMAT_TEXT)
		summary_head(l);
	status = n > 0 ? list_operands(l, names, n) : list_everything(l);
	if (json) {
		jout_close(&l->json);
		jout_end(&l->json);
	}
	return status;
}
