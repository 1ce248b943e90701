/* SPDX-License-Identifier: Apache-2.0
 *
 * check_report.h - rules, what was found against them, and TAP.
 *
 * The report is in memory that forked children share: what a child found stays when it crashes.
 */
#ifndef KEELSON_CHECK_REPORT_H
#define KEELSON_CHECK_REPORT_H

#include <stdbool.h>

enum rule {
#define RULE(group, name, what, why, todo) RULE_##group##_##name,
#include "check_rules.def"
#undef RULE
	N_RULES
};

/* -ENOMEM when there is no shared memory. */
int report_open(void);

/* The rule is broken: where, and how. Said twice it counts once. */
__attribute__((format(printf, 2, 3))) void finding(enum rule rule, const char *fmt, ...);
/* No rule is broken, but it should be known. */
__attribute__((format(printf, 1, 2))) void remark(const char *fmt, ...);
/* The rule was not looked at, for this reason; a finding wins. */
__attribute__((format(printf, 2, 3))) void skip(enum rule rule, const char *fmt, ...);
/* Every rule of these groups that has no finding. */
__attribute__((format(printf, 2, 3))) void skip_all(const char *groups, const char *fmt, ...);

/* The rule is looked at: no skipping of before counts. */
void look(enum rule rule);
void look_from_to(enum rule first, enum rule last);

bool rule_broken(enum rule rule);
bool rule_skipped(enum rule rule);
bool group_broken(const char *group);
const char *rule_name(enum rule rule); /* "static/one-export" */
/* Is `word` a group, or a rule? */
bool rule_fits(enum rule rule, const char *word);

/* Is it one of `only`, or is one of the group? */
bool rule_wanted(enum rule rule, const char *only);
bool group_wanted(const char *group, const char *only);

void rules_list(void);
/* One line of TAP per rule of `only` (a comma list of groups and rules; NULL: all), then the plan.
 * The number of broken ones. */
int report_print(const char *only);

#endif
