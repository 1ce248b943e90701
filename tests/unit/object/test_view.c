/* SPDX-License-Identifier: Apache-2.0
 *
 * test_view.c - who sees what, in which order, and the bytes of an answer.
 */
#include "object/fixture.h"
#include "msg/msg.h"
#include "wire/pack.h"

static struct engine e;

/* `attr[.key]=value;...` of the object as a client would read it. */
static const char *answer(struct keel_obj *o, struct keel_view *v)
{
	static char text[2048];
	const struct keel_msg_api *msg = &msg_api;
	struct keel_out *out = msg->out(e.mod);
	const struct pack_value *list, *line;
	const char *bytes;
	struct pack p;
	uint32_t len;

	text[0] = '\0';
	msg->open_array(out, "objects");
	CU_ASSERT_EQUAL(e.api->pack(o, NULL, v, out), 0);
	msg->close(out);
	bytes = out_bytes(out, &len);
	CU_ASSERT_EQUAL_FATAL(pack_open(&p, bytes, len), 0);
	list = pack_get(&p.root, "objects");
	CU_ASSERT_FATAL(list && list->kind == PACK_ARRAY && list->n == 1);
	list = list->at;
	CU_ASSERT_FATAL(list->n == 2);
	CU_ASSERT_EQUAL(list->at[0].kind, PACK_STR);
	list = &list->at[1];
	for (uint32_t i = 0; i < list->n; i++) {
		char *part;

		line = list->at[i].at;
		for (int k = 0; k < 3; k++) {
			part = pack_strdup(&line[k]);
			if (part)
				sprintf(text + strlen(text), "%s%s", k == 1 ? "." : k == 2 ? "=" : "",
					part);
			free(part);
		}
		strcat(text, ";");
	}
	pack_fini(&p);
	msg->drop(out);
	return text;
}

static struct keel_obj *full(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1.svr");
	engine_set(&e, o, "hidden", KEEL_SET, NULL, "h");
	engine_set(&e, o, "secret", KEEL_SET, NULL, "s");
	engine_set(&e, o, "pairs", KEEL_SET, "x", "1");
	engine_set(&e, o, "pairs", KEEL_SET, "y", "2");
	engine_set(&e, o, "flag", KEEL_SET, NULL, "f");
	engine_set(&e, o, "mem", KEEL_SET, NULL, "1gb");
	engine_set(&e, o, "span", KEEL_SET, NULL, "90");
	engine_set(&e, o, "count", KEEL_SET, NULL, "-12");
	engine_set(&e, o, "Name", KEEL_SET, NULL, "n");
	return o;
}

static void everything(void)
{
	struct keel_obj *o = full();
	struct keel_view *v = e.api->view(e.mod, "thing", NULL, 0, KEEL_USER);

	CU_ASSERT_STRING_EQUAL(answer(o, v),
			       "Name=n;count=-12;flag=False;mem=1gb;span=00:01:30;pairs.x=1;pairs.y=2;"
			       "back=600;twice=42;");
	e.api->view_close(v);
	v = e.api->view(e.mod, "thing", NULL, 0, KEEL_EVERYBODY);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer(o, v), "secret=s;"));
	CU_ASSERT_PTR_NULL(strstr(answer(o, v), "hidden"));
	e.api->view_close(v);
	engine_stop(&e);
}

