# SPDX-License-Identifier: Apache-2.0
#
# keelson-pyhost alone is linked with libpython. Its extension modules find their symbols there.
MODULE_NEEDS := $(PYTHON_LIBS)
MODULE_FILES := pyhost/pbs/*.py
PROGRAM_CFLAGS_pyhost := $(PYTHON_CFLAGS) -I$(S)/modules -DPYHOST_HOME='"$(PYTHON_HOME)"'
PROGRAM_LIBS_pyhost := $(PYTHON_LIBS) -Wl,--export-dynamic
