#include "trace/flt.h"

#include "failing_host.h"
#include "sealed.h"
#include "test.h"

#include <fraglab/read.h>

#include <stdlib.h>
#include <string.h>

static const char *const files[] = {
    "traces/gpt_oom.pickle.gz",
    "traces/expandpress.pickle",
    "traces/streams.pickle",
    "traces/pinned.txt",
    "tests/data/snapshots/rs_basic.json",
    "tests/data/snapshots/cpp.pickle",
    "tests/data/snapshots/releases/2.0.1.pickle",
    "tests/fuzz/corpus/snapshot/pending-cut.pickle",
    "tests/fuzz/corpus/snapshot/graph-proto2.pickle",
    "tests/fuzz/corpus/script/all.txt",
    "tests/fuzz/corpus/script/start.txt",
    "tests/fuzz/corpus/script/inferred.txt",
    "tests/fuzz/corpus/json/start.json",
};

static fl_trace *read_whole(const char *path)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_file(path, NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

/* Saving what was loaded gives the same file; so everything that a file holds was taken over. */
static void what_is_loaded_is_saved_as_it_was(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        fl_trace *trace = read_whole(files[i]);
        taker first = sealed_trace(trace);
        fl_error error = {0};
        fl_trace *again = sealed_load(&first, &error);
        if (again == NULL)
            fail_msg("%s: %s", files[i], error.text);
        taker second = sealed_trace(again);
        assert_int_equal(first.length, second.length);
        assert_memory_equal(first.text, second.text, first.length);
        free(first.text);
        free(second.text);
        fl_trace_free(trace);
        fl_trace_free(again);
    }
}

static void events_are_the_same(const fl_trace *a, const fl_trace *b, size_t device)
{
    for (uint64_t i = 0; i < fl_trace_event_count(a, device); i++) {
        fl_event x, y;
        fl_trace_event(a, device, i, &x);
        fl_trace_event(b, device, i, &y);
        assert_int_equal(x.kind, y.kind);
        assert_int_equal(x.flags, y.flags);
        assert_int_equal(x.id, y.id);
        assert_int_equal(x.stream, y.stream);
        assert_int_equal(x.pool, y.pool);
        assert_int_equal(x.text, y.text);
        assert_int_equal(x.stack, y.stack);
        assert_int_equal(x.address, y.address);
        assert_int_equal(x.size, y.size);
        assert_true(x.time_us == y.time_us);
    }
}

static const char *text_or(const char *text)
{
    return text != NULL ? text : "(none)";
}

static void everything_a_trace_tells_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        fl_trace *a = read_whole(files[i]);
        taker flt = sealed_trace(a);
        fl_trace *b = sealed_load(&flt, NULL);
        assert_non_null(b);
        assert_string_equal(fl_trace_path(b), "f");
        assert_int_equal(fl_trace_format(a), fl_trace_format(b));
        assert_string_equal(fl_trace_format_name(a), fl_trace_format_name(b));
        assert_string_equal(text_or(fl_trace_conf(a)), text_or(fl_trace_conf(b)));
        assert_string_equal(text_or(fl_trace_release(a)), text_or(fl_trace_release(b)));
        assert_int_equal(fl_trace_capacity(a), fl_trace_capacity(b));
        assert_int_equal(fl_trace_lacks_conf(a), fl_trace_lacks_conf(b));
        assert_int_equal(fl_trace_warning_count(a), fl_trace_warning_count(b));
        assert_int_equal(fl_trace_beside(a).annotations, fl_trace_beside(b).annotations);
        assert_int_equal(fl_trace_stack_count(a), fl_trace_stack_count(b));
        assert_int_equal(fl_trace_device_count(a), fl_trace_device_count(b));
        for (size_t device = 0; device < fl_trace_device_count(a); device++) {
            assert_int_equal(fl_trace_event_count(a, device), fl_trace_event_count(b, device));
            assert_int_equal(fl_trace_alloc_count(a, device), fl_trace_alloc_count(b, device));
            assert_int_equal(fl_trace_is_complete(a, device), fl_trace_is_complete(b, device));
            events_are_the_same(a, b, device);
        }
        free(flt.text);
        fl_trace_free(a);
        fl_trace_free(b);
    }
}

