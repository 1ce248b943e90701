/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.c - the kernel's keys, and the defaults that come from pbs.conf and from the host.
 *
 * An empty string in a file means "not set". Precedence: command line, configuration, environment and pbs.conf, the
 * host.
 */
#include "main/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "main/pbs_conf.h"
#include "main/place.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"

#define EVENTS_SERVER 511
#define EVENTS_MOM 1023
#define NAME_MAX_LENGTH 255
#define OVERRIDES_BYTES (1u << 20)

#define MINUTE 60000
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static const struct keel_conf_rule top_rules[] = {
	KEEL_CONF_RULE(LIST, struct top_conf, roles, .flags = KEEL_CONF_RESTART,
		       .fallback = "server,mom",
		       .doc = "what this daemon is: \"server\", \"mom\" or both"),
	KEEL_CONF_RULE(STRING, struct top_conf, home, .flags = KEEL_CONF_RESTART,
		       .doc = "PBS_HOME; empty: that of pbs.conf, else " HOME_DEFAULT),
	KEEL_CONF_RULE(STRING, struct top_conf, exec_dir, .flags = KEEL_CONF_RESTART,
		       .doc = "PBS_EXEC; empty: that of pbs.conf, else where keelsond is installed"),
	KEEL_CONF_RULE(STRING, struct top_conf, server_name, .flags = KEEL_CONF_RESTART,
		       .doc = "the part of ids behind the point; empty: PBS_SERVER of pbs.conf, else "
			      "the short name of this host"),
	KEEL_CONF_RULE(STRING, struct top_conf, host_name, .flags = KEEL_CONF_RESTART,
		       .doc = "this host as other daemons know it; empty: PBS_MOM_NODE_NAME of "
			      "pbs.conf, else its short name"),
	KEEL_CONF_RULE(STRING, struct top_conf, modules_dir, .flags = KEEL_CONF_RESTART,
		       .doc = "where <name>.so is looked for; empty: `modules` beside keelsond, else "
			      "where modules are installed"),
};

static const struct keel_conf_rule log_rules[] = {
	KEEL_CONF_RULE(STRING, struct log_conf, dir, .flags = KEEL_CONF_RESTART,
		       .doc = "directory of the day files; empty: server_logs or mom_logs of home"),
	KEEL_CONF_RULE(INT, struct log_conf, events, .fallback = "0", .min = 0, .max = 65535,
		       .doc = "sum of the event classes to be written; 0: 511, and 1023 for a mom alone"),
	KEEL_CONF_RULE(BOOL, struct log_conf, microseconds, .flags = KEEL_CONF_RESTART,
		       .doc = "six digits behind the second; PBS_LOG_HIGHRES_TIMESTAMP=1 of pbs.conf "
			      "does the same"),
	KEEL_CONF_RULE(ENUM, struct log_conf, format, .choices = "pbs,json", .fallback = "pbs",
		       .doc = "lines in the PBS format, or one JSON object per line"),
};

static const struct keel_conf_rule client_rules[] = {
	KEEL_CONF_RULE(STRING, struct client_conf, socket, .flags = KEEL_CONF_RESTART,
		       .doc = "Unix socket for commands; empty: run/server.sock of home"),
	CONF_RULE_AS(DURATION, stall, struct client_conf, stall_ms, .flags = KEEL_CONF_RESTART,
		     .fallback = "60s", .min = 100, .max = HOUR,
		     .doc = "how long half a request, or an answer that nobody reads, may stand still"),
};

#define HOOKS_RULE(kind, key, member, ...)                                                                 \
	CONF_RULE_AS(kind, key, struct hooks_conf, member, .flags = KEEL_CONF_RESTART, __VA_ARGS__)
static const struct keel_conf_rule hooks_rules[] = {
	HOOKS_RULE(DURATION, hold_default, hold_default_ms, .fallback = "60s", .min = 1, .max = DAY,
		   .doc = "how long a hold lasts whose module does not say"),
	HOOKS_RULE(DURATION, soft_budget, soft_budget_ms, .fallback = "20ms", .min = 1, .max = HOUR,
		   .doc = "a tap that runs longer is logged"),
	HOOKS_RULE(DURATION, hard_budget, hard_budget_ms, .fallback = "250ms", .min = 1, .max = HOUR,
		   .doc = "a tap that runs longer gets a strike"),
	HOOKS_RULE(INT, strikes, strikes, .fallback = "5", .min = 0, .max = 1000000,
		   .doc = "a tap with so many strikes is benched; 0: never"),
	HOOKS_RULE(DURATION, watchdog, watchdog_ms, .fallback = "1s", .min = 0, .max = HOUR,
		   .doc = "a daemon that serves nobody for so long reports what it is doing; 0: never"),
	HOOKS_RULE(DURATION, watchdog_abort, watchdog_abort_ms, .fallback = "0s", .min = 0, .max = DAY,
		   .doc = "after so long it ends itself, for whoever restarts it; 0: never"),
};

