/* SPDX-License-Identifier: Apache-2.0
 *
 * shrink.c - a job with fewer hosts: before its start, when a tolerant primary goes on without some ("task.pruned" to the
 * server, until it has noted that: "task.prune_done"); later, when the server gives it the hosts that are left
 * ("task.resize"). Node file and diary are as the new hosts are, before anything is said.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diary.h"

/* ---- the node file ------------------------------------------------------------------------------------ */

static void nodes_path(struct keel_mod *mod, const struct task *t, const char *suffix, char path[4096])
{
	snprintf(path, 4096, "%s/aux/%s%s", keel_home(mod), t->id, suffix);
}

/* Readers find the old one or the new one. */
static int nodes_replace(struct keel_mod *mod, const struct task *t, const char *text)
{
	char path[4096], fresh[4096];
	size_t len = strlen(text);
	int fd, r = 0;

	nodes_path(mod, t, "", path);
	nodes_path(mod, t, ".new", fresh);
	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	errno = EIO;
	if (fchmod(fd, 0644) < 0 || write(fd, text, len) != (ssize_t)len || rename(fresh, path) < 0)
		r = -errno;
	close(fd);
	if (r < 0)
		unlink(fresh);
	return r;
}

/* The caller frees it; NULL: it cannot be read. */
static char *nodes_of(struct keel_mod *mod, const struct task *t)
{
	char path[4096], *text;
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (t->launch && t->launch->nodes)
		return strdup(t->launch->nodes);
	nodes_path(mod, t, "", path);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return strdup("");
	text = fstat(fd, &st) == 0 ? malloc((size_t)st.st_size + 1) : NULL;
	if (text)
		n = read(fd, text, (size_t)st.st_size);
	close(fd);
	if (text)
		text[n > 0 ? n : 0] = '\0';
	return text;
}

static int nodes_set(struct keel_mod *mod, struct task *t, const char *text)
{
	char *copy;

	if (!t->launch)
		return nodes_replace(mod, t, text);
	copy = strdup(text); /* it is not written yet */
	if (!copy)
		return -ENOMEM;
	free(t->launch->nodes);
	t->launch->nodes = copy;
	return 0;
}

/* ---- hosts that stay ------------------------------------------------------------------------------------- */

static uint32_t groups_count(const char *vnodes)
{
	uint32_t n = 0;

	for (const char *at = vnodes ? vnodes : ""; *at; at += strcspn(at, ")"), at += *at == ')')
		n++;
	return n;
}

/* What of the old hosts stays: new index + 1, and how many of its node numbers. */
struct stay {
	uint32_t index, nodes;
};

static int stays_fill(const struct part *p, const struct keel_part_host *hosts, uint32_t n, struct stay *stays)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < p->view.n_nodes; i++)
		stays[p->nodes[i]].nodes++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t before, after;

		while (from < p->view.n_hosts && strcmp(p->hosts[from].name, hosts[i].name) != 0)
			from++;
		if (from == p->view.n_hosts || (i == 0 && from != 0))
			return -EINVAL; /* not one of them, or not in their order */
		before = groups_count(p->hosts[from].vnodes);
		after = groups_count(hosts[i].vnodes);
		stays[from].index = i + 1;
		if (after < before)
			stays[from].nodes = (uint32_t)((uint64_t)stays[from].nodes * after / before);
		from++;
	}
	return 0;
}

/* The old lines of the node file and its numbers, without what goes. */
static int nodes_filter(const struct part *p, struct stay *stays, const char *old, char **ret_text, char **ret_numbers)
{
	size_t text_len, numbers_len;
	FILE *text = open_memstream(ret_text, &text_len), *numbers = open_memstream(ret_numbers, &numbers_len);

	for (uint32_t i = 0; text && numbers && i < p->view.n_nodes; i++) {
		struct stay *s = &stays[p->nodes[i]];
		size_t len = strcspn(old, "\n");

		if (s->index && s->nodes) {
			s->nodes--;
			fprintf(text, "%.*s\n", (int)len, old);
			fprintf(numbers, "%s%u", ftell(numbers) ? " " : "", s->index - 1);
		}
		old += len + (old[len] == '\n');
	}
	if (text && fclose(text) != 0)
		text = NULL;
	if (numbers && fclose(numbers) != 0)
		numbers = NULL;
	return text && numbers ? 0 : -ENOMEM;
}

static void lines_free(char **lines, uint32_t n)
{
	for (uint32_t i = 0; lines && i < n; i++)
		free(lines[i]);
	free(lines);
}

