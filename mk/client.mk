# SPDX-License-Identifier: Apache-2.0
#
# libpbs and the commands. Only what pbs_ifl.h declares is visible in libpbs.so. A command is all the
# *.c of its folder, the helpers of sdk/commands/lib and libpbs.a.
WIRE_O := $(call OBJECTS,$(call NAMED,sdk/wire,*.c))
CLIENT_O := $(call OBJECTS,$(call NAMED,sdk/client,*.c))
CLIENT_LIBS := -lpthread
COMMAND_LIB_O := $(call OBJECTS,$(call NAMED,sdk/commands/lib,*.c))
COMMANDS := $(sort $(filter-out lib,$(notdir $(patsubst %/,%,$(dir $(call NAMED,sdk/commands/*,*.c))))))
MUSL_COMMANDS := $(if $(MUSL_GCC),qsub)
COMMAND_LIBS := $(CLIENT_LIBS) $(EDIT_LIBS) $(JANSSON_LIBS)
COMMAND_FLAGS := -I$(S)/sdk/include -I$(S)/sdk/commands/lib -I$(S)/sdk $(EDIT_CFLAGS) $(JANSSON_CFLAGS) \
	-DPBS_VERSION='"$(VERSION_TEXT)"'

obj/sdk/wire/%.o obj/sdk/client/%.o: FLAGS = -fPIC -I$(S)/sdk/include -I$(S)/sdk -I$(S)/sdk/wire \
	-I$(S)/sdk/client
obj/sdk/commands/%.o: FLAGS = $(COMMAND_FLAGS)

MODFILE_O := $(call OBJECTS,$(call NAMED,sdk/modfile,*.c))
obj/sdk/modfile/%.o: FLAGS = -fPIC -I$(S)/sdk/include -I$(S)/sdk

# Module files, read without running them: for the daemon and for keelson-module
lib/libmodfile.a: $(MODFILE_O)
	$(ARCHIVE)

lib/libwire.a: $(WIRE_O)
	$(ARCHIVE)

libpbs.a: $(CLIENT_O) $(WIRE_O)
	$(ARCHIVE)

libpbs.so.0: $(CLIENT_O) $(WIRE_O)
	$(call SAY,LINK)
	$(DO)$(K_LINK) -shared -Wl,-soname,libpbs.so.0 -Wl,-z,defs -o $@ $^ $(CLIENT_LIBS)

libpbs.so: libpbs.so.0
	$(DO)ln -sf libpbs.so.0 $@

lib/libcommands.a: $(COMMAND_LIB_O)
	$(ARCHIVE)

define COMMAND_RULES
bin/$(1): $(call OBJECTS,$(call NAMED,sdk/commands/$(1),*.c)) lib/libcommands.a libpbs.a
	$$(call SAY,LINK)
	@mkdir -p bin
	$$(DO)$$(PROGRAM_LINK) -o $$@ $$^ $$(COMMAND_LIBS)
endef
$(foreach c,$(filter-out $(MUSL_COMMANDS),$(COMMANDS)),$(eval $(call COMMAND_RULES,$(c))))

# qsub is started once per job, and most of a small program's life is the start of glibc: it asks the processor
# about its caches some sixty times, and on a virtual machine each answer comes from the host. Where configure
# found musl, qsub is a static program of that; the other commands need libraries that only glibc has.
MUSL_LIB_O := $(patsubst %.c,obj/musl/%.o,$(foreach d,client wire,$(call NAMED,sdk/$(d),*.c)) \
	$(foreach f,attr_list date operand reach unquote,sdk/commands/lib/$(f).c))
obj/musl/%.o: FLAGS = -I$(S)/sdk/client -I$(S)/sdk/wire -I$(S)/sdk/include -I$(S)/sdk/commands/lib -I$(S)/sdk \
	-DPBS_VERSION='"$(VERSION_TEXT)"'
obj/musl/%.o: $(S)/%.c
	$(call SAY,CC)
	@mkdir -p $(@D)
	$(DO)$(MUSL_GCC) -fPIE $(FLAGS) $(K_CFLAGS) -MMD -MP -c -o $@ $<

lib/libpbs-musl.a: $(MUSL_LIB_O)
	$(ARCHIVE)

$(MUSL_COMMANDS:%=bin/%): bin/%: $(patsubst %.c,obj/musl/%.o,$(call NAMED,sdk/commands/qsub,*.c)) lib/libpbs-musl.a
	$(call SAY,LINK)
	@mkdir -p $(@D)
	$(DO)$(MUSL_GCC) $(K_CFLAGS) $(KEEL_LDFLAGS) $(LDFLAGS) $(MUSL_BEGIN) -o $@ $^ $(MUSL_END)

# For builds that do not know pkg-config
pbs-config: $(S)/mk/pbs-config.in
	$(DO)sed -e 's|@PREFIX@|$(call RELATIVE,$(prefix),$(bindir))|' -e 's|@INCLUDE@|$(call RELATIVE,$(includedir),$(prefix))|' \
		-e 's|@LIB@|$(call RELATIVE,$(libdir),$(prefix))|' -e 's|@VERSION@|$(VERSION_TEXT)|' $< >$@
	@chmod 755 $@

KEELSON_ALL += libpbs.a libpbs.so $(addprefix bin/,$(COMMANDS)) pbs-config