static void a_cut_file_is_refused_at_every_byte(void **state)
{
    (void)state;
    fl_trace *trace = read_whole("tests/fuzz/corpus/script/start.txt");
    taker flt = sealed_trace(trace);
    size_t length = flt.length;
    for (flt.length = FLT_MAGIC_SIZE; flt.length < length; flt.length++) {
        fl_error error = {0};
        assert_null(sealed_load(&flt, &error));
        assert_int_equal(error.status, FL_ERR_INPUT);
        assert_non_null(strstr(error.text, "the file ends here"));
    }
    free(flt.text);
    fl_trace_free(trace);
}

/* A changed byte is found, or lies where nothing is. */
static void change_every_byte(const char *path, bool seals)
{
    fl_trace *trace = read_whole(path);
    taker whole = sealed_trace(trace), flt = {0};
    taker_take(&flt, whole.text, whole.length);
    for (size_t i = FLT_MAGIC_SIZE; i < flt.length; i++) {
        flt.text[i] = (char)(flt.text[i] ^ (1 << i % 8));
        if (seals)
            sealed_again(&flt);
        fl_error error = {0};
        fl_trace *again = sealed_load(&flt, &error);
        if (again == NULL) {
            assert_true(error.status == FL_ERR_INPUT || error.status == FL_ERR_UNAVAILABLE);
            assert_true(strncmp(error.text, "f:", 2) == 0);
        } else if (!seals) {
            taker back = sealed_trace(again);
            assert_memory_equal(back.text, whole.text, whole.length);
            free(back.text);
        }
        fl_trace_free(again);
        memcpy(flt.text, whole.text, whole.length);
    }
    free(whole.text);
    free(flt.text);
    fl_trace_free(trace);
}

static void a_changed_byte_is_found(void **state)
{
    (void)state;
    change_every_byte("tests/fuzz/corpus/script/start.txt", false);
    change_every_byte("tests/fuzz/corpus/snapshot/basic.pickle", false);
}

static void a_changed_byte_behind_right_check_sums_does_no_harm(void **state)
{
    (void)state;
    change_every_byte("tests/fuzz/corpus/script/start.txt", true);
    change_every_byte("tests/fuzz/corpus/script/all.txt", true);
    change_every_byte("tests/fuzz/corpus/snapshot/pending-cut.pickle", true);
}

static void another_version_is_not_available(void **state)
{
    (void)state;
    taker flt = sealed_script("a 1 512\n");
    flt.text[8] = 2;
    fl_error error = {0};
    assert_null(sealed_load(&flt, &error));
    assert_int_equal(error.status, FL_ERR_UNAVAILABLE);
    assert_string_equal(error.text, "f:8: version 2 of .flt, this build reads 1");
    free(flt.text);
}

static fl_status load_with(const fl_host *host, void *user, fl_error *error)
{
    const taker *flt = user;
    fl_trace *trace = NULL;
    fl_read_options options = {.host = host};
    fl_status status = fl_read_memory(flt->text, flt->length, "f", &options, &trace, error);
    fl_trace_free(trace);
    return status;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    fl_trace *trace = read_whole("tests/fuzz/corpus/script/start.txt");
    taker flt = sealed_trace(trace);
    assert_true(failing_host_sweep(load_with, &flt) > 10);
    free(flt.text);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_loaded_is_saved_as_it_was),
        cmocka_unit_test(everything_a_trace_tells_is_the_same),
        cmocka_unit_test(a_cut_file_is_refused_at_every_byte),
        cmocka_unit_test(a_changed_byte_is_found),
        cmocka_unit_test(a_changed_byte_behind_right_check_sums_does_no_harm),
        cmocka_unit_test(another_version_is_not_available),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
