/* SPDX-License-Identifier: Apache-2.0
 *
 * mom-config.c - mom_priv/config: directives that modules obey, as rows of the kind MOM_DIRECTIVE.
 *
 * The file is read at the start, where an error ends the daemon, and with the configuration (kind RELOAD), where an error
 * changes nothing. All lines are checked by their owners before the first is applied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keel/directive.h"
#include "keel/file.h"
#include "keel/keel.h"
#include "keel/renew.h"
#include "keel/rows.h"
#include "lines.h"

#define FILE_NAME "mom_priv/config"
#define OBJECT "pbs_mom"

KEEL_USE_OPT(renew);

struct state {
	struct keel_row *rows; /* of keel_mom_directive_def */
	struct lines now; /* in force */
	struct lines read; /* by the last read() */
	char path[4096];
};

/* Names that sites have in their files, and that no module obeys yet: accepted, with a line in the log. */
static const char *const known[] = {
	"$clienthost", "$restricted", "$usecp", "$logevent", "$prologalarm", "$min_check_poll", "$max_check_poll",
	"$max_poll_downtime", "$sister_join_job_alarm", "$job_launch_delay", "$gen_nodefile_on_sister_mom", "$tmpdir",
	"$jobdir_root", "$ideal_load", "$max_load", "$kbd_idle", "$cputmult", "$wallmult", "$action", "$suspendsig",
	"$checkpoint_path", "$restart_background", "$restart_transmogrify", "$enforce", "$restrict_user",
	"$restrict_user_exceptions", "$restrict_user_maxsysid", "$attach_allow", "$reject_root_scripts",
	"$report_hook_checksums", "$vnodedef_additive", "$configversion", "$momname", "$port",
};

static bool is_known(const char *name)
{
	for (size_t i = 0; i < KEEL_COUNT(known); i++)
		if (strcmp(known[i], name) == 0)
			return true;
	return false;
}

/* ---- the kind --------------------------------------------------------------------------------------------- */
static int32_t directive_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_mom_directive_def *d = def;
	struct state *st = self->state;

	if (!d->name || d->name[0] != '$' || !d->check || !d->apply)
		return keel_error(err, -EINVAL, "directive '%s' of module %s has no name with a $, no check() or no apply()",
				  d->name ? d->name : "", owner->name);
	return keel_row_put(keel_rows_end(&st->rows), owner, def, err);
}

static void directive_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->rows, def);
}

static const struct keel_kind_def directive_kind = {
	.size = sizeof(directive_kind), .row_size = sizeof(struct keel_mom_directive_def), .name = "MOM_DIRECTIVE",
	.doc = "a name of mom_priv/config", .add = directive_add, .remove = directive_remove,
};

/* ---- the file --------------------------------------------------------------------------------------------- */
/* Each owner of the name has to accept it. */
static int32_t line_check(struct keel_mod *mod, const struct line *line, struct keel_err *err)
{
	const struct state *st = mod->state;
	bool obeyed = false;
	int32_t r = 0;

	for (const struct keel_row *row = st->rows; row && r == 0; row = row->next) {
		const struct keel_mom_directive_def *def = row->def;

		if (strcmp(def->name, line->name) != 0)
			continue;
		obeyed = true;
		r = def->check(row->owner, line->value, err);
	}
	if (obeyed)
		return r;
	if (!is_known(line->name))
		return keel_error(err, -EINVAL, "command name %s not found", line->name);
	keel_log(mod, KEEL_LOG_SYSTEM, "Svr", OBJECT, "%s[%u] %s is accepted, but no module that is loaded obeys it", FILE_NAME,
		 line->number, line->name);
	return 0;
}

static int32_t lines_check(struct keel_mod *mod, const struct lines *lines, struct keel_err *err)
{
	struct keel_err why = { .text = "" };

	for (uint32_t i = 0; i < lines->n; i++) {
		const struct line *line = &lines->at[i];

		if (line_check(mod, line, &why) == 0)
			continue;
		keel_log(mod, KEEL_LOG_ERROR, "Svr", OBJECT, "%s", why.text);
		keel_log(mod, KEEL_LOG_ERROR, "Svr", OBJECT, "config[%u] command \"%.400s\" failed, aborting", line->number,
			 line->whole);
		return keel_error(err, -EINVAL, "%s: config file(s) parsing failed: %s line %u: %s", OBJECT, FILE_NAME, line->number,
				  why.text);
	}
	return 0;
}

