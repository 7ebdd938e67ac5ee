#include "base/mapping.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int scratch(const char *text)
{
    char path[] = "/tmp/fraglab-mapping-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    unlink(path);
    return file;
}

static void a_file_is_memory_and_stays_as_it_is(void **state)
{
    (void)state;
    int file = scratch("as it was");
    fl_mapping mapping = {0};
    assert_true(fl_mapping_open(file, &mapping));
    assert_int_equal(mapping.size, 9);
    assert_memory_equal(mapping.bytes, "as it was", 9);
    mapping.bytes[0] = 'X';
    char back[9];
    assert_int_equal(pread(file, back, sizeof back, 0), sizeof back);
    assert_memory_equal(back, "as it was", 9);
    close(file);
    assert_int_equal(mapping.bytes[1], 's'); /* the file may be closed */
    fl_mapping_close(&mapping);
    assert_null(mapping.bytes);
    fl_mapping_close(&mapping);
}

static void what_is_no_file_or_empty_is_not_mapped(void **state)
{
    (void)state;
    fl_mapping mapping = {0};
    int empty = scratch(""), ends[2], folder = open("/tmp", O_RDONLY);
    assert_int_equal(pipe(ends), 0);
    assert_false(fl_mapping_open(empty, &mapping));
    assert_false(fl_mapping_open(ends[0], &mapping));
    assert_false(fl_mapping_open(folder, &mapping));
    assert_false(fl_mapping_open(-1, &mapping));
    assert_null(mapping.bytes);
    close(empty);
    close(folder);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_memory_and_stays_as_it_is),
        cmocka_unit_test(what_is_no_file_or_empty_is_not_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
