/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - the command line of keelsond.
 */
#ifndef KEELSON_OPTIONS_H
#define KEELSON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
	const char *conf_file; /* NULL: place_conf_file() */
	const char *home;   /* NULL: as configured */
	uint32_t roles;     /* enum keel_daemon bits; 0: as configured */
	bool check, foreground, version, help;
	const char **set;   /* "key=value"; owned, the strings are argv's */
	size_t n_set;
	const char *set_dir;  /* run with this set of modules (keel/renew.h), or check it; NULL: with the configuration */
	const char *back;     /* with set_dir: the one to go back to; or NULL */
	const char *refused;  /* with set_dir: why this is the one that was gone back to; or NULL */
	bool last_good;       /* run with the last set that served */
};

/* Returns 0, -EINVAL (the error is printed to standard error) or -ENOMEM. */
int options_parse(int argc, char **argv, struct options *ret);
void options_fini(struct options *o);
void options_usage(void);

#endif
