/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recursive descent into an array of nodes; children come before their parents. */
#include "views/table/row_filter.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/natural.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGEX_MAX 256  /* letters: regcomp() may take memory in proportion to their square */
#define REGEX_ALL 4096 /* of all in an expression */
#define DEPTH_MAX 64   /* of parentheses and nots */
#define NODE_MAX  512  /* matching recurses at most so deep */

enum node_kind { NODE_AND, NODE_OR, NODE_NOT, NODE_WORD, NODE_COMPARE, NODE_UNKNOWN };
enum op { OP_LT, OP_LE, OP_EQ, OP_NE, OP_GE, OP_GT, OP_MATCH };
enum truth { FALSE, TRUE, UNKNOWN };

struct node {
	enum node_kind kind;
	enum op op;
	uint32_t left, right; /* AND, OR; NOT has left */
	const struct field *field;
	double num;
	uint64_t guid;
	char *text;   /* WORD, and COMPARE with a text */
	bool pattern; /* WORD: with * ? [ ] for letters, or | between several */
	regex_t *re;
};

struct row_filter {
	VEC(struct node) node;
	uint32_t root;
};

struct parser {
	struct row_filter *f;
	enum row_kind kind;
	const char *text, *at;
	unsigned column; /* of the mistake; 0 none */
	size_t letters;	 /* of regular expressions so far */
	int depth;
	struct err *err;
};

/* --- words ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int wrong(struct parser *p, const char *at,
						       const char *fmt, ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	p->column = (unsigned)(at - p->text) + 1;
	return err_set(p->err, -EINVAL, "column %u: %s", p->column, why);
}

static void row_filter_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

/* Bytes of a word.  "->" is a part of it, as in "leaf1/3->". */
static size_t row_filter_word_len(const char *s)
{
	size_t n = 0;

	while (s[n] && !strchr(" \t\n()\"", s[n])) {
		if (s[n] == '-' && s[n + 1] == '>') {
			n += 2;
			continue;
		}
		if (strchr("<>=!~", s[n]))
			break;
		n++;
	}
	return n;
}

static bool row_filter_is_word(const char *at, size_t n, const char *word)
{
	return strlen(word) == n && !strncasecmp(at, word, n);
}

static bool row_filter_take_word(struct parser *p, const char *word)
{
	row_filter_blanks(p);
	if (!row_filter_is_word(p->at, row_filter_word_len(p->at), word))
		return false;
	p->at += strlen(word);
	return true;
}

/* Also as other languages spell them. */
static const char *const and_words[] = { "and", "&&", "&", NULL };
static const char *const or_words[] = { "or", "||", "|", NULL };

static bool row_filter_take_one(struct parser *p, const char *const *words)
{
	row_filter_blanks(p);
	if (words == or_words && *p->at == '|') { /* also right before a word */
		p->at += 1 + (p->at[1] == '|');
		return true;
	}
	while (*words && !row_filter_take_word(p, *words))
		words++;
	return *words != NULL;
}

static bool row_filter_is_one(const char *at, const char *const *words)
{
	if (words == or_words && *at == '|')
		return true;
	while (*words && !row_filter_is_word(at, row_filter_word_len(at), *words))
		words++;
	return *words != NULL;
}

static bool row_filter_take_op(struct parser *p, enum op *op)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = { { "<=", OP_LE }, { ">=", OP_GE }, { "!=", OP_NE }, { "==", OP_EQ },
		    { "<", OP_LT },  { ">", OP_GT },  { "=", OP_EQ },  { "~", OP_MATCH } };

	row_filter_blanks(p);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strncmp(p->at, ops[i].text, strlen(ops[i].text))) {
			p->at += strlen(ops[i].text);
			*op = ops[i].op;
			return true;
		}
	return false;
}

static char *row_filter_copy(const char *s, size_t n)
{
	return xasprintf("%.*s", (int)n, s);
}

