/*
 * expression.c - see expression.h.
 *
 * A value is a text, and a number where it reads as one, so "v${release}" and "${round(r * L) * 4096}" need
 * no types. The grammar, loosest first:
 *
 *	a ? b : c     a == b  != < > <= >=     a + b  -     a * b  /  %     -a
 *	12.5  'text'  name  member.name  (a)  round(a) floor(a) ceil(a) min(a, b, ...) max(a, b, ...)
 *
 * Both sides of a choice are worked out, so that a mistake shows whatever is chosen. Texts compare as texts
 * unless both are numbers.
 */
#include "sim/scenario/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"

#define DEEPEST      32
#define LONGEST_NAME 64

struct value {
	const char *text; /* NULL: only a number */
	double number;
	bool is_number;
};

struct parser {
	const struct environment *env;
	const char *at;
	unsigned depth;
	bool failed;
	char why[200];
};

static struct value choice(struct parser *p);

void environment_bind(struct environment *env, const char *name, const char *value)
{
	if (env->nr == env->capacity) {
		size_t capacity = env->capacity ? 2 * env->capacity : 16;
		struct binding *bindings = pool_alloc(env->pool, capacity * sizeof(*bindings));

		if (env->nr)
			memcpy(bindings, env->bindings, env->nr * sizeof(*bindings));
		env->bindings = bindings;
		env->capacity = capacity;
	}
	env->bindings[env->nr++] = (struct binding){ name, value };
}

static struct value fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first reason is kept; what follows from it is of no interest. */
static struct value fail(struct parser *p, const char *format, ...)
{
	va_list args;

	if (!p->failed) {
		va_start(args, format);
		vsnprintf(p->why, sizeof(p->why), format, args);
		va_end(args);
	}
	p->failed = true;
	return (struct value){ .is_number = true };
}

static struct value number(double n)
{
	return (struct value){ .number = n, .is_number = true };
}

static struct value text_value(const char *text)
{
	char *end;
	double n = strtod(text, &end);
	bool is_number = end != text && !*end && isfinite(n) && !isspace((unsigned char)*text);

	return (struct value){ .text = text, .number = is_number ? n : 0, .is_number = is_number };
}

static double needed(struct parser *p, struct value v)
{
	if (!v.is_number)
		fail(p, "'%.60s' is not a number", v.text);
	return v.number;
}

