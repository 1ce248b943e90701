# SPDX-License-Identifier: Apache-2.0
#
# What a module's author gets: the template, the macro for autoconf, the package for CMake. Headers, pages and
# programs are installed with the rest (install.mk). Paths are relative to what is installed, so that an
# installation may be moved.
RELATIVE = $(shell realpath -m --relative-to='$(2)' '$(1)')
# A folder below the prefix moves with it, another one is where it is.
BELOW = $(if $(filter $(prefix)/%,$(1)),$(call RELATIVE,$(1),$(prefix)),$(1))
SDK_DATA := $(datadir)/keelson
CMAKE_DIR := $(libdir)/cmake/KeelsonModule
TEMPLATE := $(patsubst $(S)/sdk/template/%,%,$(wildcard $(S)/sdk/template/*.[a-zA-Z]* $(S)/sdk/template/Makefile \
	$(S)/sdk/template/*/*.*))
TEMPLATE_BUILT := $(addprefix share/keelson/template/,$(TEMPLATE))
CMAKE_BUILT := $(addprefix share/cmake/,KeelsonModuleConfig.cmake KeelsonModuleConfigVersion.cmake)

# A program that was built, but is not installed, finds the template, too.
$(TEMPLATE_BUILT): share/keelson/template/%: $(S)/sdk/template/%
	@mkdir -p $(@D)
	$(DO)cp $< $@

share/cmake/%: $(S)/sdk/cmake/%.in
	@mkdir -p $(@D)
	$(DO)sed -e 's|@VERSION@|$(PACKAGE_VERSION)|' -e 's|@PREFIX@|$(call RELATIVE,$(prefix),$(CMAKE_DIR))|' \
		-e 's|@INCLUDE@|$(call RELATIVE,$(includedir),$(prefix))|' \
		-e 's|@LIB@|$(call RELATIVE,$(libdir),$(prefix))|' \
		-e 's|@BIN@|$(call RELATIVE,$(bindir),$(prefix))|' \
		-e 's|@DATA@|$(call RELATIVE,$(SDK_DATA),$(prefix))|' -e 's|@MODULES@|$(call RELATIVE,$(moduledir),$(prefix))|' -e 's|@CONF@|$(call BELOW,$(keelsysconfdir))|' $< >$@

# Beside a program that was built, where a module's Makefile looks: this tree's headers, this build's programs.
PC_BUILT := lib/pkgconfig/pbs.pc lib/pkgconfig/tm.pc lib/pkgconfig/keelson-module.pc lib/pkgconfig/keelson-mock.pc
$(PC_BUILT): lib/pkgconfig/%: %
	@mkdir -p $(@D)
	$(DO)sed -e 's|^includedir=.*|includedir=$(abspath $(S))/sdk/include|' -e 's|^libdir=.*|libdir=$(CURDIR)|' \
		-e 's|^exports=.*|exports=$(abspath $(S))/sdk/exports.map|' -e 's|^tool=.*|tool=$(CURDIR)/bin/keelson-module|' \
		-e 's|^moduledir=.*|moduledir=$(CURDIR)/modules|' $< >$@

KEELSON_ALL += $(TEMPLATE_BUILT) $(CMAKE_BUILT) $(PC_BUILT)

# file of the build or of the tree, where it goes
SDK_FILES = $(foreach f,$(TEMPLATE),share/keelson/template/$(f):$(SDK_DATA)/template/$(f)) \
	$(foreach f,$(CMAKE_BUILT),$(f):$(CMAKE_DIR)/$(notdir $(f))) \
	$(S)/sdk/exports.map:$(SDK_DATA)/exports.map $(S)/sdk/autotools/keelson.m4:$(datadir)/aclocal/keelson.m4
SDK_FROM = $(firstword $(subst :, ,$(1)))
SDK_TO = $(lastword $(subst :, ,$(1)))
SDK_INSTALL = $(foreach f,$(SDK_FILES),$(call PUT,$(INSTALL_DATA),$(call SDK_FROM,$(f)),$(call SDK_TO,$(f))))
SDK_INSTALLED = $(foreach f,$(SDK_FILES),$(call SDK_TO,$(f)))

# A module from what was installed, and from nothing of this tree.
keelson-installcheck:
	@desk=$$(mktemp -d) && trap 'rm -rf "$$desk"' EXIT && cd "$$desk" && \
		'$(DESTDIR)$(bindir)/keelson-module' new hello >/dev/null && \
		env -i PATH="$$PATH" PKG_CONFIG='pkg-config --define-prefix' \
			PKG_CONFIG_PATH='$(DESTDIR)$(libdir)/pkgconfig' $(MAKE) -C hello check >log 2>&1 || \
		{ cat "$$desk/log"; exit 1; }
	@echo 'a module is built and checked from the installation alone'

.PHONY: keelson-installcheck
