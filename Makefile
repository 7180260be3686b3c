BUILD ?= build
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wshadow -Wconversion
PKGS = gsl yaml-0.1 sqlite3
CPPFLAGS += -I. -D_GNU_SOURCE $(shell pkg-config --cflags $(PKGS))
LDLIBS += $(shell pkg-config --libs $(PKGS)) -lm -ldl

SRC := $(shell find sim models -name '*.c')
OBJ := $(SRC:%.c=$(BUILD)/%.o)

$(BUILD)/memcgsim: $(OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $^ $(LDLIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d)