static char **lines_make(const struct part *p, const struct keel_part_host *hosts, uint32_t n, const struct stay *stays)
{
	char **lines = calloc(n, sizeof(*lines));
	uint32_t i = 0;

	for (uint32_t from = 0; lines && from < p->view.n_hosts; from++) {
		struct keel_part_host h = p->hosts[from];

		if (!stays[from].index)
			continue;
		h.ncpus = hosts[i].ncpus ? hosts[i].ncpus : h.ncpus;
		h.vnodes = hosts[i].vnodes ? hosts[i].vnodes : h.vnodes;
		if (!(lines[i++] = part_host_line(&h))) {
			lines_free(lines, n);
			return NULL;
		}
	}
	return lines;
}

/* The facts again, behind the old ones: the last ones count. */
static void facts_note(struct keel_mod *mod, const struct task *t)
{
	const struct state *st = mod->state;
	char *text = NULL, *next;
	size_t len = 0;
	FILE *f = t->launch ? NULL : open_memstream(&text, &len);

	if (!f)
		return; /* its diary is not written yet */
	part_print(f, t->part);
	fclose(f);
	for (char *line = text; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (diary_append(st->mom.jobs_dir, t->id, line) < 0)
			keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "its diary cannot be written");
	}
	free(text);
}

/* ---- before the start --------------------------------------------------------------------------------------- */

void pruned_report(struct keel_mod *mod, const struct task *t)
{
	const struct part *p = t->part;
	struct keel_out *out = p && p->pruned && !t->discarded ? keel_out(mod) : NULL;
	char *vnodes = NULL;
	size_t len = 0;
	FILE *f;

	if (!out)
		return;
	f = open_memstream(&vnodes, &len);
	for (uint32_t i = 0; f && i < p->view.n_hosts; i++)
		fprintf(f, "%s%s", i ? "+" : "", p->hosts[i].vnodes);
	if (!f || fclose(f) != 0) {
		keel_out_drop(out);
		free(vnodes);
		return;
	}
	keel_put_str(out, "id", t->id);
	keel_put_int(out, "run", t->run);
	keel_put_str(out, "vnodes", vnodes);
	keel_put_str(out, "select", p->select ? p->select : "");
	keel_open_array(out, "hosts");
	for (uint32_t i = 0; i < p->view.n_hosts; i++)
		keel_add_str(out, p->hosts[i].name);
	keel_close(out);
	keel_link_send(mod, "server", "task.pruned", out);
	free(vnodes);
}

static int hosts_keep(struct keel_mod *mod, struct task *t, const struct keel_part_host *hosts, uint32_t n)
{
	struct part *p = t->part;
	struct stay *stays = calloc(p->view.n_hosts, sizeof(*stays));
	char *old = nodes_of(mod, t), *text = NULL, *numbers = NULL, **lines = NULL;
	struct part before;
	int r = stays && old ? stays_fill(p, hosts, n, stays) : -ENOMEM;

	if (r == 0 && !(lines = lines_make(p, hosts, n, stays)))
		r = -ENOMEM;
	r = r ? r : nodes_filter(p, stays, old, &text, &numbers);
	r = r ? r : nodes_set(mod, t, text);
	r = r ? r : part_replace_hosts(p, (const char *const *)lines, n, numbers, &before);
	if (r == 0) { /* a host that is out ends its part: no loss to those who listen */
		PART_TELL(mod, resized, part_of(t), &before.view);
		part_free_hosts(&before);
	}
	lines_free(lines, n);
	free(stays);
	free(old);
	free(text);
	free(numbers);
	return r;
}

/* Its program waits for the decision. */
struct pruning {
	int64_t run;
	char id[];
};

static void prune_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct pruning *p = arg;
	struct task *t = task_find(st, p->id);

	if (t && t->run == p->run && t->prunes > 0 && !st->stopping) {
		t->prunes--;
		if ((o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL) && t->state == TASK_BEGIN)
			launch_fail_later(mod, t, KEEL_TASK_RETRY, o->text);
		if (t->prunes == 0)
			launch_go_on(mod, t);
	}
	free(p);
}

static void prune_notify(struct keel_mod *mod, struct task *t)
{
	struct pruning *p = malloc(sizeof(*p) + strlen(t->id) + 1);

	if (!p)
		return;
	p->run = t->run;
	strcpy(p->id, t->id);
	t->prunes++;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_task_resize,
		.event = KEEL_EVENT(task_resize, .id = p->id, .index = 0), .done = prune_decided, .arg = p });
}

int32_t part_prune(struct keel_mod *mod, const char *id, const struct keel_part_host *hosts, uint32_t n, const char *select)
{
	struct task *t = id ? task_find(mod->state, id) : NULL;
	int r;

	if (!t || !t->part || is_sister(t) || n == 0 || n > t->part->view.n_hosts)
		return -EINVAL;
	if (t->state != TASK_BEGIN || t->passed || !t->gate)
		return -EBUSY; /* it has started, or a worker thread is about to write down what it has */
	r = part_set_text(&t->part->select, select ? select : "");
	r = r ? r : hosts_keep(mod, t, hosts, n);
	if (r < 0)
		return r;
	t->part->pruned = true;
	facts_note(mod, t);
	pruned_report(mod, t);
	prune_notify(mod, t);
	return 0;
}

