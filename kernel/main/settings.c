/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.c - the kernel's keys, and the defaults that come from pbs.conf and from the host.
 *
 * An empty string in a file means "not set". Precedence: command line, configuration, environment and pbs.conf, the
 * host.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "main/inside.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"

#define EVENTS_SERVER "511"
#define EVENTS_MOM "1023"
#define NAME_MAX_LENGTH 255
#define OVERRIDES_BYTES (1u << 20)

#define MINUTE 60000
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* What each key is stands in keelson.conf(5). Most are read at start only. */
#define START_RULE(kind, key, type, member, ...) \
	CONF_RULE_AS(kind, key, struct type, member, .flags = KEEL_CONF_RESTART, __VA_ARGS__)

static const struct keel_conf_rule top_rules[] = {
	START_RULE(LIST, roles, top_conf, roles, .fallback = "server,mom"),
	START_RULE(STRING, home, top_conf, home),
	START_RULE(STRING, exec_dir, top_conf, exec_dir),
	START_RULE(STRING, server_name, top_conf, server_name),
	START_RULE(STRING, host_name, top_conf, host_name),
	START_RULE(STRING, modules_dir, top_conf, modules_dir),
};

static const struct keel_conf_rule log_rules[] = {
	START_RULE(STRING, dir, log_conf, dir),
	KEEL_CONF_RULE(INT, struct log_conf, events, .fallback = "0", .min = 0, .max = 65535), /* 0: by the roles */
	START_RULE(BOOL, microseconds, log_conf, microseconds),
	KEEL_CONF_RULE(ENUM, struct log_conf, format, .choices = "pbs,json", .fallback = "pbs"),
};

static const struct keel_conf_rule client_rules[] = {
	START_RULE(STRING, socket, client_conf, socket),
	START_RULE(STRING, mom_socket, client_conf, mom_socket),
	START_RULE(DURATION, stall, client_conf, stall_ms, .fallback = "60s", .min = 100, .max = HOUR),
};

static const struct keel_conf_rule hooks_rules[] = {
	START_RULE(DURATION, hold_default, hooks_conf, hold_default_ms, .fallback = "60s", .min = 1, .max = DAY),
	START_RULE(DURATION, soft_budget, hooks_conf, soft_budget_ms, .fallback = "20ms", .min = 1, .max = HOUR),
	START_RULE(DURATION, hard_budget, hooks_conf, hard_budget_ms, .fallback = "250ms", .min = 1, .max = HOUR),
	START_RULE(INT, strikes, hooks_conf, strikes, .fallback = "5", .min = 0, .max = 1000000), /* 0: never */
	START_RULE(DURATION, watchdog, hooks_conf, watchdog_ms, .fallback = "1s", .min = 0, .max = HOUR),
	START_RULE(DURATION, watchdog_abort, hooks_conf, watchdog_abort_ms, .fallback = "0s", .min = 0, .max = DAY),
};

enum { TOP, LOG, CLIENT, HOOKS };

static const struct group {
	const char *name;
	const struct keel_conf_rule *rules;
	uint32_t n_rules, size;
} groups[SETTINGS_GROUPS] = {
	[TOP] = { "", top_rules, KEEL_COUNT(top_rules), sizeof(struct top_conf) },
	[LOG] = { "log", log_rules, KEEL_COUNT(log_rules), sizeof(struct log_conf) },
	[CLIENT] = { "client", client_rules, KEEL_COUNT(client_rules), sizeof(struct client_conf) },
	[HOOKS] = { "hooks", hooks_rules, KEEL_COUNT(hooks_rules), sizeof(struct hooks_conf) },
};