/* Quoted, in which "" stands for one quote; NULL when it does not end. */
static char *row_filter_quoted(struct parser *p)
{
	char *out = xcalloc(strlen(p->at) + 1, 1);
	size_t n = 0;

	for (p->at++; *p->at; p->at++) {
		if (*p->at == '"' && p->at[1] != '"') {
			p->at++;
			return out;
		}
		p->at += *p->at == '"';
		out[n++] = *p->at;
	}
	free(out);
	return NULL;
}

/* A value: what follows an operator, up to a blank or a parenthesis; regular expressions may have
 * parentheses of their own. */
static int row_filter_take_value(char **out, struct parser *p, bool regular)
{
	const char *start;
	size_t n = 0;
	int depth = 0;

	row_filter_blanks(p);
	start = p->at;
	if (*p->at == '"') {
		*out = row_filter_quoted(p);
		return *out ? 0 : wrong(p, start, "unterminated quote");
	}
	for (; p->at[n] && !strchr(" \t\n", p->at[n]); n++) {
		depth += p->at[n] == '(';
		if (p->at[n] == ')' && depth-- <= 0)
			break;
		if (p->at[n] == '(' && !regular)
			break;
	}
	if (!n)
		return wrong(p, start, "missing value");
	*out = row_filter_copy(p->at, n);
	p->at += n;
	return 0;
}

/* --- nodes ----------------------------------------------------------------------------------- */

static uint32_t row_filter_push(struct parser *p, struct node n)
{
	vec_push(&p->f->node, n);
	return (uint32_t)p->f->node.n - 1;
}

static int row_filter_number(struct node *n, struct parser *p, const char *at, const char *text)
{
	static const char letters[] = "kMGT";
	const char *letter;
	char *end;

	n->num = strtod(text, &end);
	if (end == text || !isfinite(n->num))
		return wrong(p, at, "'%.60s' is not a number; %s is one", text, n->field->name);
	letter = *end ? strchr(letters, *end == 'K' ? 'k' : *end) : NULL;
	if (letter) {
		n->num *= pow(1000, (double)(letter - letters) + 1);
		end++;
	}
	if (*end && strcmp(end, "%") != 0 && strcasecmp(end, n->field->unit) != 0)
		return wrong(p, at, "'%.20s' after the number is not a unit of %s", end,
			     n->field->name);
	return 0;
}

static int row_filter_flag(struct node *n, struct parser *p, const char *at, const char *text)
{
	static const char *const words[] = { "no", "yes", "false", "true", "0", "1" };

	if (n->op != OP_EQ && n->op != OP_NE)
		return wrong(p, at, "%s is yes or no: only = and != compare it", n->field->name);
	for (int i = 0; i < 6; i++)
		if (!strcasecmp(text, words[i])) {
			n->num = i & 1;
			return 0;
		}
	return wrong(p, at, "%s is yes or no, not '%.60s'", n->field->name, text);
}

static int row_filter_guid(struct node *n, struct parser *p, const char *at, const char *text)
{
	char *end;

	errno = 0;
	n->guid = strtoull(text, &end, 16);
	if (errno || end == text || *end)
		return wrong(p, at, "'%.60s' is not a GUID (0x...)", text);
	return 0;
}

