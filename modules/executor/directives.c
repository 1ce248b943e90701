/* SPDX-License-Identifier: Apache-2.0
 *
 * directives.c - names of mom_priv/config that this module obeys: the file goes before the configuration.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor.h"
#include "keel/directive.h"
#include "keel/strings.h"

#define USECP_FORM "%255[^: \t]:%2047s %2047s%n"

static int32_t usecp_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	char host[256], theirs[2048], ours[2048];
	int len = 0;

	(void)mod;
	if (sscanf(value, USECP_FORM, host, theirs, ours, &len) == 3 && !value[len] && *theirs == '/' && *ours == '/')
		return 0;
	return keel_error(err, -EINVAL, "invalid host specification: %.300s", value);
}

static void usecp_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;

	keel_strings_free(st->mom.said.usecp);
	st->mom.said.usecp = n > 0 ? keel_strings_copy(values, n) : NULL;
}

static int32_t path_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	(void)mod;
	return keel_directive_path(value, err);
}

static void path_set(char **at, const char *const *values, uint32_t n)
{
	free(*at);
	*at = n > 0 ? strdup(values[0]) : NULL;
}

static void tmpdir_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	path_set(&((struct state *)mod->state)->mom.said.tmpdir, values, n);
}

/* "PATH [shared]" */
static int32_t jobdir_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	char path[4096] = "", word[16] = "";
	int len = 0;

	(void)mod;
	if (sscanf(value, "%4095s %15s%n", path, word, &len) == 2 && (value[len] || strcmp(word, "shared") != 0))
		return keel_error(err, -EINVAL, "behind the path stands \"shared\" or nothing");
	return keel_directive_path(path, err);
}

static void jobdir_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;
	char *root = n > 0 ? strndup(values[0], strcspn(values[0], " \t")) : NULL;

	free(st->mom.said.jobdir_root);
	st->mom.said.jobdir_root = root;
	st->mom.said.jobdir_shared = root && values[0][strlen(root)];
}

static int32_t bool_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	(void)mod;
	return keel_directive_bool(value, NULL, err);
}

static void nodefile_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;
	bool on = true;

	if (n > 0)
		keel_directive_bool(values[0], &on, NULL);
	st->mom.said.no_sister_nodefile = !on;
}

#define DIRECTIVE(directive, ...)                                                                                      \
	const struct keel_mom_directive_def directive##_directive = { .size = sizeof(struct keel_mom_directive_def), \
								       .name = "$" #directive, __VA_ARGS__ }
DIRECTIVE(usecp, .flags = KEEL_MOM_DIRECTIVE_MANY, .doc = "HOST:PREFIX LOCAL_PREFIX: files of that host that are seen here",
	  .check = usecp_check, .apply = usecp_apply);
DIRECTIVE(tmpdir, .doc = "where each job gets its own TMPDIR", .check = path_check, .apply = tmpdir_apply);
DIRECTIVE(jobdir_root, .doc = "PATH [shared]: where jobs with sandbox=PRIVATE get their directory", .check = jobdir_check,
	  .apply = jobdir_apply);
DIRECTIVE(gen_nodefile_on_sister_mom, .doc = "whether sisters of a job have its node file", .check = bool_check,
	  .apply = nodefile_apply);

const char *const *directive_usecp(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	const struct conf *cf = mod->conf;

	return st->mom.said.usecp ? (const char *const *)st->mom.said.usecp : cf->usecp;
}

const char *directive_tmpdir(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	const struct conf *cf = mod->conf;

	return st->mom.said.tmpdir ? st->mom.said.tmpdir : cf->tmpdir;
}

void directives_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_strings_free(st->mom.said.usecp);
	free(st->mom.said.tmpdir);
	free(st->mom.said.jobdir_root);
	st->mom.said = (struct directives){ .usecp = NULL };
}
