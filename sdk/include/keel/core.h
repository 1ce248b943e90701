/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/core.h - log, errors, clocks, timers, descriptors, worker threads.
 */
#ifndef KEEL_CORE_H
#define KEEL_CORE_H

#include "keel/api.h"
#include "keel/use.h"

/* One record of the daemon's log: event bits, class ("Job"), object, text. */
#define keel_log(...) (KEEL_MODULE_kernel.core->log(__VA_ARGS__))

/* Fills *err (may be NULL) and returns `code`, so that the caller fails in one line. */
#define keel_error(...) (KEEL_MODULE_kernel.core->error(__VA_ARGS__))

/* The table text of a PBSE code, "" when it has none. */
static inline const char *keel_pbse_text(int32_t code)
{
	return KEEL_MODULE_kernel.core->pbse_text(code);
}

/* Milliseconds that never jump, for measuring and for deadlines; from no moment in particular. */
static inline int64_t keel_now_ms(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->now_ms(mod);
}

/* The time of day: seconds since 1970. */
static inline int64_t keel_time(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->time(mod);
}

/* What this process is: enum keel_daemon bits. */
static inline uint32_t keel_daemon(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->daemon(mod);
}

/* PBS_HOME, absolute. Borrowed, valid for ever. */
static inline const char *keel_home(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->fact(mod, KEEL_FACT_HOME);
}

/* PBS_EXEC, absolute. Borrowed, valid for ever. */
static inline const char *keel_exec_dir(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->fact(mod, KEEL_FACT_EXEC_DIR);
}

/* The part of ids behind the dot: `svr` of `12.svr`. Borrowed, valid for ever. */
static inline const char *keel_server_name(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->fact(mod, KEEL_FACT_SERVER_NAME);
}

/* This host, as other daemons know it. Borrowed, valid for ever. */
static inline const char *keel_host_name(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->fact(mod, KEEL_FACT_HOST_NAME);
}

/* The Unix socket on which this daemon serves users of this host, absolute; in a simulation no client can reach it. NULL: a
 * test host. Borrowed, valid for ever. */
static inline const char *keel_client_socket(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->fact(mod, KEEL_FACT_CLIENT_SOCKET);
}

/* The folder of this daemon's day files, absolute. NULL: it logs to standard error, as a simulation and a test host. Borrowed, valid for ever. */
static inline const char *keel_log_dir(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->fact(mod, KEEL_FACT_LOG_DIR);
}

/* What `--version` prints. */
static inline const char *keel_version_text(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->fact(mod, KEEL_FACT_VERSION);
}

/* Calls fn once, after so long. The timer is gone when fn runs or after keel_timer_cancel(): the caller forgets
 * the pointer then. NULL without memory. The caller cancels in stop() what is open: code that a timer may still
 * call is never unmapped. */
static inline struct keel_timer *keel_timer(struct keel_mod *mod, int64_t after_ms, keel_fn *fn, void *arg)
{
	return KEEL_MODULE_kernel.core->timer(mod, after_ms, fn, arg);
}

/* fn does not run any more. NULL is fine; for one that is gone nothing happens */
static inline void keel_timer_cancel(struct keel_timer *timer)
{
	KEEL_MODULE_kernel.core->timer_cancel(timer);
}

/* Calls fn on the loop after the current event, in order. Fails with -ENOMEM. */
static inline int32_t keel_defer(struct keel_mod *mod, keel_fn *fn, void *arg)
{
	return KEEL_MODULE_kernel.core->defer(mod, fn, arg);
}

/* Run `work` on a worker thread, then `done` on the loop: for what may take long or block. `work` sees only arg
 * and calls no group. Four of a module run at a time, others wait in order. It cannot be taken back: both run,
 * once, and arg must be there, whatever ends meanwhile. keel_hold_work() does it for a tap that waits. -ENOMEM:
 * neither runs. */
static inline int32_t keel_work(struct keel_mod *mod, void (*work)(void *arg), keel_fn *done, void *arg)
{
	return KEEL_MODULE_kernel.core->work(mod, work, done, arg);
}

/* Calls fn when fd is readable, until keel_watch_cancel(); for more see keel_watch_for(). The fd is owned by the
 * caller. Fails with NULL without memory, and for an fd that cannot be watched (a file), or is watched already. */
static inline struct keel_watch *keel_watch_fd(struct keel_mod *mod, int fd, keel_fn *fn, void *arg)
{
	return KEEL_MODULE_kernel.core->watch_fd(mod, fd, fn, arg);
}

/* fn does not run any more. NULL is fine. */
static inline void keel_watch_cancel(struct keel_watch *watch)
{
	KEEL_MODULE_kernel.core->watch_cancel(watch);
}

/* Stops the daemon in an orderly way, after the caller has returned. */
static inline void keel_stop(struct keel_mod *mod)
{
	KEEL_MODULE_kernel.core->stop(mod);
}

/* Which event classes this daemon logs (enum keel_log_event bits); 0: as configured. */
static inline void keel_log_events(struct keel_mod *mod, uint32_t mask)
{
	KEEL_MODULE_kernel.core->log_events(mod, mask);
}

/* For measuring how long one's own work takes (a slice): microseconds since some moment. In a simulation the
 * clocks above stand still during a callback; this one goes on. */
static inline int64_t keel_clock_us(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.core->clock_us(mod);
}

/* Calls fn on the loop when everything that changed up to now is durable; soon, when nothing did. Fails with
 * -ENOMEM: fn is not called. */
static inline int32_t keel_when_durable(struct keel_mod *mod, keel_fn *fn, void *arg)
{
	return KEEL_MODULE_kernel.core->when_durable(mod, fn, arg);
}

/* What a watch waits for from now on: enum keel_ready bits, 0: nothing for a while. Its fn is called when one of
 * them holds, as long as it holds, and does not get which: try, and take EAGAIN for no. -EINVAL: other bits. */
static inline int32_t keel_watch_for(struct keel_watch *watch, uint32_t ready)
{
	return KEEL_MODULE_kernel.core->watch_for(watch, ready);
}

#endif
