/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_MAIN_INSIDE_H
#define KEELSON_MAIN_INSIDE_H

#include "conf/conf.h"
#include "hook/hooks.h"
#include "keel/api.h"
#include "main/daemon.h"
#include "module/modules.h"

/* ---- place.c: owned by the caller; NULL: no memory ------------------------------------------------- */
char *place_exec_dir(void); /* PBS_EXEC */
char *place_modules_dir(void);
char *place_conf_file(void); /* beside the program, for root only when no other user could have written it */

/* ---- pbs_conf.c --------------------------------------------------------------------------------- */
struct pbs_conf {
	char *text, *end; /* a key, its value, a key ..., each terminated; owned by the caller */
};
/* Read the file that PBS_CONF_FILE names, else /etc/pbs.conf, which may be missing. 0, or an error with *err. */
int pbs_conf_read(struct pbs_conf *ret, struct keel_err *err);
/* Returns the value, of the environment first; NULL: not set. Borrowed. */
const char *pbs_conf_get(const struct pbs_conf *p, const char *key);
/* Returns the server's name, as in ids: PBS_SERVER, else PBS_PRIMARY where there is a PBS_SECONDARY. NULL: none is set. */
const char *pbs_conf_server(const struct pbs_conf *p);

/* ---- settings.c: the kernel's own configuration, checked and with its defaults ---------------------- */
#define HOME_DEFAULT "/var/spool/pbs"
#define SETTINGS_GROUPS 4

#define ROLES 3
extern const char *const role_words[ROLES]; /* of the bits of enum keel_daemon */
uint32_t role_of(const char *word);	    /* the bit of this word, 0: none */

struct settings {
	struct conf_data *data[SETTINGS_GROUPS]; /* of the structs here; no text of them is NULL or empty */
	const struct top_conf {
		const char *const *roles;
		const char *home, *exec_dir, *server_name, *host_name, *modules_dir;
	} *top;
	const struct log_conf {
		const char *dir;
		int64_t events;
		bool microseconds;
		int32_t format; /* 0 pbs, 1 json */
	} *log;
	const struct client_conf {
		const char *socket;	/* of a server, also when it is a mom too */
		const char *mom_socket; /* of a mom alone: both may share a home */
		int64_t stall_ms;
	} *client;
	const struct hooks_conf *hooks;
	uint32_t roles;	   /* enum keel_daemon bits */
	char *daemon_name; /* third field of a log record */
	bool core_files;   /* by PBS_CORE_LIMIT of pbs.conf */
};
/* Read the file of `o`, or its copy and the overrides in `set` (keel/renew.h); apply those of `o`, too; fill and complete
 * every kernel group. Returns 0, and both are owned by the caller, or an error with *err. */
int settings_read(const struct options *o, const char *set, struct conf **ret_conf, struct settings **ret_settings,
		  struct keel_err *err);
void settings_destroy(struct settings *s);
/* Take from `newer`, which is destroyed, what is read while the daemon serves. */
void settings_take(struct settings *s, struct settings *newer);
/* Returns the key of a value that differs and is read at start only; NULL: none. */
const char *settings_differ(const struct settings *old, const struct settings *new);

/* ---- handover.c: descriptors from one image of the daemon to the next, by the LISTEN_FDS convention, as systemd passes them */
#define HANDOVER_FDS 8
#define HANDED_CLIENT "client" /* the clients' socket; also what has no name */

/* Descriptors, by name. */
struct handed {
	uint32_t n;
	struct {
		char name[32];
		int fd;
	} at[HANDOVER_FDS];
};
/* What came with this image; the environment is cleared. From now on they are closed by an exec. */
void handed_take(struct handed *ret);
/* Returns one, which is the caller's from now on; -1: there is none. */
int handed_use(struct handed *h, const char *name);
int handed_find(const struct handed *h, const char *name); /* it stays there */
void handed_close(struct handed *h); /* those that were not used */
void handed_add(struct handed *h, const char *name, int fd);
/* The environment with which the next image takes them; the caller frees it. `notify`: NOTIFY_SOCKET, or NULL. NULL without memory. */
char **handed_env(const struct handed *h, const char *notify);
/* Right before the exec. Safe in a signal handler. */
void handed_pass(const struct handed *h);

