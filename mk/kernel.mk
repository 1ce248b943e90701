# SPDX-License-Identifier: Apache-2.0
#
# The daemon. The kernel exports nothing: no -rdynamic, hidden visibility; -fPIC keeps libc's variables
# out of the executable's own table.
KERNEL_C := $(call NAMED,kernel/*,*.c)
KERNEL_O := $(call OBJECTS,$(filter-out kernel/main/keelsond.c,$(KERNEL_C)))
KERNEL_FLAGS := -fPIC -I$(S)/kernel -I$(S)/sdk/include -I$(S)/sdk \
	$(UV_CFLAGS) $(LIBCONFIG_CFLAGS)
KERNEL_LIBS := $(UV_LIBS) $(LIBCONFIG_LIBS) $(LTDL_LIBS) -lpthread -ldl -lm

obj/kernel/%.o: FLAGS = $(KERNEL_FLAGS)
obj/kernel/main/place.o: FLAGS = $(KERNEL_FLAGS) \
	-DKEELSON_MODULE_DIR='"$(moduledir)"' -DKEELSON_MODULE_BESIDE='"$(call RELATIVE,$(moduledir),$(sbindir))"' \
	-DKEELSON_CONF_FILE='"$(keelsysconfdir)/keelson.conf"' \
	-DKEELSON_CONF_BESIDE='"$(call RELATIVE,$(keelsysconfdir),$(sbindir))/keelson.conf"'

# Types of attributes, configuration by rules
HOSTS_O := $(call OBJECTS,$(call NAMED,sdk/types,*.c) $(call NAMED,sdk/rules,*.c))
$(HOSTS_O): FLAGS = -fPIC -I$(S)/sdk -I$(S)/sdk/include $(LIBCONFIG_CFLAGS)

lib/libkernel.a: $(KERNEL_O) $(HOSTS_O)
	$(ARCHIVE)

keelsond: obj/kernel/main/keelsond.o lib/libkernel.a lib/libwire.a lib/libmodfile.a
	$(call SAY,LINK)
	$(DO)$(PROGRAM_LINK) -Wl,--version-script=$(S)/mk/nothing.map -o $@ $^ $(KERNEL_LIBS)

KEELSON_ALL += keelsond lib/libkernel.a
