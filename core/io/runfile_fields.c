#include "core/io/runfile_fields.h"

#include "core/base/buf.h"
#include "core/base/scope.h"
#include "core/io/h5attr.h"

#include <string.h>

#define P(member)  offsetof(struct provenance, member)
#define S(member)  offsetof(struct place, member)
#define D(member)  offsetof(struct dump_source, member)
#define LEN(table) (sizeof(table) / sizeof *(table))

static const struct runfile_field provenance_fields[] = {
    {"taskset_name", FIELD_TEXT, P(taskset_name), "name of the task set"},
    {"taskset_version", FIELD_TEXT, P(taskset_version), "version of the task set"},
    {"taskset_sha256", FIELD_HASH, P(taskset_hash), "SHA-256 of taskset.json: tasks and rubrics"},
    {"prompt_version", FIELD_TEXT, P(prompt_version), "version of the prompt under test"},
    {"prompt_sha256", FIELD_HASH, P(prompt_hash), "SHA-256 of the prompt file"},
    {"model_asked", FIELD_TEXT, P(model_asked), "model name in the requests"},
    {"model_served", FIELD_TEXT, P(model_served), "model name in the replies"},
    {"weights_version", FIELD_TEXT, P(weights_version), "version of the weights under test"},
    {"weights_sha256", FIELD_TEXT, P(weights_sha256), "SHA-256 of the weights, as the source states it"},
    {"sampling", FIELD_TEXT, P(sampling), "sampling settings, JSON with sorted keys"},
    {"source", FIELD_TEXT, P(source), "what the observations came from"},
    {"recording_sha256", FIELD_HASH, P(recording_hash), "SHA-256 of the recording's manifest.json"},
    {"context_limit", FIELD_I64, P(context_limit), "context window in tokens, 0 where unknown"},
    {"context_limit_from", FIELD_TEXT, P(context_limit_from), "who stated it: option, server or taskset"},
    {"load", FIELD_TEXT, P(load), "how a live endpoint was asked, and how well that went, JSON"},
    {"is_client_bound", FIELD_BOOL, P(is_client_bound),
     "1 when the client, not the server, may have made the latencies: they decide nothing"},
    {"entropy_eps", FIELD_TEXT, P(entropy_eps), "epsilon in the entropies of attention: none, add:EPS or clamp:EPS"},
    {"collapse", FIELD_TEXT, P(collapse), "when a head has collapsed: bits,weight,samples"},
    {"implicit_sink", FIELD_BOOL, P(implicit_sink), "1 when what a row lacks to 1 was one key's more"},
    {"mask_checked", FIELD_BOOL, P(mask_checked), "1 when weights that the mask hides were read too"},
    {"goodput", FIELD_TEXT, P(goodput), "limits of latency that a good request keeps, ms"},
    {"single_tokens_per_s", FIELD_TEXT, P(single_tokens_per_s), "tokens/s of a run with one request at a time"},
    {"tool_version", FIELD_TEXT, P(tool_version), "version of tare"},
    {"tool_build", FIELD_TEXT, P(tool_build), "compiler, flags, backends and instruction set of tare"},
    {"seed", FIELD_U64, P(seed), "seed of every random number"},
    {"is_complete", FIELD_BOOL, P(is_complete), "1 when every task was observed, 0 for a partial run"},
    {"is_reproducible", FIELD_BOOL, P(is_reproducible), "1 when times and host were left out"},
};
static const struct runfile_field place_fields[] = {
    {"host", FIELD_TEXT, S(host), "name of the machine"},
    {"os", FIELD_TEXT, S(os), "operating system"},
    {"cpu", FIELD_TEXT, S(cpu), "processor"},
    {"cores", FIELD_I64, S(cores), "processor cores, 0 where unknown"},
    {"gpu", FIELD_TEXT, S(gpu), "accelerator"},
    {"driver", FIELD_TEXT, S(driver), "accelerator driver"},
    {"server", FIELD_TEXT, S(server), "what served the model, with its version"},
    {"when_utc", FIELD_TEXT, S(when_utc), "time, ISO 8601, UTC"},
};
static const struct runfile_field dump_fields[] = {
    {"path", FIELD_TEXT, D(path), "path of the dump as it was given"},
    {"sha256", FIELD_HASH, D(hash), "SHA-256 of the dump file; empty where the file is large and none was asked for"},
    {"content_sha256", FIELD_HASH, D(content), "SHA-256 of what the dump holds and no mask hides"},
    {"model_name", FIELD_TEXT, D(model_name), "model, as the dump states it"},
    {"weights_sha256", FIELD_TEXT, D(weights_sha256), "SHA-256 of the weights, as the dump states it"},
    {"prompt_version", FIELD_TEXT, D(prompt_version), "version of the prompt, as the dump states it"},
    {"prompt_sha256", FIELD_TEXT, D(prompt_sha256), "SHA-256 of the prompt, as the dump states it"},
    {"compute_dtype", FIELD_TEXT, D(compute_dtype), "type that the model computed in"},
    {"store_dtype", FIELD_TEXT, D(store_dtype), "type of the stored tensors"},
    {"capture", FIELD_TEXT, D(capture), "what captured the dump, with versions"},
    {"variant", FIELD_TEXT, D(variant), "what is special about the dump"},
    {"layout", FIELD_TEXT, D(layout), "layout map that the dump was read with, JSON in one line"},
};