/* ---- home.c: PBS_HOME ------------------------------------------------------------------------------- */
/* Make missing directories and files for the roles (enum keel_daemon bits). Returns 0, or an error with *err. */
int home_make(const char *home, uint32_t roles, struct keel_err *err);
/* Fails with *err when other users could write into what is private to a role. */
int home_guard(const char *home, uint32_t roles, struct keel_err *err);
/* Take the lock of each role, until handed_close() or the end of the process, and write the pid into it; those in `handed`
 * are taken already. Returns 0, or an error with *err: -EBUSY when another daemon holds one, with its pid. */
int home_lock(const char *home, uint32_t roles, struct handed *handed, struct handed *ret, struct keel_err *err);

/* ---- notify.c ------------------------------------------------------------------------------------- */
/* Read the socket's address and remove it from the environment, so that children do not inherit it. Once, early. */
void notify_init(void);
/* The address, for the next image of this process; NULL: none. */
const char *notify_socket(void);
/* Send a state ("READY=1") to systemd, if that started the daemon. */
void notify_send(const char *state);
/* Fork into the background. The parent exits with 0 when background_ready() was called, else with the child's exit
 * code. Returns 0 in the child, or -errno. */
int background_begin(void);
void background_ready(void);

/* ---- crash.c: last words ---------------------------------------------------------------------------- */
/* `log_fd`: where besides standard error; -1 nowhere. Sanitizers keep their own handlers. */
void crash_init(int log_fd);
/* What is called after the last words, instead of the end; NULL: the end. */
extern void (*crash_then)(void);
/* What to say about the loaded modules; moved. */
void crash_modules(char *text);
/* For signal handlers, to standard error and the log: texts, up to a NULL; " in ", what runs on this thread, a line about the
 * daemon, the modules, a backtrace. */
void crash_say(const char *text, ...) __attribute__((sentinel));
void crash_say_where(void);

/* ---- watchdog.c ------------------------------------------------------------------------------------- */
/* On the thread of the loop, until that is destroyed. One per process. 0 or -errno. */
int watchdog_start(struct parts *parts, const struct hooks_conf *c);

/* ---- daemon.c --------------------------------------------------------------------- */
#define LEFT_OUT_ROOM 64

struct daemon {
	struct parts parts; /* first: daemon_of() casts */
	const struct options *options;
	const struct world *world; /* NULL: no simulation */
	struct settings *settings; /* in force */
	bool serving;  /* from ready until it begins to stop */
	bool stopping, for_good; /* for_good: a module stopped it, not a signal */
	char *left_out[LEFT_OUT_ROOM]; /* modules that are not required and could not come */
	uint32_t n_left_out;
	char *set; /* the set that this image runs with; NULL: with the files */
	struct handed handed, locks; /* from the image before; of home, for the next one */
	/* renew.c */
	char *next, *back;	 /* the set to execute when all has ended, and the one to go back to; or NULL */
	int64_t drain_until_ms;	 /* for what is in flight */
	bool hup;		 /* one came for the next image */
	struct keel_draft draft; /* another configuration, which is being looked at */
	struct conf *draft_conf;
	struct settings *draft_settings;
	struct owner *hup_owner; /* whom SIGHUP is for; or NULL */
	keel_fn *hup_fn;
	void *hup_arg;
};

static inline struct daemon *daemon_of(struct parts *p)
{
	return (struct daemon *)p;
}

/* Read the configuration: that of the set this image runs with, else of the files. The parts borrow names and directories of
 * the settings. Returns 0, or an error with *err. */
int parts_configure(struct daemon *d, struct keel_err *err);
/* Create every part, in the order of their needs; the log exists already. After an error parts_destroy()
 * destroys those that exist. */
int parts_create(struct daemon *d, struct keel_err *err);
void parts_destroy(struct parts *p);

/* ---- renew.c: another image of this daemon ------------------------------------------------------------ */
extern const struct keel_renew_api renew_api;
/* Peers that are up, for the image that comes; and from the one before, before objects are loaded. */
void renew_links_leave(struct daemon *d);
void renew_links_expect(struct daemon *d);
/* Signals wait for the next image from now on; those that came before have been seen. */
void renew_signals_hold(struct daemon *d);
/* Execute the set d->next. Everything has ended but the process. Returns only on an error. */
void renew_exec(struct daemon *d);
/* This image was executed with a way back: it is taken when the daemon crashes, or is not ready in time. */
int renew_supervise(struct daemon *d, struct keel_err *err);
/* The daemon did not start, with the error *why: take the way back. Returns when there is none. */
void renew_back(const struct keel_err *why);
void renew_ready(void);
void renew_end(struct daemon *d);

#endif