void on_prune_done(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	struct task *t = id ? task_find(st, id) : NULL;

	(void)peer;
	if (!t || !t->part || t->run != keel_msg_int(m, "run", -1) || !t->part->pruned)
		return;
	t->part->pruned = false;
	if (t->shepherd)
		record_note(mod, t, "prune_done");
}

/* ---- while it runs --------------------------------------------------------------------------------------------- */

static void resize_done(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	char *id = arg;

	if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL)
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "the job goes on with fewer hosts all the same: %s",
			 o->text ? o->text : "refused");
	free(id);
}

static void resize_notify(struct keel_mod *mod, struct task *t, const struct part *before)
{
	char *id = strdup(t->id);

	PART_TELL(mod, resized, part_of(t), &before->view);
	if (id)
		keel_raise(mod, &(struct keel_raise){
			.size = sizeof(struct keel_raise), .point = KEEL_POINT_task_resize,
			.event = KEEL_EVENT(task_resize, .id = id, .index = part_index(t)), .done = resize_done, .arg = id });
}

static bool same_hosts(const struct part *p, const char *const *hosts, uint32_t n)
{
	bool same = n == p->view.n_hosts;

	for (uint32_t i = 0; same && i < n; i++) {
		char *line = part_host_line(&p->hosts[i]);

		same = line && strcmp(line, hosts[i]) == 0;
		free(line);
	}
	return same;
}

/* Where a host is that the server does not reach now, the old list says; both are in one order. The caller frees it. */
static char *line_fill(const struct part *p, const char *line, uint32_t *from)
{
	size_t len = strcspn(line, " ");
	const struct keel_part_host *h = NULL;
	char *filled;

	for (; *from < p->view.n_hosts && !h; (*from)++)
		if (strncmp(p->hosts[*from].name, line, len) == 0 && p->hosts[*from].name[len] == '\0')
			h = &p->hosts[*from];
	if (!h || !h->address || !h->key || strncmp(line + len, " - - ", 5) != 0)
		return strdup(line);
	return asprintf(&filled, "%s %s %s%s", h->name, h->address, h->key, line + len + 4) < 0 ? NULL : filled;
}

static char **lines_fill(const struct part *p, const char *const *said, uint32_t n)
{
	char **lines = calloc(n, sizeof(*lines));
	uint32_t from = 0;

	for (uint32_t i = 0; lines && i < n; i++)
		if (!(lines[i] = line_fill(p, said[i], &from))) {
			lines_free(lines, n);
			return NULL;
		}
	return lines;
}

static int hosts_set(struct part *p, const char *const *hosts, uint32_t n, const char *nodes, struct part *before)
{
	char *numbers = nodes ? part_nodes_of_file(hosts, n, nodes) : NULL;
	int r = part_replace_hosts(p, hosts, n, numbers, before);

	free(numbers);
	return r < 0 ? r : 1;
}

/* Other hosts than before: 1; the same, 0; fails as part_replace_hosts() does, and they are as before. */
static int hosts_take(struct task *t, const struct keel_msg *m, struct part *before)
{
	int64_t index = keel_msg_int(m, "index", part_index(t));
	uint32_t n = 0;
	const char *const *said = keel_msg_strings(m, "hosts", &n);
	char **hosts;
	int r = 0;

	if (!said || n > PART_HOSTS_MAX || index < 0 || index >= n || (index > 0) != is_sister(t))
		return -EPROTO;
	hosts = lines_fill(t->part, said, n);
	if (!hosts)
		return -ENOMEM;
	if (!same_hosts(t->part, (const char *const *)hosts, n))
		r = hosts_set(t->part, (const char *const *)hosts, n, keel_msg_str(m, "nodes"), before);
	if (r > 0)
		t->part->view.index = (uint32_t)index;
	lines_free(hosts, n);
	return r;
}

void on_resize(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id"), *nodes = keel_msg_str(m, "nodes");
	struct task *t = id ? task_find(st, id) : NULL;
	struct part before;
	int r;

	(void)peer;
	if (!t || !t->part || t->run != keel_msg_int(m, "run", -1) || t->discarded)
		return;
	r = hosts_take(t, m, &before);
	if (r < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "the server's list of its hosts cannot be read; it is as before");
	if (r <= 0)
		return;
	keel_log(mod, KEEL_LOG_JOB, "Job", id, "updated nodes info");
	facts_note(mod, t);
	if (nodes && nodes_set(mod, t, nodes) < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "its node file cannot be written");
	resize_notify(mod, t, &before);
	part_free_hosts(&before);
}
