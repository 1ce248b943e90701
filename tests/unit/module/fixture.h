/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - a kernel without doors: loop, log, registry, objects, hooks and modules, the fixtures of
 * tests/fixtures as built, and a configuration written by the test.
 */
#ifndef TESTS_MODULE_FIXTURE_H
#define TESTS_MODULE_FIXTURE_H

#include <errno.h>
#include <string.h>

#include "conf/conf.h"
#include "harness.h"
#include "hook/hooks.h"
#include "keel/keel.h"
#include "log/log.h"
#include "loop/loop.h"
#include "module/modules.h"
#include "object/objects.h"
#include "registry/registry.h"

struct kernel {
	struct parts parts;
	struct owner self;
	char *dir, *conf_path;
	struct conf *read; /* by configure() */
	char *running; /* a copy of the configuration in force */
	char *copies; /* of modules' files; NULL before the first change of the set */
	bool renewed; /* the last change was another set */
	struct keel_err err;
	struct buf out;
};
extern struct kernel k;

void kernel_start(void);
void kernel_stop(void);
const char *fixtures_dir(void);
/* Replace the configuration by this text. */
void configure(const char *text);
int load(const char *text);   /* configure, modules_load */
int up(const char *text);     /* and modules_start; without those that are not required and fail, as a daemon starts */
/* A change to its end, or a sentence in k.err. Another set is another kernel, without the objects; whether one may leave is
 * not looked at. */
enum fixture_change { CONFIGURE, LOAD, UNLOAD, RELOAD };
int change(enum fixture_change what, const char *name);
int reload(const char *text); /* configure, change to that */
/* What change() does when it has read the configuration, and before it changes anything; may be NULL. */
extern void (*on_read)(void), (*on_keep)(void);
/* A line for each module behind a newline, cells separated by tabs: name, version, how it runs, "benched" when a tap is;
 * until the next call. */
const char *described(void);
const char *chain(const char *point); /* names of its taps, in order; until the next call */
/* The whole log so far; free() it. */
char *log_text(void);
bool logged(const char *text);
void copy_fixture(const char *name, const char *to);

#endif