/* ---- defaults -------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > NAME_MAX_LENGTH || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && strchr(".-_", name[i]) == NULL)
			return false;
	return true;
}

const char *const role_words[ROLES] = { "server", "mom", "login" };

uint32_t role_of(const char *word)
{
	for (uint32_t i = 0; i < ROLES; i++)
		if (strcmp(role_words[i], word) == 0)
			return UINT32_C(1) << i;
	return 0;
}

static int roles_fill(struct settings *s, const struct options *o, struct keel_err *err)
{
	for (const char *const *role = s->top->roles; *role != NULL; role++) {
		if (role_of(*role) == 0)
			return err_set(err, -EINVAL, "%s: roles: expected \"server\", \"mom\" or \"login\", got \"%s\"", o->conf_file,
				       *role);
		s->roles |= role_of(*role);
	}
	if (o->roles != 0)
		s->roles = o->roles;
	if (s->roles == 0)
		return err_set(err, -EINVAL, "%s: roles: expected at least one of \"server\", "
			       "\"mom\" and \"login\", got an empty list", o->conf_file);
	if (s->roles & KEEL_LOGIN && s->roles != KEEL_LOGIN)
		return err_set(err, -EINVAL, "%s: roles: \"login\" stands alone: a server and a mom serve the commands of their "
			       "host as well; leave it out", o->conf_file);
	return 0;
}

static int value_put(struct settings *s, int group, const char *key, const char *text, struct keel_err *err)
{
	const struct keel_conf_rule *r = groups[group].rules;

	while (strcmp(r->key, key) != 0)
		r++;
	return text == NULL || value_from_text(r, text, s->data[group]) < 0 ? conf_no_memory(err) : 0;
}

/* A text, and where it comes from: the first of `from` that is not empty. */
struct source {
	int group;
	const char *key;
	enum { NAME, PATH, BELOW_HOME } kind;
	const char *from[4];
};

static int text_put(struct settings *s, const struct source *src, struct keel_err *err)
{
	char *text = NULL, *cwd = src->kind == PATH ? getcwd(NULL, 0) : NULL;
	uint32_t i = 0;
	int ret;

	while (i + 1 < KEEL_COUNT(src->from) && (src->from[i] == NULL || src->from[i][0] == '\0'))
		i++;
	if (src->from[i] != NULL)
		text = src->kind == NAME ? text_format("%.*s", (int)strcspn(src->from[i], ":"), src->from[i]) : /* no port */
					   path_join(src->kind == BELOW_HOME ? s->top->home : cwd != NULL ? cwd : "", src->from[i]);
	ret = text != NULL && src->kind == NAME && !is_name(text) ?
		      err_set(err, -EINVAL, "%s: expected a name of letters, digits, '.', '-' and '_', got \"%s\"", src->key, text) :
		      value_put(s, src->group, src->key, text, err);
	free(cwd);
	free(text);
	return ret;
}

static int texts_fill(struct settings *s, const struct options *o, const struct pbs_conf *p, struct keel_err *err)
{
	const struct top_conf *top = s->top;
	const char *home = s->roles & KEEL_SERVER ? NULL : pbs_conf_get(p, "PBS_MOM_HOME");
	char host[NAME_MAX_LENGTH + 1] = "localhost", *exec_dir = place_exec_dir(), *modules_dir = place_modules_dir();
	const struct source sources[] = {
		{ TOP, "home", PATH, { o->home, top->home, home != NULL ? home : pbs_conf_get(p, "PBS_HOME"), HOME_DEFAULT } },
		{ TOP, "exec_dir", PATH, { top->exec_dir, pbs_conf_get(p, "PBS_EXEC"), NULL, exec_dir } },
		{ TOP, "modules_dir", PATH, { top->modules_dir, NULL, NULL, modules_dir } },
		{ TOP, "server_name", NAME, { top->server_name, pbs_conf_server(p), NULL, host } },
		{ TOP, "host_name", NAME, { top->host_name, pbs_conf_get(p, "PBS_MOM_NODE_NAME"), NULL, host } },
		{ LOG, "dir", BELOW_HOME, { s->log->dir, NULL, NULL, s->roles & KEEL_SERVER ? "server_logs" : "mom_logs" } },
		{ CLIENT, "socket", BELOW_HOME, { s->client->socket, NULL, NULL, "run/server.sock" } },
		{ CLIENT, "mom_socket", BELOW_HOME, { s->client->mom_socket, NULL, NULL, "run/mom.sock" } },
	};
	int ret = 0;

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	for (uint32_t i = 0; ret == 0 && i < KEEL_COUNT(sources); i++)
		ret = text_put(s, &sources[i], err);
	free(exec_dir);
	free(modules_dir);
	return ret;
}

