/* SPDX-License-Identifier: Apache-2.0
 *
 * check_static.c - what can be said of a module before any of its code runs.
 */
#include "check_static.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check_child.h"
#include "check_report.h"
#include "modfile/elf_file.h"
#include "modfile/elf_names.h"

/* ---- the file -------------------------------------------------------------------------------------- */
static bool file_rules(const struct elf_file *f)
{
	if (!f->has_note)
		finding(RULE_static_note, "there is none");
	else if (f->abi_major != KEEL_ABI_MAJOR || f->abi_minor > KEEL_ABI_MINOR)
		finding(RULE_static_abi, "it is %u.%u, this is %u.%u", (unsigned)f->abi_major,
			(unsigned)f->abi_minor, KEEL_ABI_MAJOR, KEEL_ABI_MINOR);
	if (f->n_exports != 1 || strcmp(f->exports, "keel_module") != 0)
		finding(RULE_static_one_export, "it exports %s", f->n_exports == 0 ? "nothing" : f->exports);
	if (!f->binds_now)
		finding(RULE_static_bind_now, "it is linked to find them when they are called");
	if (f->stack_is_executable)
		finding(RULE_static_stack, "it asks for one that is");
	return f->has_note && !rule_broken(RULE_static_abi);
}

static void variable_found(void *arg, const char *name)
{
	(void)arg;
	finding(RULE_static_globals, "%s", name);
}

/* ---- imports: in a child, because libraries run code when they are opened -------------------------- */
struct libraries {
	void *opened[64];
	unsigned n;
};

static void library_open(void *arg, const char *name)
{
	struct libraries *l = arg;
	void *so = dlopen(name, RTLD_LAZY | RTLD_LOCAL);

	if (so == NULL)
		finding(RULE_static_imports, "library %s is not there", name);
	else if (l->n < sizeof(l->opened) / sizeof(l->opened[0]))
		l->opened[l->n++] = so;
}

static void import_found(void *arg, const char *name)
{
	const struct libraries *l = arg;

	for (unsigned i = 0; i < l->n; i++)
		if (dlsym(l->opened[i], name) != NULL)
			return;
	finding(RULE_static_imports, "no library of it has %s", name);
}

static void imports_look(void *path)
{
	struct libraries l = { .n = 0 };

	elf_libraries(path, library_open, &l);
	elf_imports(path, import_found, &l);
}

/* Everything it names is bound at once. */
const struct keel_module *module_open(const char *path, const char **ret_why)
{
	char *real = realpath(path, NULL);
	void *so = dlopen(real == NULL ? path : real, RTLD_NOW | RTLD_LOCAL);
	const struct keel_module *m = so == NULL ? NULL : dlsym(so, "keel_module");

	free(real);
	*ret_why = m == NULL ? dlerror() : NULL;
	return m;
}

static void try_open(void *path)
{
	const char *why;

	if (module_open(path, &why) == NULL)
		finding(RULE_static_file, "%s", why);
}

/* The file is sound: may it be opened here? */
static const struct keel_module *open_it(const char *path)
{
	const char *why;

	look(RULE_static_imports);
	if (child_run(imports_look, (void *)(uintptr_t)path, 30, &why) != CHILD_DONE)
		finding(RULE_static_imports, "a library of it ends the program that opens it: %s", why);
	if (rule_broken(RULE_static_imports))
		return NULL;
	if (child_run(try_open, (void *)(uintptr_t)path, 30, &why) != CHILD_DONE)
		finding(RULE_static_file, "opening it ends the program: %s", why);
	return rule_broken(RULE_static_file) ? NULL : module_open(path, &why);
}

const struct keel_module *check_file(const char *path)
{
	struct elf_file f;
	const char *why = elf_file_read(path, &f);

	if (why != NULL) {
		finding(RULE_static_file, "%s", why);
		return NULL;
	}
	look(RULE_static_file);
	look_from_to(RULE_static_note, RULE_static_one_export);
	look_from_to(RULE_static_bind_now, RULE_static_globals);
	elf_variables(path, variable_found, NULL);
	return file_rules(&f) ? open_it(path) : NULL;
}