/* group, its rules, size of its struct, which member of the settings */
static const struct group {
	const char *name;
	const struct keel_conf_rule *rules;
	uint32_t n_rules, size;
	size_t member;
} groups[] = {
#define GROUP(group_name, type, member)                                                            \
	{ group_name, member##_rules, KEEL_COUNT(member##_rules), sizeof(type),                    \
	  offsetof(struct settings, member) }
	GROUP("", struct top_conf, top),
	GROUP("log", struct log_conf, log),
	GROUP("client", struct client_conf, client),
	GROUP("hooks", struct hooks_conf, hooks),
};

static struct conf_data **data_of(const struct settings *s, const struct group *g)
{
	return (struct conf_data **)((char *)(uintptr_t)s + g->member);
}

const struct log_conf *settings_log(const struct settings *s)
{
	return conf_data(s->log);
}

const struct client_conf *settings_client(const struct settings *s)
{
	return conf_data(s->client);
}

const struct hooks_conf *settings_hooks(const struct settings *s)
{
	return conf_data(s->hooks);
}

static const char *said(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : text;
}

/* ---- defaults -------------------------------------------------------------------------------- */

/* Returns a copy of the first one that is not empty. NULL: no memory. */
static char *first_set(const char *a, const char *b, const char *otherwise)
{
	const char *text = said(a) != NULL ? a : said(b) != NULL ? b : otherwise;

	return text == NULL ? NULL : strdup(text);
}

static char *own_short_name(void)
{
	char name[NAME_MAX_LENGTH + 1] = "localhost";

	gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".")] = '\0';
	return strdup(name);
}

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

static int check_name(const char *key, const char *name, struct keel_err *err)
{
	if (is_name(name))
		return 0;
	return err_set(err, -EINVAL,
		       "%s: expected a name of letters, digits, '.', '-' and '_', got \"%s\"", key, name);
}

static int roles_fill(struct settings *s, const struct options *o, struct keel_err *err)
{
	const struct top_conf *top = conf_data(s->top);

	for (uint32_t i = 0; top->roles != NULL && top->roles[i] != NULL; i++) {
		if (strcmp(top->roles[i], "server") == 0)
			s->roles |= KEEL_SERVER;
		else if (strcmp(top->roles[i], "mom") == 0)
			s->roles |= KEEL_MOM;
		else
			return err_set(err, -EINVAL,
				       "%s: roles: expected \"server\" or \"mom\", got \"%s\"",
				       o->conf_file, top->roles[i]);
	}
	if (o->roles != 0)
		s->roles = o->roles;
	if (s->roles == 0)
		return err_set(err, -EINVAL, "%s: roles: expected at least one of \"server\" and "
			       "\"mom\", got an empty list", o->conf_file);
	return 0;
}

static int names_fill(struct settings *s, const struct pbs_conf *p, struct keel_err *err)
{
	const struct top_conf *top = conf_data(s->top);
	const char *server = pbs_conf_server(p);
	char *own = own_short_name();
	int ret;

	s->server_name = first_set(top->server_name, server, own);
	s->host_name = first_set(top->host_name, pbs_conf_get(p, "PBS_MOM_NODE_NAME"), own);
	free(own);
	if (s->server_name == NULL || s->host_name == NULL)
		return conf_no_memory(err);
	s->server_name[strcspn(s->server_name, ":")] = '\0'; /* a port */
	ret = check_name("server_name", s->server_name, err);
	if (ret == 0)
		ret = check_name("host_name", s->host_name, err);
	if (ret < 0)
		return ret;
	s->daemon_name = s->roles & KEEL_SERVER ?
				 text_format("Server@%.*s", (int)strcspn(s->server_name, "."),
					     s->server_name) :
				 strdup("pbs_mom");
	return s->daemon_name == NULL ? conf_no_memory(err) : 0;
}

static char *absolute(char *path)
{
	char *cwd, *joined;

	if (path == NULL || path[0] == '/')
		return path;
	cwd = getcwd(NULL, 0);
	joined = cwd == NULL ? NULL : path_join(cwd, path);
	free(cwd);
	free(path);
	return joined;
}

static int dirs_fill(struct settings *s, const struct options *o, const struct pbs_conf *p,
		     struct keel_err *err)
{
	const struct top_conf *top = conf_data(s->top);
	const char *home = s->roles == KEEL_MOM ? pbs_conf_get(p, "PBS_MOM_HOME") : NULL;

