# SPDX-License-Identifier: Apache-2.0
#
# One .so per folder of modules/ that has a .c file. The flags are those of any vendor: nothing of the
# kernel can be included (-I sdk/include alone) or linked (-z defs).
#
# A folder modules/<name>/<program>/ with a main.c becomes libexec/keelson/keelson-<program>, or bin/keelson-<program>:
# all its *.c, and what they use of the module's own.
#
# modules/<name>/module.mk may set, for <name>:
#   MODULE_LIBS     libraries of the .so and its programs, as $(SQLITE_LIBS)
#   MODULE_CFLAGS   further flags
#   MODULE_EXCLUDE  *.c of the folder that do not belong to the .so
#   MODULE_BIN      its programs that are for people: they go to bin/
#   MODULE_NEEDS    empty: what it needs is not here, there is no such module in this build
#   MODULE_FILES    patterns <program>/<path> of files that a program of it reads: libexec/keelson/<name>/<path>
#   MODULE_MADE     what else is made of it, by a rule of that file; *.pyc beside MODULE_FILES are installed with them
#   PROGRAM_CFLAGS_<program>, PROGRAM_LIBS_<program>   further flags and libraries of that program alone
MODULES := $(sort $(notdir $(patsubst %/,%,$(dir $(filter-out %/test_%,$(call NAMED,modules/*,*.c))))))
MODULE_FLAGS := -fPIC -I$(S)/sdk/include
MODULE_LINK = $(K_LINK) -shared -Wl,-z,defs -Wl,-z,now -Wl,-z,noexecstack

obj/modules/%.o: FLAGS = $(MODULE_FLAGS)

# MODULE_RULES(name): the lists are fixed here, by :=
define MODULE_RULES
MODULE_LIBS :=
MODULE_CFLAGS :=
MODULE_EXCLUDE :=
MODULE_BIN :=
MODULE_NEEDS := nothing
MODULE_FILES :=
MODULE_MADE :=
-include $(S)/modules/$(1)/module.mk
ifeq ($$(strip $$(MODULE_NEEDS)),)
ABSENT_MODULES += $(1)
else
KEELSON_ALL += $$(MODULE_MADE)
LIBS_$(1) := $$(MODULE_LIBS)
O_$(1) := $$(call OBJECTS,$$(filter-out modules/$(1)/test_% $$(addprefix modules/$(1)/,$$(MODULE_EXCLUDE)),\
	$$(call NAMED,modules/$(1),*.c)))
PROGRAMS_$(1) := $$(notdir $$(patsubst %/main.c,%,$$(call NAMED,modules/$(1)/*,main.c)))
PROGRAMS += $$(addprefix libexec/keelson/keelson-,$$(filter-out $$(MODULE_BIN),$$(PROGRAMS_$(1))))
MODULE_PROGRAMS += $$(addprefix bin/keelson-,$$(MODULE_BIN))
obj/modules/$(1)/%.o: FLAGS = $$(MODULE_FLAGS) -I$$(S)/modules/$(1) $$(MODULE_CFLAGS_$(1))
MODULE_CFLAGS_$(1) := $$(MODULE_CFLAGS)

modules/$(1).so: $$(O_$(1))
	$$(call SAY,LINK)
	@mkdir -p modules
	$$(DO)$$(MODULE_LINK) -o $$@ $$^ $$(LIBS_$(1)) -lm

lib/modules/lib$(1).a: $$(O_$(1))
	$$(ARCHIVE)

$$(foreach p,$$(PROGRAMS_$(1)),$$(eval $$(call PROGRAM_RULES,$(1),$$(p))))
$$(foreach f,$$(MODULE_FILES),$$(eval $$(call FILE_RULES,$(1),$$(firstword $$(subst /, ,$$(f))),$$(f))))
endif
endef

# FILE_RULES(module, program, pattern)
define FILE_RULES
FILES_$(1) += $(patsubst $(2)/%,libexec/keelson/$(1)/%,$(patsubst modules/$(1)/%,%,$(call NAMED,modules/$(1),$(3))))
libexec/keelson/$(1)/%: $(S)/modules/$(1)/$(2)/%
	@mkdir -p $$(@D)
	$$(DO)cp $$< $$@
endef

# PROGRAM_RULES(module, program)
define PROGRAM_RULES
obj/modules/$(1)/$(2)/%.o: FLAGS += -I$(S)/sdk -DPBS_VERSION='"$(VERSION_TEXT)"' $(PROGRAM_CFLAGS_$(2))
libexec/keelson/keelson-$(2) bin/keelson-$(2): $(call OBJECTS,$(call NAMED,modules/$(1)/$(2),*.c)) lib/modules/lib$(1).a
	$$(call SAY,LINK)
	@mkdir -p $$(@D)
	$$(DO)$$(PROGRAM_LINK) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS_$(1)) $(PROGRAM_LIBS_$(2))
endef

PROGRAMS :=
MODULE_PROGRAMS :=
ABSENT_MODULES :=
$(foreach m,$(MODULES),$(eval $(call MODULE_RULES,$(m))))
MODULES := $(filter-out $(ABSENT_MODULES),$(MODULES))
MODULE_FILES := $(foreach m,$(MODULES),$(FILES_$(m)))

KEELSON_ALL += $(MODULES:%=modules/%.so) $(PROGRAMS) $(MODULE_PROGRAMS) $(MODULE_FILES)
