/* SPDX-License-Identifier: Apache-2.0
 *
 * hook_cmd.h - what the files of keelson-hook share.
 */
#ifndef PYTHON_HOOKS_HOOK_CMD_H
#define PYTHON_HOOKS_HOOK_CMD_H

#include <stddef.h>

enum { EXIT_ACCEPTED = 0, EXIT_REFUSED = 1, EXIT_FAILED = 2 };

/* "keelson hook: ..." on stderr; returns EXIT_FAILED. */
int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ask.c: a word that no file here has is the server's: list, times, tables. */
int ask_print(char **words);	   /* its lines on stdout; the exit status */
char *ask_file(const char *dir);   /* what `tables` says, in DIR/tables.json; NULL: it was said why */

/* by_hand.c: verbs, with what is behind them on the command line */
int run_verb(int argc, char **argv);
int stubs_verb(int argc, char **argv);
/* cases.c */
int test_verb(int argc, char **argv);

/* child.c */
struct text { /* empty: { NULL, 0 } */
	char *s; /* terminated */
	size_t len;
};
/* Where a program of this installation is, built or installed: "../libexec/keelson/..." beside this one. NULL: no memory. */
char *program_path(const char *relative);
/* Runs it to its end; out (may be NULL: it prints itself) is what it printed, with_errors: on stderr, too. Its exit status; 128 and the
 * number of the signal that ended it; -1: it was said why it could not be started. `seconds`: then it is ended by SIGALRM,
 * and what it started with it; 0: never. */
int child_run(char **argv, struct text *out, int with_errors, unsigned int seconds);
/* keelson-pyhost: argv[0] is written here. Where `out` is given it is what it printed, on stderr, too. Ends as child_run(). */
int pyhost_run(char **argv, struct text *out, unsigned int seconds);
struct script {
	char *file, *event, *config, *tables; /* paths; the last two may be NULL */
};
int script_run(const struct script *s, struct text *out, unsigned int seconds); /* pyhost_run() with --run */
char *temp_make(void);		  /* a folder; NULL: it was said why */
void temp_remove(char *dir);	  /* with its files, and frees it; NULL is fine */
char *path_of(const char *dir, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* DIR/...; NULL: no memory */
int file_write(const char *path, const struct text *text); /* 0, or it was said why */
int file_read(const char *path, struct text *text);	   /* 0 or -errno */

#endif