	if (home == NULL)
		home = pbs_conf_get(p, "PBS_HOME");
	s->home = absolute(o->home != NULL ? strdup(o->home) :
					     first_set(top->home, home, HOME_DEFAULT));
	s->exec_dir = first_set(top->exec_dir, pbs_conf_get(p, "PBS_EXEC"), NULL);
	if (s->exec_dir == NULL)
		s->exec_dir = place_exec_dir();
	s->exec_dir = absolute(s->exec_dir);
	s->modules_dir = absolute(said(top->modules_dir) == NULL ? place_modules_dir() :
								   strdup(top->modules_dir));
	return s->home == NULL || s->exec_dir == NULL || s->modules_dir == NULL ? conf_no_memory(err) : 0;
}

/* Returns the path `text`, `otherwise` when that is empty, below home unless absolute. NULL: no memory. */
static char *below_home(const struct settings *s, const char *text, const char *otherwise)
{
	return path_join(s->home, said(text) == NULL ? otherwise : text);
}

static int files_fill(struct settings *s, struct keel_err *err)
{
	s->log_dir = below_home(s, settings_log(s)->dir, s->roles & KEEL_SERVER ? "server_logs" : "mom_logs");
	s->socket = below_home(s, settings_client(s)->socket, "run/server.sock");
	if (s->log_dir == NULL || s->socket == NULL)
		return conf_no_memory(err);
	return 0;
}

static void log_fill(struct settings *s, const struct pbs_conf *p)
{
	const char *highres = pbs_conf_get(p, "PBS_LOG_HIGHRES_TIMESTAMP");

	s->log_events = (uint32_t)settings_log(s)->events;
	if (s->log_events == 0)
		s->log_events = s->roles & KEEL_SERVER ? EVENTS_SERVER : EVENTS_MOM;
	s->microseconds = settings_log(s)->microseconds || (highres != NULL && strcmp(highres, "1") == 0);
}

static bool core_files(const struct pbs_conf *p)
{
	const char *limit = pbs_conf_get(p, "PBS_CORE_LIMIT");

	return limit != NULL && strcmp(limit, "0") != 0;
}

static int complete(struct settings *s, const struct options *o, struct keel_err *err)
{
	struct pbs_conf *p;
	int ret = pbs_conf_read(&p, err);

	if (ret < 0)
		return ret;
	ret = roles_fill(s, o, err);
	if (ret == 0)
		ret = names_fill(s, p, err);
	if (ret == 0)
		ret = dirs_fill(s, o, p, err);
	if (ret == 0)
		ret = files_fill(s, err);
	log_fill(s, p);
	s->core_files = core_files(p);
	pbs_conf_destroy(p);
	return ret;
}

/* ---- from files ------------------------------------------------------------------------------ */

static int groups_fill(struct settings *s, const struct conf *c, struct keel_err *err)
{
	const char *names[KEEL_COUNT(groups)] = { NULL };
	int ret;

	for (uint32_t i = 1; i < KEEL_COUNT(groups); i++)
		names[i - 1] = groups[i].name;
	ret = conf_check_groups(c, names, err);
	for (uint32_t i = 0; ret == 0 && i < KEEL_COUNT(groups); i++)
		ret = conf_fill(c, groups[i].name, groups[i].rules, groups[i].n_rules, groups[i].size,
				data_of(s, &groups[i]), err);
	return ret;
}

/* Overrides in the copy of a configuration, a line each. */
static int overrides_apply(const char *copy, struct conf *c, struct keel_err *err)
{
	char *file = text_format("%s/overrides", copy), *text = NULL;
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

int settings_read(const struct options *o, const char *copy, struct conf **ret_conf, struct settings **ret_settings,
		  struct keel_err *err)
{
	struct settings *s = calloc(1, sizeof(*s));
	struct conf *c = NULL;
	int ret;

	if (s == NULL)
		return conf_no_memory(err);
	ret = conf_read(o->conf_file, copy, &c, err);
	for (size_t i = 0; ret == 0 && i < o->n_set; i++)
		ret = conf_override(c, o->set[i], err);
	if (ret == 0 && copy != NULL)
		ret = overrides_apply(copy, c, err);
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
	for (uint32_t i = 0; i < KEEL_COUNT(groups); i++)
		conf_data_destroy(*data_of(s, &groups[i]));
	free(s->home);
	free(s->exec_dir);
	free(s->server_name);
	free(s->host_name);
	free(s->modules_dir);
	free(s->daemon_name);
	free(s->log_dir);
	free(s->socket);
	free(s);
}

const char *settings_differ(const struct settings *old, const struct settings *new)
{
	const char *key = NULL;

	for (uint32_t i = 0; key == NULL && i < KEEL_COUNT(groups); i++)
		key = conf_differs(groups[i].rules, groups[i].n_rules, *data_of(old, &groups[i]), *data_of(new, &groups[i]),
				   KEEL_CONF_RESTART);
	return key;
}
