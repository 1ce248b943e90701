# SPDX-License-Identifier: Apache-2.0
#
# No environment, no path, no locale.
import locale
import os
import sys

os.environ.clear()
sys.path[:] = []
sys.path_importer_cache.clear()
sys.meta_path[:] = []
locale.setlocale(locale.LC_ALL, "C")
os.umask(0o777)
