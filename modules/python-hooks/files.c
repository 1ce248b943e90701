/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - a mom's: files of hooks, as the server has sent them, in mom_priv/hooks; and hooks that are made of them.
 *
 * A file is written beside its place, synced and renamed, by a worker; then the hook is changed, then the server gets to know it. What was
 * being written when the daemon was killed is thrown away at the next start, and sent again because the server gets a list of what there is.
 * Scripts run as root: a folder or a file that others may write is refused by its name.
 *
 * Where the daemon is a server too, hooks are made of the server's objects, and their files are kept all the same.
 */
#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keel/directive.h"

static bool is_server(const struct state *st)
{
	return keel_daemon(st->mod) & KEEL_SERVER;
}

void piece_free(struct piece *p)
{
	if (p)
		free(p->bytes);
	free(p);
}

/* ---- what is on the disk ----------------------------------------------------------------------------------------------------- */
static void file_drop(struct files *f, struct file *file)
{
	HASH_DEL(f->files, file);
	free(file->name);
	free(file);
}

static bool file_put(struct files *f, const char *name, const char *version)
{
	struct file *file;

	HASH_FIND_STR(f->files, name, file);
	if (!file)
		ROW_ADD(f->files, file, name, name);
	if (file)
		snprintf(file->version, sizeof(file->version), "%s", version);
	return file != NULL;
}

static void file_gone(struct files *f, const char *name)
{
	struct file *file;

	HASH_FIND_STR(f->files, name, file);
	if (file)
		file_drop(f, file);
}

/* On a worker. */
static void batch_write(void *arg)
{
	struct batch *b = arg;
	struct piece *p;
	int error;

	DL_FOREACH(b->pieces, p)
		p->error = b->folder < 0 ? EBADF : file_write(b->folder, p->name, p->version[0] ? p->bytes : NULL, p->len);
	error = b->folder < 0 || fsync(b->folder) == 0 ? 0 : errno;
	DL_FOREACH(b->pieces, p)
		if (!p->error)
			p->error = error;
}

/* ---- hooks made of files -------------------------------------------------------------------------------------------------------- */
/* The bytes become the hook's; a second of no bytes, too. */
static void bytes_take(char **to, uint32_t *to_len, struct piece *p)
{
	free(*to);
	*to = NULL;
	*to_len = 0;
	if (!p->version[0])
		return;
	*to = p->bytes;
	*to_len = p->len;
	p->bytes = NULL;
}

static void attrs_take(struct state *st, struct hook *h, const struct piece *p)
{
	struct keel_err err = { .text = "" };
	enum hook_user before = h->user;

	if (hookfile_attrs_read(h, p->bytes, &err) < 0) {
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", p->hook, "its attributes in %s are not understood: %s; it does not run here",
			 p->name, err.text);
		hook_set(h, "enabled", KEEL_SET, "false", NULL);
	}
	if (h->user != before)
		h->version = ++st->files->versions;
}

static void hook_take(struct state *st, struct piece *p)
{
	struct hook *h = hook_find(st, p->hook);

	if (!h && p->version[0])
		h = hook_new(st, p->hook);
	if (!h) {
		if (p->version[0])
			keel_log(st->mod, KEEL_LOG_ERROR, "Hook", p->hook, "it does not run here: no memory");
		return;
	}
	if (p->kind == HOOKFILE_ATTRS && p->version[0])
		attrs_take(st, h, p);
	if (p->kind == HOOKFILE_SCRIPT)
		bytes_take(&h->script, &h->script_len, p);
	if (p->kind == HOOKFILE_CONFIG)
		bytes_take(&h->config, &h->config_len, p);
	if (p->kind == HOOKFILE_SCRIPT || p->kind == HOOKFILE_CONFIG)
		h->version = ++st->files->versions;
}

/* The hook and all of its files go. */
static void hook_drop(struct state *st, struct hook *h)
{
	char file[HOOKFILE_NAME];

	for (uint32_t kind = HOOKFILE_ATTRS; kind < HOOKFILE_TABLES; kind++) {
		hookfile_name(h->name, (enum hookfile_kind)kind, file);
		file_write(st->files->folder, file, NULL, 0);
		file_gone(st->files, file);
	}
	hook_free(st, h);
}

