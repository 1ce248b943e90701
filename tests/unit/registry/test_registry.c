/* SPDX-License-Identifier: Apache-2.0
 *
 * test_registry.c - rows meet their kinds in either order; all or none; services and their versions.
 */
#include "registry/registry.h"

#include <errno.h>
#include <string.h>

#include "harness.h"
#include "util/err.h"

struct colour_def {
	uint32_t size;
	const char *name;
};
static struct owner alpha = { .pub.name = "alpha" }, beta = { .pub.name = "beta" };
static char trace[512];
static struct registry *r;
static struct keel_err err;

static void start(void)
{
	trace[0] = '\0';
	err.text[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(registry_create(&r), 0);
}

static void stop(void)
{
	registry_remove(r, &alpha);
	registry_remove(r, &beta);
	CU_ASSERT_EQUAL(alpha.live, 0);
	CU_ASSERT_EQUAL(beta.live, 0);
	registry_destroy(r);
}

static int add(void *arg, struct owner *owner, const void *def, struct keel_err *why)
{
	const struct colour_def *c = def;

	(void)arg;
	if (strcmp(c->name, "bad") == 0) {
		if (why != NULL)
			snprintf(why->text, sizeof(why->text), "no such colour");
		return -EINVAL;
	}
	if (strcmp(c->name, "mute") == 0)
		return -EINVAL;
	if (strcmp(c->name, "positive") == 0)
		return err_set(why, 15014, "a code of users' answers");
	sprintf(trace + strlen(trace), "+%s.%s ", owner->pub.name, c->name);
	return 0;
}

static void drop(void *arg, struct owner *owner, const void *def)
{
	const struct colour_def *c = def;

	(void)arg;
	sprintf(trace + strlen(trace), "-%s.%s ", owner->pub.name, c->name);
}

static int32_t mod_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *why)
{
	return add(self, owner_of(owner), def, why);
}

static void mod_drop(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	drop(self, owner_of(owner), def);
}

static const struct registry_kind kernel_kind = { "COLOUR", add, drop, NULL, 0 };
static const struct keel_kind_def mod_kind = { .size = sizeof(mod_kind), .name = "COLOUR",
					       .add = mod_add, .remove = mod_drop };
static const struct colour_def red = { sizeof(red), "red" }, blue = { sizeof(blue), "blue" },
			       bad = { sizeof(bad), "bad" }, mute = { sizeof(mute), "mute" };
static const struct keel_contrib colours[] = { { "COLOUR", &red }, { "COLOUR", &blue } };
static const struct keel_contrib kinds[] = { KEEL_ROW(KIND, mod_kind) };

static int add_rows(struct owner *o, const struct keel_contrib *rows, uint32_t n)
{
	return registry_add(r, o, rows, n, &err);
}

static void rows_go_to_their_kind_and_back(void)
{
	start();
	CU_ASSERT_EQUAL(registry_kind(r, &kernel_kind), 0);
	CU_ASSERT_EQUAL(registry_kind(r, &kernel_kind), -EEXIST);
	CU_ASSERT_EQUAL(add_rows(&alpha, colours, 2), 0);
	CU_ASSERT_EQUAL(alpha.live, 2);
	registry_remove(r, &alpha);
	CU_ASSERT_STRING_EQUAL(trace, "+alpha.red +alpha.blue -alpha.blue -alpha.red ");
	stop();
}

static void rows_wait_for_a_kind(void)
{
	start();
	CU_ASSERT_EQUAL(add_rows(&alpha, colours, 2), 0);
	CU_ASSERT_STRING_EQUAL(trace, "");
	CU_ASSERT_EQUAL(add_rows(&beta, kinds, 1), 0);
	CU_ASSERT_STRING_EQUAL(trace, "+alpha.red +alpha.blue ");
	trace[0] = '\0';
	registry_remove(r, &beta); /* the kind leaves */
	CU_ASSERT_STRING_EQUAL(trace, "-alpha.blue -alpha.red ");
	stop();
}

