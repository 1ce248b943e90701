/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson.c - queries and commands for administrators.
 *
 * "check" checks a configuration without any server: the daemon does it. Everything else is a request to the running
 * server, which replies in lines. A word that is not in the table may be a program keelson-WORD beside this one, or the verb of a
 * module. "sim" is a program of its own.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "reach.h"
#include "rows.h"

#define FAILED 1
#define DAEMON "keelsond"
#define ADMIN "admin"

static const struct cmd keelson = {
	.name = "keelson",
	.usage = "usage: keelson check [file]\n"
		 "       keelson modules [--json]\n"
		 "       keelson holds\n"
		 "       keelson load | unload module\n"
		 "       keelson reload [module]\n"
		 "       keelson hooks [point]\n"
		 "       keelson hooks --time [--json] [point]\n"
		 "       keelson hooks --reset-time\n"
		 "       keelson hooks --unbench module.tap\n"
		 "       keelson explain job | host | vnode | reservation\n"
		 "       keelson health [--json | --metrics]\n"
		 "       keelson resv reservation\n"
		 "       keelson verb-of-a-module [argument ...]\n"
		 "       keelson sim [option ...]\n"
		 "       keelson --version | --help\n",
	.usage_exit = 2,
};

static int fail(const char *text)
{
	fprintf(stderr, "keelson: %s\n", text);
	return FAILED;
}

static int check(char **args)
{
	char name[] = DAEMON, option[] = "--check", conf[] = "--conf";
	char *argv[] = { name, option, args[0] ? conf : NULL, args[0], NULL }, *home, *path;
	int state;
	pid_t child = fork();

	if (child < 0)
		return fail(strerror(errno));
	if (child == 0) { /* the daemon of this installation, else one found by PATH */
		home = pbs_conf_value("PBS_EXEC");
		if (home && asprintf(&path, "%s/sbin/" DAEMON, home) > 0)
			execv(path, argv);
		execvp(DAEMON, argv);
		fprintf(stderr, "keelson: cannot run " DAEMON ": %s\n", strerror(errno));
		_exit(FAILED);
	}
	while (waitpid(child, &state, 0) < 0)
		if (errno != EINTR)
			return fail(strerror(errno));
	return WIFEXITED(state) && WEXITSTATUS(state) == 0 ? 0 : FAILED;
}

/* A program of the same tree, built or installed; how it is reached from this one. */
static int beside_exec(const char *program, char **argv)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - strlen(program) - 1);

	if (len <= 0)
		return fail(strerror(errno));
	path[len] = '\0';
	strcpy(strrchr(path, '/') + 1, program);
	execv(path, argv);
	if (errno != ENOENT)
		fprintf(stderr, "keelson: cannot run %s: %s\n", path, strerror(errno));
	return FAILED;
}

static int sim_exec(char **argv)
{
	beside_exec("../libexec/keelson/keelson-sim", argv);
	return fail("this installation has no keelson-sim");
}

/* `keelson hook` is keelson-hook, where that is installed; returns where it is not. */
static void program_exec(char **argv)
{
	char program[64] = "keelson-";

	if (strlen(argv[0]) > 32 || argv[0][strspn(argv[0], "abcdefghijklmnopqrstuvwxyz0123456789-_")])
		return;
	strcat(program, argv[0]);
	beside_exec(program, argv);
}

