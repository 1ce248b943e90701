/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c - what execjob_launch is about: the program that is about to be started, its arguments, its environment.
 *
 * What scripts gave the job's Variable_List before its start is in the environment (variables.c).
 * Scripts of sites know the job's own program by PBS_NODEFILE (spec 30 section 5): that of other tasks is kept, and not shown.
 */
#include "host.h"

#include "keel/service/part.h"

KEEL_USE_OPT(part);

#define ORDER_VARIABLES (-710) /* before scripts: run.c */

/* ---- what a script sees ------------------------------------------------------------------------------- */
#define NODEFILE "PBS_NODEFILE="

static bool is_nodefile(const char *variable)
{
	return strncmp(variable, NODEFILE, strlen(NODEFILE)) == 0;
}

static void env_pack(struct pack *p, const char *const *env, bool beside)
{
	uint32_t map = pack_open_map(p), n = 0;

	for (; env && *env; env++) {
		const char *is = strchr(*env, '=');

		if (!is || (beside && is_nodefile(*env)))
			continue;
		pack_bytes(p, *env, (uint32_t)(is - *env));
		pack_text(p, is + 1);
		n++;
	}
	pack_close(p, map, n);
}

static void argv_pack(struct pack *p, const char *const *argv)
{
	uint32_t list = pack_open_list(p), n = 0;

	for (; argv[n]; n++)
		pack_text(p, argv[n]);
	pack_close(p, list, n);
}

uint32_t program_pack(struct run *r, const void *ev, struct pack *p)
{
	const struct keel_ev_task_spawn *spawn = ev;
	bool beside = spawn->size == sizeof(*spawn); /* else it is a task_launch */
	const struct keel_part_task *task;

	r->numbers[NUMBER_PROGRAM] = beside ? spawn->number : PROGRAM;
	task = keel_has(part) ? keel_part_program(r->id, (uint32_t)r->numbers[NUMBER_PROGRAM]) : NULL;
	if (!task || !task->argv || !task->argv[0])
		return 0;
	pack_pair_text(p, "progname", task->argv[0]);
	pack_key(p, "argv");
	argv_pack(p, task->argv);
	pack_key(p, "env");
	env_pack(p, task->env, beside);
	return 3;
}

/* ---- what it makes of it ------------------------------------------------------------------------------ */
struct strings {
	char **all;
	uint32_t n;
	bool given, failed;
};

static void strings_add(struct strings *s, char *text)
{
	char **more = text ? realloc(s->all, (s->n + 2) * sizeof(*more)) : NULL;

	if (!more) {
		s->failed = true;
		free(text);
		return;
	}
	s->all = more;
	more[s->n++] = text;
	more[s->n] = NULL;
}

static void strings_clear(struct strings *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->all[i]);
	free(s->all);
	s->all = NULL;
	s->n = 0;
}

static void strings_copy(struct strings *s, const char *const *from)
{
	for (; from && *from; from++)
		strings_add(s, strdup(*from));
}

static void nodefile_keep(struct strings *s, const char *const *env)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (is_nodefile(s->all[i]))
			return;
	for (; env && *env; env++)
		if (is_nodefile(*env))
			strings_add(s, strdup(*env));
}

/* Its first change clears it; then it is given whole. */
static void item_take(struct strings *s, const struct change *c, bool named)
{
	char *line = NULL;

	s->given = true;
	if (!c->key) {
		strings_clear(s);
		return;
	}
	if (named && c->text && asprintf(&line, "%s=%s", c->key, c->text) < 0)
		line = NULL;
	strings_add(s, named ? line : strdup(c->text ? c->text : ""));
}

static const char *changes_take(const struct result *result, struct strings *argv, struct strings *env)
{
	const char *progname = NULL;

	for (uint32_t i = 0; i < result->n_changes; i++) {
		const struct change *c = &result->changes[i];

		if (strcmp(c->target, "event") != 0)
			continue;
		if (strcmp(c->attr, "progname") == 0)
			progname = c->text;
		else if (strcmp(c->attr, "argv") == 0)
			item_take(argv, c, false);
		else if (strcmp(c->attr, "env") == 0)
			item_take(env, c, true);
	}
	return progname;
}