static void hook_refuse(struct state *st, struct hook *h)
{
	keel_log(st->mod, KEEL_LOG_ERROR, "Hook", h->name, "refused: %s ($reject_root_scripts)",
		 keel_pbse_text(PBSE_MOM_REJECT_ROOT_SCRIPTS));
	hook_drop(st, h);
}

/* The hook follows what is there of it now: without attributes it is none, and the server sends what is left of it anew. */
static void hook_follow(struct state *st, const char *name)
{
	char file[HOOKFILE_NAME];
	struct hook *h = hook_find(st, name);
	struct file *attrs;

	if (!h)
		return;
	hookfile_name(name, HOOKFILE_ATTRS, file);
	HASH_FIND_STR(st->files->files, file, attrs);
	if (attrs)
		hook_changed(st, h);
	else
		hook_drop(st, h);
}

static void piece_take(struct state *st, struct piece *p)
{
	if (p->version[0])
		file_put(st->files, p->name, p->version);
	else
		file_gone(st->files, p->name);
	if (is_server(st))
		return;
	if (p->kind != HOOKFILE_TABLES)
		hook_take(st, p);
	else if (p->version[0] && tables_put(st, p->bytes, p->len) < 0)
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", p->name, "the names of attributes and resources that the server has sent cannot be "
			 "read: hooks use those from before");
}

/* Calls hook_follow() once for each hook of a list. */
static void hooks_follow(struct state *st, struct piece *pieces)
{
	struct piece *p, *later;

	DL_FOREACH(pieces, p) {
		for (later = p->next; later && strcmp(later->hook, p->hook) != 0; later = later->next)
			;
		if (!later && p->hook[0] && !p->error && !is_server(st))
			hook_follow(st, p->hook);
	}
}

/* ---- from the server -------------------------------------------------------------------------------------------------------------- */
static void answer(struct state *st, const struct piece *p, int32_t code, const char *text)
{
	struct keel_out *out = keel_out(st->mod);

	keel_put_str(out, "file", p->name);
	keel_put_str(out, "version", p->version);
	keel_put_int(out, "at", p->have);
	if (code >= 0)
		keel_put_int(out, "code", code);
	if (text)
		keel_put_str(out, "text", text);
	keel_link_send(st->mod, "server", "python.took", out); /* without a link: python.have says it later */
}

static void write_next(struct state *st);

static void batch_free(struct batch *b)
{
	struct piece *p, *next;

	DL_FOREACH_SAFE(b->pieces, p, next)
		piece_free(p);
	if (b->folder >= 0)
		close(b->folder);
	free(b);
}

static void batch_written(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct batch *b = arg;
	struct piece *p;
	char text[HOOKFILE_NAME + 128];

	if (!st->files || st->files->writing != b) { /* stopped */
		batch_free(b);
		return;
	}
	st->files->writing = NULL;
	DL_FOREACH(b->pieces, p)
		if (!p->error)
			piece_take(st, p);
	hooks_follow(st, b->pieces);
	DL_FOREACH(b->pieces, p) {
		snprintf(text, sizeof(text), "%s cannot be written: %s", p->name, strerror(p->error));
		if (p->error)
			keel_log(mod, KEEL_LOG_ERROR, "Hook", p->hook, HOOK_FOLDER "/%s", text);
		answer(st, p, p->error ? PBSE_SYSTEM : 0, p->error ? text : NULL);
	}
	batch_free(b);
	write_next(st);
}

static void write_next(struct state *st)
{
	struct files *f = st->files;
	struct batch *b;

	if (f->writing || !f->waiting)
		return;
	b = calloc(1, sizeof(*b));
	if (b) {
		b->folder = f->folder < 0 ? -1 : fcntl(f->folder, F_DUPFD_CLOEXEC, 3);
		b->pieces = f->waiting;
		f->waiting = NULL;
		f->writing = b;
		if (keel_work(st->mod, batch_write, batch_written, b) == 0)
			return;
		f->writing = NULL;
		batch_free(b);
	}
	/* The server sends them again when it has waited for long enough. */
	keel_log(st->mod, KEEL_LOG_ERROR, "Hook", "", "no memory to write files of hooks");
}

static struct piece *listed(struct piece *pieces, const char *name)
{
	struct piece *p;

	DL_FOREACH(pieces, p)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static void piece_forget(struct files *f, struct piece *p)
{
	DL_DELETE(f->arriving, p);
	piece_free(p);
}

struct piece *piece_begin(struct files *f, const char *name, const char *version, int64_t size)
{
	struct piece *p = listed(f->arriving, name);

