/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/kind/file_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void each_kind_is_told_by_its_first_bytes(void **state)
{
	static const struct {
		const char *head;
		enum file_kind kind;
	} of[] = {
		{ "Unicast lids [0-18] of switch Lid 13 guid 0x0002000000000000 ('leaf1'):\n",
		  FILE_LFTS },
		{ "dump_ucast_routes: Switch 0x0002c90109fb0000\nLID    : Port : Hops : Optimal\n",
		  FILE_LFTS },
		{ "IBROUTE\n", FILE_LFTS },
		{ "Switch 0x0002000000000000, base LID 13, \"leaf1\"\n#in out : 0  1  2\n",
		  FILE_SL2VL },
		{ "0x0001000000000000 2 0\n0x0001000000000000 3 0\n", FILE_PATH_SLS },
		{ "0x0001 001 # Channel Adapter portguid 0x0001000000000001: 'n0001'\n",
		  FILE_UNKNOWN },
		{ "Switch 0x0002000000000000\nLID    : Out Port(s)\n0xC000 : 0x000 \n", FILE_MFTS },
		{ "{\"schema\":\"ibroute-top plan/1\"", FILE_PLAN },
		{ "JobID|State|Start|End|NodeList\n", FILE_JOBS },
		{ "vendid=0x8f1\nSwitch\t36 \"S-0008f10500200b50\"\t# \"Voltaire 4036\"\n",
		  FILE_UNKNOWN },
		{ "", FILE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		assert_int_equal(file_kind_of(of[i].head), of[i].kind);
}

static void what_is_known_has_an_option_that_reads_it(void **state)
{
	(void)state;
	assert_null(file_kind_text(FILE_UNKNOWN));
	assert_non_null(strstr(file_kind_text(FILE_SL2VL), "--sl2vl"));
	for (int k = FILE_LFTS; k <= FILE_JOBS; k++)
		assert_non_null(file_kind_text((enum file_kind)k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_told_by_its_first_bytes),
		cmocka_unit_test(what_is_known_has_an_option_that_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
