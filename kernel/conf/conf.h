/* SPDX-License-Identifier: Apache-2.0
 *
 * conf.h - libconfig files checked against rules, into plain structs.
 *
 * Main file: top-level keys and kernel groups. Beside it modules.d/ *.conf, read in name order, each
 * holding groups named like modules. Errors read `file:line: key: expected ..., got ...`.
 */
#ifndef KEELSON_CONF_H
#define KEELSON_CONF_H

#include "keel/module.h"
#include "keel/types.h"
#include "rules/rules.h"
#include "util/owner.h"

struct conf;      /* the parsed files */

/* A rule whose member is not named like its key. */
#define CONF_RULE_AS(rule_type, key_name, struct_type, member, ...)                                        \
	{ .size = sizeof(struct keel_conf_rule), .type = KEEL_CONF_##rule_type, .key = #key_name,          \
	  .offset = offsetof(struct_type, member), __VA_ARGS__ }

int conf_no_memory(struct keel_err *err); /* sets *err; returns -ENOMEM */

/* Read the main file and its modules.d. `set` not NULL: a directory with copies of them, conf/keelson.conf and conf/modules.d, which
 * are read instead. Returns 0, or an error with *err. */
int conf_read(const char *path, const char *set, struct conf **ret_conf, struct keel_err *err);
void conf_destroy(struct conf *c);
/* Add "group.key=value" or "key=value" (top level), which takes precedence over the files; before conf_fill(), which
 * checks the value. A list is written with commas. "module.enabled=true" adds a module that no file names.
 * Returns 0, or an error with *err. */
int conf_override(struct conf *c, const char *assignment, struct keel_err *err);
/* Returns 0 when every group of the main file and of the overrides is a module's or in `kernel_groups`
 * (NULL-terminated), else -EINVAL with *err, which names the first that is not. */
int conf_check_groups(const struct conf *c, const char *const *kernel_groups, struct keel_err *err);

/* Fill a struct of `size` bytes from group `group` (NULL or "": the top level) by `rules`. Unknown keys are errors, but those
 * that known() (may be NULL) accepts; keys of the kernel (group.c) are known to every module group. A missing group gives
 * all defaults. Returns 0, or an error with *err. */
typedef bool conf_known_fn(const void *arg, const char *key);
int conf_fill(const struct conf *c, const char *group, const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size,
	      conf_known_fn *known, const void *arg, struct conf_data **ret_data, struct keel_err *err);
/* The same of the group `member` inside a module's group. */
int conf_fill_member(const struct conf *c, const char *module, const char *member,
		     const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size,
		     struct conf_data **ret_data, struct keel_err *err);
/* Returns whether a key of a module's group is the kernel's; by_override: and may be set by an override. Else *ret_like
 * (may be NULL) becomes one with the same beginning, if there is any. */
bool conf_kernel_key(const char *key, bool by_override, const char **ret_like);
/* Module groups in order of appearance. `enabled` and `required` are true by default; `path`: a .so, NULL:
 * <modules_dir>/<name>.so. */
struct conf_module {
	const char *name, *path, *file; /* file: "file:line" of its group */
	bool enabled;
	bool by_file;  /* enabled by a file, whatever overrides say */
	bool required; /* false: an error in loading it is logged, and it is left out */
};
const struct conf_module *conf_modules(const struct conf *c, uint32_t *ret_n);
struct conf_module *conf_module(const struct conf *c, const char *name);	/* NULL: no file names it */

/* `budget` of a module's group; members that it does not set are 0. Returns 0, or an error with *err. */
int conf_budget(const struct conf *c, const char *module, struct owner_budget *ret, struct keel_err *err);

/* `order` of a module's group, in order of appearance. The rows are owned by the caller. */
struct conf_order {
	const char *tap, *before, *after; /* before, after: NULL: not set */
	int64_t order;
	bool has_order;
	char *where; /* file:line */
	struct conf_data *data; /* the strings */
};
int conf_orders(const struct conf *c, const char *module, struct conf_order **ret_rows, uint32_t *ret_n,
		struct keel_err *err);
void conf_orders_free(struct conf_order *rows, uint32_t n);

/* `match` of a module's group. The rows are owned by the caller. */
int conf_matches(const struct conf *c, const char *module, struct keel_match **ret_rows,
		 uint32_t *ret_n, struct keel_err *err);
void conf_matches_free(struct keel_match *rows, uint32_t n);

#endif