static void wanted(void)
{
	static const struct keel_wanted want[] = { { "twice", NULL }, { "hidden", NULL },
						   { "pairs", "y" },  { "nosuch", NULL },
						   { "pairs", "y" },  { "secret", NULL },
						   { "name", NULL },  { "ratio", NULL } };
	static const struct keel_wanted both[] = { { "pairs", "y" }, { "pairs", NULL } };
	static const struct keel_wanted nothing[] = { { "nosuch", NULL } };
	struct keel_obj *o = full();
	struct keel_view *v = e.api->view(e.mod, "thing", want, 8, KEEL_USER);

	CU_ASSERT_STRING_EQUAL(answer(o, v), "Name=n;pairs.y=2;hidden=h;twice=42;");
	e.api->view_close(v);
	v = e.api->view(e.mod, "thing", both, 2, KEEL_USER);
	CU_ASSERT_STRING_EQUAL(answer(o, v), "pairs.x=1;pairs.y=2;");
	e.api->view_close(v);
	v = e.api->view(e.mod, "thing", nothing, 1, KEEL_USER);
	CU_ASSERT_STRING_EQUAL(answer(o, v), "");
	e.api->view_close(v);
	e.api->view_close(NULL);
	engine_stop(&e);
}

static void rows_leave_an_open_view(void)
{
	const struct keel_contrib row = KEEL_ROW(ATTR, extra_attr);
	struct keel_obj *o = full();
	struct keel_view *v;

	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, &row, 1, NULL), 0);
	o = e.api->find(e.mod, "thing", "1.svr");
	engine_set(&e, o, "extra", KEEL_SET, "k", "3");
	v = e.api->view(e.mod, "thing", NULL, 0, KEEL_USER);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer(o, v), "extra.k=3;"));
	registry_remove(e.parts.registry, &e.guest);
	CU_ASSERT_PTR_NULL(strstr(answer(o, v), "extra"));
	CU_ASSERT_PTR_NOT_NULL(strstr(answer(o, v), "Name=n;"));
	e.api->view_close(v);
	engine_stop(&e);
}

static void long_values(void)
{
	struct keel_obj *o = full();
	struct keel_view *v = e.api->view(e.mod, "thing", &(struct keel_wanted){ "Name", NULL }, 1,
					  KEEL_USER);
	static const size_t lengths[] = { 31, 32, 255, 256, 1000 };
	char text[1024];

	for (int i = 0; i < 5; i++) {
		memset(text, 'x', sizeof(text));
		text[lengths[i]] = '\0';
		engine_set(&e, o, "Name", KEEL_SET, NULL, text);
		CU_ASSERT_EQUAL(strlen(answer(o, v)), lengths[i] + 6);
	}
	e.api->view_close(v);
	engine_stop(&e);
}

static void one_row(void *arg, const struct keel_attr_def *def)
{
	char *text = arg;

	strcat(strcat(text, def->name), " ");
}

static void listing(void)
{
	char text[1024] = "";

	engine_start(&e);
	e.api->rows(e.mod, "thing", one_row, text);
	CU_ASSERT_STRING_EQUAL(text, "Name count even flag mem span ratio list pairs once state secret "
				     "plain back hidden twice fleeting ");
	engine_stop(&e);
}

static void texts_cut(void)
{
	struct keel_obj *o = full();
	const struct keel_attr *pairs = e.api->attr(e.mod, "thing", "pairs");
	char buf[8];

	CU_ASSERT_EQUAL(e.api->text(o, pairs, NULL, buf, sizeof(buf)), 7);
	CU_ASSERT_STRING_EQUAL(buf, "x=1,y=2");
	CU_ASSERT_EQUAL(e.api->text(o, pairs, NULL, buf, 4), 7);
	CU_ASSERT_STRING_EQUAL(buf, "x=1");
	CU_ASSERT_EQUAL(e.api->text(o, pairs, "y", buf, sizeof(buf)), 1);
	CU_ASSERT_STRING_EQUAL(buf, "2");
	CU_ASSERT_EQUAL(e.api->text(o, pairs, "z", buf, sizeof(buf)), -ENODATA);
	CU_ASSERT_EQUAL(e.api->text(o, pairs, NULL, NULL, 0), 7);
	engine_stop(&e);
}

TESTS_MAIN("view", TEST(everything), TEST(wanted), TEST(rows_leave_an_open_view), TEST(long_values),
	   TEST(listing), TEST(texts_cut))