const struct runfile_fields runfile_provenance = {"Where the numbers come from; an empty text is something unknown.",
                                                  provenance_fields, LEN(provenance_fields)};
const struct runfile_fields runfile_observed = {"Where the replies and tensors were observed.", place_fields,
                                                LEN(place_fields)};
const struct runfile_fields runfile_computed = {"Where the cubes were computed.", place_fields, LEN(place_fields)};
const struct runfile_fields runfile_dump = {"An attention dump that was read; its tensors are not copied.", dump_fields,
                                            LEN(dump_fields)};

const char *const runfile_help_requests =
    "One row an exchange.\n"
    "task, turn, repeat: what it belongs to; turns and repeats count from 1.\n"
    "path, request: where and what was sent, JSON. headers: of the reply, a line each, empty where bytes have them.\n"
    "status: HTTP status, 0 unknown. sent_ns: request handed over, ns on the clock of events.\n"
    "scheduled_ns: when it should have been sent, ns; the least int64 in a closed loop.\n"
    "prompt_tokens, completion_tokens: the server's count from a plain request, -1 unknown.\n"
    "first_event, n_events: its rows of events. has_http_head: 1 when bytes begin with the HTTP head.";
const char *const runfile_help_transfers =
    "Of a live endpoint: one row an exchange, in the order of requests.\n"
    "failure: why no whole answer came, empty when one did. started_ns: when it was decided to send, before "
    "connecting.\n"
    "connect_ns: how long connecting took, 0 on a connection that stood. n_retries: attempts before this one.\n"
    "tokens_sent: of the prompt as counted by the client, 0 unknown; is_estimate: 1 when that is an estimate.\n"
    "is_redacted: 1 when the reply's text was left out on request; times and token counts stay.";
const char *const runfile_help_events =
    "One row a read from the server: t_ns, when it returned, ns on the run's monotonic clock; "
    "its bytes are bytes[offset .. offset + len).";
const char *const runfile_help_bytes = "Everything received, end to end, as it came from the server.";

static enum status put_field(const struct h5 *group, const struct runfile_field *f, const char *at, struct error *err)
{
    switch (f->kind) {
    case FIELD_TEXT: {
        const char *text = *(char *const *)(const void *)at;

        return h5attr_put_text(group, f->name, text ? text : "", err);
    }
    case FIELD_HASH:
        return h5attr_put_text(group, f->name, ((const struct sha256 *)at)->hex, err);
    case FIELD_I64:
        return h5attr_put_i64(group, f->name, *(const int64_t *)(const void *)at, err);
    case FIELD_U64:
        return h5attr_put_u64(group, f->name, *(const uint64_t *)(const void *)at, err);
    case FIELD_BOOL:
        return h5attr_put_i64(group, f->name, *(const bool *)at, err);
    }
    return error_set(err, ERR_INTERNAL, "attribute '%s' has no kind", f->name);
}

