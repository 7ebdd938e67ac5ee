/* A stack in one line, over stacks as releases record them. */
#include "cli/stacks.h"
#include "test.h"
#include "trace/build.h"

#include <string.h>

struct given {
    const char *file, *name;
    uint32_t line;
};

#define DEPTH(frames) (sizeof(frames) / sizeof *(frames))

static const struct given mixed[] = {
    {"??", "torch::unwind::unwind()", 0},
    {"memory_snapshot.cpp", "torch::cuda::(anonymous namespace)::gather_with_cpp()", 0},
    {"CUDACachingAllocator.cpp", "c10::cuda::CUDACachingAllocator::Native::malloc(void**)", 0},
    {"??", "at::_ops::addmm::redispatch(c10::DispatchKeySet, at::Tensor const&)", 0},
    {"??", "at::_ops::addmm::call(at::Tensor const&)", 0},
    {"/env/lib/python3/site-packages/torch/nn/functional.py", "linear", 11},
    {"??", "_PyEval_EvalFrameDefault", 0},
    {"/env/lib/python3/site-packages/torch/nn/modules/module.py", "_call_impl", 22},
    {"/work/model.py", "forward", 33},
    {"<stdin>", "<module>", 1},
    {"", "clone", 0},
};

static const struct given native[] = {
    {"??", "torch::CapturedTraceback::gather(bool, bool, bool)", 0},
    {"CUDACachingAllocator.cpp", "c10::cuda::CUDACachingAllocator::Native::malloc(void**)", 0},
    {"EmptyTensor.cpp", "at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)", 0},
    {"B.cpp", "void at::native::(anonymous namespace)::bmm_impl<Op<int, 3> >(at::Tensor&)", 0},
    {"main.cpp", "train(int)", 4},
};

static const struct given plumbing[] = {
    {"??", "torch::unwind::unwind()", 0},
    {"??", "c10::StorageImpl::StorageImpl(c10::SymInt)", 0},
};

static void expect(const struct given *frames, size_t depth, uint64_t most, const char *expected)
{
    fl_error error = {0};
    uint32_t numbers[DEPTH(mixed)], stack;
    fl_trace *trace = fl_trace_new(fl_host_default(), "stacks", &error);
    assert_non_null(trace);
    for (size_t i = 0; i < depth; i++) {
        fl_frame_row row = {.line = frames[i].line};
        const char *file = frames[i].file, *name = frames[i].name;
        assert_int_equal(fl_trace_intern_text(trace, file, strlen(file), &row.file, &error), FL_OK);
        assert_int_equal(fl_trace_intern_text(trace, name, strlen(name), &row.name, &error), FL_OK);
        assert_int_equal(fl_trace_intern_frame(trace, row, &numbers[i], &error), FL_OK);
    }
    assert_int_equal(fl_trace_intern_stack(trace, numbers, depth, &stack, &error), FL_OK);
    char text[FL_STACK_SIZE];
    fl_stack_describe(trace, stack, most, text, sizeof text);
    assert_string_equal(text, expected);
    fl_trace_free(trace);
}

static void lines_of_python_stand_behind_the_operator_that_they_called(void **state)
{
    (void)state;
    expect(mixed, DEPTH(mixed), 9,
           "addmm < functional.py:11 linear < model.py:33 forward < <stdin>:1 <module>");
    expect(mixed, DEPTH(mixed), 2, "addmm < functional.py:11 linear");
    expect(mixed, DEPTH(mixed), 1, "addmm");
}

static void without_python_functions_stand_without_what_they_take_and_return(void **state)
{
    (void)state;
    expect(native, DEPTH(native), 9, "at::native::bmm_impl < train");
}

static void a_stack_of_plumbing_alone_shows_its_outermost_frame(void **state)
{
    (void)state;
    expect(plumbing, DEPTH(plumbing), 9, "c10::StorageImpl::StorageImpl");
}

static void a_long_stack_ends_where_the_room_does(void **state)
{
    (void)state;
    fl_error error = {0};
    fl_trace *trace = fl_trace_new(fl_host_default(), "stacks", &error);
    assert_non_null(trace);
    char long_name[500], text[40];
    memset(long_name, 'x', sizeof long_name);
    fl_frame_row row = {.line = 7};
    uint32_t frame, stack;
    assert_int_equal(fl_trace_intern_text(trace, "m.py", 4, &row.file, &error), FL_OK);
    assert_int_equal(fl_trace_intern_text(trace, long_name, sizeof long_name, &row.name, &error),
                     FL_OK);
    assert_int_equal(fl_trace_intern_frame(trace, row, &frame, &error), FL_OK);
    assert_int_equal(fl_trace_intern_stack(trace, (uint32_t[]){frame, frame}, 2, &stack, &error),
                     FL_OK);
    fl_stack_describe(trace, stack, 9, text, sizeof text);
    assert_int_equal(strlen(text), sizeof text - 1);
    fl_stack_describe(trace, FL_NONE, 9, text, sizeof text);
    assert_string_equal(text, "(no stack recorded)");
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_python_stand_behind_the_operator_that_they_called),
        cmocka_unit_test(without_python_functions_stand_without_what_they_take_and_return),
        cmocka_unit_test(a_stack_of_plumbing_alone_shows_its_outermost_frame),
        cmocka_unit_test(a_long_stack_ends_where_the_room_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
