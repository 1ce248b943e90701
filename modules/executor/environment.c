/* SPDX-License-Identifier: Apache-2.0
 *
 * environment.c - the environment of a task: pbs_environment, then what was submitted, then ours.
 * A later definition replaces an earlier one.
 */
#include "keel/jobid.h"
#include "keel/words.h"
#include "launch.h"
#include "part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define COOKIE_BYTES 32

struct var {
	char *name, *value; /* one allocation, name first */
	UT_hash_handle hh;
};

static int var_set(struct var **vars, const char *name, size_t name_len, const char *value)
{
	struct var *v;

	if (!name_len || memchr(name, '=', name_len))
		return 0;
	HASH_FIND(hh, *vars, name, name_len, v);
	if (v) {
		HASH_DEL(*vars, v);
		free(v);
	}
	v = malloc(sizeof(*v) + name_len + strlen(value) + 2);
	if (!v)
		return -ENOMEM;
	memset(v, 0, sizeof(*v));
	v->name = (char *)(v + 1);
	memcpy(v->name, name, name_len);
	v->name[name_len] = '\0';
	v->value = v->name + name_len + 1;
	strcpy(v->value, value);
	HASH_ADD_KEYPTR(hh, *vars, v->name, name_len, v);
	if (v->hh.tbl)
		return 0;
	free(v);
	return -ENOMEM;
}

static int var_put(struct var **vars, const char *name, const char *value)
{
	return value ? var_set(vars, name, strlen(name), value) : 0;
}

/* "name=value" text in place. */
static int var_line(struct var **vars, char *line)
{
	char *equal = strchr(line, '=');

	return equal ? var_set(vars, line, (size_t)(equal - line), equal + 1) : 0;
}

static int file_add(struct var **vars, const char *pbs_home)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	ssize_t n;
	int r = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/pbs_environment", pbs_home) >= sizeof(path) ||
	    !(f = fopen(path, "re")))
		return 0;
	while (r == 0 && (n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (line[0] != '#')
			r = var_line(vars, line);
	}
	free(line);
	fclose(f);
	return r;
}

static int list_add(struct var **vars, const char *list)
{
	char *item = list ? malloc(strlen(list) + 1) : NULL;
	int r = list && !item ? -ENOMEM : 0;

	while (item && r == 0 && keel_words_variable(&list, item))
		r = var_line(vars, item);
	free(item);
	return r;
}

int launch_cookie(struct launch *l)
{
	char cookie[2 * COOKIE_BYTES + 1] = "";
	unsigned char bytes[COOKIE_BYTES];

	if (l->part->cookie)
		return 0;
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(cookie + 2 * i, 3, "%02x", bytes[i]);
	if (part_set_text(&l->part->cookie, cookie) < 0)
		return -ENOMEM;
	part_sync(l->part);
	return 0;
}

static int ours_add(struct var **vars, const struct launch *l, const char *job_dir)
{
	const struct user *u = &l->account_of;
	const struct keel_part *part_of = &l->facts->view;
	char node[24], ncpus[24], threads[24], nodefile[4096], tmpdir[4096] = "", index[32], array[512];
	size_t len = 0;
	const char *at = keel_id_index(l->id, &len); /* 12[3].svr: PBS_ARRAY_INDEX=3, PBS_ARRAY_ID=12[].svr */
	bool part = at && len < sizeof(index) && keel_id_whole(l->id, array, sizeof(array));

	snprintf(node, sizeof(node), "%u", part_of->index);
	snprintf(index, sizeof(index), "%.*s", part ? (int)len : 0, part ? at : "");
	snprintf(ncpus, sizeof(ncpus), "%lld", (long long)(l->ncpus > 0 ? l->ncpus : 1));
	snprintf(threads, sizeof(threads), "%lld", (long long)l->ompthreads);
	snprintf(nodefile, sizeof(nodefile), "%s/aux/%s", l->pbs_home, l->id);
	if (l->tmpdir)
		snprintf(tmpdir, sizeof(tmpdir), "%s/pbs.%s", l->tmpdir, l->id);
	const struct {
		const char *name, *value;
	} rows[] = {
		{ "HOME", u->home },
		{ "LOGNAME", u->name },
		{ "USER", u->name },
		{ "SHELL", u->shell },
		{ "PBS_JOBNAME", l->name },
		{ "PBS_JOBID", l->id },
		{ "PBS_QUEUE", l->queue },
		{ "PBS_JOBCOOKIE", l->facts->cookie },
		{ "PBS_NODENUM", node },
		{ "PBS_TASKNUM", "1" },
		{ "PBS_MOMPORT", "15003" },
		{ "KEELSON_MOM_SOCKET", l->mom_socket },
		{ "PBS_NODEFILE", l->nodes ? nodefile : NULL },
		{ "PBS_ENVIRONMENT", "PBS_BATCH" },
		{ "ENVIRONMENT", "BATCH" },
		{ "PBS_JOBDIR", job_dir },
		{ "TMPDIR", l->tmpdir ? tmpdir : NULL },
		{ "NCPUS", l->ompthreads > 0 ? threads : ncpus },
		{ "OMP_NUM_THREADS", l->ompthreads > 0 ? threads : ncpus },
		{ "PBS_ACCOUNT", l->account },
		{ "PBS_ARRAY_INDEX", part ? index : NULL },
		{ "PBS_ARRAY_ID", part ? array : NULL },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		r = var_put(vars, rows[i].name, rows[i].value);
	return r;
}

int environment_write(const struct launch *l, const char *job_dir, struct spec_out *out)
{
	struct var *vars = NULL, *v, *next;
	char *text;
	int r = var_put(&vars, "PATH", "/usr/local/bin:/usr/bin:/bin");

	r = r ? r : file_add(&vars, l->pbs_home);
	r = r ? r : list_add(&vars, l->variables);
	r = r ? r : ours_add(&vars, l, job_dir);
	HASH_ITER(hh, vars, v, next) {
		if (r == 0 && asprintf(&text, "%s=%s", v->name, v->value) >= 0) {
			spec_put(out, "env", text);
			free(text);
		} else if (r == 0) {
			r = -ENOMEM;
		}
		HASH_DEL(vars, v);
		free(v);
	}
	return r;
}
