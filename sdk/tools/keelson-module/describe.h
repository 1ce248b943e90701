/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.h - what a module is, from its file alone; and the forms in which that is said.
 */
#ifndef KEELSON_DESCRIBE_H
#define KEELSON_DESCRIBE_H

#include <stdio.h>
#include <time.h>

#include "modfile/descriptor.h"

void describe_text(const struct modfile_module *m, FILE *out);
/* A file for modules.d that holds every key. */
void describe_conf(const struct modfile_module *m, FILE *out);
/* A page of the manual; `when` is its date. */
void describe_man(const struct modfile_module *m, time_t when, FILE *out);
void describe_json(const struct modfile_module *m, FILE *out);

#endif
