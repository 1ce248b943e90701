/* SPDX-License-Identifier: Apache-2.0
 *
 * child.c - programs that are run, and the files they are given.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hook_cmd.h"

#define OUTPUT_KEPT (64u << 20) /* what is behind it is not kept */

int complain(const char *fmt, ...)
{
	va_list args;

	fputs("keelson hook: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

char *path_of(const char *dir, const char *fmt, ...)
{
	char *name = NULL, *path = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&name, fmt, args) < 0)
		name = NULL;
	va_end(args);
	if (!name || asprintf(&path, "%s/%s", dir, name) < 0)
		path = NULL;
	free(name);
	return path;
}

char *program_path(const char *relative)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len <= 0)
		return NULL;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	return path_of(self, "%s", relative);
}

/* ---- a program ----------------------------------------------------------------------------------------------- */
/* Its output goes to a file: what it leaves behind may keep that open. With bounds it is a group of processes, which ends with this one. */
static void child_bound(unsigned int seconds)
{
	const struct rlimit bytes = { OUTPUT_KEPT, OUTPUT_KEPT };
	int nothing = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_FSIZE, &bytes);
	if (nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	alarm(seconds);
}

static _Noreturn void child_become(char **argv, int out, int with_errors, unsigned int seconds)
{
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	if (out >= 0 && with_errors)
		dup2(out, STDERR_FILENO);
	if (seconds)
		child_bound(seconds);
	execv(argv[0], argv);
	complain("cannot run %s: %s", argv[0], strerror(errno));
	_exit(127);
}

static void output_read(int fd, struct text *out)
{
	char buf[8192], *more;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0 || out->len + (size_t)n > OUTPUT_KEPT || !(more = realloc(out->s, out->len + (size_t)n + 1)))
			continue;
		out->s = more;
		memcpy(out->s + out->len, buf, (size_t)n);
		out->len += (size_t)n;
		out->s[out->len] = '\0';
	}
}

static int child_wait(pid_t pid)
{
	int state;

	while (waitpid(pid, &state, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

int child_run(char **argv, struct text *out, int with_errors, unsigned int seconds)
{
	FILE *f = out ? tmpfile() : NULL;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = out && !f ? -1 : fork();
	if (pid == 0)
		child_become(argv, f ? fileno(f) : -1, with_errors, seconds);
	if (pid > 0)
		status = child_wait(pid);
	else
		complain("cannot run %s: %s", argv[0], strerror(errno));
	if (pid > 0 && seconds)
		kill(-pid, SIGKILL); /* what it has left of its group */
	if (f && lseek(fileno(f), 0, SEEK_SET) == 0)
		output_read(fileno(f), out);
	if (f)
		fclose(f);
	return status;
}

int pyhost_run(char **argv, struct text *out, unsigned int seconds)
{
	int status;

	argv[0] = program_path("../libexec/keelson/keelson-pyhost");
	status = argv[0] ? child_run(argv, out, out != NULL, seconds) : (complain("no memory"), -1);
	free(argv[0]);
	return status;
}

int script_run(const struct script *s, struct text *out, unsigned int seconds)
{
	char run[] = "--run", event[] = "--event", config[] = "--config", tables[] = "--tables";
	char *argv[10] = { NULL, run, s->file, event, s->event };
	size_t n = 5;

	if (s->config) {
		argv[n++] = config;
		argv[n++] = s->config;
	}
	if (s->tables) {
		argv[n++] = tables;
		argv[n++] = s->tables;
	}
	return pyhost_run(argv, out, seconds);
}

/* ---- files --------------------------------------------------------------------------------------------------- */
char *temp_make(void)
{
	const char *base = getenv("TMPDIR");
	char *dir = path_of(base && base[0] == '/' ? base : "/tmp", "keelson-hook.XXXXXX");

	if (!dir || !mkdtemp(dir)) {
		complain("no temporary folder: %s", strerror(errno));
		free(dir);
		return NULL;
	}
	return dir;
}

void temp_remove(char *dir)
{
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d) {
		closedir(d);
		rmdir(dir);
	}
	free(dir);
}

int file_write(const char *path, const struct text *text)
{
	FILE *f = path ? fopen(path, "wx") : NULL;
	size_t n = f ? fwrite(text->s ? text->s : "", 1, text->len, f) : 0;

	if (!f || fclose(f) != 0 || n != text->len)
		return complain("cannot write %s: %s", path ? path : "a file", strerror(errno));
	return 0;
}

int file_read(const char *path, struct text *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	output_read(fd, text);
	close(fd);
	return 0;
}