	if (p)
		piece_forget(f, p);
	p = size >= 0 && size <= HOOKFILE_MOST && strlen(version) < HOOKFILE_VERSION ? calloc(1, sizeof(*p)) : NULL;
	if (!p || !hookfile_parse(name, &p->kind, p->hook) || !(p->bytes = malloc((size_t)size + 1))) {
		piece_free(p);
		return NULL;
	}
	p->bytes[size] = '\0';
	snprintf(p->name, sizeof(p->name), "%s", name);
	snprintf(p->version, sizeof(p->version), "%s", version);
	p->len = (uint32_t)size;
	DL_APPEND(f->arriving, p);
	return p;
}

static bool is_for_root(const char *attrs)
{
	return !strstr(attrs, "user=pbsuser\n");
}

/* $reject_root_scripts, which says nothing about hooks of a server in the same daemon: attributes say who a script runs as; what else
 * belongs to a hook that was refused is refused, too. */
static bool is_refused(struct state *st, const struct piece *p)
{
	char attrs[HOOKFILE_NAME];
	struct file *there;

	if (!st->reject_root || is_server(st) || !p->version[0] || p->kind == HOOKFILE_TABLES)
		return false;
	if (p->kind == HOOKFILE_ATTRS)
		return is_for_root(p->bytes);
	hookfile_name(p->hook, HOOKFILE_ATTRS, attrs);
	HASH_FIND_STR(st->files->files, attrs, there);
	return !there && !listed(st->files->waiting, attrs) &&
	       !(st->files->writing && listed(st->files->writing->pieces, attrs));
}

static void piece_whole(struct state *st, struct piece *p)
{
	char version[HOOKFILE_VERSION];
	struct hook *h;

	DL_DELETE(st->files->arriving, p);
	hookfile_version(p->bytes, p->len, version);
	if (p->version[0] && strcmp(version, p->version) != 0) {
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", p->name, "it has arrived damaged, and is to be sent again");
		answer(st, p, PBSE_SYSTEM, "it has arrived damaged");
	} else if (is_refused(st, p)) {
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", p->name, "refused: %s ($reject_root_scripts)",
			 keel_pbse_text(PBSE_MOM_REJECT_ROOT_SCRIPTS));
		answer(st, p, PBSE_MOM_REJECT_ROOT_SCRIPTS, NULL);
		h = p->kind == HOOKFILE_ATTRS && !is_server(st) ? hook_find(st, p->hook) : NULL;
		if (h)
			hook_drop(st, h); /* it ran as the owner of jobs until now */
	} else {
		keel_log(st->mod, KEEL_LOG_DEBUG, "Hook", p->name, p->version[0] ? "copy hook-related file request received"
								  : "delete hook-related file request received");
		DL_APPEND(st->files->waiting, p);
		return;
	}
	piece_free(p);
}

static void on_file(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *st = mod->state;
	const char *name = keel_msg_str(msg, "file"), *version = keel_msg_str(msg, "version");
	int64_t at = keel_msg_int(msg, "at", -1);
	uint32_t n = 0;
	const char *bytes = keel_msg_bytes(msg, "bytes", &n);
	struct piece *p;

	(void)peer;
	if (!st->files || !name || !version)
		return;
	p = at == 0 ? piece_begin(st->files, name, version, keel_msg_int(msg, "size", -1)) : listed(st->files->arriving, name);
	if (!p || p->have != at || n > p->len - p->have || strcmp(p->version, version) != 0) {
		keel_log(mod, KEEL_LOG_ERROR, "Hook", "", "a piece of a hook file that does not fit, or no memory for it: it is dropped");
		return;
	}
	if (n > 0)
		memcpy(p->bytes + p->have, bytes, n);
	p->have += n;
	if (p->have < p->len) {
		answer(st, p, -1, NULL);
		return;
	}
	piece_whole(st, p);
	write_next(st);
}

static void have_send(struct state *st)
{
	struct keel_out *out = keel_out(st->mod);
	char line[HOOKFILE_NAME + HOOKFILE_VERSION];

	if (!out)
		return;
	keel_open_array(out, "files");
	for (const struct file *file = st->files->files; file; file = file->hh.next) {
		snprintf(line, sizeof(line), "%s %s", file->name, !st->keep_checksums ? file->version : "-");
		keel_add_str(out, line);
	}
	keel_close(out);
	keel_link_send(st->mod, "server", "python.have", out);
}

