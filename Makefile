# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make            build the program      make demo     install packages, build, run the demo
#   make install    DESTDIR= PREFIX=       make check    install packages, build, run all tests
#   make clean                             make help     list the other targets

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/ibroute-top
UNITDIR ?= $(PREFIX)/lib/systemd/system
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
PCDIR ?= $(LIBDIR)/pkgconfig
# where the program and the plugin look for what a site has written, whatever the PREFIX
SYSCONFDIR ?= /etc
SHARE := $(PREFIX)/share/ibroute-top
ETC := $(SYSCONFDIR)/ibroute-top
LIBEXEC := $(LIBEXECDIR)/ibroute-top
# the program looks in ../libexec of its own folder, unless a packager has another
ifneq ($(BINDIR) $(LIBEXECDIR),$(PREFIX)/bin $(PREFIX)/libexec)
LIBEXEC_DEF := -DIBROUTE_LIBEXEC='"$(LIBEXEC)"'
endif
ALERTS := $(addprefix console/examples/prometheus/ibroute.,rules.yml dashboard.json)
UNITS := ibroute-top.service ibroute-top-collect.service ibroute-top-collect-look.socket ibroute-top-collect-ask.socket
SAMPLES := engines/opensm/opensm.conf.sample engines/opensm/policy.conf.sample
CC ?= gcc
CFLAGS ?= -O2 -g
CPPFLAGS ?=
LDFLAGS ?=
WERROR ?= 0
SAN ?=
# what distributions build with; what a packager says in CPPFLAGS, CFLAGS and LDFLAGS comes behind it and wins
HARDEN ?= 1
WITH_UMAD ?= 1
WITH_SLURM ?= 1
WITH_MICROHTTPD ?= 1
# pictures of the screen: libpng, FreeType
WITH_PNG ?= 1
# the plugin for OpenSM, where libopensm-dev is installed
OSM_INCLUDE ?= /usr/include/infiniband
WITH_OPENSM ?= $(if $(shell grep -s osm_register_external_routing_engine $(OSM_INCLUDE)/opensm/osm_opensm.h),1,0)

# The one list of Debian packages: to build, and to run the tests on top of that.
PKGS_BUILD := gcc make pkg-config libncurses-dev libjansson-dev libssl-dev zlib1g-dev libzstd-dev libsqlite3-dev libinih-dev libyaml-dev \
	libibumad-dev libibmad-dev libslurm-dev libmicrohttpd-dev libcap-dev libseccomp-dev \
	libpng-dev libfreetype-dev fonts-dejavu-core
PKGS_CHECK := libcmocka-dev clang libclang-rt-14-dev tmux asciinema opensm libopensm-dev ibsim-utils \
	infiniband-diags ibutils slurmctld slurmd slurm-client python3 procps valgrind man-db zsh curl \
	python3-jsonschema strace lld
PKGS_FUZZ := clang libclang-rt-14-dev
PKGS_BENCH := opensm libopensm-dev ibsim-utils python3
PKGS_SHOTS := tmux python3 python3-pil

VERSION := $(shell sed -n 's/.*IBROUTE_VERSION "\(.*\)"/\1/p' fabric/version.h)
comma := ,
B := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(filter clang%,$(CC)),-clang)
BIN := $(B)/ibroute-top

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -Wundef
ifneq ($(WERROR),0)
WARN += -Werror
endif
DEFS := -D_GNU_SOURCE -DWITH_UMAD=$(WITH_UMAD) \
	-DWITH_MICROHTTPD=$(WITH_MICROHTTPD) -DWITH_PNG=$(WITH_PNG) $(if $(filter-out /etc,$(SYSCONFDIR)),-DIBROUTE_ETC='"$(ETC)"') \
	$(LIBEXEC_DEF)
PC_LIBS := ncursesw jansson libcrypto zlib libzstd sqlite3 inih yaml-0.1 libcap libseccomp
ifeq ($(WITH_UMAD),1)
PC_LIBS += libibumad libibmad
endif
ifeq ($(WITH_MICROHTTPD),1)
PC_LIBS += libmicrohttpd
endif
ifeq ($(WITH_PNG),1)
PC_LIBS += libpng freetype2
endif
PC_CFLAGS = $(shell pkg-config --cflags $(PC_LIBS))
PC_LDLIBS = $(shell pkg-config --libs $(PC_LIBS)) -lpthread -lm
# a sanitizer has checks of its own, which these would hide
ifeq ($(HARDEN)$(SAN),1)
cc_takes = $(shell $(CC) -Werror $(1) -S -x c -o /dev/null /dev/null 2>/dev/null && echo $(1))
HARDEN_CFLAGS := $(foreach f,-fstack-protector-strong -fstack-clash-protection \
	-fcf-protection -mbranch-protection=standard,$(call cc_takes,$(f)))
# means nothing without -O, and a packager's own number would be a redefinition
ifneq ($(filter-out -O0,$(lastword $(filter -O%,$(CPPFLAGS) $(CFLAGS)))),)
ifeq ($(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),)
HARDEN_CFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
endif
endif
HARDEN_LDFLAGS := -Wl,-z,relro,-z,now
HARDEN_EXE := -pie
endif
ALL_CFLAGS = -std=gnu17 $(HARDEN_CFLAGS) $(CPPFLAGS) $(CFLAGS) -fPIC $(if $(TESTS_SO),,-fvisibility=hidden) $(WARN) $(DEFS) -I. \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ALL_LDFLAGS = $(HARDEN_LDFLAGS) $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
# what a fuzzer is to find new ways through; libFuzzer looks at every counter after every input
FUZZ_COVERS := fabric/base/%.o fabric/format/%.o fabric/ib/%.o fabric/wire/%.o fabric/plan/%.o fabric/update/%.o fabric/agent/%.o engines/opensm/%.o
# readers of text compare letter by letter: what with is nothing that new inputs could be made of
FUZZ_LETTERS := fabric/base/%.o fabric/format/%.o

