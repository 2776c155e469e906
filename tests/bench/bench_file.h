/* bench_file.h - a dump in the page cache, beside what its container allows at best: reading and adding up the same
 * file, inflating the same chunks by one core, the product of the same queries and keys. */
#ifndef TESTS_BENCH_BENCH_FILE_H
#define TESTS_BENCH_BENCH_FILE_H

/* `tare`: the program, to be timed as a process, or NULL. */
void bench_file(const char *path, const char *tare);

/* Prints the peak memory of the program on a dump. To be called first: a child counts its parent's memory too. */
void bench_peak(const char *path, const char *tare);

/* Prints the seconds of one pass over a dump. */
void bench_once(const char *path);

#endif
