# SPDX-License-Identifier: Apache-2.0
#
# tests/unit/<folder>/test_*.c and modules/<name>/test_*.c are programs, linked with what they mirror:
# the kernel's archive, libpbs.a, the helpers of commands, the module's own objects, and the other *.c
# of their folder of tests. test_<x>.c also gets the command that has a file <x>.c, or is called <x>, but
# for its main file.
#
# tests/fixtures/<name>.c become tests/fixtures/<name>.so with the flags of a module; where <name> has
# "unresolved" in it, undefined symbols are let through. tests/fixtures/bad/ is the same: modules that
# keelson-module check must find fault with.
UNIT_C := $(call NAMED,tests/unit/*,test_*.c) $(call NAMED,tests/unit/*/*,test_*.c)
MODULE_TEST_C := $(foreach m,$(MODULES),$(call NAMED,modules/$(m),test_*.c))
UNIT := $(UNIT_C:%.c=%)
MODULE_TESTS := $(patsubst modules/%.c,tests/modules/%,$(MODULE_TEST_C))
TEST_FLAGS := -I$(S)/kernel -I$(S)/sdk/include -I$(S)/sdk -I$(S)/sdk/wire -I$(S)/sdk/client \
	-I$(S)/sdk/commands/lib -I$(S)/tests/unit $(CUNIT_CFLAGS) $(JANSSON_CFLAGS) \
	$(SODIUM_CFLAGS) $(SQLITE_CFLAGS)
TEST_LIBS := $(CUNIT_LIBS) $(KERNEL_LIBS) $(COMMAND_LIBS)
TEST_ARCHIVES := $(MOCK) lib/libkernel.a lib/libcommands.a libpbs.a lib/libmodfile.a

obj/tests/%.o: FLAGS = $(TEST_FLAGS)
$(call OBJECTS,$(MODULE_TEST_C)): FLAGS = -fPIC $(TEST_FLAGS)

# The other sources of a folder of tests: not tests, nor stand-ins for a whole library (fake_pbs.c)
HELPERS = $(call OBJECTS,$(filter-out $(1)/test_% $(1)/fake_pbs.c,$(call NAMED,$(1),*.c)))

# MIRRORED(x): the command that test_<x> is about, if any
MIRRORED = $(firstword $(foreach c,$(COMMANDS),$(if $(wildcard $(S)/sdk/commands/$(c)/$(1).c),$(c))) \
	$(filter $(1),$(COMMANDS)))

# UNIT_RULES(test, its folder, mirrored command)
define UNIT_RULES
obj/$(1).o: FLAGS = $(if $(3),-I$(S)/sdk/commands/$(3)) $$(TEST_FLAGS)
$(1): obj/$(1).o $(call HELPERS,$(2)) $(if $(3),lib/commands/lib$(3).a) $(TEST_ARCHIVES)
	$$(call SAY,LINK)
	@mkdir -p $$(@D)
	$$(DO)$$(PROGRAM_LINK) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(TEST_LIBS)
endef
$(foreach t,$(UNIT),$(eval $(call UNIT_RULES,$(t),$(patsubst %/,%,$(dir $(t))),$(if \
	$(filter tests/unit/commands/% tests/unit/client/%,$(t)),$(call MIRRORED,$(patsubst test_%,%,$(notdir $(t))))))))

# COMMAND_ARCHIVE(command)
define COMMAND_ARCHIVE
lib/commands/lib$(1).a: $(call OBJECTS,$(filter-out %/main.c %/$(1).c,$(call NAMED,sdk/commands/$(1),*.c)))
	$$(ARCHIVE)
endef
$(foreach c,$(COMMANDS),$(eval $(call COMMAND_ARCHIVE,$(c))))

# MODULE_TEST_RULES(test program, source, module)
define MODULE_TEST_RULES
$(1): $(call OBJECTS,$(2)) lib/modules/lib$(3).a $(TEST_ARCHIVES)
	$$(call SAY,LINK)
	@mkdir -p $$(@D)
	$$(DO)$$(PROGRAM_LINK) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(TEST_LIBS) $$(LIBS_$(3))
endef
$(foreach t,$(MODULE_TEST_C),$(eval $(call MODULE_TEST_RULES,$(t:modules/%.c=tests/modules/%),$(t),$(word 2,$(subst /, ,$(t))))))