static void skip(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

/* Is the operator next? Then it is behind us. */
static bool accept(struct parser *p, const char *sign)
{
	size_t length = strlen(sign);

	skip(p);
	if (strncmp(p->at, sign, length))
		return false;
	p->at += length;
	return true;
}

static void expect(struct parser *p, const char *sign)
{
	if (!accept(p, sign))
		fail(p, "'%s' is expected before '%.30s'", sign, p->at);
}

static struct value lookup(struct parser *p, const char *name)
{
	const struct environment *env = p->env;

	for (size_t i = env->nr; i-- > 0;)
		if (!strcmp(env->bindings[i].name, name))
			return text_value(env->bindings[i].value);
	return fail(p, "'%.60s' is not a name that 'each' gives", name);
}

static struct value call(struct parser *p, const char *function)
{
	bool least = !strcmp(function, "min"), most = !strcmp(function, "max");
	double (*unary)(double) = !strcmp(function, "round")   ? round
				  : !strcmp(function, "floor") ? floor
				  : !strcmp(function, "ceil")  ? ceil
							       : NULL;
	double result = needed(p, choice(p));

	if (unary)
		result = unary(result);
	else if (!least && !most)
		return fail(p, "there is no function '%.60s'", function);
	while ((least || most) && !p->failed && accept(p, ",")) {
		double other = needed(p, choice(p));

		result = least ? fmin(result, other) : fmax(result, other);
	}
	expect(p, ")");
	return number(result);
}

static struct value name_or_call(struct parser *p)
{
	char name[LONGEST_NAME];
	size_t length = 0;

	while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_' || p->at[length] == '.')
		length++;
	if (length >= sizeof(name))
		return fail(p, "a name of more than %d letters", LONGEST_NAME - 1);
	memcpy(name, p->at, length);
	name[length] = '\0';
	p->at += length;
	return accept(p, "(") ? call(p, name) : lookup(p, name);
}

static struct value quoted(struct parser *p)
{
	const char *begin = ++p->at;

	p->at += strcspn(p->at, "'");
	if (!*p->at)
		return fail(p, "a text without its closing quote");
	return text_value(pool_text(p->env->pool, begin, (size_t)(p->at++ - begin)));
}

static struct value primary(struct parser *p)
{
	struct value v;
	char *end;

	skip(p);
	if (isdigit((unsigned char)*p->at)) {
		v = number(strtod(p->at, &end));
		p->at = end;
		return v;
	}
	if (*p->at == '\'')
		return quoted(p);
	if (isalpha((unsigned char)*p->at) || *p->at == '_')
		return name_or_call(p);
	if (accept(p, "-"))
		return number(-needed(p, primary(p)));
	if (!accept(p, "("))
		return fail(p, *p->at ? "'%.30s' is not a value" : "a value is missing", p->at);
	v = choice(p);
	expect(p, ")");
	return v;
}

static struct value product(struct parser *p)
{
	struct value v = primary(p);

	for (;;) {
		char sign = '\0';

		for (const char *o = "*/%"; *o && !sign; o++)
			if (accept(p, (const char[]){ *o, '\0' }))
				sign = *o;
		if (!sign || p->failed)
			return v;
		double left = needed(p, v), right = needed(p, primary(p));

		if (sign != '*' && right == 0)
			return fail(p, "a division by 0");
		v = number(sign == '*' ? left * right : sign == '/' ? left / right : fmod(left, right));
	}
}

static struct value sum(struct parser *p)
{
	struct value v = product(p);

	for (;;) {
		bool plus = accept(p, "+");

		if (p->failed || (!plus && !accept(p, "-")))
			return v;
		double left = needed(p, v), right = needed(p, product(p));

		v = number(plus ? left + right : left - right);
	}
}

static const char *as_text(const struct parser *p, struct value v)
{
	return v.text ? v.text : pool_printf(p->env->pool, "%.15g", v.number);
}

static struct value comparison(struct parser *p)
{
	static const char *const operators[] = { "==", "!=", "<=", ">=", "<", ">" };
	struct value left = sum(p);

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]) && !p->failed; i++) {
		if (!accept(p, operators[i]))
			continue;
		struct value right = sum(p);
		bool numbers = left.is_number && right.is_number;
		int order = numbers ? (left.number > right.number) - (left.number < right.number)
				    : strcmp(as_text(p, left), as_text(p, right));
		const bool holds[] = { order == 0, order != 0,  order <= 0,
				       order >= 0, (order < 0), (order > 0) };

		return number(holds[i]);
	}
	return left;
}

static struct value choice(struct parser *p)
{
	struct value condition, yes, no;

	if (p->failed || p->depth == DEEPEST)
		return fail(p, "more than %d levels", DEEPEST);
	p->depth++;
	condition = comparison(p);
	if (!p->failed && accept(p, "?")) {
		yes = choice(p);
		expect(p, ":");
		no = choice(p);
		condition = needed(p, condition) != 0 ? yes : no;
	}
	p->depth--;
	return condition;
}

/* The value of one ${...}, whose inside begins at *at; *at is then behind it. */
static const char *evaluate(const struct environment *env, struct where where, const char **at)
{
	struct parser p = { .env = env, .at = *at };
	struct value v = choice(&p);

	expect(&p, "}");
	if (!p.failed && !v.text && !isfinite(v.number))
		fail(&p, "not a finite number");
	if (p.failed) {
		complain(env->complaints, where, "in an expression: %s", p.why);
		return NULL;
	}
	*at = p.at;
	return as_text(&p, v);
}

const char *expression_replace(const struct environment *env, struct where where, const char *text)
{
	char *result = NULL;
	size_t length;
	FILE *out = xalloc_checked(open_memstream(&result, &length));
	const char *value = "", *copy = NULL;

	while (value && *text) {
		size_t plain = 0;

		while (text[plain] && strncmp(text + plain, "${", 2))
			plain++;
		fwrite(text, 1, plain, out);
		text += plain;
		if (!*text)
			break;
		text += 2;
		value = evaluate(env, where, &text);
		if (value)
			fputs(value, out);
	}
	fclose(out);
	if (value)
		copy = pool_text(env->pool, result, length);
	free(result);
	return copy;
}
