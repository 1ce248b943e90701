/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - what a draft would change: may it be, and in which words is it reported?
 */
#include <errno.h>
#include <string.h>

#include "reload.h"

#define DRAFT_EACH(d, m) for (const struct keel_draft_module *m = (d)->modules; m < (d)->modules + (d)->n; m++)

static bool has(const struct keel_draft_module *m, uint32_t flags)
{
	return (m->flags & flags) == flags;
}

static bool leaves(const struct keel_draft_module *m)
{
	return has(m, KEEL_DRAFT_RUNS) && !has(m, KEEL_DRAFT_ENABLED);
}

bool draft_differs(const struct keel_draft *d)
{
	DRAFT_EACH(d, m) {
		bool is_new = has(m, KEEL_DRAFT_ENABLED) && !(m->flags & (KEEL_DRAFT_RUNS | KEEL_DRAFT_ELSEWHERE));

		if (is_new || leaves(m) || m->flags & (KEEL_DRAFT_FILE | KEEL_DRAFT_HOW))
			return true;
	}
	return false;
}

bool draft_is_other(const struct keel_draft *d)
{
	DRAFT_EACH(d, m) {
		if (leaves(m) || m->flags & (KEEL_DRAFT_FILE | KEEL_DRAFT_HOW | KEEL_DRAFT_VALUES | KEEL_DRAFT_SITE))
			return true;
	}
	return d->restart;
}

static const struct keel_draft_module *named(const struct keel_draft *d, const char *name, uint32_t flags)
{
	DRAFT_EACH(d, m) {
		if (name && strcmp(m->name, name) == 0 && has(m, flags))
			return m;
	}
	return NULL;
}

/* ---- may it be? ---------------------------------------------------------------------------------------------- */
int32_t lint_named(const struct change *c, struct keel_err *err)
{
	bool runs = named(c->draft, c->name, KEEL_DRAFT_RUNS);

	if (c->kind == CHANGE_LOAD && runs)
		return keel_error(err, -EALREADY, "module %s is loaded already; `keelson reload %s` loads it anew", c->name, c->name);
	if ((c->kind == CHANGE_UNLOAD || c->kind == CHANGE_RELOAD) && !runs)
		return keel_error(err, -ENOENT, "module %s is not loaded%s", c->name,
				  c->kind == CHANGE_RELOAD ? "; load it with `keelson load`" : "");
	return 0;
}

/* No module that stays can do without one that leaves. All that cannot are named. */
static int32_t lint_needed(const struct change *c, const char *gone, struct keel_err *err)
{
	const char *what = c->kind == CHANGE_CONFIGURE ? "disable" : "unload";
	struct keel_text names;
	uint32_t n = 0;

	keel_text_init(&names);
	DRAFT_EACH(c->draft, m) {
		if (has(m, KEEL_DRAFT_RUNS | KEEL_DRAFT_ENABLED) && keel_renew_needs(c->mod, m->name, gone))
			keel_text_printf(&names, "%s%s", n++ > 0 ? ", " : "", m->name);
	}
	if (n > 0)
		keel_error(err, -EBUSY, "module %s is needed by module%s %s; %s %s %s", gone, n > 1 ? "s" : "", names.data, what,
			   n > 1 ? "them" : "it", c->kind == CHANGE_CONFIGURE ? "too" : "first");
	keel_text_fini(&names);
	return n > 0 ? -EBUSY : 0;
}

/* Nothing may be lost with those that leave. All reasons are named. */
int32_t lint_loss(const struct change *c, struct keel_err *err)
{
	struct keel_text reasons;
	struct keel_err why;
	int32_t ret = 0;

	keel_text_init(&reasons);
	DRAFT_EACH(c->draft, m) {
		if (!leaves(m) || keel_renew_busy(c->mod, m->name, &why) != -ENOTEMPTY)
			continue;
		keel_text_printf(&reasons, "%s%s", reasons.len > 0 ? "; " : "", why.text);
		ret = -EBUSY;
	}
	if (ret < 0)
		keel_error(err, ret, "nothing was changed: %s", reasons.data);
	keel_text_fini(&reasons);
	return ret;
}