/* Root obeys it: where another user could have written it, it is refused. */
static int32_t file_read(struct keel_mod *mod, struct lines *ret, struct keel_err *err)
{
	struct state *st = mod->state;
	struct keel_err why = { .text = "" };
	struct stat about;
	char *text;
	int r;

	if (stat(st->path, &about) != 0)
		return errno == ENOENT ? 0 : keel_error(err, -errno, "%s: config file(s) parsing failed: %s: %s", OBJECT, st->path,
							strerror(errno));
	if (!S_ISREG(about.st_mode) || about.st_size > FILE_MAX)
		return keel_error(err, -EFBIG, "%s: config file(s) parsing failed: %s is no file, or longer than %d bytes", OBJECT,
				  st->path, FILE_MAX);
	if (keel_has(renew) && keel_renew_trust(st->path, &why) < 0)
		return keel_error(err, -EPERM, "%s: config file(s) parsing failed: %s", OBJECT, why.text);
	text = keel_file_text(st->path, FILE_MAX);
	r = text ? lines_split(ret, text) : -ENOMEM;
	free(text);
	return r == 0 ? 0 : keel_error(err, r, "%s: config file(s) parsing failed: %s has more than %d directives, or there is no memory",
				       OBJECT, st->path, LINES_MAX);
}

static int32_t config_read(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t r;

	lines_free(&st->read);
	r = file_read(mod, &st->read, err);
	if (r == 0)
		r = lines_check(mod, &st->read, err);
	if (r < 0)
		lines_free(&st->read);
	return r;
}

static void row_apply(const struct keel_row *row, const struct lines *lines, const char **values)
{
	const struct keel_mom_directive_def *def = row->def;
	uint32_t n = 0;

	for (uint32_t i = 0; i < lines->n; i++)
		if (strcmp(lines->at[i].name, def->name) == 0) {
			n *= (def->flags & KEEL_MOM_DIRECTIVE_MANY) != 0;
			values[n++] = lines->at[i].value;
		}
	def->apply(row->owner, values, n);
}

static void config_apply(struct keel_mod *mod)
{
	struct state *st = mod->state;
	const char **values = calloc(st->read.n + 1, sizeof(*values));

	if (!values) {
		keel_log(mod, KEEL_LOG_ERROR, "Svr", OBJECT, "%s is not in force: no memory; reload again", FILE_NAME);
		return;
	}
	lines_free(&st->now);
	st->now = st->read;
	st->read = (struct lines){ .n = 0 };
	for (const struct keel_row *row = st->rows; row; row = row->next)
		row_apply(row, &st->now, values);
	free(values);
}

static const struct keel_reload_def file_row = {
	.size = sizeof(file_row), .name = FILE_NAME, .doc = "directives of this execution host", .read = config_read,
	.apply = config_apply,
};

/* ---- $logevent --------------------------------------------------------------------------------------------- */
static int32_t logevent_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	(void)mod;
	return keel_directive_number(value, 0, UINT32_MAX, NULL, err);
}

/* A daemon that is a server too has one log, which the server's log_events govern. */
static void logevent_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	int64_t mask = 0;

	if (keel_daemon(mod) & KEEL_SERVER)
		return;
	if (n > 0)
		keel_directive_number(values[0], 0, UINT32_MAX, &mask, NULL);
	keel_log_events(mod, (uint32_t)mask & 0xffff);
}

static const struct keel_mom_directive_def logevent_row = {
	.size = sizeof(logevent_row), .name = "$logevent", .doc = "event classes of the log, as a mask; 0: as configured",
	.check = logevent_check, .apply = logevent_apply,
};

/* ---- the module -------------------------------------------------------------------------------------------- */
static const struct keel_contrib contribs[] = {
	KEEL_ROW(KIND, directive_kind), KEEL_ROW(RELOAD, file_row), KEEL_ROW(MOM_DIRECTIVE, logevent_row),
};

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t r;

	keel_file_path(mod, FILE_NAME, st->path, sizeof(st->path));
	r = config_read(mod, err);
	if (r == 0)
		config_apply(mod);
	return r;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	lines_free(&st->now);
	lines_free(&st->read);
}

KEEL_MODULE(.name = "mom-config", .version = "1.0", .vendor = "Keelson", .summary = "mom_priv/config: directives of an execution host",
	    .roles = KEEL_MOM, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs),
	    .start = start, .fini = fini);
