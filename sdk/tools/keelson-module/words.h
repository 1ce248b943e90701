/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - what a descriptor holds, in words; shared by all the forms in which it is described.
 */
#ifndef KEELSON_WORDS_H
#define KEELSON_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modfile/descriptor.h"
#include "points.h"

/* Texts are written to buf, terminated, and returned. */
#define WORDS_MAX 512
/* "integer from 1 to 100" */
const char *words_of_type(const struct keel_conf_rule *r, char buf[WORDS_MAX]);
/* Only the type: "duration". */
const char *word_of_type(uint32_t type);
/* How the default is written in a file: quoted where it has to be. */
const char *words_of_default(const struct keel_conf_rule *r, char buf[WORDS_MAX]);
/* Is it a key that the daemon reads in every module's group? */
bool is_common_key(const char *key);
/* "server and mom" */
const char *words_of_daemons(uint32_t roles);
/* "reject", "skip", "bench" */
const char *words_of_policy(const struct keel_tap *t);
/* "read by everybody"; false: the row says nothing of it. */
bool words_of_field(const struct modfile_field *f, const void *def, char buf[WORDS_MAX]);
/* What it is called, its sentence ("" without), and the class it belongs to (NULL without). */
const char *contrib_title(const struct modfile_contrib *c);
const char *contrib_doc(const struct modfile_contrib *c);
const char *contrib_class(const struct modfile_contrib *c);

static inline const char *or_nothing(const char *text)
{
	return text == NULL ? "" : text;
}

#endif