# The one program that is linked with libslurm; of a SLURM elsewhere: SLURM_PREFIX=/opt/slurm/24.05
ifeq ($(WITH_SLURM),1)
HELPER := $(B)/ibroute-slurm
endif
SLURM_PREFIX ?=
HELPER_SRCS := $(wildcard fabric/jobs/helper/*.c)
HELPER_OBJS := $(HELPER_SRCS:%.c=$(B)/%.o)

# Sources are found at any depth.  Everything but main.c and what OpenSM loads is in one archive, which
# the tests link too.
sources = $(sort $(shell find $(1) -name '*.c'))
OSM_SRCS := $(call sources,engines/opensm/plugin)
SRCS := $(filter-out $(OSM_SRCS) $(HELPER_SRCS) console/examples/%,$(call sources,fabric engines views console))
LIB_SRCS := $(filter-out console/cli/main.c,$(SRCS))
LIB := $(B)/libibroute.a
LIB_OBJS := $(LIB_SRCS:%.c=$(B)/%.o)
# With a sanitizer each test would be 30 MB: these take the archive as one shared library.
TESTS_SO := $(if $(filter address%,$(SAN)),$(B)/libtests.so)

# The plugin: takes from the archive what it needs, which OpenSM does not see.  A sanitizer cannot
# come in with a plugin.
ifeq ($(WITH_OPENSM)$(SAN),1)
PLUGIN := $(B)/libibroute.so
endif
PLUGIN_OBJS := $(OSM_SRCS:%.c=$(B)/%.o)

UNIT_SRCS := $(filter-out $(if $(filter 1,$(WITH_OPENSM)),,tests/unit/engines/opensm/plugin/%),$(sort $(shell find tests/unit -name 'test_*.c')))
UNIT_BINS := $(UNIT_SRCS:%.c=$(B)/%)
UNIT_HELP_OBJS := $(patsubst %.c,$(B)/%.o,$(filter-out $(UNIT_SRCS) tests/unit/engines/opensm/plugin/%,$(call sources,tests/unit)))

EXAMPLES := $(patsubst console/examples/%.c,$(B)/examples/%,$(wildcard console/examples/*.c))

Q := $(if $(V),,@)
.PHONY: all packages check-packages demo check unit unit-bins layers headers sweep transitions repairs month lab chain chain-packages soak fuzz \
	fuzz-keys bench bench-bins bench-apply bench-budgets bench-quality bench-gate bench-bound bench-repair bench-threads bench-wear bench-screen bench-idle bench-collect gaps \
	screenshots sanitize syntax osm-headers ibroute-slurm install install-slurm uninstall dist deb deb-check rpm-check clean help
.DELETE_ON_ERROR:
# Kept.  Not those of the program: they are made again where a source was only moved.
.SECONDARY: $(patsubst %.c,$(B)/%.o,$(call sources,tests))

all: $(BIN) $(HELPER) $(PLUGIN) $(EXAMPLES)

# made again where they are built for another SYSCONFDIR or LIBEXECDIR than before
ETC_OBJS := $(patsubst %.c,$(B)/%.o,$(shell grep -lE 'IBROUTE_(ETC|LIBEXEC)|SITE_KEY_PRESET|live_fabric.h' \
	$$(find fabric engines views console -name '*.c')))
$(ETC_OBJS): $(B)/.etc
$(B)/.etc: FORCE
	$(Q)mkdir -p $(B) && { [ "$$(cat $@ 2>/dev/null)" = "$(ETC) $(subst ",,$(LIBEXEC_DEF))" ] || echo "$(ETC) $(subst ",,$(LIBEXEC_DEF))" >$@; }
FORCE:

$(BIN): $(B)/console/cli/main.o $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) $(HARDEN_EXE) -o $@ $^ $(PC_LDLIBS)

$(HELPER_OBJS): private PC_CFLAGS += $(if $(SLURM_PREFIX),-isystem $(SLURM_PREFIX)/include)
$(B)/ibroute-slurm: $(HELPER_OBJS) $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) $(HARDEN_EXE) -Wl,--as-needed -o $@ $^ \
		$(if $(SLURM_PREFIX),-L$(SLURM_PREFIX)/lib -Wl$(comma)-rpath$(comma)$(SLURM_PREFIX)/lib) -lslurm $(PC_LDLIBS)

# for another SLURM than that of the build: make ibroute-slurm install-slurm SLURM_PREFIX=...
ibroute-slurm: $(B)/ibroute-slurm

$(LIB): $(LIB_OBJS)
	$(Q)rm -f $@ && ar rcs $@ $^

# all again when the Makefile, and so perhaps their flags, are others
$(B)/%.o: %.c Makefile
	$(if $(V),,@echo "  CC  $<")
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(findstring fuzzer,$(SAN)),$(if $(filter $(FUZZ_COVERS),$*.o),,-fno-sanitize=fuzzer-no-link) \
		$(if $(filter $(FUZZ_LETTERS),$*.o),-fno-sanitize-coverage=trace-cmp)) \
		$(PC_CFLAGS) -MMD -MP -c -o $@ $<

# there are many of them: by the quicker linker, where there is one
TESTS_LD := $(if $(shell command -v ld.lld),-fuse-ld=lld,$(if $(shell command -v ld.gold),-fuse-ld=gold))
UNIT_KIT := $(B)/tests/unit/kit.a
$(UNIT_KIT): $(UNIT_HELP_OBJS)
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/libtests.so: $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) $(TESTS_LD) -shared -o $@ -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive $(PC_LDLIBS)

# a test takes what it needs, so that linking costs little; who may start a watchdog becomes one (app_kit.c)
$(patsubst %.c,$(B)/%,$(filter tests/unit/console/% tests/unit/fabric/update/%,$(UNIT_SRCS))): $(B)/tests/unit/kit/app_kit.o
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(UNIT_KIT) $(LIB) $(TESTS_SO)
	$(Q)$(CC) $(ALL_LDFLAGS) $(TESTS_LD) -o $@ $(filter %.o,$^) $(UNIT_KIT) $(call tests_lib,$(LDFLAGS)) -lcmocka $(PC_LDLIBS)
# tests are run once: what an optimiser takes is more than it gives
UNIT_OBJS := $(UNIT_BINS:%=%.o)
$(UNIT_OBJS): private HARDEN_CFLAGS := $(filter-out %FORTIFY_SOURCE %FORTIFY_SOURCE=3,$(HARDEN_CFLAGS))
$(UNIT_OBJS): private CFLAGS := $(filter-out -O%,$(CFLAGS)) -O0
# what is wrapped must be in the archive
tests_lib = $(if $(TESTS_SO),$(if $(findstring --wrap,$(1)),$(LIB),$(TESTS_SO) -Wl$(comma)-rpath$(comma)$(abspath $(B))),$(LIB))
SLOW_WORK := topology_kind_new racks_new tables_graft jobset_on
$(B)/tests/unit/console/app/test_app: private LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,$(SLOW_WORK))
# where readers of files begin
$(B)/tests/unit/console/input/load/test_load_apart: private LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,lines_new json_loadb \
	yaml_parser_initialize inflateInit_ ibnd_cache_read isolated_read)
$(B)/tests/unit/console/picture/test_glyph_set: private LDFLAGS += -Wl,--wrap=isolated_read,--wrap=FT_New_Memory_Face
$(B)/tests/unit/console/picture/test_png_font: private LDFLAGS += -Wl,--wrap=stat
$(B)/tests/unit/console/app/data/test_app_folder: private LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,json_loadf json_loads \
	uncompress isolated_read)
$(B)/tests/unit/engines/opensm/test_no_memory: private LDFLAGS += -Wl,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=aligned_alloc,--wrap=vasprintf,--wrap=EVP_MD_fetch,--wrap=EVP_DigestInit_ex \
	-Wl,--wrap=EVP_DigestFinal_ex

$(B)/console/cli/cmd_manual.o: console/manual/ibroute-top.1.in
$(B)/console/io/glossary_page.o: console/manual/glossary.md

OSM_TEST := $(B)/tests/unit/engines/opensm/plugin/test_osm_abi
$(OSM_TEST): $(B)/engines/opensm/plugin/osm_abi.o
$(OSM_TEST): private PC_LDLIBS += -losmcomp # functions of complib that are not inlined everywhere
$(PLUGIN_OBJS) $(OSM_TEST).o: private PC_CFLAGS += -isystem $(OSM_INCLUDE)

$(B)/libibroute.so: $(PLUGIN_OBJS) $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,--as-needed -o $@ $^ $(PC_LDLIBS)

# preloaded by the opensm of the lab, and by whoever's MADs it counts
$(B)/tests/lab/libumad_%.so: tests/lab/umad_%.c tests/lab/umad_preload.h
	$(if $(V),,@echo "  CC  $<")
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 $(CFLAGS) $(WARN) -I. -fPIC -shared -fvisibility=hidden -isystem /usr/include/infiniband -o $@.$$$$ $< \
		-ldl -lpthread && mv $@.$$$$ $@

# programs that only the lab runs
$(B)/tests/lab/%: $(B)/tests/lab/%.o $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PC_LDLIBS)

# console/examples/NAME.c: programs for users to start from, who have a C compiler and ibroute-agent.h
$(B)/examples/%: console/examples/%.c fabric/agent/ibroute-agent.h
	$(if $(V),,@echo "  CC  $<")
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c99 -pedantic -Wall -Wextra $(if $(filter-out 0,$(WERROR)),-Werror) \
		$(HARDEN_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(HARDEN_EXE:-pie=-fPIE -pie) $(HARDEN_LDFLAGS) $(LDFLAGS) \
		-Ifabric/agent -o $@ $<

# tests/bench/NAME.c: programs that print measurements; make build/tests/bench/NAME
$(B)/tests/bench/transition_bench: $(B)/tests/unit/kit/write_judge.o
$(B)/tests/bench/repair_bench: $(B)/tests/unit/kit/cable_events.o
$(B)/tests/bench/repair_soak: $(patsubst %,$(B)/tests/unit/kit/%.o,cable_events host_play repair_play write_judge)
$(B)/tests/bench/agents_bench: $(B)/tests/unit/kit/agent_crowd.o $(B)/tests/unit/kit/sim_faults.o $(B)/tests/unit/kit/update_net.o
$(B)/tests/bench/explore: $(patsubst %,$(B)/tests/unit/kit/phase_%.o,hostile key model node void world)
$(B)/tests/bench/packets_soak: $(B)/tests/unit/kit/packets_drive.o $(B)/tests/unit/kit/txn_world.o $(B)/tests/unit/kit/txn_phases.o $(B)/tests/unit/kit/small_net.o
$(B)/tests/bench/packets_soak: private PC_LDLIBS += -lcmocka
$(B)/tests/bench/screen_bench: $(B)/tests/unit/kit/app_kit.o $(B)/tests/unit/kit/less_host.o
$(B)/tests/bench/peer $(B)/tests/bench/quality: $(B)/tests/bench/osm_tables.o
$(B)/tests/bench/quality $(B)/tests/bench/quality_gate: $(B)/tests/bench/quality_jobs.o
$(B)/tests/bench/%: $(B)/tests/bench/%.o $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(PC_LDLIBS)

# tests/fuzz/fuzz_NAME.c: by libFuzzer where SAN says so, else by a driver of our own
FUZZ_OBJS := $(B)/tests/fuzz/seeds.o
$(patsubst %,$(B)/tests/fuzz/fuzz_%,changes files mads osm_msg plan tables): $(B)/tests/fuzz/tiny.o
$(B)/tests/fuzz/fuzz_agent_socket: $(B)/tests/fuzz/pipes.o
$(B)/tests/fuzz/fuzz_agent_socket: private LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,socketpair send recv poll \
	close getsockopt agent_pid_start agent_peer_alive)
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_OBJS) $(if $(findstring fuzzer,$(SAN)),,$(B)/tests/fuzz/driver.o) $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(findstring fuzzer,$(SAN)),-fsanitize=fuzzer) -o $@ $(filter %.o,$^) $(LIB) $(PC_LDLIBS)

# the program, forked for each command line (tests/mutate.sh)
$(B)/tests/fuzz/served_main.o: console/cli/main.c Makefile
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PC_CFLAGS) -Wno-missing-prototypes -Dmain=served_main -MMD -MP -c -o $@ $<
$(B)/tests/fuzz/served: private LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=confine_to_%,reading asking writing)
$(B)/tests/fuzz/served: $(B)/tests/fuzz/served.o $(B)/tests/fuzz/served_main.o $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PC_LDLIBS)

# random keys into the whole console
$(B)/tests/fuzz/keys: $(B)/tests/fuzz/keys.o $(B)/tests/unit/kit/app_kit.o $(LIB)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PC_LDLIBS)

# an event plugin of opensm
$(B)/tests/bench/libosm_clock.so: tests/bench/osm_clock.c
	$(if $(V),,@echo "  CC  $<")
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 $(CFLAGS) $(WARN) -fPIC -shared -isystem /usr/include/infiniband -o $@ $< -ldl

-include $(PLUGIN_OBJS:%.o=%.d) $(HELPER_OBJS:%.o=%.d)
-include $(patsubst %.c,$(B)/%.d,$(SRCS) $(call sources,tests/unit tests/lab tests/fuzz tests/bench)) $(B)/tests/fuzz/served_main.d

packages:
	$(Q)sh tests/packages.sh $(PKGS_BUILD)

check-packages:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_CHECK)

# make is started again after the packages, so that pkg-config sees them
demo: packages
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all
	$(Q)$(BIN) --demo --rw

check: check-packages
	$(Q)$(MAKE) --no-print-directory -j2 WERROR=1 all unit-bins
	$(Q)bash tests/run.sh

unit: $(UNIT_BINS)
	$(Q)bash tests/unit.sh $(UNIT_BINS)

unit-bins: $(UNIT_BINS)

layers:
	$(Q)sh tests/layers.sh

# every engine on random irregular fabrics; FABRICS=200 FIRST=1 ENGINES= SMALL=120
sweep: check-packages
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/sweep.sh

BENCH_BINS := $(B)/tests/bench/peer $(B)/tests/bench/month $(B)/tests/bench/libosm_clock.so

# our engines beside OpenSM's; NETS=, ENGINES= and more: see tests/bench.sh
bench:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_BENCH)
	$(Q)$(MAKE) --no-print-directory -j2 bench-bins
	$(Q)B=$(B) bash tests/bench.sh $(BENCHFLAGS)
	$(Q)$(MAKE) --no-print-directory bench-screen BENCHFLAGS="$(BENCHFLAGS)"

bench-bins: all $(BENCH_BINS)

# the time of jobs on our routings and OpenSM's; NETS=, OPENSM= and more: see tests/bench/quality.sh
bench-quality:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_BENCH)
	$(Q)$(MAKE) --no-print-directory -j2 bench-bins $(B)/tests/bench/quality
	$(Q)B=$(B) bash tests/bench/quality.sh $(BENCHFLAGS)

# is no pattern slower after UPDATES= of sar from dfsssp's tables? eight nets, eleven mixes of jobs
bench-gate: $(B)/tests/bench/quality_gate
	$(Q)B=$(B) GATE=$(or $(UPDATES),5) OPENSM=none bash tests/bench/quality.sh

# the lower bound of the effective EFI beside a linear program, 24 cases; NETS='SPEC ...'
bench-bound: all
	$(Q)sh tests/packages.sh $(PKGS_BUILD) coinor-clp python3
	$(Q)python3 tests/bench/bound_lp.py $(BIN) $(NETS)

# a transaction beside bare writes over ibsim, by SMPs and through OpenSM, and 1,000 agents over the simulator's SM
bench-apply: all $(B)/tests/bench/apply_bench $(B)/tests/bench/set_rate $(B)/tests/bench/agents_bench $(B)/tests/lab/wiretool
	$(Q)$(B)/tests/bench/agents_bench $(or $(AGENTS),1000)
	$(Q)B=$(B) bash tests/bench/apply_rate.sh

# every goal of time and memory: engines and judges, the screen, the wire
bench-budgets:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_BENCH)
	$(Q)$(MAKE) --no-print-directory -j2 bench-bins
	$(Q)B=$(B) NETS=none BUDGETS=all MONTH=0 bash tests/bench.sh $(BENCHFLAGS)
	$(Q)rc=0; for part in bench-screen bench-apply "gaps SPECS=dragonfly:p=8 \
		ENGINES=minhop,updn,dfsssp,sar,dfdn,nue,verify,metrics,predict"; do \
		$(MAKE) --no-print-directory $$part BENCHFLAGS="$(BENCHFLAGS)" || rc=1; \
	done; exit $$rc

# what the screen costs: a frame, a key, an idle hour, a slow line
bench-screen: all $(B)/tests/bench/screen_bench
	$(Q)$(B)/tests/bench/screen_bench $(if $(findstring --json,$(BENCHFLAGS)),--json) $(BIN)

# what a collector costs, with 50 viewers, and its past; SPEC= VIEWERS=
bench-collect: all $(B)/tests/bench/history_read
	$(Q)B=$(B) bash tests/bench/collect.sh

# what an idle console costs over ibsim; SPEC=fattree2:... IDLE_S=60
bench-idle: all
	$(Q)IBROUTE_TOP=$(abspath $(BIN)) bash tests/bench/idle.sh "$(SPEC)" $(IDLE_S)

# random write orders of updates between tables of two engines; PAIRS=50 ORDERS=1000
transitions: all $(B)/tests/bench/transition_bench
	$(Q)$(B)/tests/bench/transition_bench judge $(or $(PAIRS),50) $(or $(ORDERS),1000)

GAP_ENGINES := minhop,updn,ftree,dor,dfsssp,sar,parx,dfdn,nue
# longest time without a sign of life, in each engine at the full LID space; MS=50 ENGINES= SPECS=
gaps: all $(B)/tests/bench/gap_bench
	$(Q)$(B)/tests/bench/gap_bench $(or $(MS),50) $(or $(ENGINES),$(GAP_ENGINES)) $(SPECS)

# repairs one after the other, all judged, by ibdmchk, too, where it is installed; FABRICS=200 EVENTS=20 ORDERS=5 SEED=1
repairs: all $(B)/tests/bench/repair_soak
	$(Q)d=$$(mktemp -d); $(B)/tests/bench/repair_soak $(or $(FABRICS),200) $(or $(EVENTS),20) $(or $(ORDERS),5) \
		$(or $(SEED),1) $$(command -v ibdmchk >/dev/null && echo "$$d"); rc=$$?; rm -rf "$$d"; exit $$rc

REPAIR_ENGINES := dfsssp,nue
REPAIR_SPECS := fattree3:pods=5,leaves=18,aggs=18,cores=3,parallel=6,hosts=15 fattree3:k=36 \
	xgft:h=3,m=27x27x54,w=1x27x27 torus:dims=6x5x5,hosts=7,links=4 torus:dims=7x7x7,hosts=6 slimfly:q=7 \
	slimfly:q=11 slimfly:q=13 dragonfly:p=4 dragonfly:a=12,p=6,h=6,g=15 dragonfly:p=5 dragonfly:p=6 dragonfly:p=8 \
	kautz:b=5,n=3,hosts=7,links=2 random:switches=125,links=1000,hosts=8,seed=1
# those of them that bench.sh has: ibsim holds no 39,366 hosts
REPAIR_NETS := tree3-1350,tree3-11664,torus-6x5x5,torus-7x7x7,slimfly-7,slimfly-11,slimfly-13,dragonfly-4,dragonfly-g15,dragonfly-5,dragonfly-6,dragonfly-8,kautz-150,random-125
# what failures cost after repair, and what OpenSM takes for all routes (OPENSM=no: it is not asked);
# CABLES=50 SWITCHES=10 CARDS=10 ENGINES= SPECS= OPENSM=NAME,... of bench
bench-repair: all $(B)/tests/bench/repair_bench
	$(Q)$(B)/tests/bench/repair_bench $(or $(CABLES),50),$(or $(SWITCHES),10),$(or $(CARDS),10) \
		$(or $(ENGINES),$(REPAIR_ENGINES)) $(or $(SPECS),$(REPAIR_SPECS))
ifneq ($(OPENSM),no)
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_BENCH)
	$(Q)$(MAKE) --no-print-directory -j2 bench-bins
	$(Q)B=$(B) LIMIT=1800 TIME=100000 \
		NETS=$(or $(OPENSM),$(REPAIR_NETS)) ENGINES=dfsssp,nue:8 BUDGETS=0 MONTH=0 bash tests/bench.sh
endif

THREADS_ENGINES := minhop,updn,ftree,dfsssp,nue:8,dfdn,sar
# how much faster two threads are than one, each engine's paths on 10,000 hosts and more; TIMES=2 ENGINES= SPECS=
bench-threads: all $(B)/tests/bench/threads_bench
	$(Q)$(B)/tests/bench/threads_bench $(or $(TIMES),2) $(or $(ENGINES),$(THREADS_ENGINES)) \
		$(or $(SPECS),fattree3:k=36 dragonfly:p=8)
ifeq ($(ENGINES)$(SPECS),)
	$(Q)$(B)/tests/bench/threads_bench $(or $(TIMES),2) dor torus:dims=12x12x12,hosts=6 hyperx:dims=24x24,hosts=18
	$(Q)$(B)/tests/bench/threads_bench $(or $(TIMES),2) parx hyperx:dims=24x24,hosts=18,lmc=2
	$(Q)$(B)/tests/bench/threads_bench $(or $(TIMES),2) ftree fattree3:k=54,fail=1%
endif

# six nets as their cables fail; ENGINES= RATE=0..8%/2% SEEDS=20
bench-wear: all
	$(Q)B=$(B) bash tests/bench/wear.sh $(WEARFLAGS)

# a month of synthetic jobs; MONTHFLAGS="--samples=4464 --seed=2"
month: all $(B)/tests/bench/month
	$(Q)B=$(B) bash tests/bench/month.sh $(MONTHFLAGS)

# what takes longer than 'make check' may: packets under 1,000 random updates, every order of
# events of the five phases, SIGKILLs to updates over ibsim, the fuzzers;
# SOAK=1000 SEED=1 WAVES=1 KILLS=200 HOSTS=100 MUTATIONS=40000 FUZZ_RUNS=10000000
soak: check-packages
	$(Q)$(MAKE) --no-print-directory all $(B)/tests/bench/packets_soak $(B)/tests/bench/explore
	$(Q)$(B)/tests/bench/packets_soak $(or $(SOAK),1000) $(or $(SEED),1) $(or $(WAVES),1)
	$(Q)$(B)/tests/bench/explore
	$(Q)bash tests/lab/watchdog.sh $(or $(KILLS),200) $(or $(SEED),1)
	$(Q)bash tests/lab/sequence.sh full
	$(Q)bash tests/lab/sequence.sh kills $(or $(KILLS),200) $(or $(SEED),1)
	$(Q)bash tests/lab/handover.sh kills $(or $(KILLS),500) $(or $(SEED),1)
	$(Q)bash tests/lab/handover.sh losses $(or $(LOSSES),200) $(or $(SEED),1)
	$(Q)bash tests/lab/handover.sh restarts $(or $(RESTARTS),100) $(or $(SEED),1)
	$(Q)bash tests/lab/agents_home.sh kills $(or $(HOME_KILLS),60) $(or $(SEED),1)
	$(Q)bash tests/lab/sequence.sh handover
	$(Q)bash tests/lab/sequence.sh midwave
	$(Q)bash tests/lab/sequence.sh late
	$(Q)bash tests/lab/sequence.sh auto
	$(Q)bash tests/lab/plugin.sh full
	$(Q)B=$(B) KILLS=$(or $(COLLECT_KILLS),100) bash tests/collect.sh
	$(Q)LAB_OPENSM_WAIT=200 bash tests/lab/mads.sh fattree2:leaves=78,spines=36,hosts=18
	$(Q)bash tests/lab/hosts.sh $(or $(HOSTS),100) $(or $(SEED),1) 250
	$(Q)sh tests/packages.sh devscripts
	$(Q)bash tests/hardening.sh full
	$(Q)B=$(B) bash tests/hostile.sh promtool
	$(Q)B=$(B) bash tests/alerts.sh promtool
	$(Q)bash tests/mutate.sh $(or $(MUTATIONS),40000) $(MUTATE_SEED)
	$(Q)$(MAKE) --no-print-directory fuzz FUZZ_RUNS=$(or $(FUZZ_RUNS),10000000)

# four jobs with agents, OpenSM with our plugin: from engine to engine and back, with failures
lab: check-packages
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/lab/sequence.sh full

# OpenSM with our plugin, SLURM, a collector, an exporter, Prometheus with our rules, a console: each fails once
chain: check-packages
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/chain.sh

# the same from the packages, in a fresh chroot; needs root and a mirror
chain-packages:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_DEB)
	$(Q)B=$(B) bash tests/chain_packages.sh

# the fuzzers of tests/fuzz by libFuzzer; FUZZ="notice plan" FUZZ_RUNS=10000000 FUZZ_SEED=1
fuzz:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_FUZZ)
	$(Q)FUZZ="$(FUZZ)" FUZZ_RUNS="$(FUZZ_RUNS)" FUZZ_SEED="$(FUZZ_SEED)" bash tests/fuzz.sh long

# random keys, clicks and resizes into the console over the demo, with sanitizers; N=1000000 SEED=1
fuzz-keys:
	$(Q)$(MAKE) --no-print-directory SAN=address,undefined build-address-undefined/tests/fuzz/keys
	$(Q)UBSAN_OPTIONS=halt_on_error=1 build-address-undefined/tests/fuzz/keys $(or $(N),1000000) $(or $(SEED),1)

# pictures of every view, from a real terminal
screenshots: packages
	$(Q)sh tests/packages.sh $(PKGS_SHOTS)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/screenshots.sh

# all unit tests under the sanitizers; make check leaves the longest out
sanitize:
	$(Q)FULL=1 bash tests/sanitize.sh

# what a compiler says of all sources, without building: make syntax CC=clang WERROR=1
SYNTAX_SRCS = $(SRCS) $(OSM_SRCS) $(if $(HELPER),$(HELPER_SRCS)) $(call sources,tests)
syntax:
	$(Q)printf '%s\n' $(SYNTAX_SRCS) | sort -u | \
		xargs -P 2 -n 8 $(CC) $(ALL_CFLAGS) $(PC_CFLAGS) $(if $(OSM_INCLUDE),-isystem $(OSM_INCLUDE)) \
		-fsyntax-only

# whether the plugin compiles against an OpenSM's headers: make osm-headers OSM_INCLUDE=DIR
osm-headers:
	$(Q)CC=$(CC) bash tests/osm_headers.sh $(OSM_INCLUDE)

# every header compiles alone
headers:
	$(Q)for h in $$(find fabric engines views console tests -name '*.h'); do \
		$(CC) $(ALL_CFLAGS) $(PC_CFLAGS) -fsyntax-only -x c -include ./$$h /dev/null || exit 1; done

install-slurm: $(HELPER)
ifneq ($(HELPER),)
	install -d $(DESTDIR)$(LIBEXEC)
	install -m 0755 -t $(DESTDIR)$(LIBEXEC) $(HELPER)
endif

# a policy that is there stays
install: $(BIN) $(PLUGIN) install-slurm
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(SHARE)/examples $(DESTDIR)$(UNITDIR) \
		$(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(BASHDIR) $(DESTDIR)$(DOCDIR) $(DESTDIR)$(ETC) \
		$(DESTDIR)$(PCDIR)
	install -m 0755 -t $(DESTDIR)$(BINDIR) $(BIN)
	install -m 0644 -t $(DESTDIR)$(INCLUDEDIR) fabric/agent/ibroute-agent.h
	sed 's,@INCLUDEDIR@,$(INCLUDEDIR),; s,@VERSION@,$(VERSION),' fabric/agent/ibroute-agent.pc.in \
		>$(DESTDIR)$(PCDIR)/ibroute-agent.pc
	install -m 0644 -t $(DESTDIR)$(SHARE)/examples console/examples/agent_client.c
	install -m 0755 -t $(DESTDIR)$(SHARE)/examples console/examples/reroute.sh console/examples/slurm-hook.sh
	install -m 0644 -t $(DESTDIR)$(SHARE)/examples $(ALERTS)
	install -m 0644 -t $(DESTDIR)$(SHARE) console/schema.json $(SAMPLES)
	for u in $(UNITS); do sed 's,/usr/local/bin,$(BINDIR),' console/$$u >$(DESTDIR)$(UNITDIR)/$$u || exit; done
	$(BIN) config sample >$(DESTDIR)$(ETC)/config.sample
	$(BIN) manual >$(DESTDIR)$(MANDIR)/man1/ibroute-top.1
	$(BIN) completion bash >$(DESTDIR)$(BASHDIR)/ibroute-top
	$(BIN) completion zsh >$(DESTDIR)$(ZSHDIR)/_ibroute-top
	install -m 0644 -t $(DESTDIR)$(DOCDIR) README.md CHANGES.md $(wildcard console/manual/*.md)
ifneq ($(PLUGIN),)
	install -d $(DESTDIR)$(LIBDIR)
	install -m 0644 -t $(DESTDIR)$(LIBDIR) $(PLUGIN)
	for f in $(SAMPLES); do sed 's,/etc/ibroute-top,$(ETC),' $$f >$(DESTDIR)$(ETC)/$${f##*/} || exit; done
	@test -e $(DESTDIR)$(ETC)/policy.conf || \
		sed 's,/etc/ibroute-top,$(ETC),' engines/opensm/policy.conf.sample >$(DESTDIR)$(ETC)/policy.conf
