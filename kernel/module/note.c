/* SPDX-License-Identifier: Apache-2.0
 *
 * note.c - the ELF note of a module, read without running or mapping its code.
 *
 * What the bytes mean is known to sdk/modfile, which keelson-module shares: both refuse the same files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module/inside.h"
#include "util/err.h"
#include "util/file.h"

int note_read(const char *file, const char *path, struct stat *ret_stat, struct modfile_note *ret_note, struct keel_err *err)
{
	const char *no;
	char *bytes = NULL;
	size_t len;
	int ret = 0;

	if (stat(file, ret_stat) < 0)
		ret = -errno;
	else if (!S_ISREG(ret_stat->st_mode) || ret_stat->st_size <= 0)
		ret = -ENOEXEC;
	else if ((size_t)ret_stat->st_size > FILE_SIZE_MAX)
		ret = -EFBIG;
	else
		ret = file_read(file, FILE_SIZE_MAX, &bytes, &len);
	if (ret < 0)
		return err_set(err, ret, "cannot read module file %s: %s", path,
			       ret == -ENOEXEC ? "it is empty or not a file" : strerror(-ret));
	no = modfile_note((struct modfile_bytes){ (const unsigned char *)bytes, len }, ret_note);
	free(bytes);
	if (no != NULL)
		return err_set(err, -ENOEXEC, "%s is not a module: %s", path, no);
	if (ret_note->major == KEEL_ABI_MAJOR && ret_note->minor <= KEEL_ABI_MINOR)
		return 0;
	if (ret_note->major == KEEL_ABI_MAJOR)
		return err_set(err, -EPROTO,
			       "%s was built for module interface %u.%u, this daemon has %u.%u; upgrade keelson, or "
			       "build the module with -DKEEL_SDK_TARGET=%u",
			       path, ret_note->major, ret_note->minor, KEEL_ABI_MAJOR, KEEL_ABI_MINOR, KEEL_ABI_MINOR);
	return err_set(err, -EPROTO, "%s was built for module interface %u.%u, this daemon has %u.%u; %s", path,
		       ret_note->major, ret_note->minor, KEEL_ABI_MAJOR, KEEL_ABI_MINOR,
		       ret_note->major < KEEL_ABI_MAJOR ? "rebuild the module with the newer headers" : "upgrade keelson");
}
