/* SPDX-License-Identifier: Apache-2.0
 *
 * conf.c - pbs.conf, and the environment that overrides it.
 *
 * The file: KEY=value lines, '#' comments, unknown keys ignored, the last of two equal keys wins.
 * The environment variable PBS_ENVIRONMENT means something else (the kind of the job), so it does not override the key.
 * All values are behind one lock and returned as copies: a reload in one thread frees no string that another one uses.
 */
#include "conf.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_ifl.h"

#define CONF_FILE_DEFAULT "/etc/pbs.conf"

static const struct {
	const char *name, *built_in;
} keys[CONF_KEYS] = {
#define CONF_KEY(name, default_value) { #name, default_value },
#include "conf_keys.def"
#undef CONF_KEY
};

static struct {
	pthread_mutex_t lock;
	bool loaded;
	int failure; /* of the last load, -errno */
	char *file[CONF_KEYS]; /* owned */
} conf = { .lock = PTHREAD_MUTEX_INITIALIZER };

static enum conf_key key_find(const char *name)
{
	unsigned i;

	for (i = 0; i < CONF_KEYS && strcmp(keys[i].name, name) != 0; i++)
		;
	return (enum conf_key)i;
}

static char *blanks_cut(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	*end = '\0';
	return text;
}

static int line_read(char *line)
{
	char *equals, *name = blanks_cut(line), *value;
	enum conf_key key;

	equals = strchr(name, '=');
	if (*name == '#' || equals == NULL)
		return 0;
	*equals = '\0';
	key = key_find(blanks_cut(name));
	value = blanks_cut(equals + 1);
	if (key == CONF_KEYS || *value == '\0')
		return 0;
	value = strdup(value);
	if (value == NULL)
		return -ENOMEM;
	free(conf.file[key]);
	conf.file[key] = value;
	return 0;
}

static int file_read(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	if (file == NULL)
		return -errno;
	while (ret == 0 && getline(&line, &size, file) >= 0)
		ret = line_read(line);
	if (ret == 0 && ferror(file))
		ret = -EIO;
	free(line);
	fclose(file);
	return ret;
}

/* The environment's value for `key`, or NULL. PBS_DEFAULT is an old name of PBS_SERVER. */
static const char *from_environment(enum conf_key key)
{
	const char *value = NULL;

	if (key != CONF_PBS_ENVIRONMENT)
		value = getenv(keys[key].name);
	if (key == CONF_PBS_SERVER && (value == NULL || *value == '\0'))
		value = getenv("PBS_DEFAULT");
	return value == NULL || *value == '\0' ? NULL : value;
}

/* The caller holds the lock. */
static int load_locked(bool again)
{
	const char *path = getenv("PBS_CONF_FILE");

	if (conf.loaded && !again)
		return conf.failure;
	for (unsigned i = 0; i < CONF_KEYS; i++) {
		free(conf.file[i]);
		conf.file[i] = NULL;
	}
	conf.loaded = true;
	conf.failure = file_read(path == NULL || *path == '\0' ? CONF_FILE_DEFAULT : path);
	if (conf.failure != 0 && conf.failure != -ENOMEM &&
	    from_environment(CONF_PBS_SERVER) != NULL)
		conf.failure = 0;
	return conf.failure;
}

char *conf_get_from_file(enum conf_key key)
{
	char *copy;

	pthread_mutex_lock(&conf.lock);
	load_locked(false);
	copy = conf.file[key] == NULL ? NULL : strdup(conf.file[key]);
	pthread_mutex_unlock(&conf.lock);
	return copy;
}

char *conf_get(enum conf_key key)
{
	const char *value = from_environment(key);
	char *copy;

	if (value != NULL)
		return strdup(value);
	copy = conf_get_from_file(key);
	if (copy == NULL && keys[key].built_in != NULL)
		copy = strdup(keys[key].built_in);
	return copy;
}

int pbs_loadconf(int reload)
{
	int ret;

	pthread_mutex_lock(&conf.lock);
	ret = load_locked(reload != 0);
	pthread_mutex_unlock(&conf.lock);
	return ret == 0;
}

char *pbs_conf_value(const char *key)
{
	enum conf_key found = key == NULL ? CONF_KEYS : key_find(key);

	return found == CONF_KEYS ? NULL : conf_get(found);
}