endif

# what install has made, but for what a site has written in $(ETC)
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/ibroute-top $(DESTDIR)$(INCLUDEDIR)/ibroute-agent.h $(DESTDIR)$(PCDIR)/ibroute-agent.pc $(DESTDIR)$(LIBDIR)/libibroute.so \
		$(DESTDIR)$(LIBEXEC)/ibroute-slurm \
		$(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS)) $(DESTDIR)$(MANDIR)/man1/ibroute-top.1 \
		$(DESTDIR)$(BASHDIR)/ibroute-top $(DESTDIR)$(ZSHDIR)/_ibroute-top $(DESTDIR)$(SHARE)/schema.json \
		$(DESTDIR)$(SHARE)/examples/agent_client.c $(DESTDIR)$(SHARE)/examples/reroute.sh $(DESTDIR)$(SHARE)/examples/slurm-hook.sh \
		$(addprefix $(DESTDIR)$(SHARE)/examples/,$(notdir $(ALERTS))) \
		$(foreach f,$(notdir $(SAMPLES)),$(DESTDIR)$(SHARE)/$(f) $(DESTDIR)$(ETC)/$(f)) $(DESTDIR)$(ETC)/config.sample \
		$(foreach f,README.md CHANGES.md $(notdir $(wildcard console/manual/*.md)),$(DESTDIR)$(DOCDIR)/$(f))
	for d in $(SHARE)/examples $(SHARE) $(DOCDIR) $(LIBEXEC) $(ETC); do \
		[ ! -d $(DESTDIR)$$d ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$$d || exit; \
	done

# the sources of the last commit, the same bytes each time
dist:
	git archive --prefix=ibroute-top-$(VERSION)/ HEAD | gzip -9n >ibroute-top-$(VERSION).tar.gz
	@echo ibroute-top-$(VERSION).tar.gz

# Debian's packages of the last commit, in $(B)/deb
DEB ?= $(B)/deb
PKGS_DEB := dpkg-dev debhelper fakeroot lintian debootstrap autopkgtest libopensm-dev
deb:
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB)/ibroute-top-$(VERSION)
	$(Q)git archive --prefix=ibroute-top-$(VERSION)/ HEAD | gzip -9n >$(DEB)/ibroute-top_$(VERSION).orig.tar.gz
	$(Q)tar -C $(DEB) -xf $(DEB)/ibroute-top_$(VERSION).orig.tar.gz
	$(Q)cp -r $(DEB)/ibroute-top-$(VERSION)/console/debian $(DEB)/ibroute-top-$(VERSION)/debian
	$(Q)cd $(DEB)/ibroute-top-$(VERSION) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc $(DEBFLAGS)

# built twice, lintian, autopkgtest, install, upgrade and purge in a fresh chroot; needs root
deb-check:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_DEB)
	$(Q)B=$(B) VERSION=$(VERSION) bash tests/deb.sh

# the spec file for distributions with RPM, built here
PKGS_RPM := rpm rpmlint cpio libopensm-dev
rpm-check:
	$(Q)sh tests/packages.sh $(PKGS_BUILD) $(PKGS_RPM)
	$(Q)bash tests/rpm.sh

clean:
	rm -rf build build-*

help:
	@sed -n '3,5s/^# *//p' Makefile
	@echo "uninstall       removes what install has made (the same DESTDIR= PREFIX= LIBDIR= ...)"
	@echo "deb             Debian's packages of the last commit, in build/deb (DEBFLAGS=-b)"
	@echo "rpm-check       the spec file for RPM: rpmlint, built here, and what is in the packages"
	@echo "deb-check       these built twice, lintian, autopkgtest over ibsim, install, upgrade, purge in a chroot"
	@echo "dist            the sources of the last commit as ibroute-top-VERSION.tar.gz"
	@echo "unit            unit tests only (SAN=address,undefined, CC=clang: in their own build folder)"
	@echo "layers headers  code structure: includes follow the layers, headers compile alone"
	@echo "osm-headers     whether the plugin compiles against an OpenSM's headers (OSM_INCLUDE=DIR)"
	@echo "sweep           every engine on 200 irregular fabrics and 200 trees, grids and the like (FABRICS=, SHAPES=, FIRST=, ENGINES=)"
	@echo "bench-apply     time of an update and of plain writes over ibsim; 1,000 agents (AGENTS=...)"
	@echo "bench           our engines compared with OpenSM's (NETS=small|all|NAME,... ENGINES=... BENCHFLAGS=--json)"
	@echo "bench-budgets   checks all time and memory budgets (engines, screen, wire, cancel)"
	@echo "bench-idle      CPU, MADs and system calls of an idle console over ibsim, 1,404 hosts"
	@echo "bench-quality   time of jobs on our routings and OpenSM's (NETS=jobs|trees|tori|lanes|real|NAME,... ENGINES=... OPENSM=... BENCHFLAGS=--json)"
	@echo "bench-gate      whether sar makes any pattern of jobs slower than dfsssp, 88 cases (UPDATES=5 NETS=NAME,...)"
	@echo "bench-bound     the lower bound of the effective EFI beside a linear program, 24 cases (NETS='SPEC ...')"
	@echo "bench-screen    frame time, key latency, idle CPU, bytes to the terminal (also part of bench)"
	@echo "gaps            longest time between progress reports, for each engine (MS=, ENGINES=, SPECS=)"
	@echo "bench-wear      six nets as their cables fail, six engines, 20 seeds (ENGINES=, RATE=, SEEDS=, WEARFLAGS=)"
	@echo "repairs         failures and returns on random fabrics, each repair judged (FABRICS=, EVENTS=, ORDERS=, SEED=)"
	@echo "transitions     updates in random write orders: no loop or deadlock may occur (PAIRS=, ORDERS=)"
	@echo "month           sar compared with dfsssp, updn and ftree over a month of jobs (MONTHFLAGS=)"
	@echo "lab             updates between all engines, on OpenSM with our plugin, SLURM, jobs with agents"
	@echo "chain           what monitors a site, with a real Prometheus: each part fails, is an alert in time, and is mended"
	@echo "chain-packages  the same from the packages, in a fresh chroot; needs root and a mirror"
	@echo "soak            packets during random updates, all event orders of the phases, SIGKILL during"
	@echo "                updates over ibsim, fuzzers (SOAK=, SEED=, WAVES=, KILLS=, FUZZ_RUNS=)"
	@echo "sanitize        all unit tests under ASan and UBSan, including those that make check skips"
	@echo "fuzz-keys       random keys and resizes sent to the console, sanitized (N=1000000 SEED=1)"
	@echo "fuzz            the fuzzers, run by libFuzzer (FUZZ=\"notice plan\" FUZZ_RUNS=1000000 FUZZ_SEED=1)"
	@echo "screenshots     pictures of every view, written to screenshots/"
	@echo "ibroute-slurm install-slurm  only the helper that is linked with libslurm (SLURM_PREFIX=/opt/slurm/24.05)"
	@echo "V=1             show the commands;  WITH_UMAD=0 WITH_SLURM=0 WITH_MICROHTTPD=0 WITH_PNG=0  build without them"
	@echo "CPPFLAGS= CFLAGS= LDFLAGS=  of a packager are used; HARDEN=0  without stack protector, FORTIFY, PIE, RELRO, BIND_NOW"
	@echo "WITH_OPENSM=0   without the plugin for OpenSM (default: with it if libopensm-dev is installed)"
