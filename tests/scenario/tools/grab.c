/* SPDX-License-Identifier: Apache-2.0
 *
 * grab.c - a program that uses what a host has, for stories.
 *
 *	grab MEGABYTES [PROCESSES]    has so much resident; PROCESSES more share it. Says "grabbed"
 *	grab -c                       keeps a processor busy
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? (size_t)atol(argv[1]) << 20 : 0;
	char *memory = bytes ? malloc(bytes) : NULL;

	if (argc < 2 || (bytes && !memory))
		return 2;
	for (volatile unsigned long n = 0; strcmp(argv[1], "-c") == 0; n++)
		;
	for (size_t at = 0; at < bytes; at += 4096)
		((volatile char *)memory)[at] = (char)(at >> 12 | 1);
	for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--)
		if (fork() == 0) {
			pause();
			_exit(0);
		}
	puts("grabbed");
	fflush(stdout);
	for (;;)
		pause();
}