enum status runfile_put_fields(const struct h5 *at, const char *name, const struct runfile_fields *fields,
                               const void *values, struct h5 *ret, struct error *err)
{
    AUTO(h5) group = {0};
    AUTO(buf) help = {0};
    size_t i;

    buf_puts(&help, fields->help);
    for (i = 0; i < fields->n; i++)
        buf_printf(&help, "\n%s: %s", fields->field[i].name, fields->field[i].help);
    TRY(buf_check(&help, err));
    TRY(h5_make_group(at, name, buf_text(&help), &group, err));
    for (i = 0; i < fields->n; i++)
        TRY(put_field(&group, &fields->field[i], (const char *)values + fields->field[i].offset, err));
    if (ret)
        *ret = h5_take(&group);
    return OK;
}

static enum status get_hash(const struct h5 *group, const char *name, struct arena *arena, struct sha256 *ret,
                            struct error *err)
{
    char *text = NULL;
    size_t len;

    TRY(h5attr_text(group, name, arena, &text, err));
    len = strlen(text);
    if (len != 0 && (len != 64 || strspn(text, "0123456789abcdef") != 64))
        return h5_bad(group, err, "attribute '%s' is no SHA-256: 64 lower-case hexadecimal digits", name);
    memcpy(ret->hex, text, len + 1);
    return OK;
}

static enum status get_field(const struct h5 *group, const struct runfile_field *f, struct arena *arena, char *at,
                             struct error *err)
{
    int64_t number = 0;

    switch (f->kind) {
    case FIELD_TEXT:
        return h5attr_text(group, f->name, arena, (char **)(void *)at, err);
    case FIELD_HASH:
        return get_hash(group, f->name, arena, (struct sha256 *)at, err);
    case FIELD_I64:
        TRY(h5attr_i64(group, f->name, &number, err));
        if (number < 0) /* they are counts */
            return h5_bad(group, err, "attribute '%s' is %lld: it may not be negative", f->name, (long long)number);
        *(int64_t *)(void *)at = number;
        return OK;
    case FIELD_U64:
        return h5attr_u64(group, f->name, (uint64_t *)(void *)at, err);
    case FIELD_BOOL:
        TRY(h5attr_i64(group, f->name, &number, err));
        if (number != 0 && number != 1)
            return h5_bad(group, err, "attribute '%s' is %lld, it must be 0 or 1", f->name, (long long)number);
        *(bool *)at = number == 1;
        return OK;
    }
    return error_set(err, ERR_INTERNAL, "attribute '%s' has no kind", f->name);
}

enum status runfile_get_fields(const struct h5 *group, const struct runfile_fields *fields, struct arena *arena,
                               void *values, struct error *err)
{
    size_t i;

    for (i = 0; i < fields->n; i++)
        if (h5attr_has(group, fields->field[i].name))
            TRY(get_field(group, &fields->field[i], arena, (char *)values + fields->field[i].offset, err));
    return OK;
}

void runfile_types_done(struct runfile_types *t)
{
    h5id_done(&t->request_mem);
    h5id_done(&t->request_file);
    h5id_done(&t->event_mem);
    h5id_done(&t->event_file);
    h5id_done(&t->transfer_mem);
    h5id_done(&t->transfer_file);
}

#define R(member) offsetof(struct runfile_request, member)
#define E(member) offsetof(struct read_event, member)

enum member_kind { MEMBER_TEXT, MEMBER_I64, MEMBER_U64, MEMBER_U8 };

struct member {
    const char *name;
    size_t offset;
    enum member_kind kind;
};

static const struct member request_members[] = {
    {"task", R(task), MEMBER_TEXT},
    {"turn", R(turn), MEMBER_I64},
    {"repeat", R(repeat), MEMBER_I64},
    {"path", R(path), MEMBER_TEXT},
    {"request", R(request), MEMBER_TEXT},
    {"headers", R(headers), MEMBER_TEXT},
    {"status", R(status), MEMBER_I64},
    {"sent_ns", R(sent_ns), MEMBER_I64},
    {"scheduled_ns", R(scheduled_ns), MEMBER_I64},
    {"prompt_tokens", R(prompt_tokens), MEMBER_I64},
    {"completion_tokens", R(completion_tokens), MEMBER_I64},
    {"first_event", R(first_event), MEMBER_U64},
    {"n_events", R(n_events), MEMBER_U64},
    {"has_http_head", R(has_http_head), MEMBER_U8},
};
static const struct member event_members[] = {
    {"t_ns", E(t_ns), MEMBER_I64},
    {"offset", E(offset), MEMBER_U64},
    {"len", E(len), MEMBER_U64},
};

