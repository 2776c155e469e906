/* pending.h - the temporary files of this process, so that a signal that ends it can remove them. */
#ifndef CORE_BASE_PENDING_H
#define CORE_BASE_PENDING_H

/* Creates the file as mkstemp() does and keeps the name, which must stay where it is until one of the two below. */
int pending_create(char *name);

/* rename() and unlink(), after which the name is kept no longer, unless renaming failed. 0, or -1 and errno. */
int pending_rename(const char *name, const char *to);
int pending_unlink(const char *name);

/* Removes what is pending. Safe in a signal handler. */
void pending_unlink_all(void);

#endif
