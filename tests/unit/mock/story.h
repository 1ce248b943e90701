/* SPDX-License-Identifier: Apache-2.0
 *
 * story.h - a story is a text of steps, one in a line (the table `verbs`), played in the daemon's engine and in
 * the mock. Each step says in the log what came of it.
 */
#ifndef TESTS_MOCK_STORY_H
#define TESTS_MOCK_STORY_H

/* Both hosts log the same, word for word, and `must` is in it. */
void agree(const char *story, const char *must);

#endif
