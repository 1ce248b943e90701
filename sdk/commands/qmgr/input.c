/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c - where commands come from.
 *
 * A line whose first character is # is a comment; a line that ends in \ goes on; ; outside quotes
 * separates commands.
 */
#include "input.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "terminal.h"

#define FAILED 2

/* Length of the command at `text`: up to a ; outside quotes. */
static size_t command_len(const char *text)
{
	char quote = '\0';
	size_t n;

	for (n = 0; text[n] && (quote || text[n] != ';'); n++) {
		if (quote && text[n] == quote)
			quote = '\0';
		else if (!quote && (text[n] == '"' || text[n] == '\''))
			quote = text[n];
	}
	/* a quote that is not closed does not extend to the end of the line: the error is in this command */
	return quote ? strlen(text) : n;
}

/* Which command of a file has failed: behind its error, whose lines tools read. */
static void line_print(unsigned long line, const char *command)
{
	fprintf(stderr, "qmgr: line %lu: ", line);
	for (; *command; command++)
		fputc(iscntrl((unsigned char)*command) ? '?' : *command, stderr);
	fputc('\n', stderr);
}

static int command_run(struct session *s, const char *text, size_t len, bool *ret_quit)
{
	char *command;
	int status;

	while (len > 0 && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	if (len == 0 || *text == '#')
		return 0;
	command = strndup(text, len);
	if (!command)
		return FAILED;
	if (s->echo)
		printf("%s\n", command);
	status = run_line(s, command, ret_quit);
	if (status != 0 && s->counts)
		line_print(s->line, command);
	free(command);
	return status;
}

int input_text(struct session *s, const char *text, bool *ret_quit)
{
	int one, status = 0;
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	if (*text == '#')
		return 0;
	for (;;) {
		len = command_len(text);
		one = command_run(s, text, len, ret_quit);
		if (one != 0)
			status = one;
		if (*ret_quit || text[len] == '\0' || (one != 0 && s->stop_at_error))
			return status;
		text += len + 1;
	}
}

/* `line` joined to `so_far` (taken over); NULL: no memory. *ret_more: it goes on. */
static char *line_join(char *so_far, const char *line, bool *ret_more)
{
	size_t have = so_far ? strlen(so_far) : 0, len = strlen(line);
	char *whole;

	while (len > 0 && isspace((unsigned char)line[len - 1]))
		len--;
	*ret_more = len > 0 && line[len - 1] == '\\';
	len -= *ret_more;
	whole = realloc(so_far, have + len + 1);
	if (!whole) {
		free(so_far);
		return NULL;
	}
	memcpy(whole + have, line, len);
	whole[have + len] = '\0';
	return whole;
}

/* The next whole command line, which begins in line s->line; the caller frees it. NULL at the end. */
static char *line_read(struct session *s, struct terminal *terminal)
{
	char *whole = NULL, *line;
	bool more = false;

	do {
		line = terminal_read(terminal, s->in, more ? "Qmgr< " : "Qmgr: ");
		if (!line)
			return whole;
		s->read++;
		if (!whole)
			s->line = s->read;
		whole = line_join(whole, line, &more);
		free(line);
	} while (whole && more);
	return whole;
}

int input_stream(struct session *s)
{
	struct terminal terminal;
	bool quit = false;
	char *line;
	int status = 0;

	terminal_init(&terminal, s->terminal);
	while (!quit && (line = line_read(s, &terminal))) {
		if (!terminal_command(&terminal, &line))
			status = input_text(s, line, &quit);
		free(line);
		fflush(stdout);
		if (status != 0 && s->stop_at_error)
			break;
		status = 0;
	}
	terminal_fini(&terminal);
	return status == 0 || status == 1 ? status : FAILED;
}
