/* SPDX-License-Identifier: Apache-2.0
 *
 * hook_body.c - import and export of the scripts and configuration files of hooks.
 *
 * Bodies are sent in base64, whatever encoding the user reads or writes. Import is a manage request
 * with the attributes content-type, content-encoding (the user's word), input-file (its last
 * part, for the suffix) and content. Export is a status request for content.<content type>.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "cmd.h"
#include "pbs_error.h"
#include "run.h"

#define FAILED 1
#define BODY_MAX (64u * 1024u * 1024u)

enum { TYPE, ENCODING, FILE_NAME };

static const char *const encodings[] = { "default", "base64", NULL };
static const char *const types[] = { "application/x-python", "application/x-config", NULL };

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static bool is_base64(const struct command *q)
{
	return strcmp(q->words[ENCODING], "base64") == 0;
}

/* Every line of `in` up to its end, or for base64 on standard input up to an empty line; how many is added to *lines. */
static char *lines_read(FILE *in, bool to_empty_line, size_t *ret_len, unsigned long *lines)
{
	char *text = NULL, *line = NULL;
	size_t len = 0, size = 0, room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, in)) > 0 && ++*lines && !(to_empty_line && *line == '\n')) {
		if (len + (size_t)n + 1 > size) {
			char *more = NULL;

			size = 2 * (len + (size_t)n + 1);
			if (size < BODY_MAX)
				more = realloc(text, size);
			if (!more) {
				free(text);
				free(line);
				errno = EFBIG;
				return NULL;
			}
			text = more;
		}
		memcpy(text + len, line, (size_t)n);
		len += (size_t)n;
	}
	free(line);
	if (ferror(in)) { /* a directory, for one */
		free(text);
		return NULL;
	}
	*ret_len = len;
	if (!text)
		return strdup("");
	text[len] = '\0';
	return text;
}

static char *body_read(struct session *s, const struct command *q, size_t *ret_len)
{
	const char *path = q->words[FILE_NAME];
	bool from_session = strcmp(path, "-") == 0;
	FILE *in = from_session ? s->in : fopen(path, "re");
	unsigned long lines = 0;
	char *text = NULL;

	if (in)
		text = lines_read(in, from_session && is_base64(q), ret_len, &lines);
	if (from_session)
		s->read += lines; /* commands behind it are in lines of the same file */
	if (!text)
		fprintf(stderr, "%s - %s\n", path, strerror(errno));
	if (in && !from_session)
		fclose(in);
	return text;
}

static int import_send(struct session *s, const struct command *q, const struct target *t,
		       char *content)
{
	static char type[] = "content-type", encoding[] = "content-encoding",
		    file[] = "input-file", body[] = "content";
	char *slash = strrchr(q->words[FILE_NAME], '/');
	struct attropl a[4] = {
		{ &a[1], type, NULL, q->words[TYPE], SET },
		{ &a[2], encoding, NULL, q->words[ENCODING], SET },
		{ &a[3], file, NULL, slash ? slash + 1 : q->words[FILE_NAME], SET },
		{ NULL, body, NULL, content, SET },
	};
	struct command with = *q;

	with.attributes = a;
	return change_run(s, &with, t);
}

/* Checks that the required words are given; prints a framed sentence if not. */
static int words_check(const struct command *q, const struct target *t, int n)
{
	static const char *const names[] = { "<content-type>", "<content-encoding>",
					     "<input-file>" };
	char text[128];

	for (int i = 0; i < n; i++) {
		if (q->words[i])
			continue;
		snprintf(text, sizeof(text), "hook %s command has no %s argument",
			 q->verb == MGR_CMD_IMPORT ? "import" : "export", names[i]);
		return target_failed_as(t, PBSE_HOOKERROR, text);
	}
	return 0;
}

int import_run(struct session *s, const struct command *q, const struct target *t)
{
	size_t len = 0;
	char *text, *content;
	int status = words_check(q, t, 3);

	if (status != 0)
		return status;
	text = body_read(s, q, &len);
	if (!text)
		return FAILED;
	content = is_base64(q) ? strdup(text) : base64_encode(text, len);
	free(text);
	if (!content)
		return FAILED;
	status = import_send(s, q, t, content);
	free(content);
	return status;
}

char *hook_body_get(const struct target *t, const char *hook, const char *content_type)
{
	char name[] = "content", *type = strdup(content_type), *body = NULL;
	struct attrl want = { .name = name, .resource = type };
	struct batch_status *status;

	if (!type)
		return NULL;
	status = pbs_stathook(t->c, hook, &want, SITE_HOOK);
	if (status && status->attribs && status->attribs->value)
		body = strdup(status->attribs->value);
	else if (pbs_errno == 0)
		body = strdup("");
	pbs_statfree(status);
	free(type);
	return body;
}

static int body_write(const struct command *q, const char *body)
{
	const char *path = q->words[FILE_NAME], *bytes = body;
	FILE *out = path ? fopen(path, "we") : stdout;
	size_t len = strlen(body);
	char *decoded = NULL;
	int ret = out ? 0 : -errno;

	if (ret == 0 && !is_base64(q))
		ret = base64_decode(body, &decoded, &len);
	if (decoded)
		bytes = decoded;
	if (ret == 0 && fwrite(bytes, 1, len, out) != len)
		ret = -EIO;
	if (path && out && fclose(out) != 0 && ret == 0)
		ret = -errno;
	free(decoded);
	if (ret == 0)
		return 0;
	fprintf(stderr, "%s - %s\n", path ? path : "standard output", strerror(-ret));
	return FAILED;
}

int export_run(struct session *s, const struct command *q, const struct target *t)
{
	int status = words_check(q, t, 2);
	char *body;

	if (status != 0)
		return status;
	if (!is_one_of(q->words[TYPE], types))
		return target_failed_as(t, PBSE_HOOKERROR,
					"<content-type> must be application/x-python or "
					"application/x-config");
	if (!is_one_of(q->words[ENCODING], encodings))
		return target_failed_as(t, PBSE_HOOKERROR,
					"<content-encoding> must be 'default' or 'base64'");
	body = hook_body_get(t, t->name, q->words[TYPE]);
	if (!body)
		return target_failed(s, t);
	status = body_write(q, body);
	free(body);
	return status;
}
