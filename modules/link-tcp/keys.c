/* SPDX-License-Identifier: Apache-2.0
 *
 * keys.c - read key files. Key files are input like any other: bounded and checked.
 */
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 512

/* keelson-key has no daemon to do this. */
__attribute__((format(printf, 3, 4))) static int err_set(struct keel_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	err->code = 0;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

static const struct {
	const char *word;
	uint32_t daemon;
} roles[] = {
	{ "server", KEEL_SERVER },
	{ "mom", KEEL_MOM },
	{ "login", KEEL_LOGIN },
};

bool key_host_valid(const char *host, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

	if (len == 0 || len > KEY_HOST_MAX || host[0] == '.' || host[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (host[i] == '\0' || strchr(allowed, host[i]) == NULL)
			return false;
	}
	return true;
}

/* The next word of a line, blanks between; NULL at the end. */
static const char *word(const char **at, const char *end, size_t *ret_len)
{
	const char *start;

	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	start = *at;
	while (*at < end && **at != ' ' && **at != '\t' && **at != '\n' && **at != '\r')
		(*at)++;
	*ret_len = (size_t)(*at - start);
	return *ret_len > 0 ? start : NULL;
}

uint32_t key_role(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strlen(roles[i].word) == len && memcmp(roles[i].word, text, len) == 0)
			return roles[i].daemon;
	}
	return 0;
}

const char *key_role_word(uint32_t daemon)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (roles[i].daemon == daemon)
			return roles[i].word;
	}
	return NULL;
}

bool key_decode(const char *text, size_t len, uint8_t ret_key[KEY_SIZE])
{
	size_t bin_len = 0;

	return sodium_base642bin(ret_key, KEY_SIZE, text, len, NULL, &bin_len, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
	       bin_len == KEY_SIZE;
}

int key_parse(const char *line, size_t len, uint32_t *ret_daemon, char ret_host[KEY_HOST_MAX + 1],
	      uint8_t ret_key[KEY_SIZE])
{
	const char *at = line, *end = line + len, *part[3];
	size_t n[3];
	uint8_t key[KEY_SIZE];
	uint32_t daemon;

	for (int i = 0; i < 3; i++) {
		part[i] = word(&at, end, &n[i]);
		if (part[i] == NULL)
			return -EINVAL;
	}
	while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0')
		at++;
	daemon = key_role(part[0], n[0]);
	if (at != end || daemon == 0 || !key_host_valid(part[1], n[1]))
		return -EINVAL;
	if (!key_decode(part[2], n[2], key))
		return -EINVAL;
	*ret_daemon = daemon;
	memcpy(ret_host, part[1], n[1]);
	ret_host[n[1]] = '\0';
	memcpy(ret_key, key, KEY_SIZE);
	sodium_memzero(key, sizeof(key));
	return 0;
}

/* At most FILE_MAX bytes of a regular file; `own` ones must not be accessible to other users. */
static int read_small(const char *path, bool own, char buf[FILE_MAX], size_t *ret_len,
		      struct keel_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ret = 0;
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return err_set(err, -errno, "key file %s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0)
		ret = err_set(err, -errno, "key file %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		ret = err_set(err, -EINVAL, "key file %s is no regular file", path);
	else if (own && ((st.st_mode & 077) != 0 || (st.st_uid != geteuid() && st.st_uid != 0)))
		ret = err_set(err, -EPERM, "key file %s can be read by others; make it the daemon's "
			      "own with mode 0600, or make a new key", path);
	if (ret == 0) {
		n = read(fd, buf, FILE_MAX);
		if (n < 0)
			ret = err_set(err, -errno, "key file %s: %s", path, strerror(errno));
		else
			*ret_len = (size_t)n;
	}
	close(fd);
	return ret;
}

int key_read(const char *path, enum key_file kind, struct identity *ret, struct keel_err *err)
{
	struct identity id = { 0 };
	char buf[FILE_MAX];
	size_t len = 0;
	int failed = read_small(path, kind == KEY_OWN, buf, &len, err);

	if (failed < 0)
		return failed;
	failed = key_parse(buf, len, &id.daemon, id.host, kind == KEY_PUBLIC ? id.public_key : id.secret_key);
	sodium_memzero(buf, sizeof(buf));
	if (failed < 0 || (kind != KEY_PUBLIC && crypto_scalarmult_base(id.public_key, id.secret_key) != 0))
		return err_set(err, -EINVAL,
			       "key file %s: expected one line `server|mom|login HOST KEY`; write it "
			       "with keelson-key",
			       path);
	*ret = id;
	sodium_memzero(&id, sizeof(id));
	return 0;
}

int key_read_public(const char *dir, const char *name, struct identity *ret, struct keel_err *err)
{
	char path[4096];

	if (!key_host_valid(name, strlen(name)))
		return err_set(err, -EINVAL, "a peer's name is no host name");
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.pub", dir, name) >= sizeof(path))
		return err_set(err, -ENAMETOOLONG, "the path of the peers' keys is too long");
	return key_read(path, KEY_PUBLIC, ret, err);
}
