# SPDX-License-Identifier: Apache-2.0
#
# Where things go. Configuration that is there already is kept; the new one is put beside it.
LIBEXEC := $(libexecdir)/keelson
INSTALL_SBIN := keelsond
INSTALL_BIN = $(addprefix bin/,$(COMMANDS) $(TOOLS)) $(MODULE_PROGRAMS)
INSTALL_MODULES = $(MODULES:%=modules/%.so)
# Those with files that their programs read
MODULE_FOLDERS := $(foreach m,$(MODULES),$(if $(FILES_$(m)),$(m)))
HEADERS := $(patsubst $(S)/sdk/include/%,%,$(wildcard $(S)/sdk/include/*.h $(S)/sdk/include/keel/*.h \
	$(S)/sdk/include/keel/*.def $(S)/sdk/include/keel/service/*.h $(S)/sdk/include/keel/*/*.def))
CONF := $(patsubst $(S)/conf/%,%,$(foreach f,$(wildcard $(S)/conf/*.conf $(S)/conf/modules.d/*.conf),$(if $(realpath $(f)),$(f))))
CONF := $(filter-out pbs.conf $(ABSENT_MODULES:%=modules.d/%.conf),$(CONF))
MAN := $(notdir $(wildcard $(S)/sdk/man/*.[1-8]))
UNITS := $(if $(systemdsystemunitdir),$(notdir $(wildcard $(S)/sdk/init/*.service)))
# Those that say where the programs are: written for /usr/local, installed for the prefix of this installation.
PLACED := conf/pbs.conf sdk/init/keelson $(UNITS:%=sdk/init/%)
MAN_SECTION = $(subst .,,$(suffix $(1)))

# PUT(program of install, file, target)
PUT = $(1) -D $(2) '$(DESTDIR)$(3)' &&
# KEEP: the shell's function of this name puts configuration where none is; what an administrator wrote stays.
KEEP = keep() { \
	test -e "$$2" || { $(INSTALL_DATA) -D "$$1" "$$2"; return; }; \
	cmp -s "$$1" "$$2" || { $(INSTALL_DATA) "$$1" "$$2.new" && echo "  $$2 is kept, the new one is $$2.new"; }; }

.PHONY: keelson-place
keelson-place:
	@mkdir -p placed/conf placed/sdk/init
	@for f in $(PLACED); do \
		sed -e 's|/usr/local/sbin|$(sbindir)|g' -e 's|/usr/local|$(prefix)|g' $(S)/$$f >placed/$$f || exit 1; \
	done

keelson-install-exec: keelson-all
	$(foreach f,$(INSTALL_SBIN),$(call PUT,$(INSTALL_PROGRAM),$(f),$(sbindir)/$(notdir $(f)))) \
	$(foreach f,$(INSTALL_BIN),$(call PUT,$(INSTALL_PROGRAM),$(f),$(bindir)/$(notdir $(f)))) \
	$(foreach f,$(PROGRAMS),$(call PUT,$(INSTALL_PROGRAM),$(f),$(LIBEXEC)/$(notdir $(f)))) \
	$(foreach f,$(INSTALL_MODULES),$(call PUT,$(INSTALL_DATA),$(f),$(moduledir)/$(notdir $(f)))) \
	$(foreach f,$(MODULE_FILES),$(call PUT,$(INSTALL_DATA),$(f),$(LIBEXEC)/$(f:libexec/keelson/%=%))) \
	$(call PUT,$(INSTALL_DATA),libpbs.a,$(libdir)/libpbs.a) \
	$(call PUT,$(INSTALL_DATA),$(MOCK),$(libdir)/$(MOCK)) \
	$(call PUT,$(INSTALL_PROGRAM),libpbs.so.0,$(libdir)/libpbs.so.0) \
	$(call PUT,$(INSTALL_SCRIPT),pbs-config,$(bindir)/pbs-config) \
	$(LN_S) -f libpbs.so.0 '$(DESTDIR)$(libdir)/libpbs.so'
	$(if $(MODULE_FOLDERS),@for f in $$(find $(MODULE_FOLDERS:%=libexec/keelson/%) -name '*.pyc'); do \
		$(INSTALL_DATA) -D $$f '$(DESTDIR)$(LIBEXEC)'/$${f#libexec/keelson/} || exit 1; done)

keelson-install-data: keelson-all docs-install keelson-place
	$(foreach f,$(HEADERS),$(call PUT,$(INSTALL_DATA),$(S)/sdk/include/$(f),$(includedir)/$(f))) \
	$(foreach f,$(MAN),$(call PUT,$(INSTALL_DATA),$(S)/sdk/man/$(f),$(mandir)/man$(call MAN_SECTION,$(f))/$(f))) \
	$(foreach f,$(OPTIONS),$(call PUT,$(INSTALL_DATA),$(f),$(prefix)/$(f))) \
	$(foreach f,$(UNITS),$(call PUT,$(INSTALL_DATA),placed/sdk/init/$(f),$(systemdsystemunitdir)/$(f))) \
	$(SDK_INSTALL) \
	$(call PUT,$(INSTALL_SCRIPT),placed/sdk/init/keelson,$(libexecdir)/keelson/init) :
	@$(KEEP); for f in $(CONF); do keep $(S)/conf/$$f '$(DESTDIR)$(keelsysconfdir)'/$$f || exit 1; done
	@$(KEEP); keep placed/conf/pbs.conf '$(DESTDIR)$(PBS_CONF_TARGET)' 2>/dev/null || test -e '$(DESTDIR)$(PBS_CONF_TARGET)' || \
		{ keep placed/conf/pbs.conf '$(DESTDIR)$(keelsysconfdir)/pbs.conf' && \
		echo '  $(PBS_CONF_TARGET) cannot be written: root is to copy $(keelsysconfdir)/pbs.conf there, or PBS_CONF_FILE names it'; }

keelson-uninstall: docs-uninstall
	cd '$(DESTDIR)/' && rm -f $(patsubst /%,%,$(foreach f,$(INSTALL_SBIN),$(sbindir)/$(notdir $(f))) \
		$(foreach f,$(INSTALL_BIN),$(bindir)/$(notdir $(f))) \
		$(foreach f,$(PROGRAMS),$(LIBEXEC)/$(notdir $(f))) \
		$(foreach f,$(INSTALL_MODULES),$(moduledir)/$(notdir $(f))) \
		$(bindir)/pbs-config $(libdir)/libpbs.a $(libdir)/$(MOCK) $(libdir)/libpbs.so $(libdir)/libpbs.so.0 \
		$(foreach f,$(HEADERS),$(includedir)/$(f)) \
		$(SDK_INSTALLED) $(patsubst %,$(prefix)/%,$(OPTIONS)) $(LIBEXEC)/init \
		$(foreach f,$(UNITS),$(systemdsystemunitdir)/$(f)) \
		$(foreach f,$(MAN),$(mandir)/man$(call MAN_SECTION,$(f))/$(f)))
	rm -rf $(MODULE_FOLDERS:%='$(DESTDIR)$(LIBEXEC)/%')
	@cd '$(DESTDIR)/' && for d in $(patsubst /%,%,$(libdir)/keelson $(libdir)/cmake $(LIBEXEC) $(includedir)/keel \
		$(datadir)/keelson $(prefix)/share/keelson); do \
		test ! -d "$$d" || find "$$d" -depth -type d -exec rmdir --ignore-fail-on-non-empty {} +; done

.PHONY: keelson-install-exec keelson-install-data keelson-uninstall
