/* SPDX-License-Identifier: Apache-2.0
 *
 * life.c - the steps of the module's life, as the daemon orders them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "keel/load.h"

/* ---- a configuration from values ---------------------------------------------------------------------- */
static void *keep(struct values *v, void *block)
{
	v->owned = own(reallocarray(v->owned, v->n_owned + 1, sizeof(*v->owned)));
	return v->owned[v->n_owned++] = own(block);
}

static void values_free(struct values *v)
{
	for (uint32_t i = 0; i < v->n_owned; i++)
		free(v->owned[i]);
	free(v->owned);
	free(v->bytes);
	*v = (struct values){ .bytes = NULL };
}

static const char *own_text(struct values *v, struct talk_in *in)
{
	const char *text = take_str(in);

	return text ? keep(v, strdup(text)) : NULL;
}

static const char **list_take(struct values *v, struct talk_in *in)
{
	int64_t n = take_int(in);
	const char **list;

	if (n < 0)
		return NULL;
	list = keep(v, calloc((size_t)n + 1, sizeof(*list)));
	for (int64_t i = 0; i < n; i++)
		list[i] = own_text(v, in);
	return list;
}

static void value_take(struct values *v, const struct keel_conf_rule *r, struct talk_in *in)
{
	char *at = v->bytes + r->offset;

	if (r->type == KEEL_CONF_STRING) {
		*(const char **)at = own_text(v, in);
	} else if (r->type == KEEL_CONF_LIST) {
		*(const char ***)at = list_take(v, in);
	} else {
		int64_t n = take_int(in);

		if (r->type == KEEL_CONF_BOOL)
			*(bool *)at = n != 0;
		else if (r->type == KEEL_CONF_ENUM)
			*(int32_t *)at = (int32_t)n;
		else
			*(int64_t *)at = n;
	}
}

static struct values values_take(const struct value *bytes)
{
	struct values v = { .bytes = own(calloc(1, host.desc->conf_size + 1u)) };
	struct talk_in in = { .at = bytes->s, .end = bytes->s + bytes->len };

	for (uint32_t i = 0; i < host.desc->n_conf; i++)
		value_take(&v, &host.rules[i], &in);
	return v;
}

/* ---- steps -------------------------------------------------------------------------------------------- */
static void answer(int32_t ret, const struct keel_err *err)
{
	reply_begin();
	talk_int(&host.out, ret > 0 ? -EIO : ret);
	talk_int(&host.out, err->code);
	talk_str(&host.out, err->text[0] || ret == 0 ? err->text : "it gave no reason");
	frame_end();
}

typedef int32_t step_fn(struct keel_mod *, struct keel_err *);

static void step(step_fn *fn)
{
	struct keel_err err = { .code = 0 };
	int32_t ret = fn && !host.unusable ? fn(&host.mod, &err) : host.unusable ? -ECHILD : 0;

	answer(ret, &err);
}

static void step_void(void (*fn)(struct keel_mod *))
{
	if (fn && !host.unusable)
		fn(&host.mod);
	answer(0, &(struct keel_err){ .code = 0 });
}

void on_open(const struct value *v, struct talk_in *in)
{
	char **texts[] = { &host.home, &host.exec_dir, &host.server_name, &host.host_name, &host.version };
	char why[1024] = "";
	int32_t ret = -EPROTO;

	(void)in;
	host.daemon = (uint32_t)v[2].i;
	for (uint32_t i = 0; i < KEEL_COUNT(texts); i++)
		*texts[i] = own(strdup(v[3 + i].s ? v[3 + i].s : ""));
	if (v[0].i != TALK_VERSION)
		strcpy(why, "keelson-modhost is of another version than keelsond; install both from one package");
	else if (host.refused)
		snprintf(why, sizeof(why), "its system calls cannot be filtered: %s", host.refused);
	else
		ret = module_open(v[1].s, why, sizeof(why));
	reply_begin();
	talk_int(&host.out, ret);
	talk_str(&host.out, why);
	if (ret == 0)
		describe(&host.out);
	frame_end();
}

void on_conf(const struct value *v, struct talk_in *in)
{
	struct keel_err err = { .code = 0 };
	struct values fresh = values_take(&v[0]);
	int32_t ret = host.desc->check ? host.desc->check(fresh.bytes, &err) : 0;

	(void)in;
	if (ret == 0) {
		struct values old = host.checked;

		host.checked = fresh;
		fresh = old;
	}
	values_free(&fresh);
	answer(ret, &err);
}

static const void *group_of(void *arg, const char *name, uint32_t minor, struct keel_err *err)
{
	const void *group = host_group(name);
	uint32_t version = 0;

	(void)arg;
	if (group)
		memcpy(&version, (const char *)group + sizeof(uint32_t), sizeof(version));
	if (group && version >= minor)
		return group;
	fail_with(err, -ENOENT, "the group '%s' is not there in its minor version %u", name, minor);
	return NULL;
}

/* Before check(): the functions of the kernel's groups can be called. */
void module_link(void)
{
	keel_load_kernel(host.desc, group_of, NULL);
}

void on_init(const struct value *v, struct talk_in *in)
{
	struct keel_err err = { .code = 0 };
	int32_t ret;

	(void)v, (void)in;
	host.conf = host.checked;
	host.checked = (struct values){ .bytes = NULL };
	host.mod.conf = host.conf.bytes;
	host.mod.state = own(calloc(1, host.desc->state_size + 1u));
	/* Without values check() has failed: the daemon says what comes next all the same. */
	ret = host.conf.bytes ? keel_load_services(host.desc, group_of, NULL, &err) : -EPROTO;
	if (ret == 0)
		ret = keel_load_attrs(host.desc, host_group("object"), &host.mod, &err);
	if (ret == 0 && host.desc->init)
		ret = host.desc->init(&host.mod, &err);
	host.unusable = ret != 0;
	answer(ret, &err);
}

void on_start(const struct value *v, struct talk_in *in)
{
	(void)v, (void)in;
	step(host.desc->start);
}

void on_busy(const struct value *v, struct talk_in *in)
{
	(void)v, (void)in;
	step(host.desc->busy);
}

void on_stop(const struct value *v, struct talk_in *in)
{
	(void)v, (void)in;
	step_void(host.desc->stop);
}

void on_fini(const struct value *v, struct talk_in *in)
{
	(void)v, (void)in;
	step_void(host.desc->fini);
}

/* ---- groups --------------------------------------------------------------------------------------------- */
/* A function that was appended to a group and forgotten here would be called as NULL. */
static const void *whole(const void *table)
{
	uint32_t size;
	void *fn;

	memcpy(&size, table, sizeof(size));
	for (uint32_t at = 2 * sizeof(uint32_t); at < size; at += sizeof(fn)) {
		memcpy(&fn, (const char *)table + at, sizeof(fn));
		if (!fn)
			return NULL;
	}
	return table;
}

const void *host_group(const char *name)
{
	static const struct {
		const char *name;
		const void *table;
	} groups[] = {
		{ "core", &host_core }, { "object", &host_object }, { "call", &host_call },
		{ "hook", &host_hook },
	};

	for (uint32_t i = 0; i < KEEL_COUNT(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return whole(groups[i].table);
	return NULL;
}