#define X(member) offsetof(struct runfile_transfer, member)
static const struct member transfer_members[] = {
    {"failure", X(failure), MEMBER_TEXT},        {"started_ns", X(started_ns), MEMBER_I64},
    {"connect_ns", X(connect_ns), MEMBER_I64},   {"n_retries", X(n_retries), MEMBER_I64},
    {"tokens_sent", X(tokens_sent), MEMBER_I64}, {"is_estimate", X(is_estimate), MEMBER_U8},
    {"is_redacted", X(is_redacted), MEMBER_U8},
};

static bool make_compound(const struct member *members, size_t n, size_t size, hid_t text, struct h5id *ret_mem,
                          struct h5id *ret_file)
{
    const hid_t mem[] = {text, H5T_NATIVE_INT64, H5T_NATIVE_UINT64, H5T_NATIVE_UINT8};
    const hid_t file[] = {text, H5T_STD_I64LE, H5T_STD_U64LE, H5T_STD_U8LE};
    size_t at = 0, total = 0, i;

    for (i = 0; i < n; i++)
        total += H5Tget_size(file[members[i].kind]);
    ret_mem->id = H5Tcreate(H5T_COMPOUND, size);
    ret_file->id = H5Tcreate(H5T_COMPOUND, total);
    for (i = 0; i < n; i++) {
        const struct member *m = &members[i];

        if (H5Tinsert(ret_mem->id, m->name, m->offset, mem[m->kind]) < 0 ||
            H5Tinsert(ret_file->id, m->name, at, file[m->kind]) < 0)
            return false;
        at += H5Tget_size(file[m->kind]);
    }
    return true;
}

enum status runfile_types_init(struct runfile_types *t, struct error *err)
{
    AUTO(h5id) text = {.id = H5Tcopy(H5T_C_S1)};

    if (text.id < 0 || H5Tset_size(text.id, H5T_VARIABLE) < 0 || H5Tset_cset(text.id, H5T_CSET_UTF8) < 0 ||
        !make_compound(request_members, LEN(request_members), sizeof(struct runfile_request), text.id, &t->request_mem,
                       &t->request_file) ||
        !make_compound(event_members, LEN(event_members), sizeof(struct read_event), text.id, &t->event_mem,
                       &t->event_file) ||
        !make_compound(transfer_members, LEN(transfer_members), sizeof(struct runfile_transfer), text.id,
                       &t->transfer_mem, &t->transfer_file))
        return error_set(err, ERR_INTERNAL, "the HDF5 types of a run file cannot be made");
    return OK;
}

enum status runfile_types_match(const struct h5 *ds, hid_t mem, struct error *err)
{
    AUTO(h5id) type = {.id = H5Dget_type(ds->id)};
    int n = H5Tget_nmembers(mem), i;

    if (type.id < 0 || H5Tget_class(type.id) != H5T_COMPOUND)
        return h5_bad(ds, err, "rows must be compounds with named members");
    for (i = 0; i < n; i++) {
        char *name = H5Tget_member_name(mem, (unsigned)i);
        int at = name ? H5Tget_member_index(type.id, name) : -1;
        bool fits = at >= 0 && H5Tget_member_class(type.id, (unsigned)at) == H5Tget_member_class(mem, (unsigned)i);
        enum status st = OK;

        if (fits && H5Tget_member_class(mem, (unsigned)i) == H5T_STRING) {
            AUTO(h5id) member = {.id = H5Tget_member_type(type.id, (unsigned)at)};

            fits = H5Tis_variable_str(member.id) > 0 && H5Tget_cset(member.id) == H5T_CSET_UTF8;
        }
        if (!fits)
            st = h5_bad(ds, err, "member '%s' is missing or of another type", name ? name : "?");
        H5free_memory(name);
        TRY(st);
    }
    return OK;
}
