/* SPDX-License-Identifier: Apache-2.0
 *
 * body.c - import of scripts and configuration files. What can be checked is checked in a process (pool_check()); then it is written in one
 * transaction with the hook's attributes, and is in force.
 */
#include "manage.h"

#include <stdlib.h>
#include <string.h>

#include "keel/service/manage.h"

struct import {
	struct import *prev, *next;
	uint64_t number;
	struct keel_req *req;
	enum body which;
	bool checked; /* and good: it waits for the hook to be loaded */
	char *bytes;
	uint32_t len;
	char suffix[8];
	char hook[NAME_LEN_MAX + 1];
};

/* Configuration files: what is checked beyond its suffix. */
static const struct {
	const char *name;
	bool checked;
} suffixes[] = { { ".json", true }, { ".ini", true }, { ".py", true }, { ".xml", false }, { ".txt", false } };

static void import_end(struct state *st, struct import *im)
{
	DL_DELETE(st->manage->imports, im);
	free(im->bytes);
	free(im);
}

/* ---- in force --------------------------------------------------------------------------------------------------------------- */

static bool had_body(const struct hook *h, enum body which)
{
	return which == BODY_SCRIPT ? h->script != NULL : h->config != NULL;
}

/* The new version's values are in a copy, so that nothing is changed when it cannot be written. */
static int32_t import_write(struct state *st, struct import *im, struct hook *h)
{
	struct keel_obj *obj = keel_find(st->mod, "hook", h->name);
	struct hook copy = *h;
	struct keel_err err = { 0 };
	char *suffix = im->which == BODY_CONFIG ? strdup(im->suffix) : NULL;

	if (im->which == BODY_CONFIG)
		copy.suffix = suffix;
	copy.version = version_next(st);
	if (!obj || (im->which == BODY_CONFIG && !suffix) ||
	    stored_write_body(st, obj, &copy, im->which, im->bytes, im->len, &err) != 0) {
		free(suffix);
		return -ENOMEM;
	}
	if (im->which == BODY_CONFIG)
		free(h->suffix);
	h->suffix = copy.suffix;
	h->version = copy.version;
	return 0;
}

static void body_replace(struct hook *h, struct import *im)
{
	char **to = im->which == BODY_SCRIPT ? &h->script : &h->config;

	free(*to);
	*to = im->len ? im->bytes : NULL;
	*(im->which == BODY_SCRIPT ? &h->script_len : &h->config_len) = im->len;
	if (im->len)
		im->bytes = NULL;
}

/* A good one; the hook may have been deleted meanwhile. */
static void import_finish(struct state *st, struct import *im)
{
	struct hook *h = hook_to_change(st, im->req, im->hook);
	char text[NAME_LEN_MAX + 64] = "";

	if (h && h->loading) {
		im->checked = true;
		return;
	}
	if (!h) {
		;
	} else if (import_write(st, im, h) != 0) {
		refuse(im->req, "Failed to store '%s' permanently.", im->hook);
	} else {
		if (had_body(h, im->which))
			snprintf(text, sizeof(text), "hook '%s' contents overwritten", im->hook);
		body_replace(h, im);
		log_done(st, im->req, im->hook, im->which == BODY_SCRIPT ? "script imported" : "configuration file imported");
		keel_manage_reply(im->req, 0, text);
		hook_changed(st, h);
	}
	import_end(st, im);
}

void imports_go_on(struct state *st, const struct hook *h)
{
	struct import *im, *next;

	DL_FOREACH_SAFE(st->manage->imports, im, next)
		if (im->checked && strcmp(im->hook, h->name) == 0)
			import_finish(st, im);
}

void imports_drop(struct state *st)
{
	while (st->manage->imports) {
		keel_manage_reply(st->manage->imports->req, PBSE_SYSTEM, "the import ends here: the server ends");
		import_end(st, st->manage->imports);
	}
}

/* ---- is it good? ------------------------------------------------------------------------------------------------------------ */

static void bad_body(struct state *st, const struct import *im, const char *why)
{
	const struct hook *h = hook_find(st, im->hook);

	keel_log(st->mod, KEEL_LOG_ADMIN, "Hook", im->hook, "%s is refused: %s",
		 im->which == BODY_SCRIPT ? "an imported script" : "an imported configuration file", why);
	if (im->which == BODY_CONFIG)
		refuse(im->req, "Failed to validate config file, hook '%s' config file not overwritten", im->hook);
	else if (h && h->script)
		refuse(im->req, "Failed to compile script, hook '%s' contents not overwritten", im->hook);
	else
		refuse(im->req, "Failed to compile script");
}

static void checked(struct state *st, void *arg, const char *why)
{
	struct import *im = st->manage ? st->manage->imports : NULL;

	while (im && im->number != (uint64_t)(uintptr_t)arg)
		im = im->next;
	if (!im)
		return; /* the server ends */
	if (!why) {
		import_finish(st, im);
		return;
	}
	bad_body(st, im, why);
	import_end(st, im);
}

static bool needs_check(const struct import *im)
{
	if (im->len == 0)
		return false;
	if (im->which == BODY_SCRIPT)
		return true;
	for (size_t i = 0; i < KEEL_COUNT(suffixes); i++)
		if (strcmp(suffixes[i].name, im->suffix) == 0)
			return suffixes[i].checked;
	return false;
}

