# SPDX-License-Identifier: Apache-2.0
#
# The module writer's guide and reference: manual pages in man/ and one HTML page in doc/, made from
# sdk/doc, the tables and the comments of the headers. Without lowdown or python3 they are left out, and a
# sentence says so; everything else is built as ever.
DOC_TOOL := $(S)/sdk/doc/tools/docs
DOC_SOURCES := $(wildcard $(S)/sdk/doc/*.md $(S)/sdk/doc/guide/*.md $(S)/sdk/doc/admin/*.md $(S)/sdk/doc/hooks/*.py $(S)/sdk/doc/tools/* $(S)/sdk/template/* \
	$(S)/sdk/include/keel/* $(S)/sdk/include/keel/service/* $(S)/tests/fixtures/*.c)
DOC_MISSING := $(foreach p,lowdown python3,$(if $(shell command -v $(p)),,$(p)))

docs: doc/.made

ifeq ($(strip $(DOC_MISSING)),)
doc/.made: $(DOC_SOURCES)
	$(call SAY,DOC)
	$(DO)$(DOC_TOOL) make . && touch $@
else
doc/.made:
	@mkdir -p $(@D)
	@echo "  the guide and reference for module writers are not built: install $(strip $(DOC_MISSING))"
endif

# A sanitizer build is not read.
KEELSON_ALL += $(if $(findstring sanitize,$(CFLAGS)),,docs)

# Pages about attributes, resources and records: sdk/man/made/* with entries from the rows of the modules that are built.
PAGES := $(patsubst $(S)/sdk/man/made/%,pages/%,$(wildcard $(S)/sdk/man/made/*.[1-8]*))
$(PAGES): pages/%: $(S)/sdk/man/made/% bin/keelson-module $(MODULES:%=modules/%.so)
	$(call SAY,PAGE)
	@mkdir -p $(@D)
	$(DO)bin/keelson-module page $< $(MODULES:%=modules/%.so) >$@.new && mv $@.new $@
docs: $(PAGES)

# The worked examples: all that the guide and the reference quote or list, their headers, and what builds them.
QUOTES := sed -n -E 's:.*<!-- code tests/fixtures/([a-z_]+\.c) .*:\1:p; /<!-- fixtures/{s/.*<!-- fixtures | *-->//g; s/([a-z_]+)/\1.c/gp}'
EXAMPLES := $(S)/sdk/doc/examples/Makefile $(wildcard $(S)/tests/fixtures/*.h) $(sort $(addprefix $(S)/tests/fixtures/,\
	$(shell $(QUOTES) $(S)/sdk/doc/guide/*.md $(S)/sdk/doc/*.md) \
	$(shell sed -n -E 's/^HOOK.[0-9]+, *([a-z_]+),.*/\1.c/p' $(S)/sdk/include/keel/hook_points.def)))

# Hooks of sites, with their configuration files and cases (not where there is no Python to run them)
SITE_HOOKS := $(if $(PYTHON_LIBS),$(patsubst $(S)/sdk/doc/%,%,$(wildcard $(S)/sdk/doc/hooks/*.* $(S)/sdk/doc/hooks/*/*.*)))

# What is read as it is: of the tree, and the sources of the guides. Links between them lead where they are installed.
TEXTS := $(foreach f,README.md LICENSE CHANGELOG.md ARCHITECTURE.md,$(wildcard $(S)/$(f)))
MARKDOWN := $(filter-out README.md hooks/% examples/% tools/%,$(patsubst $(S)/sdk/doc/%,%,$(wildcard $(S)/sdk/doc/*.md $(S)/sdk/doc/*/*.md)))
LINKS := sed -e 's:](sdk/doc/:](:g' -e 's:](sdk/README.md):](sdk.md):g'

# What was built; the list is taken when the command runs.
docs-install: docs
	@for f in man/*.[1-9]* $(PAGES); do \
		test ! -f $$f || $(INSTALL_DATA) -D $$f '$(DESTDIR)$(mandir)'/man$$(echo $${f##*.} | cut -c1)/$${f##*/} || exit 1; \
	done
	$(DO)for f in $(EXAMPLES); do $(INSTALL_DATA) -D $$f '$(DESTDIR)$(docdir)'/examples/$${f##*/} || exit 1; done
	$(DO)for f in $(SITE_HOOKS); do $(INSTALL_DATA) -D $(S)/sdk/doc/$$f '$(DESTDIR)$(docdir)'/$$f || exit 1; done
	@mkdir -p placed/doc '$(DESTDIR)$(docdir)'
	$(DO)cp $(TEXTS) placed/doc && cp $(S)/sdk/README.md placed/doc/sdk.md && chmod u+w placed/doc/* && cd placed/doc && \
		for f in *; do $(LINKS) -i $$f && $(INSTALL_DATA) $$f '$(DESTDIR)$(docdir)'/$$f || exit 1; done
	$(DO)for f in $(MARKDOWN); do $(INSTALL_DATA) -D $(S)/sdk/doc/$$f '$(DESTDIR)$(docdir)'/$$f || exit 1; done
	$(DO)$(INSTALL_DATA) -D $(S)/sdk/init/keelson.logrotate '$(DESTDIR)$(docdir)/keelson.logrotate'
	@test ! -f doc/keelson-sdk.html || $(INSTALL_DATA) -D doc/keelson-sdk.html '$(DESTDIR)$(docdir)/keelson-sdk.html'

docs-uninstall:
	@for f in man/*.[1-9]* $(PAGES); do rm -f '$(DESTDIR)$(mandir)'/man$$(echo $${f##*.} | cut -c1)/$${f##*/}; done
	@rm -f '$(DESTDIR)$(docdir)/keelson-sdk.html' $(foreach f,$(notdir $(TEXTS)) sdk.md keelson.logrotate $(MARKDOWN),'$(DESTDIR)$(docdir)/$(f)')
	@rm -rf '$(DESTDIR)$(docdir)/examples' '$(DESTDIR)$(docdir)/hooks'
	@test ! -d '$(DESTDIR)$(docdir)' || find '$(DESTDIR)$(docdir)' -depth -type d -empty -delete

.PHONY: docs docs-install docs-uninstall
