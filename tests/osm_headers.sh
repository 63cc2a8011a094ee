#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether the plugin compiles against an OpenSM's headers: osm_headers.sh DIR, DIR having opensm/,
# complib/ and iba/.  Of sources that were not configured, the release is that of configure.ac beside
# them and the options are those of the installed headers (OSM_CONFIG).
set -u
cd "$(dirname "$0")/.." || exit 2
DIR=${1:?osm_headers.sh DIR}
OSM_CONFIG=${OSM_CONFIG:-/usr/include/infiniband/opensm/osm_config.h}
CC=${CC:-cc}
gen=$(mktemp -d) && trap 'rm -rf "$gen"' EXIT

[ -e "$DIR/opensm/osm_event_plugin.h" ] || { echo "osm-headers: there are no headers of OpenSM in $DIR" >&2; exit 2; }
mkdir "$gen/opensm"
if [ ! -e "$DIR/opensm/osm_version.h" ]; then
	release=$(sed -n 's/^AC_INIT(\[*opensm\]*, *\[*\([0-9.]*\).*/\1/p' "$DIR/../configure.ac" "$DIR/../configure.in" 2>/dev/null)
	[ -n "$release" ] || { echo "osm-headers: $DIR has no osm_version.h, and no configure.ac is beside it" >&2; exit 2; }
	sed "s/@VERSION@/$release/" "$DIR/opensm/osm_version.h.in" >"$gen/opensm/osm_version.h" || exit 2
fi
[ -e "$DIR/opensm/osm_config.h" ] || cp "$OSM_CONFIG" "$gen/opensm/osm_config.h" || exit 2
version=$(sed -n 's/^#define OSM_VERSION "\(.*\)".*/\1/p' "$DIR/opensm/osm_version.h" "$gen/opensm/osm_version.h" 2>/dev/null)
if ! grep -q osm_register_external_routing_engine "$DIR/opensm/osm_opensm.h"; then
	echo "osm-headers: ${version:-this OpenSM} has no interface for routing engines (3.3.23 is the first that has)" >&2
	exit 1
fi
for f in engines/opensm/plugin/*.c; do
	$CC -std=gnu17 -D_GNU_SOURCE -fPIC -Wall -Wextra -Werror -I. -isystem "$gen" -isystem "$DIR" -fsyntax-only "$f" || exit 1
done
echo "osm-headers: the plugin compiles against $version"
