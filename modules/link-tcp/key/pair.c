/* SPDX-License-Identifier: Apache-2.0
 *
 * pair.c - make and write key files.
 *
 * The secret file is created with O_EXCL and its final mode, so there is no moment in which others
 * could read it and no key that is replaced by mistake.
 */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_SIZE 512

void pair_make(struct identity *id, uint32_t daemon, const char *host)
{
	*id = (struct identity){ .daemon = daemon };
	snprintf(id->host, sizeof(id->host), "%s", host);
	crypto_kx_keypair(id->public_key, id->secret_key);
}

void pair_wipe(struct identity *id)
{
	sodium_memzero(id, sizeof(*id));
}

static int say(struct keel_err *err, int ret, const char *path)
{
	snprintf(err->text, sizeof(err->text), "%s: %s", path,
		 ret == -EEXIST ? "exists already; remove it first if the key is to be replaced" : strerror(-ret));
	return ret;
}

static int write_file(const char *path, mode_t mode, const struct identity *id, const uint8_t *key,
		      struct keel_err *err)
{
	char text[64], line[LINE_SIZE];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), len, ret = 0;

	if (fd < 0)
		return say(err, -errno, path);
	sodium_bin2base64(text, sizeof(text), key, KEY_SIZE, sodium_base64_VARIANT_ORIGINAL);
	len = snprintf(line, sizeof(line), "%s %s %s\n", key_role_word(id->daemon), id->host, text);
	if (fchmod(fd, mode) < 0 || write(fd, line, (size_t)len) != len || fsync(fd) < 0)
		ret = errno != 0 ? -errno : -EIO;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	sodium_memzero(text, sizeof(text));
	sodium_memzero(line, sizeof(line));
	if (ret < 0) {
		unlink(path);
		return say(err, ret, path);
	}
	return 0;
}

int pair_write(const struct identity *id, const char *dir, struct keel_err *err)
{
	char secret[4096], public[4096];
	int ret;

	if ((size_t)snprintf(secret, sizeof(secret), "%s/%s.key", dir, id->host) >= sizeof(secret) ||
	    (size_t)snprintf(public, sizeof(public), "%s/%s.pub", dir, id->host) >= sizeof(public))
		return say(err, -ENAMETOOLONG, dir);
	if (access(public, F_OK) == 0)
		return say(err, -EEXIST, public);
	ret = write_file(secret, 0600, id, id->secret_key, err);
	if (ret == 0) {
		ret = write_file(public, 0644, id, id->public_key, err);
		if (ret < 0)
			unlink(secret);
	}
	return ret;
}