/* Rows of other headers: shorter, longer, without a size. */
struct shade_def {
	uint32_t size, depth;
	const char *name;
	const char *note;
};
static uint32_t n_shades;

static int shade_add(void *arg, struct owner *owner, const void *def, struct keel_err *why)
{
	const struct shade_def *d = def;

	(void)owner;
	(void)why;
	CU_ASSERT_EQUAL(d->size, sizeof(*d));
	CU_ASSERT_STRING_EQUAL(d->name, "shade");
	CU_ASSERT_PTR_EQUAL(d->note, arg);
	n_shades++;
	return 0;
}

static void shade_remove(void *arg, struct owner *owner, const void *def)
{
	CU_ASSERT_EQUAL(shade_add(arg, owner, def, NULL), 0);
	n_shades -= 2;
}

static void rows_have_the_size_of_their_kind(void)
{
	static char note[] = "note";
	static const struct {
		struct shade_def def;
		uint64_t news;
	} longer = { { sizeof(longer), 0, "shade", note }, 7 };
	static const struct shade_def shorter = { offsetof(struct shade_def, note), 0, "shade", note },
				      none = { 0, 0, "shade", note };
	const struct registry_kind notes = { "LONG", shade_add, shade_remove, note, sizeof(longer.def) };
	const struct registry_kind empty = { "SHORT", shade_add, shade_remove, NULL, sizeof(shorter) };
	const struct keel_contrib known[] = { { "SHORT", &shorter }, { "LONG", &longer } };
	const struct keel_contrib unsized[] = { { "LONG", &longer }, { "SHORT", &none } };

	start();
	CU_ASSERT_EQUAL(registry_kind(r, &notes), 0);
	CU_ASSERT_EQUAL(registry_kind(r, &empty), 0);
	CU_ASSERT_EQUAL(add_rows(&alpha, known, 2), 0);
	CU_ASSERT_EQUAL(n_shades, 2);
	CU_ASSERT_EQUAL(add_rows(&beta, unsized, 2), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a SHORT row of module beta has no size"));
	CU_ASSERT_EQUAL(n_shades, 2);
	registry_remove(r, &alpha);
	CU_ASSERT_EQUAL(n_shades, 0);
	stop();
}

static void all_rows_or_none(void)
{
	static const struct keel_contrib some_bad[] = { { "COLOUR", &red }, { "COLOUR", &bad } };
	static const struct keel_contrib silent[] = { { "COLOUR", &mute } };
	static const struct keel_contrib empty[] = { { "COLOUR", &red }, { NULL, &red } };

	start();
	CU_ASSERT_EQUAL(registry_kind(r, &kernel_kind), 0);
	CU_ASSERT_EQUAL(add_rows(&alpha, some_bad, 2), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "no such colour");
	CU_ASSERT_STRING_EQUAL(trace, "+alpha.red -alpha.red ");
	CU_ASSERT_EQUAL(add_rows(&alpha, silent, 1), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "COLOUR"));
	CU_ASSERT_EQUAL(add_rows(&alpha, empty, 2), -EINVAL);
	CU_ASSERT_EQUAL(add_rows(&alpha, NULL, 2), -EINVAL);
	CU_ASSERT_EQUAL(alpha.live, 0);
	stop();
}

static void a_kind_that_refuses_waiting_rows_does_not_come(void)
{
	static const struct keel_contrib waiting[] = { { "COLOUR", &red }, { "COLOUR", &bad } };

	start();
	CU_ASSERT_EQUAL(add_rows(&alpha, waiting, 2), 0);
	CU_ASSERT_EQUAL(add_rows(&beta, kinds, 1), -EINVAL);
	CU_ASSERT_STRING_EQUAL(trace, "+alpha.red -alpha.red ");
	CU_ASSERT_EQUAL(registry_kind(r, &kernel_kind), -EINVAL);
	stop();
}

