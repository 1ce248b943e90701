/* SPDX-License-Identifier: Apache-2.0
 *
 * note.c - the ELF note of a module, read without running or mapping its code.
 *
 * What the bytes mean is known to sdk/modfile, which keelson-module shares: both refuse the same files.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "module/inside.h"
#include "util/err.h"

static int map(const char *file, const char *path, struct modfile_bytes *ret, struct keel_err *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *at = MAP_FAILED;
	int ret_code = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		ret_code = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		ret_code = -ENOEXEC;
	else if ((size_t)st.st_size > FILE_SIZE_MAX)
		ret_code = -EFBIG;
	else if ((at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		ret_code = -errno;
	else
		*ret = (struct modfile_bytes){ at, (uint64_t)st.st_size };
	if (fd >= 0)
		close(fd);
	if (ret_code < 0)
		return err_set(err, ret_code, "cannot read module file %s: %s", path,
			       ret_code == -ENOEXEC ? "it is empty or not a file" :
						      strerror(-ret_code));
	return 0;
}

int note_read(const char *file, const char *path, struct modfile_note *ret_note, struct keel_err *err)
{
	struct modfile_bytes bytes = { NULL, 0 };
	const char *no;
	int ret = map(file, path, &bytes, err);

	if (ret < 0)
		return ret;
	no = modfile_note(bytes, ret_note);
	munmap((void *)(uintptr_t)bytes.at, bytes.len);
	if (no != NULL)
		return err_set(err, -ENOEXEC, "%s is not a module: %s", path, no);
	return 0;
}

int note_accept(const char *path, const struct modfile_note *note, struct keel_err *err)
{
	if (note->major == KEEL_ABI_MAJOR && note->minor <= KEEL_ABI_MINOR)
		return 0;
	if (note->major == KEEL_ABI_MAJOR)
		return err_set(err, -EPROTO,
			       "%s was built for module interface %u.%u, this daemon has %u.%u; upgrade keelson, or "
			       "build the module with -DKEEL_SDK_TARGET=%u",
			       path, note->major, note->minor, KEEL_ABI_MAJOR, KEEL_ABI_MINOR, KEEL_ABI_MINOR);
	return err_set(err, -EPROTO,
		       "%s was built for module interface %u.%u, this daemon has %u.%u; %s", path,
		       note->major, note->minor, KEEL_ABI_MAJOR, KEEL_ABI_MINOR,
		       note->major < KEEL_ABI_MAJOR ? "rebuild the module with the newer headers" :
						      "upgrade keelson");
}
