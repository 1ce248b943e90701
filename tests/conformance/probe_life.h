/* SPDX-License-Identifier: Apache-2.0
 *
 * probe_life.h - a probe's attributes and its steps of life; a part of probe.h, which includes it.
 */
/* ---- attributes ------------------------------------------------------------------------------------- */
static int32_t check(struct keel_mod *mod, const struct keel_session *s, struct keel_obj *job, int32_t op,
		     const char *key, const char *text, struct keel_err *err)
{
	struct state *st = mod->state;

	SAY(st, mod, st->object->id(job), "check %s op %d key %s by %s", text, (int)op, key != NULL ? key : "-",
	    s != NULL ? s->who : "the system");
	if (strcmp(text, "bad") == 0)
		return st->core->error(err, 15014, "%s does not like %s", ME, text);
	return strcmp(text, "mute") == 0 ? -1 : 0;
}

static void changed(struct keel_mod *mod, struct keel_obj *job, const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(job, attr);

	SAY(st, mod, st->object->id(job), "changed %s to %s", st->object->attr_name(attr),
	    text != NULL ? text : "nothing");
}

static void derive(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	struct state *st = mod->state;
	const char *id = st->object->id(job);

	emit->fn(emit->arg, "id", id, (uint32_t)strlen(id));
	emit->fn(emit->arg, "by", ME, (uint32_t)strlen(ME));
}

/* What `match = { <ME> = "..."; };` is about: the job's Name, and on a line of its own what it is to do. */
static int32_t scope_words(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len)
{
	struct state *st = mod->state;
	const char *name = st->object->get_str(job, st->object->attr(mod, "job", "Name"));
	const char *deed = st->object->get_str(job, st->object->attr(mod, "job", ME "_do"));

	if (name == NULL && deed == NULL)
		return -ENODATA;
	return snprintf(buf, len, "%s\n%s", name != NULL ? name : "", deed != NULL ? deed : "");
}

static const struct keel_scope_def scope = { .size = sizeof(scope), .name = SCOPE, .klass = "job",
					     .doc = "a job's name", .text = scope_words };

/* ---- life ------------------------------------------------------------------------------------------- */
static void say_conf(struct keel_mod *mod, const char *when, const struct conf *cf)
{
	struct state *st = mod->state;
	int n = 0;

	while (cf->names != NULL && cf->names[n] != NULL)
		n++;
	SAY(st, mod, NULL, "%s level %lld pause %lld room %lld word %s names %d colour %d loud %d", when,
	    (long long)cf->level, (long long)cf->pause, (long long)cf->room, cf->word != NULL ? cf->word : "-",
	    n, cf->colour, cf->loud);
}

static int32_t check_conf(const void *conf, struct keel_err *err)
{
	const struct conf *cf = conf;

	if (cf->level != 9)
		return 0;
	if (err != NULL && cf->loud)
		strcpy(err->text, ME ": level 9 is too loud");
	return -1;
}

static int32_t on_init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	const struct conf *cf = mod->conf;

	say_conf(mod, "init", cf);
	SAY(st, mod, NULL, "nowhere is %s", st->nowhere == NULL ? "not there" : "there");
	if (cf->level == 8)
		return st->core->error(err, -1, "%s will not begin at level 8", ME);
	return 0;
}

static int32_t on_start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	SAY(st, mod, NULL, "start");
	return ((const struct conf *)mod->conf)->level == 7 ? -5 : 0;
}

static int32_t on_reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	struct state *st = mod->state;
	const struct conf *cf = now;

	say_conf(mod, "reconf", cf);
	return cf->level == 6 ? st->core->error(err, -1, "%s stays as it is", ME) : 0;
}

static void on_stop(struct keel_mod *mod)
{
	SAY((struct state *)mod->state, mod, NULL, "stop");
}

static void on_fini(struct keel_mod *mod)
{
	SAY((struct state *)mod->state, mod, NULL, "fini");
}
