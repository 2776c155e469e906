/* dump.h - attention dumps: what samples and layers a file holds, and their rows, tile by tile, as stored. */
#ifndef CORE_IO_DUMP_H
#define CORE_IO_DUMP_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/model/provenance.h"
#include "kernels/dtype.h"
#include "kernels/row_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dump_kind { DUMP_WEIGHTS, DUMP_SCORES, DUMP_QK };

struct dump_sample {
    char *id;   /* as stored: "task", "task#turn" or "task#turn#repeat" */
    char *task; /* its parts; turn and repeat are 1 where the id has none */
    int64_t turn, repeat;
    int64_t first, length; /* valid keys [first, first + length)       */
    int64_t query_start;   /* key index of query row 0                 */
};

struct dump_layer {
    int64_t index;
    char *name; /* of its group: "005" */
    enum dump_kind kind;
    enum dtype dtype;
    bool causal;
    int64_t window;    /* 0 = none */
    int64_t key_start; /* key index of column 0 */
    double scale, softcap;
    enum dtype stored, k_stored; /* of weights, scores or q, and of k, in the file: where it is not `dtype`, rows are
                                    converted when they are read */
    bool is_raw;                 /* scores that `scale` and `softcap` are applied to when they are read */
    bool is_offset;              /* int8 whose zero is -128, read as uint8 */
    double value_scale;          /* stored weights times this are the weights; 0 = as stored */
    bool has_row_scales;         /* the same, a factor for each row: dump_read_scales() */
    bool has_lse, lse_is_base2;  /* log-sum-exp of each row; was checked when the dump was opened */
    enum dtype scales_dtype, lse_dtype;
    bool may_be_looked_at;                           /* while the dump is opened */
    size_t n_heads, n_kv_heads, n_rows, n_cols, dim; /* dim: of a head, DUMP_QK only */
};

enum { DUMP_MAX_NOTICES = 16 };

struct dump_reader; /* what one container format keeps; see dump_reader.h */

struct dump {
    struct arena arena; /* owns texts and tables */
    char *path;
    struct dump_source source; /* hash and attributes; borrowed texts */
    struct dump_sample *samples;
    size_t n_samples;
    struct dump_layer *layers; /* ascending by index */
    size_t n_layers;
    enum dtype said_dtype;           /* of the tensors, by option or layout map; N_DTYPES = nothing was said */
    bool is_mapped;                  /* a layout map says where things stand */
    char *notices[DUMP_MAX_NOTICES]; /* what was assumed about the file and must be told */
    size_t n_notices;
    struct dump_reader *reader;        /* owned */
    struct hash_job *hashing;          /* owned: source.hash is on its way; NULL: it is there */
    int64_t seen_bytes, seen_mtime_ns; /* of the file when it was opened */
};

/* Finds the format by magic bytes and reads everything but the tensors; every size is checked against the file. */
MUST_CHECK enum status dump_open(struct dump *d, const char *path, struct error *err);

/* What is said about a file besides what stands in it. */
struct dump_options {
    const char *layout;      /* file of a layout map, core/io/layout.md; NULL = the file says how it is laid out */
    const char *layout_text; /* the map itself, instead of its file; `layout` is its name, where it has one */
    bool has_dtype;
    enum dtype dtype; /* of tensors whose stored type does not say it */
    bool hashes_all;  /* source.hash of a file of any size; else of one up to DUMP_HASHED_BYTES */
};

/* Reading a larger file for its hash would take longer than measuring it: it is known by its content. */
#define DUMP_HASHED_BYTES ((int64_t)64 << 20)

/* The same; options may be NULL. */
MUST_CHECK enum status dump_open_as(struct dump *d, const char *path, const struct dump_options *options,
                                    struct error *err);

/* The same, but source.hash may come later: it is there after dump_settle(), which waits for it, or "" for a large file
 * where nothing else is asked for. */
MUST_CHECK enum status dump_begin(struct dump *d, const char *path, const struct dump_options *options,
                                  struct error *err);
MUST_CHECK enum status dump_settle(struct dump *d, struct error *err);

/* ERR_IO when the file has another size or time than when it was opened: what was read of it is not to be trusted. */
MUST_CHECK enum status dump_unchanged(const struct dump *d, struct error *err);
void dump_done(struct dump *d);

/* What its container may keep of the tensors that it cannot read in place; 256 MiB where nothing is said. */
void dump_limit_memory(struct dump *d, size_t bytes);

/* Visible columns of each of layer->n_rows query rows of a sample. A row is valid when its key index p = query_start +
 * i lies in [first, first + length); its keys run from first, or p - window + 1, to p when causal, else over the
 * sample. */
void dump_spans(const struct dump_layer *layer, const struct dump_sample *sample, struct row_span *ret);

/* Rows [row, row + n_rows) of weights or scores of one head of one sample, n_rows x n_cols elements of the layer's
 * dtype, native byte order. */
MUST_CHECK enum status dump_read_weights(struct dump *d, size_t layer, size_t sample, size_t head, size_t row,
                                         size_t n_rows, void *ret, struct error *err);

/* The factor of each of these rows; 1 where there is none. */
MUST_CHECK enum status dump_read_scales(struct dump *d, size_t layer, size_t sample, size_t head, size_t row,
                                        size_t n_rows, double *ret, struct error *err);
bool dump_has_scales(const struct dump_layer *l);

/* DUMP_QK: rows of one query head (n_rows x dim), or all n_cols keys of one key head (n_cols x dim). */
MUST_CHECK enum status dump_read_q(struct dump *d, size_t layer, size_t sample, size_t head, size_t row, size_t n_rows,
                                   void *ret, struct error *err);
MUST_CHECK enum status dump_read_k(struct dump *d, size_t layer, size_t sample, size_t kv_head, void *ret,
                                   struct error *err);

enum dump_part { DUMP_PART_WEIGHTS, DUMP_PART_Q, DUMP_PART_K }; /* weights or scores */

/* Rows of any part, as the functions above give them; and whether the file holds them as they are. */
MUST_CHECK enum status dump_read_part(struct dump *d, size_t layer, size_t sample, enum dump_part part, size_t head,
                                      size_t row, size_t n_rows, void *ret, struct error *err);
bool dump_is_converted(const struct dump_layer *l, enum dump_part part);

#endif