static void import_begin(struct state *st, struct import *im)
{
	char name[sizeof(im->hook) + sizeof(im->suffix)];

	DL_APPEND(st->manage->imports, im);
	im->number = ++st->manage->last_import;
	if (!needs_check(im)) {
		import_finish(st, im);
		return;
	}
	snprintf(name, sizeof(name), "%s%s", im->hook, im->which == BODY_SCRIPT ? ".PY" : im->suffix);
	if (pool_check(st, name, im->bytes, im->len, checked, (void *)(uintptr_t)im->number) == 0)
		return;
	refuse(im->req, "hook '%s' is not changed: its content could not be checked, for too many wait or there is no memory; try again",
	       im->hook);
	import_end(st, im);
}

/* ---- the request ------------------------------------------------------------------------------------------------------------ */

struct args {
	const char *type, *encoding, *file, *content; /* NULL: it has none */
	uint32_t len; /* of the content */
};

/* Attributes of the request; the content, in base64, is bytes of the request, or (of other clients) an attribute. */
static void args_read(struct keel_req *req, struct args *ret)
{
	const struct keel_attrop *attrs;
	uint32_t n = 0;

	*ret = (struct args){ 0 };
	if (keel_msg_attrs(keel_req_body(req), "attrs", &attrs, &n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = attrs[i].name ? attrs[i].name : "";
		const char **to = strcmp(name, "content-type") == 0 ? &ret->type : strcmp(name, "content-encoding") == 0 ? &ret->encoding :
				  strcmp(name, "input-file") == 0 ? &ret->file : strcmp(name, "content") == 0 ? &ret->content : NULL;

		if (to)
			*to = attrs[i].value;
	}
	ret->len = ret->content ? (uint32_t)strlen(ret->content) : 0;
	if (!ret->content)
		ret->content = keel_msg_bytes(keel_req_body(req), "content", &ret->len);
}

/* What has to be there; false: the reply was made. */
static bool is_complete(struct keel_req *req, const struct args *args)
{
	const char *missing = !args->type ? "content-type" : !args->encoding ? "content-encoding" : !args->file ? "input-file" :
			      !args->content ? "content" : NULL;

	if (missing)
		refuse(req, "hook import command has no <%s> argument", missing);
	return !missing;
}

/* The suffix of a configuration file; none is `.txt`. False: the reply was made. */
static bool suffix_read(struct state *st, struct keel_req *req, const char *file, char ret[8])
{
	const char *dot = strrchr(file, '.');

	if (strchr(file, '/')) {
		refuse(req, "<input-file> path must be relative to %s/server_priv/hooks", keel_home(st->mod));
		return false;
	}
	if (!dot || strcmp(file, "-") == 0)
		dot = ".txt";
	for (size_t i = 0; i < KEEL_COUNT(suffixes); i++)
		if (strcmp(suffixes[i].name, dot) == 0) {
			snprintf(ret, 8, "%s", dot);
			return true;
		}
	refuse(req, "<input-file> contains an invalid suffix, should be one of: .json .ini .py .xml .txt");
	return false;
}

/* Which body, and is its encoding known? False: the reply was made. */
static bool kind_read(struct state *st, struct keel_req *req, const struct args *args, struct import *im)
{
	if (strcmp(args->type, TYPE_SCRIPT) != 0 && strcmp(args->type, TYPE_CONFIG) != 0) {
		refuse(req, "<content-type> must be " TYPE_SCRIPT " or " TYPE_CONFIG);
		return false;
	}
	if (strcmp(args->encoding, "default") != 0 && strcmp(args->encoding, "base64") != 0) {
		refuse(req, "<content-encoding> must be 'default' or 'base64'");
		return false;
	}
	im->which = strcmp(args->type, TYPE_SCRIPT) == 0 ? BODY_SCRIPT : BODY_CONFIG;
	return im->which == BODY_SCRIPT || suffix_read(st, req, args->file, im->suffix);
}

/* Its bytes, within bounds. False: the reply was made. */
static bool content_read(struct keel_req *req, const struct args *args, struct import *im)
{
	uint32_t most = im->which == BODY_SCRIPT ? SCRIPT_LEN_MAX : CONFIG_LEN_MAX;

	im->bytes = base64_bytes(args->content, args->len, &im->len);
	if (!im->bytes)
		refuse(req, errno == ENOMEM ? "System error: out of memory" : "hook '%s' is not changed: the content is not base64", im->hook);
	else if (im->len > most)
		refuse(req, "hook '%s' is not changed: the content has %u bytes, at most %u are possible", im->hook, im->len, most);
	return im->bytes && im->len <= most;
}

void body_import(struct state *st, struct keel_req *req, const char *name)
{
	const struct hook *h = hook_to_change(st, req, name);
	struct import *im = h ? calloc(1, sizeof(*im)) : NULL;
	struct args args;

	if (!h)
		return;
	if (!im) {
		refuse(req, "System error: out of memory");
		return;
	}
	im->req = req;
	snprintf(im->hook, sizeof(im->hook), "%s", name);
	args_read(req, &args);
	if (is_complete(req, &args) && kind_read(st, req, &args, im) && content_read(req, &args, im)) {
		import_begin(st, im);
		return;
	}
	free(im->bytes);
	free(im);
}
