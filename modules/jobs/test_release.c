/* SPDX-License-Identifier: Apache-2.0
 *
 * test_release.c - what a suspension gives back is what is remembered on the job, also without memory.
 */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

static struct job slot;
static const char *remembered, *of_nodes, *of_server, *logged;
static bool no_memory, vnodes_told;

static void *slot_of(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod, (void)obj;
	return &slot;
}

static int32_t set_str(struct keel_obj *obj, const struct keel_attr *attr, const char *text)
{
	(void)obj, (void)attr;
	if (no_memory)
		return -12;
	remembered = text;
	return 0;
}

static const char *get_str(const struct keel_obj *obj, const struct keel_attr *attr)
{
	(void)obj, (void)attr;
	return remembered;
}

static const void *get_ptr(const struct keel_obj *obj, const struct keel_attr *attr)
{
	(void)obj, (void)attr;
	return NULL;
}

static void unset(struct keel_obj *obj, const struct keel_attr *attr, const char *key)
{
	(void)obj, (void)attr, (void)key;
	remembered = NULL;
}

static struct keel_obj *find(struct keel_mod *mod, const char *klass, const char *id)
{
	static uint64_t server;

	(void)mod, (void)id;
	return strcmp(klass, "server") == 0 ? (void *)&server : NULL;
}

static const char *id_of(const struct keel_obj *obj)
{
	(void)obj;
	return "1.svr";
}

static void record(struct keel_mod *mod, uint32_t event, const char *klass, const char *object, const char *fmt, ...)
{
	(void)mod, (void)event, (void)klass, (void)object;
	logged = fmt;
}

static const char *fact(struct keel_mod *mod, uint32_t which)
{
	(void)mod;
	return which == KEEL_FACT_SERVER_NAME ? "svr" : "";
}

static bool nobody(struct keel_mod *mod, uint32_t point)
{
	(void)mod, (void)point;
	return false;
}

static void node_release(struct keel_mod *mod, const char *job_id, const char *exec_vnode, const char *only, bool ended)
{
	(void)mod, (void)job_id, (void)exec_vnode, (void)ended;
	vnodes_told = true;
	of_nodes = only;
}

static void charge_list(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr,
			const struct keel_reslist *list, int32_t sign, const char *only)
{
	(void)mod, (void)obj, (void)attr, (void)list;
	CU_ASSERT_EQUAL(sign, -1);
	of_server = only;
}

/* A running job gives back these; true: just these are remembered and came free. */
static bool gives_back(const char *names)
{
	static const struct keel_object_api object = { .size = sizeof(object), .slot = slot_of, .set_str = set_str,
						       .get_str = get_str, .get_ptr = get_ptr, .unset = unset,
						       .find = find, .id = id_of };
	static const struct keel_core_api core = { .size = sizeof(core), .log = record, .fact = fact };
	static const struct keel_hook_api hook = { .size = sizeof(hook), .tapped = nobody };
	static const struct keel_node_api node = { .size = sizeof(node), .release = node_release };
	static const struct keel_resource_api resource = { .size = sizeof(resource), .charge_list = charge_list };
	struct state st = { .counting = false };
	struct keel_mod mod = { .state = &st, .name = "jobs" };
	const char *kept;

	KEEL_MODULE_kernel = (struct keel_kernel){ .object = &object, .core = &core, .hook = &hook };
	KEEL_USE_node = &node;
	KEEL_USE_resource = &resource;
	slot = (struct job){ .step = STEP_RUNNING, .occupies = OCCUPIES_ALL };
	remembered = logged = of_nodes = of_server = NULL;
	vnodes_told = false;
	release_apply(&mod, NULL, names);
	kept = released(&mod, NULL);
	CU_ASSERT_TRUE(vnodes_told);
	CU_ASSERT_EQUAL(slot.occupies, kept ? OCCUPIES_REST : OCCUPIES_NOTHING);
	if (!kept || !of_nodes || !of_server)
		return !kept && !of_nodes && !of_server && (!names || no_memory);
	return strcmp(kept, names) == 0 && strcmp(of_nodes, names) == 0 && strcmp(of_server, names) == 0;
}

static void test_named(void)
{
	CU_ASSERT_TRUE(gives_back(NULL));
	CU_ASSERT_TRUE(gives_back("ncpus,lic"));
	CU_ASSERT_TRUE(gives_back(""));
	CU_ASSERT_PTR_NULL(logged);
}

/* Names that cannot be stored could not be taken again: everything comes free. */
static void test_no_memory(void)
{
	no_memory = true;
	CU_ASSERT_TRUE(gives_back("ncpus"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(logged);
	CU_ASSERT_STRING_EQUAL(logged, "Unable to create resource released list");
	no_memory = false;
}

TESTS_MAIN("release", TEST(test_named), TEST(test_no_memory))
