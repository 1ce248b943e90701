/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-sim - run the real server in virtual time, with simulated hosts, users and faults.
 */
#include <stdlib.h>

#include "model.h"
#include "program/version_word.h"
#include "program/answer.h"

int main(int argc, char **argv)
{
	static struct sim s;
	struct sim_conf conf;
	const char *figure;
	char *why = NULL;
	const struct figure *f = NULL;
	int ret;

	answer_must_arrive();
	if (version_word(argc, argv))
		return 0;
	ret = options_take(argc, argv, &conf, &figure);
	if (ret != 0)
		return ret;
	if (figure != NULL) {
		f = figure_find(figure);
		if (f == NULL)
			return fprintf(stderr, "keelson sim: --figure: '%s' is none\n", figure), 2;
		figure_conf(f, &conf);
	}
	if (sim_begin(&s, &conf, &why) < 0) {
		fprintf(stderr, "keelson sim: %s\n", why != NULL ? why : "no memory");
		return 2;
	}
	check_begin(&s);
	if (s.wrong[0] == '\0')
		ret = f != NULL ? figure_run(&s, f) : drive(&s);
	if (s.wrong[0] != '\0') {
		check_dump(&s);
		fprintf(stderr, "keelson sim: %s\nAt %lld.%03lld s of the run. It is repeated by\n",
			s.wrong, (long long)(s.now_ms / 1000), (long long)(s.now_ms % 1000));
		options_replay(&conf, stderr);
		ret = 1;
	} else if (!conf.quiet && f == NULL) {
		printf("seed %llu: %llu steps, %u turns, %llu checks, %u crashes, %lld s, digest %016llx\n",
		       (unsigned long long)conf.seed, (unsigned long long)conf.steps, s.turns, (unsigned long long)check_count(&s), s.crashes,
		       (long long)(s.now_ms / 1000), (unsigned long long)s.digest);
	}
	sim_end(&s);
	return ret;
}