/* The program stays, or is the one named, whatever the first of its arguments says. */
static void program_name(struct strings *argv, const char *progname)
{
	char *name = strdup(progname);

	if (!name || !argv->n) {
		free(name);
		argv->failed |= !name;
		if (name)
			strings_add(argv, strdup(progname));
		return;
	}
	free(argv->all[0]);
	argv->all[0] = name;
}

int32_t program_change(struct run *r, const struct result *result, struct keel_err *err)
{
	uint32_t number = (uint32_t)r->numbers[NUMBER_PROGRAM];
	const struct keel_part_task *task = keel_has(part) ? keel_part_program(r->id, number) : NULL;
	struct strings argv = { .all = NULL }, env = { .all = NULL };
	const char *progname = changes_take(result, &argv, &env);
	int32_t code = 0;

	if (!task || !task->argv || !task->argv[0] || (!progname && !argv.given && !env.given)) {
		strings_clear(&argv);
		strings_clear(&env);
		return 0;
	}
	if (!argv.given)
		strings_copy(&argv, task->argv);
	if (!env.given)
		strings_copy(&env, task->env);
	else if (number != PROGRAM)
		nodefile_keep(&env, task->env);
	program_name(&argv, progname ? progname : task->argv[0]);
	code = argv.failed || env.failed ? -ENOMEM
					 : keel_part_set_program(r->id, number, &(struct keel_part_task){
						   .size = sizeof(struct keel_part_task), .number = number,
						   .argv = (const char *const *)argv.all,
						   .env = env.n ? (const char *const *)env.all : (const char *const[]){ NULL } });
	strings_clear(&argv);
	strings_clear(&env);
	return code ? keel_error(err, PBSE_HOOKERROR, "the program cannot be what hook %s makes of it: %s", r->name, strerror(-code)) : 0;
}

/* ---- variables that scripts gave the job ---------------------------------------------------------------- */
static bool is_variable(const char *line, const char *name)
{
	size_t len = strlen(name);

	return strncmp(line, name, len) == 0 && line[len] == '=';
}

/* A program has what scripts say; a task beside it what its starter says, and the rest of theirs. */
static void variable_put(struct strings *env, const struct known_value *v, bool beside)
{
	char *line;
	uint32_t i = 0;

	while (i < env->n && !is_variable(env->all[i], v->attr))
		i++;
	if (beside && i < env->n)
		return;
	if (asprintf(&line, "%s=%s", v->attr, v->text) < 0)
		line = NULL;
	if (i == env->n || !line) {
		strings_add(env, line);
		return;
	}
	free(env->all[i]);
	env->all[i] = line;
}

static int32_t variables_put(const struct known *k, uint32_t number)
{
	const struct keel_part_task *task = keel_part_program(k->id, number);
	struct strings argv = { .all = NULL }, env = { .all = NULL };
	int32_t code = 0;

	if (!task || !task->argv || !task->argv[0])
		return 0;
	strings_copy(&argv, task->argv);
	strings_copy(&env, task->env);
	for (uint32_t i = 0; i < k->made.n; i++)
		variable_put(&env, &k->made.values[i], number != PROGRAM);
	if (argv.failed || env.failed)
		code = -ENOMEM;
	else
		code = keel_part_set_program(k->id, number, &(struct keel_part_task){
			.size = sizeof(struct keel_part_task), .number = number,
			.argv = (const char *const *)argv.all, .env = (const char *const *)env.all });
	strings_clear(&argv);
	strings_clear(&env);
	return code;
}

static keel_verdict program_comes(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_task_spawn *spawn = event; /* a task_launch begins like it */
	const struct known *k = host_known(arg, spawn->id);
	int32_t code = k && k->made.n ? variables_put(k, point == KEEL_POINT_task_spawn ? spawn->number : PROGRAM) : 0;

	return code ? keel_reject(c, PBSE_HOOKERROR, "the program cannot have the variables that hooks set: %s", strerror(-code)) : KEEL_NEXT;
}

int32_t program_start(struct state *st, struct keel_err *err)
{
	static const uint32_t points[] = { KEEL_POINT_task_launch, KEEL_POINT_task_spawn };
	int32_t code = 0;

	for (size_t i = 0; keel_has(part) && i < KEEL_COUNT(points) && code >= 0; i++)
		code = keel_tap_add(st->mod, points[i], "variables", ORDER_VARIABLES, program_comes, st, err);
	return code < 0 ? code : 0;
}
