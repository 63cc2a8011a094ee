/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/short_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX 8

/* Pairs of a name and what is made of it, NULL at the end. */
static void becomes(const char *const pairs[][2])
{
	char *names[MAX] = { NULL };
	char **out;
	uint32_t n = 0;

	for (; pairs[n][0]; n++)
		names[n] = (char *)pairs[n][0];
	out = short_names_new(names, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_string_equal(out[i], pairs[i][1]);
		free(out[i]);
	}
	free(out);
}

#define BECOMES(...) becomes((const char *const[][2]){ __VA_ARGS__, { NULL, NULL } })

static void what_vendors_add_is_left_out(void **state)
{
	(void)state;
	BECOMES({ "MF0;ib5:SX6036/U1", "ib5" }, { "MF0;ib8:SX6036/U1", "ib8" });
	BECOMES({ "Voltaire 4036 # 4036-8BBA", "4036-8BBA" },
		{ "Infiniscale-IV Mellanox Technologies-4827b0", "Infiniscale-IV-4827b0" },
		{ "Voltaire 4036 - 36 QDR ports switch-200b50", "Voltaire-200b50" },
		{ "Voltaire 4036 - 36 QDR ports switch-10851e", "Voltaire-10851e" });
	BECOMES({ "rack 3 leaf 1", "rack 3 leaf 1" }, { "S2", "S2" });
}

static void places_in_a_chassis_stay(void **state)
{
	(void)state;
	BECOMES({ "MF0;switch-6100f6:MSX6536/L15/U1", "switch-6100f6/L15/U1" },
		{ "MF0;switch-6100f6:MSX6536/S02/U1", "switch-6100f6/S02/U1" },
		{ "MF0;ibedge1:SX6036/U1", "ibedge1" });
	/* of one chassis alone */
	BECOMES({ "MF0;switch-6100f6:MSX6536/L15/U1", "L15/U1" },
		{ "MF0;switch-6100f6:MSX6536/L16/U1", "L16/U1" },
		{ "MF0;switch-6100f6:MSX6536/S02/U1", "S02/U1" });
}

static void what_all_have_is_left_out(void **state)
{
	(void)state;
	BECOMES({ "gpu-leaf01.ib.example", "leaf01" }, { "gpu-spine02.ib.example", "spine02" });
	BECOMES({ "MF0;A09-P1-IBLEAF-01-01:MQM9701/U1", "A09-P1-IBLEAF-01-01" },
		{ "MF0;B10-P1-IBSPINE-09:MQM9701/U1", "B10-P1-IBSPINE-09" });
	/* letters stay, and words whole */
	BECOMES({ "ibsw-01", "ibsw-01" }, { "ibsw-02", "ibsw-02" });
	BECOMES({ "leaf11", "leaf11" }, { "leaf12", "leaf12" });
	BECOMES({ "sw_0_1", "sw_0_1" }, { "sw_1_1", "sw_1_1" });
	BECOMES({ "one-switch", "one-switch" });
	BECOMES({ "MF0;:MQM9700/U1", "MF0;:MQM9700/U1" });
}

static void each_has_its_own(void **state)
{
	(void)state;
	/* the short one would be another's */
	BECOMES({ "MF0;ib5:SX6036/U1", "ib5/U1" }, { "ib5", "ib5" }, { "ib6", "ib6" });
	BECOMES({ "Voltaire 4036 # A", "Voltaire 4036 # A" },
		{ "Voltaire 4700 # A", "Voltaire 4700 # A" });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_vendors_add_is_left_out),
		cmocka_unit_test(places_in_a_chassis_stay),
		cmocka_unit_test(what_all_have_is_left_out),
		cmocka_unit_test(each_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
