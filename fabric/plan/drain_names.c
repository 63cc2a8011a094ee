/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/drain_names.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/model/topology/host_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MORE_LEN 24

/* By counted end; the caller frees. */
static bool *drain_names_terms(const struct drain *d, const struct fabric *f,
			       const struct jobset *jobs)
{
	bool *in = xcalloc(f->nterm, sizeof(*in));

	for (uint32_t i = 0; i < d->njob; i++) {
		const struct job *job = &jobs->jobs[d->job[i].job];

		for (uint32_t k = 0; k < job->nterm; k++)
			in[job->terms[k]] = true;
	}
	return in;
}

/* Position in term_by_name of the next ambiguous name that such a job has; FAB_NONE: no more. */
static uint32_t drain_names_next(const struct fabric *f, const bool *in, uint32_t at)
{
	while ((at = host_names_next_ambiguous(f, at)) != FAB_NONE) {
		uint32_t first, n = host_names_twins(f, f->term_by_name[at], &first);

		for (uint32_t i = 0; i < n; i++)
			if (in[f->term_by_name[first + i]])
				return at;
		at++;
	}
	return FAB_NONE;
}

void drain_names_text(char *buf, size_t size, const struct drain *d, const struct fabric *f,
		      const struct jobset *jobs)
{
	bool *in = drain_names_terms(d, f, jobs);
	uint32_t more = 0, first;
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t at = 0; (at = drain_names_next(f, in, at)) != FAB_NONE; at++) {
		uint32_t term = f->term_by_name[at];
		size_t need = strlen(f->term_name[term]) + MORE_LEN;

		if (more || len + need + MORE_LEN > size) {
			more++;
			continue;
		}
		len += (size_t)snprintf(buf + len, size - len, "%s%s (%u ports)", len ? ", " : "",
					f->term_name[term], host_names_twins(f, term, &first));
	}
	if (more)
		snprintf(buf + len, size - len, "%s%u more", len ? " and " : "", more);
	free(in);
}

static json_t *drain_names_ports(const struct fabric *f, uint32_t term)
{
	uint32_t first, n = host_names_twins(f, term, &first);
	json_t *ports = json_array();

	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = f->term_by_name[first + i];
		char guid[24];

		snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)f->term_guid[t]);
		json_array_append_new(ports, json_pack("{s:s, s:o, s:i}", "guid", guid, "switch",
						       json_text(f->sw_name[f->term_sw[t]]), "port",
						       (int)f->term_port[t]));
	}
	return ports;
}

json_t *drain_names_json(const struct drain *d, const struct fabric *f, const struct jobset *jobs)
{
	bool *in = drain_names_terms(d, f, jobs);
	json_t *all = json_array();

	for (uint32_t at = 0; (at = drain_names_next(f, in, at)) != FAB_NONE; at++)
		json_array_append_new(all, json_pack("{s:o, s:o}", "name",
						     json_text(f->term_name[f->term_by_name[at]]),
						     "ports",
						     drain_names_ports(f, f->term_by_name[at])));
	free(in);
	return all;
}

int drain_names_check(const struct drain *d, const struct fabric *f, const struct jobset *jobs,
		      struct err *err)
{
	char text[260];

	for (uint32_t i = 0; i < d->njob; i++) {
		const struct job *job = &jobs->jobs[d->job[i].job];
		uint32_t term = job_ambiguous(job, f);

		if (!d->job[i].needed)
			continue;
		if (job->unknown)
			return err_set(err, -EPERM,
				       "job %s must be drained, and %u of its nodes %s no host of "
				       "the fabric: give a node-name-map, or drain the others with "
				       "--accept-names",
				       JOB_TEXT(job), job->unknown,
				       job->unknown == 1 ? "is" : "are");
		if (term == FAB_NONE)
			continue;
		host_names_text(text, sizeof(text), f, term);
		return err_set(err, -EPERM,
			       "job %s must be drained, and its node may be any of the hosts that "
			       "are called %s. Say which it is with a node-name-map, or that each "
			       "of these ports has to drain with --accept-names",
			       JOB_TEXT(job), text);
	}
	return 0;
}

/* ---- other names than when the plan was made ---- */

/* Where the map has a name for it only on one side, what the node says itself counts. */
static bool drain_names_same(const struct fabric *was, uint32_t a, const struct fabric *is,
			     uint32_t b)
{
	if (was->term_mapped[a] && is->term_mapped[b])
		return !strcmp(was->term_name[a], is->term_name[b]);
	return host_names_same_desc(was->term_desc[a], is->term_desc[b]);
}

static bool drain_names_concerns(const struct fabric *f, const bool *in, uint32_t term)
{
	uint32_t first, n = host_names_twins(f, term, &first);

	for (uint32_t i = 0; i < n; i++)
		if (in[f->term_by_name[first + i]])
			return true;
	return false;
}

static void drain_names_add(struct drain_renamed *out, const struct fabric *was, uint32_t a,
			    const struct fabric *is, uint32_t b)
{
	size_t len = strlen(out->text);

	if (len + 100 < sizeof(out->text))
		snprintf(out->text + len, sizeof(out->text) - len,
			 "%sport 0x%016lx was %.24s and is %.24s", len ? ", " : "",
			 (unsigned long)is->term_guid[b], was->term_name[a], is->term_name[b]);
}

void drain_names_compare(struct drain_renamed *out, const struct fabric *was,
			 const struct fabric *is, const struct drain *d, const struct jobset *jobs)
{
	bool *in = drain_names_terms(d, is, jobs);

	*out = (struct drain_renamed){ 0 };
	for (int drained = 1; drained >= 0; drained--)
		for (uint32_t b = 0; b < is->nterm; b++) {
			uint32_t a = fabric_term_by_guid(was, is->term_guid[b]);

			if (a >= was->nterm || drain_names_same(was, a, is, b) ||
			    drain_names_concerns(is, in, b) != drained)
				continue;
			out->n++;
			out->drained += (uint32_t)drained;
			drain_names_add(out, was, a, is, b);
		}
	free(in);
}

uint32_t drain_names_moved(const struct job *job, const struct fabric *was, const struct fabric *is)
{
	for (uint32_t i = 0; i < job->nterm; i++) {
		uint32_t first, n = host_names_twins(is, job->terms[i], &first);

		if (!drain_names_same(was, job->terms[i], is, job->terms[i]))
			return job->terms[i];
		for (uint32_t k = 0; k < n; k++) {
			uint32_t twin = is->term_by_name[first + k];

			if (!drain_names_same(was, twin, is, twin))
				return job->terms[i];
		}
	}
	return FAB_NONE;
}
