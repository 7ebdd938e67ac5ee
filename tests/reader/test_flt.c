#include "trace/flt.h"

#include "assemble.h"
#include "sealed.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/write.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of these bytes, which the caller takes away. */
static void put_file(const taker *flt, char path[])
{
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, flt->text, flt->length), flt->length);
    close(file);
}

static void a_file_is_mapped_and_what_comes_piece_by_piece_is_read(void **state)
{
    (void)state;
    taker flt = sealed_script("a 1 512\nf 1\n");
    char path[] = "/tmp/fraglab-flt-XXXXXX";
    put_file(&flt, path);
    fl_trace *mapped = read_file(path, false), *read = sealed_load(&flt, NULL);
    assert_non_null(read);
    assert_non_null(mapped->mapping.bytes);
    assert_null(read->mapping.bytes);
    assert_int_equal(read->image.count, flt.length);
    assert_int_equal(fl_trace_event_count(mapped, 0), 2);
    assert_int_equal(fl_trace_event_count(read, 0), 2);
    fl_trace_free(mapped);
    fl_trace_free(read);
    unlink(path);
    free(flt.text);
}

/* A rebuild marks events, which must not reach the file. */
static void what_is_done_to_the_trace_stays_out_of_the_file(void **state)
{
    (void)state;
    taker flt = sealed_script("a 1 512\nf 1\n");
    char path[] = "/tmp/fraglab-flt-XXXXXX";
    put_file(&flt, path);
    fl_trace *trace = read_file(path, false);
    fl_trace_set_flags(trace, 0, 1, FL_OP_HELD);
    fl_trace_free(trace);
    size_t size;
    uint8_t *bytes = file_bytes(path, &size);
    assert_int_equal(size, flt.length);
    assert_memory_equal(bytes, flt.text, size);
    free(bytes);
    unlink(path);
    free(flt.text);
}

static void a_trace_is_written_by_the_name_of_the_format(void **state)
{
    (void)state;
    fl_trace *trace = read_file("tests/fuzz/corpus/script/all.txt", false);
    taker to = {0}, direct = sealed_trace(trace);
    fl_write_options options = {.write = taker_take, .user = &to};
    assert_true(fl_format_is_written("flt"));
    assert_int_equal(fl_write_trace(trace, "flt", &options, NULL), FL_OK);
    assert_int_equal(to.length, direct.length);
    assert_memory_equal(to.text, direct.text, to.length);
    free(to.text);
    free(direct.text);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_mapped_and_what_comes_piece_by_piece_is_read),
        cmocka_unit_test(what_is_done_to_the_trace_stays_out_of_the_file),
        cmocka_unit_test(a_trace_is_written_by_the_name_of_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
