/* SPDX-License-Identifier: Apache-2.0
 *
 * formula.c - job_sort_formula on muParser.
 *
 * Names are looked at here first, so that each mistake gets its own error; the parser, which bounds their
 * length, knows each by a letter. `**` and `%` are taught to it: it writes power as `^`.
 */
#include "formula.h"

#include "pbs_error.h"

#include <ctype.h>
#include <math.h>
#include <muParserDLL.h>
#include <stdlib.h>
#include <string.h>

/* Of names, to the parser: nothing that goes on a number before it (2e3, 0x1). */
static const char letters[] = "ABCDFGHIJKLMNOPQRSTUVWYZabcdfghijklm";
_Static_assert(sizeof(letters) > FORMULA_NAMES, "a letter for each name");

#define PRODUCT 6 /* precedence of * and / in the parser */

struct formula {
	muParserHandle_t parser;
	uint32_t n;
	char name[FORMULA_NAMES][FORMULA_NAME_MAX + 1];
	double value[FORMULA_NAMES];
};

static const struct {
	const char *name;
	double (*fn)(double);
} functions[] = {
	{ "abs", fabs },    { "fabs", fabs },   { "ceil", ceil },   { "floor", floor },
	{ "sqrt", sqrt },   { "exp", exp },     { "log", log },     { "ln", log },
	{ "log2", log2 },   { "log10", log10 }, { "sin", sin },     { "cos", cos },
	{ "tan", tan },     { "asin", asin },   { "acos", acos },   { "atan", atan },
	{ "sinh", sinh },   { "cosh", cosh },   { "tanh", tanh },   { "trunc", trunc },
};
static const struct {
	const char *name;
	double (*fn)(double, double);
} functions2[] = {
	{ "pow", pow }, { "fmod", fmod }, { "atan2", atan2 }, { "min", fmin }, { "max", fmax },
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is_function(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return true;
	for (i = 0; i < COUNT(functions2); i++)
		if (strcmp(functions2[i].name, name) == 0)
			return true;
	return false;
}

/* ---- words ---------------------------------------------------------------------------------------- */

static bool is_name(int c)
{
	return isalnum(c) || c == '_';
}

/* A name into the table, once; its letter goes out. */
static int32_t name_add(struct formula *f, const char *name, char **out)
{
	uint32_t i = 0;

	while (i < f->n && strcmp(f->name[i], name) != 0)
		i++;
	if (i == FORMULA_NAMES)
		return PBSE_BAD_FORMULA;
	if (i == f->n)
		strcpy(f->name[f->n++], name);
	*(*out)++ = letters[i];
	return 0;
}

/* The length of the name, or 0 with *ret_code. What the parser calls it goes out. */
static size_t name_read(struct formula *f, const char *p, char **out, formula_name_fn *known, void *arg,
			int32_t *ret_code)
{
	char name[FORMULA_NAME_MAX + 1];
	size_t len = 0;

	while (is_name((unsigned char)p[len]))
		len++;
	if (len >= sizeof(name)) {
		*ret_code = PBSE_BAD_FORMULA_KW;
		return 0;
	}
	memcpy(name, p, len);
	name[len] = '\0';
	if (p[len + strspn(p + len, " \t")] == '(') {
		*ret_code = is_function(name) ? 0 : PBSE_BAD_FORMULA_KW;
		*out = mempcpy(*out, p, len);
	} else if ((*ret_code = known(arg, name)) == 0) {
		*ret_code = name_add(f, name, out);
	}
	return len;
}

/* The text as the parser wants it, into `out` (as long as the text at most); names into the table. */
static int32_t translate(struct formula *f, const char *text, char *out, formula_name_fn *known,
			 void *arg)
{
	const char *p = text;
	int32_t code = 0;
	size_t len;
	char *end;

	while (*p && code == 0) {
		if (isdigit((unsigned char)*p) || *p == '.') {
			strtod(p, &end);
			len = (size_t)(end - p);
			if (len == 0)
				return PBSE_BAD_FORMULA;
		} else if (is_name((unsigned char)*p)) {
			p += name_read(f, p, &out, known, arg, &code);
			continue;
		} else if (p[0] == '*' && p[1] == '*') {
			*out++ = '^';
			p += 2;
			continue;
		} else if (strchr("+-*/%(), \t", *p)) {
			len = 1;
		} else {
			return PBSE_BAD_FORMULA;
		}
		memcpy(out, p, len);
		out += len;
		p += len;
	}
	*out = '\0';
	return code;
}

/* ---- formulas ------------------------------------------------------------------------------------------ */

void formula_free(struct formula *f)
{
	if (!f)
		return;
	if (f->parser)
		mupRelease(f->parser);
	free(f);
}

int32_t formula_make(const char *text, formula_name_fn *known, void *arg, struct formula **ret)
{
	char translated[FORMULA_MAX + 1];
	struct formula *f;
	int32_t code;
	uint32_t i;
	size_t k;

	if (strlen(text) >= sizeof(translated) || !*text)
		return PBSE_BAD_FORMULA;
	f = calloc(1, sizeof(*f));
	if (!f)
		return PBSE_SYSTEM;
	code = translate(f, text, translated, known, arg);
	if (code == 0 && !(f->parser = mupCreate(muBASETYPE_FLOAT)))
		code = PBSE_SYSTEM;
	if (code == 0) {
		for (k = 0; k < COUNT(functions); k++)
			mupDefineFun1(f->parser, functions[k].name, functions[k].fn, 1);
		for (k = 0; k < COUNT(functions2); k++)
			mupDefineFun2(f->parser, functions2[k].name, functions2[k].fn, 1);
		mupDefineOprt(f->parser, "%", fmod, PRODUCT, muOPRT_ASCT_LEFT, 1);
		for (i = 0; i < f->n; i++)
			mupDefineVar(f->parser, (char[]){ letters[i], '\0' }, &f->value[i]);
		mupSetExpr(f->parser, translated);
		mupEval(f->parser);
		if (mupError(f->parser))
			code = PBSE_BAD_FORMULA;
	}
	if (code) {
		formula_free(f);
		return code;
	}
	*ret = f;
	return 0;
}

uint32_t formula_count(const struct formula *f)
{
	return f->n;
}

const char *formula_name(const struct formula *f, uint32_t i)
{
	return f->name[i];
}

double formula_value(struct formula *f, const double *values)
{
	double value;

	if (f->n)
		memcpy(f->value, values, sizeof(double) * f->n);
	value = mupEval(f->parser);
	return mupError(f->parser) || !isfinite(value) ? 0 : value;
}
