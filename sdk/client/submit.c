/* SPDX-License-Identifier: Apache-2.0
 *
 * submit.c - submits a job: attributes, and the text of its script.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"
#include "connection.h"
#include "error_text.h"
#include "pbs_error.h"
#include "prepare.h"
#include "result.h"
#include "verify.h"

/* Reads the file to its end; a file above the size limit of scripts is an error. */
static int read_all(int fd, char **ret_bytes, size_t *ret_len)
{
	size_t len = 0, size = 0;
	char *bytes = NULL;

	for (;;) {
		ssize_t n;

		if (len == size) {
			char *grown = len > WIRE_SCRIPT_MAX ? NULL : realloc(bytes, size + 65536);

			if (grown == NULL) {
				free(bytes);
				return len > WIRE_SCRIPT_MAX ? -EFBIG : -ENOMEM;
			}
			bytes = grown;
			size += 65536;
		}
		n = read(fd, bytes + len, size - len);
		if (n == 0)
			break;
		if (n > 0) {
			len += (size_t)n;
		} else if (errno != EINTR) {
			free(bytes);
			return -errno;
		}
	}
	if (len > WIRE_SCRIPT_MAX) {
		free(bytes);
		return -EFBIG;
	}
	*ret_bytes = bytes;
	*ret_len = len;
	return 0;
}

static int script_read(const char *path, char **ret_bytes, size_t *ret_len)
{
	int fd, ret;

	*ret_bytes = NULL;
	*ret_len = 0;
	if (path == NULL || *path == '\0')
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = read_all(fd, ret_bytes, ret_len);
	close(fd);
	return ret;
}

static int submit_send(int c, const struct attropl *attrs, const char *script, size_t script_len,
		       const char *destination, const char *extend, char **ret_id)
{
	struct result_text id = { .key = "id" };
	struct listener l = { .reply = result_text_reply, .arg = &id };
	int ret;

	ret = CALL(c, "submit", &l, arg_attrs("attrs", attrs),
		   arg_bin("script", script, script_len),
		   arg_str("dest", destination == NULL ? "" : destination),
		   arg_str("extend", extend));
	*ret_id = id.text;
	return ret;
}

/* The errors for an unknown attribute and a malformed destination are returned without a text. */
static void hush(int c)
{
	if (pbs_errno == PBSE_NOATTR || pbs_errno == PBSE_QUENBIG)
		connection_fail(connection_find(c), pbs_errno, NULL);
}

char *pbs_submit(int c, struct attropl *attrib, const char *script, const char *destination,
		 const char *extend)
{
	struct attropl *prepared = NULL;
	char *bytes, *id = NULL, text[160];
	size_t len;
	int ret;

	if (verify(c, VERIFY_SUBMIT, attrib) != 0) {
		hush(c);
		return NULL;
	}
	if (destination != NULL && strcspn(destination, "@") > PBS_MAXQUEUENAME) {
		connection_fail(connection_find(c), PBSE_QUENBIG, NULL);
		return NULL;
	}
	ret = script_read(script, &bytes, &len);
	if (ret == 0)
		ret = prepare_job(attrib, &prepared);
	if (ret == -EFBIG) {
		snprintf(text, sizeof(text), "%s: %u bytes are taken", error_text(PBSE_JOBSCRIPTMAXSIZE),
			 WIRE_SCRIPT_MAX);
		connection_fail(connection_find(c), PBSE_JOBSCRIPTMAXSIZE, text);
	} else if (ret < 0) {
		connection_fail_code(connection_find(c), -ret);
	} else if (submit_send(c, prepared, bytes, len, destination, extend, &id) != 0) {
		hush(c);
	}
	prepare_free(prepared);
	free(bytes);
	return id;
}
