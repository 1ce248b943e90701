# SPDX-License-Identifier: Apache-2.0
#
# How one object is compiled, and everything there is to make.
.DEFAULT_GOAL := all
S := $(top_srcdir)

# NAMED(folder, pattern): files below the source tree as paths from its top
NAMED = $(patsubst $(S)/%,%,$(wildcard $(S)/$(1)/$(2)))
# OBJECTS(sources)
OBJECTS = $(patsubst %.c,obj/%.o,$(1))

VERSION_TEXT := $(shell sed -n 's/^\#define KEELSON_PBS_LEVEL "\(.*\)"/\1/p' $(S)/kernel/util/version.h) \
	(Keelson $(PACKAGE_VERSION))
K_CFLAGS = $(KEEL_CFLAGS) $(CPPFLAGS) $(CFLAGS)
K_LINK = $(CC) $(K_CFLAGS) $(KEEL_LDFLAGS) $(LDFLAGS)
# A program's place in memory is another one each time: -fPIE unless FLAGS say -fPIC.
PROGRAM_LINK = $(CC) $(K_CFLAGS) $(KEEL_LDFLAGS) $(if $(findstring -static-pie,$(LDFLAGS)),,-pie) $(LDFLAGS)

SAY = @$(if $(filter 1,$(V)),:,printf '  %-8s %s\n' $(1) $@);
DO = $(if $(filter 1,$(V)),,@)

# Flags by folder: a target-specific FLAGS, set in the files below
obj/%.o: $(S)/%.c
	$(call SAY,CC)
	@mkdir -p $(@D)
	$(DO)$(CC) -fPIE $(FLAGS) $(K_CFLAGS) $(FLAGS_AFTER) -MMD -MP -c -o $@ $<

# An archive of exactly its objects
ARCHIVE = $(call SAY,AR) mkdir -p $(@D) && rm -f $@ && $(AR) cq $@ $^ && $(RANLIB) $@

KEELSON_ALL :=
include $(S)/mk/kernel.mk
include $(S)/mk/client.mk
include $(S)/mk/modules.mk
include $(S)/mk/mock.mk
include $(S)/mk/tests.mk
include $(S)/mk/tools.mk
include $(S)/mk/sdk.mk
include $(S)/mk/docs.mk
include $(S)/mk/install.mk

keelson-all: $(KEELSON_ALL)

keelson-clean:
	rm -rf obj lib bin man pages doc share modules libexec placed tests keelsond libpbs.a libpbs.so libpbs.so.0 pbs-config \
		libkeelson-mock.a

-include $(shell test ! -d obj || find obj -name '*.d')

.PHONY: keelson-all keelson-clean
.SECONDARY:
