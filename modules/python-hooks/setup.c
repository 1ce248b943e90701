/* SPDX-License-Identifier: Apache-2.0
 *
 * setup.c - what a process has to know before its first call: its hook, the script, tables, pbs.conf.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool.h"

#define CONF_MAX 65536 /* bytes of pbs.conf that are read */

void setup_path(const struct hook *h, bool of_mom, struct keel_mod *mod, char *buf, uint32_t len)
{
	snprintf(buf, len, "%s/%s_priv/hooks/%s.PY", keel_home(mod), of_mom ? "mom" : "server", h->name);
}

void setup_pack(struct state *st, const struct hook *h, bool of_mom, const struct setup *of, struct pack *out)
{
	const char *host = keel_host_name(st->mod);
	const struct pack *tables = tables_get(st);
	uint32_t map = pack_open_map(out);
	char path[1024];

	setup_path(h, of_mom, st->mod, path, sizeof(path));
	pack_pair_text(out, "role", of_mom ? "mom" : "server");
	pack_key(out, "host");
	pack_bytes(out, host, (uint32_t)strcspn(host, "."));
	pack_pair_text(out, "server", keel_server_name(st->mod));
	pack_pair_text(out, "version", keel_version_text(st->mod));
	pack_pair_text(out, "hook", h->name);
	pack_pair_text(out, "user", of->user);
	pack_pair_text(out, "path", path);
	pack_pair_text(out, "config", of->config);
	pack_key(out, "conf");
	pack_raw(out, &st->pools->conf);
	pack_key(out, "tables");
	if (tables)
		pack_raw(out, tables);
	else
		pack_nothing(out);
	pack_key(out, "script");
	if (of->has_script && h->script)
		pack_bytes(out, h->script, h->script_len);
	else
		pack_nothing(out);
	pack_close(out, map, 11);
}

void setup_write(const struct process *p, struct pack *out)
{
	const struct setup of = { .user = p->user, .config = folder_config(p->folder), .has_script = true };
	uint32_t list = pack_open_list(out);

	pack_text(out, "setup");
	setup_pack(p->pool->st, p->pool->hook, p->of_mom, &of, out);
	pack_close(out, list, 2);
}

/* ---- pbs.conf ---------------------------------------------------------------------------------------- */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

static uint32_t lines_pack(struct pack *out, char *text)
{
	uint32_t n = 0;

	for (char *line; (line = strsep(&text, "\n")) != NULL;) {
		char *equals = strchr(line, '=');

		if (!equals || line[strspn(line, " \t")] == '#')
			continue;
		*equals = '\0';
		pack_pair_text(out, trim(line), trim(equals + 1));
		n++;
	}
	return n;
}

/* Names that the file does not have are as they are here. */
static void conf_read(struct state *st)
{
	const char *path = getenv("PBS_CONF_FILE");
	int fd = open(path && path[0] ? path : "/etc/pbs.conf", O_RDONLY | O_CLOEXEC);
	struct pack *out = &st->pools->conf;
	char *text = calloc(1, CONF_MAX + 1);
	ssize_t n = fd >= 0 && text ? read(fd, text, CONF_MAX) : 0;
	uint32_t open = pack_open_map(out);

	if (n >= 0 && text)
		text[n] = '\0';
	pack_pair_text(out, "PBS_HOME", keel_home(st->mod));
	pack_pair_text(out, "PBS_EXEC", keel_exec_dir(st->mod));
	pack_pair_text(out, "PBS_SERVER", keel_server_name(st->mod));
	pack_close(out, open, 3 + (text && n >= 0 ? lines_pack(out, text) : 0));
	free(text);
	if (fd >= 0)
		close(fd);
}

int32_t setup_start(struct state *st, struct keel_err *err)
{
	conf_read(st);
	if (asprintf(&st->pools->program, "%s/libexec/keelson/keelson-pyhost", keel_exec_dir(st->mod)) < 0)
		st->pools->program = NULL;
	if (st->pools->conf.failed || !st->pools->program)
		return keel_error(err, -ENOMEM, "no memory");
	return 0;
}

void setup_stop(struct state *st)
{
	pack_fini(&st->pools->conf);
	free(st->pools->program);
}