static int row_filter_regular(struct node *n, struct parser *p, const char *at)
{
	size_t len = strlen(n->text);
	char why[120];
	int rc;

	if (len > REGEX_MAX || (p->letters += len) > REGEX_ALL)
		return wrong(p, at, "regular expressions may have %d characters, and %d together",
			     REGEX_MAX, REGEX_ALL);
	n->re = xcalloc(1, sizeof(*n->re));
	rc = regcomp(n->re, n->text, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (!rc)
		return 0;
	regerror(rc, n->re, why, sizeof(why));
	free(n->re);
	n->re = NULL;
	return wrong(p, at, "'%.60s' is not a regular expression: %s", n->text, why);
}

static int row_filter_value(struct node *n, struct parser *p)
{
	const char *at;
	int rc;

	row_filter_blanks(p);
	at = p->at;
	rc = row_filter_take_value(&n->text, p, n->op == OP_MATCH);
	if (rc)
		return rc;
	if (!strcasecmp(n->text, "unknown") && (n->op == OP_EQ || n->op == OP_NE)) {
		n->kind = NODE_UNKNOWN;
		return 0;
	}
	if (n->op == OP_MATCH)
		return row_filter_regular(n, p, at);
	switch (n->field->kind) {
	case VALUE_TEXT:
		return 0;
	case VALUE_GUID:
		return row_filter_guid(n, p, at, n->text);
	case VALUE_FLAG:
		return row_filter_flag(n, p, at, n->text);
	default:
		return row_filter_number(n, p, at, n->text);
	}
}

static void row_filter_node_clear(struct node *n)
{
	if (n->re)
		regfree(n->re);
	free(n->re);
	free(n->text);
}

static int row_filter_no_field(struct parser *p, const char *at, size_t len)
{
	char why[280];

	field_refusal(why, sizeof(why), p->kind, "field", at, len);
	return wrong(p, at, "%s", why);
}

/* "~^leaf0[12]": anywhere in the row, as a word would be. */
static int row_filter_bare_regular(uint32_t *out, struct parser *p)
{
	struct node n = { .kind = NODE_WORD, .op = OP_MATCH };
	const char *at = p->at++;
	int rc = row_filter_take_value(&n.text, p, true);

	if (!rc)
		rc = row_filter_regular(&n, p, at);
	if (rc)
		row_filter_node_clear(&n);
	else
		*out = row_filter_push(p, n);
	return rc;
}

/* A word, a quotation, or FIELD OP VALUE. */
static int row_filter_term(uint32_t *out, struct parser *p)
{
	struct node n = { .kind = NODE_WORD };
	const char *at = p->at;
	size_t len;
	int rc = 0;

	if (*p->at == '"') {
		n.text = row_filter_quoted(p);
		if (!n.text)
			return wrong(p, at, "unterminated quote");
		*out = row_filter_push(p, n);
		return 0;
	}
	if (*p->at == '~')
		return row_filter_bare_regular(out, p);
	len = row_filter_word_len(p->at);
	p->at += len;
	if (!len)
		return wrong(p, at,
			     *at ? "missing field or word before '%.2s'"
				 : "missing term at the end%.0s",
			     at);
	n.field = field_find(p->kind, at, len);
	if (!row_filter_take_op(p, &n.op)) {
		while (len > 1 && at[len - 1] == '|')
			len--; /* right behind a word it joins terms */
		n.text = row_filter_copy(at, len);
		n.pattern = strpbrk(n.text, "*?[|") || strstr(n.text, "..");
		p->at = at + len;
	} else if (!n.field) {
		return row_filter_no_field(p, at, len);
	} else {
		n.kind = NODE_COMPARE;
		rc = row_filter_value(&n, p);
	}
	if (rc)
		row_filter_node_clear(&n);
	else
		*out = row_filter_push(p, n);
	return rc;
}

static int row_filter_any(uint32_t *out, struct parser *p);

static int row_filter_group(uint32_t *out, struct parser *p)
{
	const char *open = p->at++;
	int rc = row_filter_any(out, p);

	row_filter_blanks(p);
	if (rc)
		return rc;
	if (*p->at != ')')
		return wrong(p, open, "unclosed parenthesis");
	p->at++;
	return 0;
}

static int row_filter_negated(uint32_t *out, struct parser *p)
{
	const char *at;
	uint32_t inner;
	int rc;

	row_filter_blanks(p);
	at = p->at;
	if (p->f->node.n >= NODE_MAX)
		return wrong(p, at, "more than %d terms", NODE_MAX / 2);
	if (++p->depth > DEPTH_MAX)
		return wrong(p, at, "parentheses nested more than %d deep", DEPTH_MAX);
	if (row_filter_take_word(p, "not") || (*p->at == '!' && p->at[1] != '=' && p->at++)) {
		rc = row_filter_negated(&inner, p);
		if (!rc)
			*out = row_filter_push(p, (struct node){ .kind = NODE_NOT, .left = inner });
	} else if (*p->at == '(') {
		rc = row_filter_group(out, p);
	} else {
		rc = row_filter_term(out, p);
	}
	p->depth--;
	return rc;
}

static bool row_filter_ends(struct parser *p)
{
	row_filter_blanks(p);
	return !*p->at || *p->at == ')' || row_filter_is_one(p->at, or_words);
}

static int row_filter_all(uint32_t *out, struct parser *p)
{
	int rc = row_filter_negated(out, p);
	uint32_t right;

	while (!rc && !row_filter_ends(p)) {
		row_filter_take_one(p, and_words);
		rc = row_filter_negated(&right, p);
		if (!rc)
			*out = row_filter_push(
				p, (struct node){ .kind = NODE_AND, .left = *out, .right = right });
	}
	return rc;
}

static int row_filter_any(uint32_t *out, struct parser *p)
{
	int rc = row_filter_all(out, p);
	uint32_t right;

	while (!rc && row_filter_take_one(p, or_words)) {
		rc = row_filter_all(&right, p);
		if (!rc)
			*out = row_filter_push(
				p, (struct node){ .kind = NODE_OR, .left = *out, .right = right });
	}
	return rc;
}

int row_filter_new(struct row_filter **out, enum row_kind kind, const char *text, unsigned *column,
		   struct err *err)
{
	struct row_filter *f = xcalloc(1, sizeof(*f));
	struct parser p = { .f = f, .kind = kind, .text = text, .at = text, .err = err };
	int rc = 0;

	row_filter_blanks(&p);
	if (*p.at) {
		rc = row_filter_any(&f->root, &p);
		row_filter_blanks(&p);
		if (!rc && *p.at)
			rc = wrong(&p, p.at, "unmatched closing parenthesis");
	}
	if (column)
		*column = p.column;
	if (rc) {
		row_filter_free(f);
		return rc;
	}
	*out = f;
	return 0;
}

void row_filter_free(struct row_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->node.n; i++)
		row_filter_node_clear(&f->node.v[i]);
	vec_free(&f->node);
	free(f);
}

