/* SPDX-License-Identifier: Apache-2.0
 *
 * link-tcp.c - descriptor and life of the module: links are there from start() to stop().
 */
#include "link-tcp.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define HOUR (60 * 60 * 1000)

static const struct limits limits_default = {
	.half_open = 64,	      /* strangers that have not proved who they are */
	.accepts_per_turn = 16,
	.reads_per_turn = 8,	      /* of one peer, up to 64 KiB each */
	.queue_max = 32 * 1024 * 1024, /* what the daemon takes as one message */
	.greet_ms = 5000,
	.rival_ms = 3000,
	.backoff_min_ms = 100,
	.backoff_max_ms = 5000,
	.silent_beats = 3,
};

static bool said(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static bool is_server(const struct link *l)
{
	return keel_daemon(l->mod) & KEEL_SERVER;
}

/* That its key is to have. */
static uint32_t role_of(const struct link *l)
{
	return is_server(l) ? KEEL_SERVER : keel_daemon(l->mod);
}

/* ---- this daemon's own key -------------------------------------------------------------------------- */
static int32_t key_missing(const struct link *l, struct keel_err *err)
{
	const char *host = keel_host_name(l->mod), *role = key_role_word(role_of(l));

	return keel_error(err, -ENOENT, "key file %s is missing; make the key with `keelson-key make --role %s --host %s --dir DIR` "
			  "and put it there with `install -m 600 DIR/%s.key %s`; keelson-key(8) has how it is enrolled",
			  l->key_file, role, host, host, l->key_file);
}

/* Is it the one this daemon should have? */
static int32_t check_identity(const struct link *l, const struct identity *id, struct keel_err *err)
{
	uint32_t wanted = role_of(l);
	const char *host = keel_host_name(l->mod);

	if (id->daemon != wanted)
		return keel_error(err, -EINVAL,
				  "key file %s is a key of a %s, but this daemon is a %s; make one with "
				  "keelson-key make --role %s", l->key_file, key_role_word(id->daemon),
				  key_role_word(wanted), key_role_word(wanted));
	if (wanted != KEEL_SERVER && strcmp(id->host, host) != 0) /* a server is known by its key, whatever its host is called */
		return keel_error(err, -EINVAL,
				  "key file %s is the key of host %s, but this host is %s; make one for it with "
				  "keelson-key make --host %s", l->key_file, id->host, host, host);
	return 0;
}

int32_t own_key(struct link *l, struct keel_err *err)
{
	struct identity id;
	int32_t ret;

	if (l->me.daemon != 0)
		return 0;
	if (!keel_has(carry))
		return keel_error(err, -ENOTSUP, "this daemon takes no links to other hosts");
	ret = key_read(l->key_file, KEY_OWN, &id, err);
	if (ret == -ENOENT)
		ret = key_missing(l, err);
	if (ret == 0)
		ret = check_identity(l, &id, err);
	if (ret == 0)
		l->me = id;
	sodium_memzero(&id, sizeof(id));
	return ret;
}

int32_t key_guard(const char *dir, const char *name, struct keel_err *err)
{
	char path[4096];

	if (!keel_has(renew))
		return 0;
	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", dir, *name ? "/" : "", name) >= sizeof(path))
		return keel_error(err, -ENAMETOOLONG, "the path of the peers' keys is too long");
	return keel_renew_guard(path, err);
}

/* ---- life ------------------------------------------------------------------------------------------- */
/* What the configuration says, or `otherwise` below server_priv or mom_priv; relative paths are below home. */
static char *file_of(const struct link *l, const char *text, const char *otherwise)
{
	const char *home = keel_home(l->mod);
	const char *priv = is_server(l) ? "server_priv" : "mom_priv";
	char *path = NULL;
	int n;

	if (said(text) && text[0] == '/')
		return strdup(text);
	n = said(text) ? asprintf(&path, "%s/%s", home, text) : asprintf(&path, "%s/%s/%s", home, priv, otherwise);
	return n < 0 ? NULL : path;
}

/* Where nothing is said: link.key, or HOST.key, as keelson-key makes it. */
static char *key_file_of(const struct link *l)
{
	char *usual = file_of(l, conf_of(l)->key_file, "link.key"), *name = NULL, *made;

	if (usual == NULL || said(conf_of(l)->key_file) || access(usual, F_OK) == 0 ||
	    asprintf(&name, "%s.key", keel_host_name(l->mod)) < 0)
		return usual;
	made = file_of(l, NULL, name);
	free(name);
	if (made == NULL || access(made, F_OK) < 0) {
		free(made);
		return usual;
	}
	free(usual);
	return made;
}

static void fini(struct keel_mod *m)
{
	struct link *l = m->state;

	while (l->ways != NULL)
		way_forget(l, l->ways);
	sodium_memzero(&l->me, sizeof(l->me));
	free(l->key_file);
	free(l->peers_dir);
}

/* A mom is found by the hosts of its jobs; a server says where; a login node links with its server only. NULL: nowhere. */
static const char *listen_address(const struct link *l, bool dials)
{
	const char *at = conf_of(l)->listen;

	if (keel_daemon(l->mod) & KEEL_LOGIN)
		return NULL;
	if (!said(at))
		return dials ? "*:0" : NULL;
	return strcmp(at, "none") == 0 ? NULL : at;
}

/* A mom and a login node dial their server. There is no port to guess: the configuration says it. */
static int32_t check_server(const struct link *l, struct keel_err *err)
{
	const char *at = conf_of(l)->server;

	if (is_server(l) || (said(at) && address_is(at)))
		return 0;
	return keel_error(err, -EINVAL, "modules.d/link-tcp.conf: link-tcp.server: expected HOST:PORT where the server takes links "
			  "(its link-tcp.listen), got %s%s%s; write link-tcp: { server = \"%s:15001\"; }; there", said(at) ? "\"" : "",
			  said(at) ? at : "nothing", said(at) ? "\"" : "", said(at) && !strchr(at, ':') ? at : "head.example.org");
}

/* Who may write there could speak as any host. */
static int32_t check_peers(const struct link *l, struct keel_err *err)
{
	int32_t ret = key_guard(l->peers_dir, "", err);
	DIR *dir = ret == 0 ? opendir(l->peers_dir) : NULL;
	const struct dirent *e;

	while (ret == 0 && dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.')
			ret = key_guard(l->peers_dir, e->d_name, err);
	if (dir != NULL)
		closedir(dir);
	return ret;
}

static int32_t init(struct keel_mod *m, struct keel_err *err)
{
	struct link *l = m->state;
	int32_t ret;

	l->mod = m;
	l->limits = limits_default;
	l->refused_log_ms = INT64_MIN / 2;
	if (sodium_init() < 0)
		return keel_error(err, -EIO, "libsodium cannot start");
	l->key_file = key_file_of(l);
	l->peers_dir = file_of(l, conf_of(l)->peers_dir, "peers");
	if (l->key_file == NULL || l->peers_dir == NULL)
		ret = keel_error(err, -ENOMEM, "no memory for links");
	else if ((ret = check_server(l, err)) == 0 && (ret = check_peers(l, err)) == 0 && (!is_server(l) || listen_address(l, false) != NULL))
		ret = own_key(l, err);
	if (ret < 0)
		fini(m);
	return ret;
}

static void stop(struct keel_mod *m)
{
	struct link *l = m->state;
	struct way *w;

	l->running = false;
	listen_stop(l);
	DL_FOREACH(l->ways, w)
		dial_stop(w);
	keel_timer_cancel(l->heartbeat);
	l->heartbeat = NULL;
	while (l->conns != NULL)
		conn_drop(l->conns, NULL);
}

static void beat(struct keel_mod *m, void *arg)
{
	struct link *l = m->state;

	(void)arg;
	l->heartbeat = keel_timer(m, conf_of(l)->heartbeat, beat, NULL);
	conn_heartbeat(l);
}

static int32_t links_open(struct link *l, struct keel_err *err)
{
	bool dials = !is_server(l);
	const char *at = listen_address(l, dials);
	int32_t ret = dials || at != NULL ? own_key(l, err) : 0;
	struct way *w;

	if (ret == 0 && dials && way_set(l, SERVER_PEER, conf_of(l)->server, NULL) == NULL)
		ret = keel_error(err, -ENOMEM, "no memory for links");
	if (ret == 0 && at != NULL)
		ret = listen_start(l, at, err);
	if (ret < 0)
		return ret;
	DL_FOREACH(l->ways, w)
		if (w->address != NULL)
			dial_start(w);
	return 0;
}

static int32_t start(struct keel_mod *m, struct keel_err *err)
{
	struct link *l = m->state;
	int32_t ret;

	l->running = true;
	l->beat_ms = keel_now_ms(m);
	l->heartbeat = keel_timer(m, conf_of(l)->heartbeat, beat, NULL);
	ret = l->heartbeat != NULL ? links_open(l, err) : keel_error(err, -ENOMEM, "no memory for links");
	if (ret < 0)
		stop(m);
	return ret;
}

/* ---- rows --------------------------------------------------------------------------------------------- */
#define RULE(kind, member, ...) KEEL_CONF_RULE(kind, struct conf, member, .flags = KEEL_CONF_RESTART, __VA_ARGS__)
static const struct keel_conf_rule rules[] = {
	RULE(STRING, listen, .doc = "host:port where this daemon takes links; none: nowhere; empty: a server nowhere, a mom of "
				    "its own at any address, with a port of the system's choice that it keeps"),
	RULE(STRING, address, .doc = "host or host:port where other hosts dial this one; empty: the address it listens on, "
				     "or its host name"),
	RULE(STRING, server, .doc = "host:port of the server, for a mom of its own and a login node"),
	RULE(STRING, key_file,
	     .doc = "secret key of this daemon, mode 0600; empty: link.key, or HOST.key, in server_priv or mom_priv of home"),
	RULE(STRING, peers_dir,
	     .doc = "public keys of who may speak; empty: peers in server_priv or mom_priv of home"),
	RULE(DURATION, heartbeat, .fallback = "5s", .min = 100, .max = HOUR, .doc = "how often a silent link is tried"),
	RULE(DURATION, grace, .fallback = "15s", .min = 100, .max = 24 * HOUR,
	     .doc = "how long a link may be silent or lost before its host counts as down"),
};

KEEL_USE_OPT(carry);
KEEL_USE_OPT(renew);

static const struct keel_carrier_api carrier = {
	.size = sizeof(carrier),
	.send = conn_message,
	.expect = ways_expect,
	.own = ways_own,
	.proved = ways_proved,
};
static const struct keel_service_def service = {
	.size = sizeof(service),
	.name = "carrier",
	.doc = "messages to other hosts",
	.table = &carrier,
};
static const struct keel_contrib contribs[] = { KEEL_ROW(SERVICE, service) };

KEEL_MODULE(.name = "link-tcp", .version = "1", .vendor = "Keelson", .flags = KEEL_MOD_NO_PROCESS,
	    .summary = "encrypted links to other hosts over TCP, proved by keys",
	    .roles = KEEL_SERVER | KEEL_MOM | KEEL_LOGIN, .state_size = sizeof(struct link),
	    KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), .init = init, .start = start,
	    .stop = stop, .fini = fini);