static void clashing_kinds_name_both_owners(void)
{
	static const struct keel_kind_def ours = { .size = sizeof(ours), .name = "SERVICE",
						   .add = mod_add, .remove = mod_drop };
	static const struct keel_contrib kernels[] = { KEEL_ROW(KIND, ours) };

	start();
	CU_ASSERT_EQUAL(add_rows(&alpha, kinds, 1), 0);
	CU_ASSERT_EQUAL(add_rows(&beta, kinds, 1), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "alpha"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "beta"));
	CU_ASSERT_EQUAL(add_rows(&beta, kernels, 1), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "the kernel"));
	stop();
}

struct table {
	uint32_t size, version;
	struct keel_mod *self;
	uint64_t extra;
	void (*newer)(void);
};

static void services_know_their_module_and_version(void)
{
	static const struct {
		struct table known;
		uint64_t others[4];
	} table = { { .size = offsetof(struct table, newer), .extra = 42 }, { ~0ull, ~0ull, ~0ull, ~0ull } };
	static const struct keel_service_def def = { .size = sizeof(def), .version = 2,
						     .name = "paint", .table = &table };
	static const struct keel_contrib rows[] = { KEEL_ROW(SERVICE, def) };
	static const struct table large = { .size = 65537 };
	static const struct keel_service_def large_def = { .size = sizeof(def), .name = "mural", .table = &large };
	static const struct keel_contrib larger[] = { KEEL_ROW(SERVICE, large_def) };
	static const struct table core = { .size = sizeof(core), .version = 1 };
	struct owner *owner = &beta;
	const struct table *t;

	start();
	CU_ASSERT_PTR_NULL(registry_service(r, "paint", 0, NULL, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no module offers"));
	CU_ASSERT_EQUAL(registry_offer(r, "core", &core), 0);
	CU_ASSERT_EQUAL(registry_offer(r, "core", &core), -EEXIST);
	CU_ASSERT_PTR_EQUAL(registry_service(r, "core", 1, &owner, &err), &core);
	CU_ASSERT_PTR_NULL(owner);
	CU_ASSERT_EQUAL(add_rows(&alpha, rows, 1), 0);
	CU_ASSERT_EQUAL(add_rows(&beta, rows, 1), -EEXIST);
	CU_ASSERT_EQUAL(add_rows(&beta, larger, 1), -EINVAL); /* past kernel/registry/registry.c TABLE_MAX */
	t = registry_service(r, "paint", 2, &owner, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_PTR_EQUAL(t->self, &alpha.pub);
	CU_ASSERT_EQUAL(t->extra, 42);
	CU_ASSERT_PTR_NULL(t->newer); /* its module was built before there was one */
	CU_ASSERT_PTR_EQUAL(owner, &alpha);
	CU_ASSERT_PTR_NULL(registry_service(r, "paint", 3, NULL, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "upgrade alpha"));
	registry_remove(r, &alpha);
	CU_ASSERT_PTR_NULL(registry_service(r, "paint", 0, NULL, NULL));
	stop();
}

/* What is refused with a positive number is refused, too: it waited, and nobody said so. */
static void a_positive_code_refuses(void)
{
	static const struct colour_def positive = { sizeof(positive), "positive" };
	const struct keel_contrib row = { "COLOUR", &positive };

	start();
	CU_ASSERT_EQUAL(registry_add(r, &alpha, kinds, 1, &err), 0);
	CU_ASSERT_EQUAL(registry_add(r, &beta, &row, 1, &err), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "a code of users' answers");
	CU_ASSERT_EQUAL(beta.live, 0);
	stop();
	start();
	CU_ASSERT_EQUAL(registry_add(r, &beta, &row, 1, &err), 0); /* for a kind that comes later */
	CU_ASSERT_EQUAL(registry_add(r, &alpha, kinds, 1, &err), -EINVAL);
	stop();
}

TESTS_MAIN("registry", TEST(rows_go_to_their_kind_and_back), TEST(rows_wait_for_a_kind),
	   TEST(rows_have_the_size_of_their_kind),
	   TEST(all_rows_or_none), TEST(a_kind_that_refuses_waiting_rows_does_not_come),
	   TEST(clashing_kinds_name_both_owners), TEST(services_know_their_module_and_version),
	   TEST(a_positive_code_refuses))
