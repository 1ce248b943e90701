/* SPDX-License-Identifier: Apache-2.0
 *
 * look.h - a module file mapped and checked by itself, without a set of modules: what keelson-modhost does.
 */
#ifndef KEELSON_MODULE_LOOK_H
#define KEELSON_MODULE_LOOK_H

#include "keel/module.h"

struct module_look;

/* Note, mapping and descriptor, checked like those of any module. 0 or -errno with *err. */
int module_look(const char *path, struct module_look **ret_look, struct keel_err *err);
/* This kernel's size, whatever the file's; its rules too. */
const struct keel_module *module_look_descriptor(const struct module_look *l);
const struct keel_conf_rule *module_look_rules(const struct module_look *l);

#endif