int32_t lint_leavers(const struct change *c, struct keel_err *err)
{
	int32_t ret = 0;

	DRAFT_EACH(c->draft, m) {
		if (ret == 0 && leaves(m) && strcmp(m->name, c->mod->name) == 0)
			ret = keel_error(err, -EBUSY, "without module %s nothing can be changed any more while the daemon runs: disable "
					 "it in its file and restart the daemon", m->name);
		else if (ret == 0 && leaves(m))
			ret = lint_needed(c, m->name, err);
	}
	return ret == 0 ? lint_loss(c, err) : ret;
}

/* ---- in which words -------------------------------------------------------------------------------------------- */
static void describe_gone(struct change *c, const struct keel_draft_module *m)
{
	if (has(m, KEEL_DRAFT_GONE))
		keel_text_printf(&c->out, "%s: its file %s is gone; what runs goes on, the next start misses it\n", m->name, m->path);
}

static void describe_news(struct change *c)
{
	DRAFT_EACH(c->draft, m) {
		if (m->flags & (KEEL_DRAFT_VALUES | KEEL_DRAFT_SITE))
			keel_text_printf(&c->out, "%s: %s changed\n", m->name,
					 has(m, KEEL_DRAFT_VALUES) ? "configuration" : "order or match");
	}
}

void describe_values(struct change *c)
{
	DRAFT_EACH(c->draft, m)
		describe_gone(c, m);
	describe_news(c);
	if (c->out.len == 0)
		keel_text_str(&c->out, "no module has changed\n");
}

const char *report_line(const char *report, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = report; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, name, len) == 0 && at[len] == '\t')
			return at;
	return NULL;
}

/* One that runs in the set that comes, in that version. */
static void describe_comer(struct change *c, const struct keel_draft_module *m, const char *version)
{
	size_t len = strcspn(version, "\n");

	if (!has(m, KEEL_DRAFT_RUNS))
		keel_text_printf(&c->out, "%s: loaded\n", m->name);
	else if (strlen(m->version) != len || strncmp(m->version, version, len) != 0)
		keel_text_printf(&c->out, "%s: replaced, version %s by %.*s\n", m->name, m->version, (int)len, version);
	else if (has(m, KEEL_DRAFT_FILE))
		keel_text_printf(&c->out, "%s: replaced\n", m->name);
	else if (has(m, KEEL_DRAFT_HOW) || (c->kind == CHANGE_RELOAD && strcmp(m->name, c->name) == 0))
		keel_text_printf(&c->out, "%s: restarted\n", m->name);
}

/* What a load or unload means for the next reload of the configuration. */
static void describe_next(struct change *c)
{
	const struct keel_draft_module *m = named(c->draft, c->name, 0);
	bool by_file = m && has(m, KEEL_DRAFT_BY_FILE);

	if (c->kind == CHANGE_UNLOAD && by_file)
		keel_text_printf(&c->out, "%s is enabled in %s: the next reload of the configuration, and the next start, load "
				 "it again\n", c->name, m->where);
	else if (c->kind == CHANGE_LOAD && !by_file)
		keel_text_printf(&c->out, "%s is not enabled in the configuration: the next reload of it unloads the module "
				 "again\n", c->name);
}

void describe_set(struct change *c, const char *report)
{
	size_t len;

	DRAFT_EACH(c->draft, m) {
		if (has(m, KEEL_DRAFT_ENABLED) && !has(m, KEEL_DRAFT_ELSEWHERE) && !report_line(report, m->name))
			keel_text_printf(&c->out, "%s: passed over, it runs in other daemons than this one\n", m->name);
	}
	len = c->out.len;
	DRAFT_EACH(c->draft, m) {
		const char *line = report_line(report, m->name);

		if (line)
			describe_comer(c, m, strchr(line, '\t') + 1);
		else if (has(m, KEEL_DRAFT_RUNS))
			keel_text_printf(&c->out, "%s: unloaded\n", m->name);
		describe_gone(c, m);
	}
	describe_news(c);
	if (c->out.len == len)
		keel_text_str(&c->out, "no module has changed\n");
	describe_next(c);
}
