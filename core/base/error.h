/* error.h - one way to fail: return a status, fill a struct error, pass it on with TRY. */
#ifndef CORE_BASE_ERROR_H
#define CORE_BASE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum status {
    OK = 0,
    ERR_USAGE,      /* a wrong option, policy, task set or configuration    */
    ERR_NO_VERDICT, /* not comparable, no baseline, partial, nothing measured */
    ERR_FORMAT,     /* a file holds something else than it must              */
    ERR_IO,         /* a file or socket could not be read or written         */
    ERR_LIMIT,      /* input is larger than a stated limit                   */
    ERR_MEMORY,     /* the system gave no memory                             */
    ERR_DEVICE,     /* the accelerator failed                                */
    ERR_INTERNAL    /* our own mistake                                       */
};

struct error {
    enum status code;  /* what the program branches on                 */
    char message[640]; /* the first cause: "'a.h5': no dataset '/q'"    */
    char context[384]; /* what was being done: "task 'x': dump 'a.h5'"  */
};

#define MUST_CHECK             __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Leaves the function with the status of `call` unless that is OK. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        enum status try_st = (call);                                                                                   \
        if (try_st != OK)                                                                                              \
            return try_st;                                                                                             \
    } while (0)

/* Records the first cause and returns `code`; a later call on the same error changes nothing. `err` may be NULL. */
enum status error_set(struct error *err, enum status code, const char *fmt, ...) PRINTF_LIKE(3, 4);

#ifdef __clang_analyzer__
/* The analyzer looks into one file at a time: this tells it that `code` comes back. */
#define error_set(err, code, ...) ((void)error_set(err, code, __VA_ARGS__), (code))
#endif

/* Puts "…: " before the context: callers further out add what they were doing. */
void error_context(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Forgets everything, so that `err` can be used again. */
void error_clear(struct error *err);

#ifdef __cplusplus
}
#endif
#endif