FIXTURES := $(patsubst %.c,%.so,$(call NAMED,tests/fixtures,*.c) $(call NAMED,tests/fixtures/bad,*.c))
obj/tests/fixtures/%.o: FLAGS = $(MODULE_FLAGS)
tests/fixtures/%.so: obj/tests/fixtures/%.o
	$(call SAY,LINK)
	@mkdir -p $(@D)
	$(DO)$(if $(findstring unresolved,$*),$(K_LINK) -shared,$(MODULE_LINK)) $(WRONG) -o $@ $^
	$(if $(findstring cut_short,$*),$(DO)truncate -s 4096 $@)
tests/fixtures/bad/lazy.so: WRONG = -Wl,-z,lazy
tests/fixtures/bad/executable_stack.so: WRONG = -Wl,-z,execstack

# tests/scenario/tools/<x>.c: programs that stories use
STORY_TOOLS := $(patsubst %.c,%,$(call NAMED,tests/scenario/tools,*.c))
tests/scenario/tools/%: obj/tests/scenario/tools/%.o lib/libcommands.a libpbs.a
	$(call SAY,LINK)
	@mkdir -p $(@D)
	$(DO)$(PROGRAM_LINK) -o $@ $^ $(COMMAND_LIBS)

tests-stories: $(FIXTURES) $(STORY_TOOLS)
tests-unit: $(UNIT) $(MODULE_TESTS) tests-stories

ALL_TESTS = $(sort $(UNIT) $(MODULE_TESTS))
CHOSEN = $(if $(TESTS_ONLY),$(foreach t,$(ALL_TESTS),$(if $(findstring $(TESTS_ONLY),$(t)),$(t))),$(ALL_TESTS))

# Every program runs, in this order; what it said is in <program>.log. TESTS_ONLY=<word>: only those.
check-unit: keelson-all tests-unit
	@failed=0; ran=0; \
	export KEELSON_BUILD=$(abs_builddir) KEELSON_SOURCE=$(abs_top_srcdir); \
	for t in $(CHOSEN); do \
		ran=$$((ran + 1)); \
		if $(S)/scripts/quiet-login ./$$t > $$t.log 2>&1 < /dev/null; then echo "PASS $$t"; \
		else echo "FAIL $$t"; failed=$$((failed + 1)); tail -n 25 $$t.log | sed 's/^/    /'; fi; \
	done; \
	echo "$$((ran - failed)) passed, $$failed failed"; test $$failed -eq 0

.PHONY: tests-stories tests-unit check-unit

# keelson-sim: tests/sim/ is the world, tests/model/ what is done in it and what must hold
SIM_O := $(call OBJECTS,$(call NAMED,tests/sim,*.c) $(call NAMED,tests/model,*.c))
# What the simulated hosts have in common with real ones
SIM_STATES := $(call OBJECTS,$(call NAMED,modules/sisters,primary.c) $(call NAMED,modules/sisters,sister.c))
SIM := libexec/keelson/keelson-sim
$(SIM_O): FLAGS = $(KERNEL_FLAGS) -I$(S)/sdk/include -I$(S)/tests/sim -I$(S)/tests/model -I$(S)/modules \
	-I$(S)/sdk -DPBS_VERSION='"$(VERSION_TEXT)"' -DSIM_SOURCE_DIR='"$(abs_top_srcdir)"' -DSIM_CONF_DIR='"$(keelsysconfdir)"' -DSIM_MODULE_DIR='"$(moduledir)"' \
	-DSIM_MODULE_BESIDE='"$(call RELATIVE,$(moduledir),$(libexecdir)/keelson)"'
$(SIM): $(SIM_O) $(SIM_STATES) obj/sdk/mock/guest.o obj/sdk/mock/virtual.o lib/libkernel.a lib/libwire.a lib/libmodfile.a
	$(call SAY,LINK)
	@mkdir -p $(@D)
	$(DO)$(PROGRAM_LINK) -Wl,--version-script=$(S)/mk/nothing.map -o $@ $^ $(KERNEL_LIBS)
# Time is given to these too: its loop instead of the kernel's
tests/unit/sim/test_virtual $(filter tests/unit/mock/%,$(UNIT)): obj/sdk/mock/virtual.o
tests/unit/request/test_guest: obj/sdk/mock/guest.o
KEELSON_ALL += $(SIM)
PROGRAMS += $(SIM)
