/* folder.h - a folder of its own for a test, gone at its end: TestSuite(x, .init = folder_make, .fini = folder_drop).
 */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stddef.h>

void folder_make(void);
void folder_drop(void);

const char *folder_path(void);

/* "folder/name"; good until the eighth call after it. */
const char *folder_file(const char *name);

/* Number of files in it. */
size_t folder_count(void);

#endif