static const struct verb {
	const char *name;
	int min_args, max_args;
	const char *module; /* of the server, which replies */
} verbs[] = {
	{ "check", 0, 1, NULL },      { "modules", 0, 1, ADMIN }, { "hooks", 0, 3, ADMIN },	 { "reload", 0, 1, "reload" },
	{ "load", 1, 1, "reload" },   { "unload", 1, 1, "reload" }, { "holds", 0, 0, ADMIN }, { "explain", 1, 1, "scheduler" },
	{ "resv", 1, 1, "reservations" },
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* Returns a random text by which the server recognises a change that restarted it, when the library sends the request
 * once more; NULL: there are no random bytes. */
static const char *token(void)
{
	static char text[2 * 16 + 1];
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return NULL;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

/* How the lines of a reply are printed: as they are, as a table, or as JSON under a name; which module replies, NULL:
 * it is not known; the verb that is tried where a reservation has no such name. */
struct form {
	bool table;
	const char *json, *module, *otherwise;
};

/* Returns lines, or NULL; the sentence of a refusal is then that of the connection, or *ret_first, owned. */
static char **verb_try(int c, const char *verb, char **args, const struct form *form, char **ret_first)
{
	char **lines = pbs_admin(c, verb, args, token());

	*ret_first = NULL;
	if (lines || !form->otherwise || pbs_errno != PBSE_UNKRESVID || !pbs_geterrmsg(c))
		return lines;
	*ret_first = strdup(pbs_geterrmsg(c));
	return pbs_admin(c, form->otherwise, args, token());
}

static int verb_request(const char *verb, char **args, struct form form)
{
	int c = pbs_connect(NULL), status = 0;
	char **lines, *first;

	if (c <= 0 && pbs_geterrmsg(c))
		return fail(pbs_geterrmsg(c));
	if (c <= 0) {
		fprintf(stderr, "keelson: cannot connect to server %s (errno=%d)\n", reach_default_name(), pbs_errno);
		return FAILED;
	}
	lines = verb_try(c, verb, args, &form, &first);
	if (lines) {
		if (!form.table) {
			cmd_lines_print(lines);
		} else {
			if (rows_print(lines, form.json) < 0)
				status = fail("cannot write the answer");
			cmd_lines_free(lines);
		}
	} else if (first) {
		status = fail(first);
	} else if (reach_unknown(c) && !form.module) {
		fprintf(stderr, "keelson: nobody offers the verb '%s'; 'keelson modules' says which modules run\n", verb);
		status = cmd_usage(&keelson);
	} else if (reach_unknown(c)) {
		fprintf(stderr, "keelson: the server runs without module %s, which replies to this: write `%s: { enabled = true; };` in its "
			"modules.d, then `keelson reload`, or restart the daemon\n", form.module, form.module);
		status = FAILED;
	} else if (pbs_geterrmsg(c)) {
		status = fail(pbs_geterrmsg(c));
	} else {
		status = fail("the server refused and did not say why");
	}
	free(first);
	pbs_disconnect(c);
	return status;
}

/* What does not run, below a table: "off  NAME  WHY". Nothing where the server does not say. */
static void off_print(void)
{
	char *none[] = { NULL }, *state, *name;
	int c = pbs_connect(NULL);
	char **lines = c > 0 ? pbs_admin(c, "modules_off", none, NULL) : NULL;

	for (char **line = lines && lines[0] ? lines + 1 : NULL; line && *line; line++) {
		char *rest = *line;

		state = strsep(&rest, "\t");
		name = strsep(&rest, "\t");
		if (line == lines + 1)
			putchar('\n');
		printf("%-7s  %-24s  %s\n", state, name ? name : "", rest ? rest : "");
	}
	cmd_lines_free(lines);
	if (c > 0)
		pbs_disconnect(c);
}

static int modules(char **args)
{
	char *none[] = { NULL };
	int status;

	if (args[0] && strcmp(args[0], "--json") != 0)
		return cmd_usage(&keelson);
	status = verb_request("modules", none, (struct form){ .table = true, .json = args[0] ? "modules" : NULL, .module = ADMIN });
	if (status == 0 && !args[0])
		off_print();
	return status;
}

/* What scripts of hooks have cost, below a table; nothing where no module has any. */
static void script_times(void)
{
	char word[] = "times", *args[] = { word, NULL };
	int c = pbs_connect(NULL);
	char **lines = c > 0 ? pbs_admin(c, "hook", args, NULL) : NULL;

	if (lines && lines[0] && lines[1]) { /* more than a head */
		putchar('\n');
		cmd_lines_print(lines);
	} else {
		cmd_lines_free(lines);
	}
	if (c > 0)
		pbs_disconnect(c);
}

/* --time [--json] [point] */
static int hook_times(char **args)
{
	bool json = args[0] && strcmp(args[0], "--json") == 0;
	int status;

	args += json;
	if (args[0] && (args[0][0] == '-' || args[1]))
		return cmd_usage(&keelson);
	status = verb_request("hook_times", args, (struct form){ .table = true, .json = json ? "hooks" : NULL, .module = ADMIN });
	if (status == 0 && !json && !args[0])
		script_times();
	return status;
}

static int hooks(char **args)
{
	char *none[] = { NULL };

	if (!args[0] || (args[0][0] != '-' && !args[1]))
		return verb_request("hooks", args, (struct form){ .module = ADMIN });
	if (strcmp(args[0], "--time") == 0)
		return hook_times(args + 1);
	if (strcmp(args[0], "--reset-time") == 0 && !args[1])
		return verb_request("hook_reset", none, (struct form){ .module = ADMIN });
	if (strcmp(args[0], "--unbench") == 0 && args[1] && !args[2])
		return verb_request("hook_unbench", args + 1, (struct form){ .module = ADMIN });
	return cmd_usage(&keelson);
}

/* R12, S12, M12, with or without the server's name. */
static bool is_reservation(const char *id)
{
	const size_t digits = strspn(id + (id[0] != '\0'), "0123456789");

	return strchr("RSM", id[0]) && digits > 0 && (id[1 + digits] == '\0' || id[1 + digits] == '.');
}

int main(int argc, char **argv)
{
	const struct verb *verb;
	bool bad = false;

	if (cmd_begin(&keelson, argc, argv))
		return 0;
	while (getopt(argc, argv, "+") != -1)
		bad = true;
	if (bad || optind >= argc)
		return cmd_usage(&keelson);
	if (strcmp(argv[optind], "sim") == 0)
		return sim_exec(argv + optind);
	verb = verb_find(argv[optind]);
	if (!verb)
		program_exec(argv + optind);
	if (!verb) /* a module's: its REQUEST row "keelson.<verb>" */
		return verb_request(argv[optind], argv + optind + 1, (struct form){ 0 });
	if (argc - optind - 1 > verb->max_args || argc - optind - 1 < verb->min_args)
		return cmd_usage(&keelson);
	if (verb == verbs)
		return check(argv + optind + 1);
	if (strcmp(verb->name, "modules") == 0)
		return modules(argv + optind + 1);
	if (strcmp(verb->name, "hooks") == 0)
		return hooks(argv + optind + 1);
	if (strcmp(verb->name, "explain") == 0 && is_reservation(argv[optind + 1]))
		return verb_request("resv", argv + optind + 1, (struct form){ .module = "reservations", .otherwise = verb->name });
	return verb_request(verb->name, argv + optind + 1, (struct form){ .module = verb->module });
}