/* --- rows ------------------------------------------------------------------------------------ */

static enum truth row_filter_truth_of(bool b)
{
	return b ? TRUE : FALSE;
}

static enum truth row_filter_ordered(enum op op, int d)
{
	switch (op) {
	case OP_LT:
		return row_filter_truth_of(d < 0);
	case OP_LE:
		return row_filter_truth_of(d <= 0);
	case OP_EQ:
		return row_filter_truth_of(d == 0);
	case OP_NE:
		return row_filter_truth_of(d != 0);
	case OP_GE:
		return row_filter_truth_of(d >= 0);
	default:
		return row_filter_truth_of(d > 0);
	}
}

static enum truth row_filter_compare_text(const struct node *n, const char *text)
{
	if (n->op == OP_EQ || n->op == OP_NE)
		return row_filter_truth_of(!fnmatch(n->text, text, FNM_CASEFOLD | FNM_NOESCAPE) ==
					   (n->op == OP_EQ));
	return row_filter_ordered(n->op, natural_cmp(text, n->text));
}

static enum truth row_filter_compare(const struct node *n, const struct rows *r, uint32_t row)
{
	char buf[VALUE_LEN];
	struct value c;
	bool known;

	field_get(&c, n->field, r, row);
	known = value_known(&c, n->field);
	if (n->kind == NODE_UNKNOWN)
		return row_filter_truth_of(known == (n->op == OP_NE));
	if (!known)
		return UNKNOWN;
	if (n->re)
		return row_filter_truth_of(
			!regexec(n->re, value_text(buf, &c, n->field), 0, NULL, 0));
	switch (n->field->kind) {
	case VALUE_TEXT:
		return row_filter_compare_text(n, c.text);
	case VALUE_GUID:
		return row_filter_ordered(n->op, c.guid < n->guid ? -1 : c.guid > n->guid);
	default:
		return row_filter_ordered(n->op, c.num < n->num ? -1 : c.num > n->num);
	}
}