static int complete(struct settings *s, const struct options *o, struct keel_err *err)
{
	struct pbs_conf p;
	const char *highres, *core;
	int ret = pbs_conf_read(&p, err);

	if (ret < 0)
		return ret;
	highres = pbs_conf_get(&p, "PBS_LOG_HIGHRES_TIMESTAMP");
	core = pbs_conf_get(&p, "PBS_CORE_LIMIT");
	s->core_files = core != NULL && strcmp(core, "0") != 0;
	ret = roles_fill(s, o, err);
	if (ret == 0)
		ret = texts_fill(s, o, &p, err);
	if (ret == 0 && highres != NULL && strcmp(highres, "1") == 0)
		ret = value_put(s, LOG, "microseconds", "true", err);
	if (ret == 0 && s->log->events == 0)
		ret = value_put(s, LOG, "events", s->roles & KEEL_SERVER ? EVENTS_SERVER : EVENTS_MOM, err);
	if (ret == 0)
		s->daemon_name = s->roles & KEEL_SERVER ?
				 text_format("Server@%.*s", (int)strcspn(s->top->server_name, "."), s->top->server_name) :
				 strdup(s->roles & KEEL_MOM ? "pbs_mom" : "pbs_login");
	free(p.text);
	return ret == 0 && s->daemon_name == NULL ? conf_no_memory(err) : ret;
}

/* ---- from files ------------------------------------------------------------------------------ */

static int groups_fill(struct settings *s, const struct conf *c, struct keel_err *err)
{
	const char *names[SETTINGS_GROUPS] = { NULL };
	int ret;

	for (uint32_t i = TOP + 1; i < SETTINGS_GROUPS; i++)
		names[i - 1] = groups[i].name;
	ret = conf_check_groups(c, names, err);
	for (uint32_t i = 0; ret == 0 && i < SETTINGS_GROUPS; i++)
		ret = conf_fill(c, groups[i].name, groups[i].rules, groups[i].n_rules, groups[i].size, NULL, NULL,
				&s->data[i], err);
	if (ret < 0)
		return ret;
	s->top = conf_data(s->data[TOP]);
	s->log = conf_data(s->data[LOG]);
	s->client = conf_data(s->data[CLIENT]);
	s->hooks = conf_data(s->data[HOOKS]);
	return 0;
}

/* Overrides of a set, a line each. */
static int overrides_apply(const char *set, struct conf *c, struct keel_err *err)
{
	char *file = text_format("%s/conf/overrides", set), *text = NULL;
	size_t len;
	int ret = file == NULL ? conf_no_memory(err) : 0;

	if (ret == 0)
		(void)file_read(file, OVERRIDES_BYTES, &text, &len);
	for (char *at = text, *line; ret == 0 && (line = strsep(&at, "\n")) != NULL;)
		ret = *line != '\0' ? conf_override(c, line, err) : 0;
	free(text);
	free(file);
	return ret;
}

int settings_read(const struct options *o, const char *set, struct conf **ret_conf, struct settings **ret_settings,
		  struct keel_err *err)
{
	struct settings *s = calloc(1, sizeof(*s));
	struct conf *c = NULL;
	int ret;

	if (s == NULL)
		return conf_no_memory(err);
	ret = set != NULL && access(set, F_OK) == 0 ? file_trust(set, err) : 0;
	if (ret == 0)
		ret = conf_read(o->conf_file, set, &c, err);
	for (size_t i = 0; ret == 0 && i < o->n_set; i++)
		ret = conf_override(c, o->set[i], err);
	if (ret == 0 && set != NULL)
		ret = overrides_apply(set, c, err);
	if (ret == 0)
		ret = groups_fill(s, c, err);
	if (ret == 0)
		ret = complete(s, o, err);
	if (ret < 0) {
		settings_destroy(s);
		conf_destroy(c);
		return ret;
	}
	*ret_settings = s;
	*ret_conf = c;
	return 0;
}

void settings_destroy(struct settings *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; i < SETTINGS_GROUPS; i++)
		conf_data_destroy(s->data[i]);
	free(s->daemon_name);
	free(s);
}

void settings_take(struct settings *s, struct settings *newer)
{
	struct conf_data *old = s->data[LOG];

	s->data[LOG] = newer->data[LOG];
	s->log = newer->log;
	newer->data[LOG] = old;
	settings_destroy(newer);
}

const char *settings_differ(const struct settings *old, const struct settings *new)
{
	const char *key = NULL;

	for (uint32_t i = 0; key == NULL && i < SETTINGS_GROUPS; i++)
		key = conf_differs(groups[i].rules, groups[i].n_rules, old->data[i], new->data[i], KEEL_CONF_RESTART);
	return key;
}