/* What is half here comes anew. */
static void on_who(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *st = mod->state;

	(void)peer, (void)msg;
	if (!st->files)
		return;
	while (st->files->arriving)
		piece_forget(st->files, st->files->arriving);
	have_send(st);
}

/* ---- directives --------------------------------------------------------------------------------------------------------------------- */
static int32_t switch_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	(void)mod;
	return keel_directive_bool(value, NULL, err);
}

/* Hooks of root leave. */
static void root_hooks_drop(struct state *st)
{
	struct hook *h, *next;

	HASH_ITER(hh, st->hooks, h, next)
		if (h->user == HOOK_ADMIN && !is_server(st))
			hook_refuse(st, h);
}

static void reject_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;
	bool before = st->reject_root;

	st->reject_root = false;
	if (n > 0)
		keel_directive_bool(values[0], &st->reject_root, NULL);
	if (!st->files || before == st->reject_root)
		return;
	if (st->reject_root)
		root_hooks_drop(st);
	have_send(st);
}

static void report_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;
	bool report = true;

	if (n > 0)
		keel_directive_bool(values[0], &report, NULL);
	st->keep_checksums = !report;
}

const struct keel_mom_directive_def reject_root_scripts_directive = {
	.size = sizeof(struct keel_mom_directive_def), .name = "$reject_root_scripts", .check = switch_check, .apply = reject_apply,
	.doc = "refuse hooks that run as root, and job scripts of root",
};
const struct keel_mom_directive_def report_hook_checksums_directive = {
	.size = sizeof(struct keel_mom_directive_def), .name = "$report_hook_checksums", .check = switch_check, .apply = report_apply,
	.doc = "say to the server which hook files are here as they should be; else each link sends them all",
};

keel_verdict files_task_begin(struct keel_call *c, const struct keel_ev_task_begin *ev)
{
	const struct state *st = keel_state(c);

	if (!st->reject_root || strcmp(ev->user, "root") != 0)
		return KEEL_NEXT;
	keel_log(c->mod, KEEL_LOG_ERROR, "Job", ev->id, "refused: %s ($reject_root_scripts)", keel_pbse_text(PBSE_MOM_REJECT_ROOT_SCRIPTS));
	return keel_reject(c, PBSE_MOM_REJECT_ROOT_SCRIPTS, NULL);
}

/* ---- at the start ---------------------------------------------------------------------------------------------------------------------- */
static int by_hook_and_kind(const struct piece *a, const struct piece *b)
{
	int r = strcmp(a->hook, b->hook);

	return r ? r : (int)a->kind - (int)b->kind;
}

int32_t files_init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_link_on(mod, "python.file", KEEL_SERVER, on_file) < 0 || keel_link_on(mod, "python.who", KEEL_SERVER, on_who) < 0)
		return keel_error(err, -EBUSY, "messages of the server about hooks cannot be received: no memory, or another module has their "
					       "names");
	return 0;
}

int32_t files_start(struct state *st, struct keel_err *err)
{
	struct piece *all, *p, *next;
	int32_t r;

	st->files = calloc(1, sizeof(*st->files));
	if (!st->files)
		return keel_error(err, -ENOMEM, "no memory for files of hooks");
	r = folder_open(st, err);
	if (r < 0) {
		files_stop(st);
		return r;
	}
	all = files_read(st);
	DL_SORT(all, by_hook_and_kind);
	DL_FOREACH(all, p)
		piece_take(st, p);
	if (st->reject_root)
		root_hooks_drop(st);
	hooks_follow(st, all);
	DL_FOREACH_SAFE(all, p, next)
		piece_free(p);
	return 0;
}

void files_stop(struct state *st)
{
	struct files *f = st->files;
	struct piece *p, *next;
	struct hook *h, *later;

	if (!f)
		return;
	HASH_ITER(hh, st->hooks, h, later)
		if (!is_server(st))
			hook_free(st, h);
	DL_FOREACH_SAFE(f->arriving, p, next)
		piece_free(p);
	DL_FOREACH_SAFE(f->waiting, p, next)
		piece_free(p);
	while (f->files)
		file_drop(f, f->files);
	if (f->folder >= 0)
		close(f->folder);
	free(f);
	st->files = NULL;
}
