# SPDX-License-Identifier: Apache-2.0
#
# keelson-pyhost alone is linked with libpython. Extension modules of Python find their symbols there.
MODULE_NEEDS := $(PYTHON_LIBS)
MODULE_FILES := pyhost/pbs/*.py
# keelson-hook is for administrators, and asks the server as a command does
MODULE_BIN := hook
PROGRAM_LIBS_hook := $(CLIENT_LIBS)
bin/keelson-hook: libpbs.a
PROGRAM_CFLAGS_pyhost := $(PYTHON_CFLAGS) -DPYHOST_HOME='"$(PYTHON_HOME)"'
PROGRAM_LIBS_pyhost := $(PYTHON_LIBS) -Wl,--export-dynamic

# Byte code, since the process of a script writes none. It holds where the files are installed, too.
MODULE_MADE := $(if $(PYTHON_LIBS),libexec/keelson/python-hooks/.byte-code)
$(MODULE_MADE): libexec/keelson/keelson-pyhost \
		$(patsubst modules/python-hooks/pyhost/%,libexec/keelson/python-hooks/%,$(call NAMED,modules/python-hooks/pyhost/pbs,*.py))
	$(call SAY,PYTHON)
	$(DO)mkdir -p $(@D) && $< --compile $(@D) && touch $@
tests/modules/python-hooks/test_pyhost: | libexec/keelson/keelson-pyhost