/* One of what | parts is in the label, with * for anything, ? for a letter, [ab] for one of those,
 * and what a name has lost its middle to, "..", for anything, too. */
static bool row_filter_matches_pattern(const char *text, const char *label)
{
	char glob[VALUE_LEN];

	for (size_t n; *text; text += n + (text[n] == '|')) {
		n = strcspn(text, "|");
		snprintf(glob, sizeof(glob), "*%.*s*", (int)n, text);
		for (char *gap = glob; (gap = strstr(gap, ".."));)
			gap[0] = gap[1] = '*';
		if (n && !fnmatch(glob, label, FNM_CASEFOLD | FNM_NOESCAPE))
			return true;
	}
	return false;
}

static bool row_filter_word_is_in(const struct node *n, const char *label)
{
	if (n->re)
		return !regexec(n->re, label, 0, NULL, 0);
	/* what it says as it stands is there, too: "n[0001-0016]" of a job */
	return strcasestr(label, n->text) ||
	       (n->pattern && row_filter_matches_pattern(n->text, label));
}

static enum truth row_filter_judge(const struct row_filter *f, uint32_t at, const struct rows *r,
				   uint32_t row)
{
	const struct node *n = &f->node.v[at];
	enum truth left = FALSE, right;
	char label[VALUE_LEN];

	switch (n->kind) {
	case NODE_WORD:
		return row_filter_truth_of(row_filter_word_is_in(n, rows_label(label, r, row)));
	case NODE_COMPARE:
	case NODE_UNKNOWN:
		return row_filter_compare(n, r, row);
	default:
		left = row_filter_judge(f, n->left, r, row);
	}
	if (n->kind == NODE_NOT)
		return left == UNKNOWN ? UNKNOWN : row_filter_truth_of(left == FALSE);
	if (left == (n->kind == NODE_AND ? FALSE : TRUE))
		return left;
	right = row_filter_judge(f, n->right, r, row);
	if (left != UNKNOWN || right == (n->kind == NODE_AND ? FALSE : TRUE))
		return right;
	return UNKNOWN;
}

bool row_filter_match(const struct row_filter *f, const struct rows *r, uint32_t row)
{
	return !f || !f->node.n || row_filter_judge(f, f->root, r, row) == TRUE;
}

/* --- typing ---------------------------------------------------------------------------------- */

bool typed_filter_set(struct typed_filter *t, enum row_kind kind, const char *text)
{
	struct row_filter *f;
	struct err err = { "" };

	if (!strcmp(t->text, text))
		return false;
	snprintf(t->text, sizeof(t->text), "%s", text);
	t->why[0] = '\0';
	t->column = 0;
	if (row_filter_new(&f, kind, text, &t->column, &err)) {
		snprintf(t->why, sizeof(t->why), "%.159s", err.text);
		return false;
	}
	row_filter_free(t->filter);
	t->filter = f;
	return true;
}

void typed_filter_done(struct typed_filter *t)
{
	row_filter_free(t->filter);
	memset(t, 0, sizeof(*t));
}

unsigned row_filter_needs(const struct row_filter *f)
{
	unsigned needs = NEED_FABRIC;

	for (size_t i = 0; f && i < f->node.n; i++)
		if (f->node.v[i].field)
			needs |= f->node.v[i].field->needs;
	return needs;
}
