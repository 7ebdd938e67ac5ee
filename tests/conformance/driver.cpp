/* Drives the allocator inside a released PyTorch with a script, and prints what it decided.
 *
 *     driver CAPACITY [REPEAT] < SCRIPT
 *
 * Compiled against the headers of one release's wheel and linked with its libc10 and libc10_cuda,
 * over the stand-ins of src/interpose.  TORCH is the release as 100 * major + minor.  Settings come
 * through the environment, as that release reads them.  Script and output: docs/conformance.md.
 * With REPEAT the allocations and frees of the script run that many times and the best time of one
 * operation is printed instead.
 *
 * Exit: 0 done, 2 usage; with the message on stderr 3 the release refused its settings, 4 it allows
 * no such operation. */
#if TORCH >= 202 /* before, CUDACachingAllocator.h declares what is needed of it */
#include <c10/cuda/CUDAAllocatorConfig.h>
#endif
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include "interpose/capture.h"
#include "interpose/card.h"
#include "interpose/events.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

/* Two hooks that PyTorch's other libraries fill when they load; no installed header has them. */
#if TORCH >= 201
namespace c10::cuda::_internal
{
void setHasPrimaryContext(bool (*has_primary_context)(c10::DeviceIndex));
}
#endif
#if TORCH >= 213
namespace c10::cuda::detail
{
void init_p2p_access_cache(int64_t device_count);
}
#endif

namespace
{

namespace caching = c10::cuda::CUDACachingAllocator;

constexpr unsigned long long EVERY_STREAM = ~0ULL;

struct Operation {
    char what = 0;
    long id = 0;                         /* of a block */
    unsigned long long pool[2] = {0, 0}; /* `N` means {0, N}, `K.N` {K, N}; none {0, 0} */
    unsigned long long size = 0;
    unsigned long long stream = EVERY_STREAM;
    double fraction = 0;
    unsigned long long address = 0; /* 0: anywhere */
    std::string text;               /* settings, or what is reset */
    bool captures = false, never_splits = false, serves_on_oom = false;
};

cudaStream_t stream_of(unsigned long long number)
{
    return reinterpret_cast<cudaStream_t>(number);
}

unsigned long long number_of(const void *pointer)
{
    return reinterpret_cast<uintptr_t>(pointer);
}

unsigned long long number_of(size_t number)
{
    return number;
}

void read_pool(const char *text, Operation &op)
{
    if (sscanf(text, "%llu.%llu", &op.pool[0], &op.pool[1]) == 1)
        std::swap(op.pool[0], op.pool[1]);
    op.captures = strstr(text, "capture=1") != nullptr;
    op.never_splits = strstr(text, "nosplit=1") != nullptr;
    op.serves_on_oom = strstr(text, "use_on_oom=1") != nullptr;
    if (const char *stream = strstr(text, "stream="))
        sscanf(stream, "stream=%llu", &op.stream);
}

Operation read_line(const char *line)
{
    Operation op;
    op.what = line[0];
    switch (op.what) {
    case 'a':
        sscanf(line + 1, "%ld %llu %llu at=%llx", &op.id, &op.size, &op.stream, &op.address);
        break;
    case 'r':
        sscanf(line + 1, "%ld %llu", &op.id, &op.stream);
        break;
    case 'f':
        sscanf(line + 1, "%ld", &op.id);
        break;
    case 'F':
        sscanf(line + 1, "%lf", &op.fraction);
        break;
    case 'C':
    case 'z':
        op.text.assign(line + 2, strcspn(line + 2, "\n"));
        break;
    case 'b':
    case 'e':
    case 'q':
    case 'x':
        read_pool(line + 1, op);
        break;
    default:
        break;
    }
    return op;
}

std::vector<Operation> read_script(FILE *file)
{
    std::vector<Operation> script;
    char line[256];
    while (fgets(line, sizeof line, file))
        script.push_back(read_line(line));
    return script;
}

void print_step(void *, fl_card_step step, uint64_t address, uint64_t size)
{
    switch (step) {
    case FL_CARD_MALLOC:
        printf("m %" PRIx64 " %" PRIu64 "\n", address, size);
        break;
    case FL_CARD_MALLOC_REFUSED:
        printf("m! %" PRIu64 "\n", size);
        break;
    case FL_CARD_FREE:
        printf("f %" PRIx64 "\n", address);
        break;
    case FL_CARD_MAP:
        printf("M %" PRIx64 " %" PRIu64 "\n", address, size);
        break;
    case FL_CARD_UNMAP:
        printf("U %" PRIx64 " %" PRIu64 "\n", address, size);
        break;
    case FL_CARD_PAGE_REFUSED:
        printf("C! %" PRIu64 "\n", size);
        break;
    }
}

/* One released allocator, and the blocks of the script that are live in it. */
class Subject
{
  public:
    Subject()
    {
        caching::get()->init(1);
#if TORCH >= 201
        c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
#endif
#if TORCH >= 213
        c10::cuda::detail::init_p2p_access_cache(1);
#endif
    }

    void run(const Operation &op)
    {
        switch (op.what) {
        case 'a':
            allocate(op);
            break;
        case 'f':
            release(op.id);
            break;
        case 'r':
            use(op.id, op.stream);
            break;
        case 'p':
            fl_events_hold();
            break;
        case 'c':
            fl_events_complete();
            break;
        case 'e':
            empty_cache(op);
            break;
        case 'F':
            caching::get()->setMemoryFraction(op.fraction, 0);
            break;
        case 'C':
            caching::setAllocatorSettings(op.text);
            break;
#if TORCH >= 201 /* before, scopes come with captures only, and no script opens any */
        case 'b':
            begin_scope(op);
            break;
        case 'q':
            end_scope(op);
            break;
        case 'x':
            caching::get()->releasePool(0, {op.pool[0], op.pool[1]});
            break;
#endif
        case 'z':
            reset(op);
            break;
        case 's':
            print_segments();
            break;
        case 't':
            print_counters();
            break;
        default:
            break; /* a comment */
        }
    }

  private:
    using Pool = std::pair<unsigned long long, unsigned long long>;

    std::unordered_map<long, void *> live_;
    std::map<Pool, Operation> scopes_;

    void allocate(const Operation &op)
    {
        try {
            void *block = take(op);
            live_[op.id] = block;
            printf("A %ld %llx\n", op.id, number_of(block));
        } catch (const std::exception &failure) {
            const char *text = failure.what();
            printf("O %ld %.*s\n", op.id, static_cast<int>(strcspn(text, "\n")), text);
        }
    }

    static void *take(const Operation &op)
    {
#if TORCH >= 213
        if (op.address != 0) { /* on the current stream, which is 0 */
            auto address = reinterpret_cast<void *>(op.address);
            return caching::get()->allocateWithAddress(op.size, address).release_context();
        }
#endif
        return caching::get()->raw_alloc_with_stream(op.size, stream_of(op.stream));
    }

    void release(long id)
    {
        auto found = live_.find(id);
        if (found == live_.end())
            return;
        caching::get()->raw_delete(found->second);
        live_.erase(found);
    }

    /* record_stream wants a DataPtr that the allocator knows as its own. */
    void use(long id, unsigned long long stream)
    {
        auto found = live_.find(id);
        if (found == live_.end())
            return;
        c10::DataPtr pointer(found->second, found->second, caching::get()->raw_deleter(),
                             c10::Device(c10::DeviceType::CUDA, 0));
        caching::get()->recordStream(pointer,
                                     c10::cuda::getStreamFromExternal(stream_of(stream), 0));
        pointer.release_context();
    }

    void empty_cache(const Operation &op)
    {
        try {
#if TORCH >= 208
            caching::get()->emptyCache({op.pool[0], op.pool[1]});
#else
            caching::get()->emptyCache();
#endif
        } catch (const std::exception &) {
            puts("E empty cache refused");
        }
    }

#if TORCH >= 203
    static void begin_allocating(const Operation &op, Pool pool)
    {
        caching::get()->beginAllocateToPool(0, pool, [stream = op.stream](cudaStream_t asking) {
            return stream == EVERY_STREAM || asking == stream_of(stream);
        });
    }

    static void end_allocating(unsigned long long, Pool pool)
    {
        caching::get()->endAllocateToPool(0, pool);
    }
#elif TORCH >= 201
    /* A scope is one stream's; scripts for these releases name it. */
    static void begin_allocating(const Operation &op, Pool pool)
    {
        caching::get()->beginAllocateStreamToPool(0, stream_of(op.stream), pool);
    }

    static void end_allocating(unsigned long long stream, Pool)
    {
        caching::get()->endAllocateStreamToPool(0, stream_of(stream));
    }
#endif

#if TORCH >= 201
    void begin_scope(const Operation &op)
    {
        Pool pool{op.pool[0], op.pool[1]};
        begin_allocating(op, pool);
        scopes_[pool] = op;
#if TORCH >= 211
        if (op.serves_on_oom)
            caching::get()->setUseOnOOM(0, pool, true);
#elif TORCH >= 208
        if (op.serves_on_oom)
            caching::get()->setUseOnOOM(0, pool);
#endif
#if TORCH >= 210
        if (op.never_splits)
            caching::get()->setNoSplit(0, pool);
#endif
        if (op.captures)
            begin_capture();
    }

    void end_scope(const Operation &op)
    {
        Pool pool{op.pool[0], op.pool[1]};
        Operation begun = scopes_[pool];
        scopes_.erase(pool);
        end_allocating(begun.stream, pool);
        if (begun.captures)
            end_capture();
    }

    static void begin_capture()
    {
        fl_capture_begin();
#if TORCH >= 213
        caching::get()->markCaptureBegin(0);
#endif
    }

    static void end_capture()
    {
        fl_capture_end();
#if TORCH >= 213
        caching::get()->markCaptureEnd(0);
#endif
    }
#endif

    static void reset(const Operation &op)
    {
        if (op.text == "peak")
            caching::get()->resetPeakStats(0);
        else
            caching::get()->resetAccumulatedStats(0);
    }

    void print_segments()
    {
        for (const auto &segment : caching::get()->snapshot().segments) {
            printf("S %llx %llu %s %llu%s\n", number_of(segment.address),
                   number_of(segment.total_size), segment.is_large ? "large" : "small",
                   number_of(segment.stream), is_expandable(segment) ? " exp" : "");
            for (const auto &block : segment.blocks)
                printf("B %llu %llu %s\n", number_of(block.size), number_of(block.requested_size),
                       block.allocated ? "live"
                       : block.active  ? "pend"
                                       : "free");
        }
    }

    template <class Segment> static bool is_expandable(const Segment &segment)
    {
#if TORCH >= 201
        return segment.is_expandable;
#else
        (void)segment;
        return false;
#endif
    }

    template <class Stat> static void print_counter(const char *name, const Stat &stat)
    {
        auto number = [](int64_t value) { return static_cast<long long>(value); };
        printf("T %s cur %lld peak %lld sum %lld sub %lld\n", name, number(stat[0].current),
               number(stat[0].peak), number(stat[0].allocated), number(stat[0].freed));
    }

    void print_counters()
    {
        auto stats = caching::get()->getDeviceStats(0);
        print_counter("allocation", stats.allocation);
        print_counter("segment", stats.segment);
        print_counter("active", stats.active);
        print_counter("inactive_split", stats.inactive_split);
        print_counter("allocated_bytes", stats.allocated_bytes);
        print_counter("reserved_bytes", stats.reserved_bytes);
        print_counter("active_bytes", stats.active_bytes);
        print_counter("inactive_split_bytes", stats.inactive_split_bytes);
        printf("T retries %" PRId64 " ooms %" PRId64 " oversize_alloc %" PRId64
               " oversize_seg %" PRId64 "\n",
               stats.num_alloc_retries, stats.num_ooms, stats.oversize_allocations.current,
               stats.oversize_segments.current);
    }
};

double processor_nanoseconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/* Nanoseconds of one allocation or free, on the processor: the best of `repeat` runs, each from an
 * empty cache. */
void benchmark(const std::vector<Operation> &script, long repeat)
{
    long most = 0;
    for (const Operation &op : script)
        most = std::max(most, op.id);
    std::vector<void *> blocks(most + 1);
    double best = 0;
    size_t count = 0;
    for (long run = 0; run < repeat; run++) {
        count = 0;
        double start = processor_nanoseconds();
        for (const Operation &op : script) {
            if (op.what == 'a')
                blocks[op.id] =
                    caching::get()->raw_alloc_with_stream(op.size, stream_of(op.stream));
            else if (op.what == 'f')
                caching::get()->raw_delete(std::exchange(blocks[op.id], nullptr));
            count += op.what == 'a' || op.what == 'f';
        }
        double took = processor_nanoseconds() - start;
        best = run == 0 ? took : std::min(best, took);
        for (void *&block : blocks)
            if (block != nullptr)
                caching::get()->raw_delete(std::exchange(block, nullptr));
        caching::get()->emptyCache();
    }
    fl_card_use use{};
    fl_card_get_use(&use);
    printf("operations %zu ns_per_operation %.1f mallocs %" PRIu64 "\n", count, best / count,
           use.mallocs);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fputs("usage: driver CAPACITY [REPEAT] < SCRIPT\n", stderr);
        return 2;
    }
    fl_card_options options{};
    options.capacity_bytes = strtoull(argv[1], nullptr, 10);
    options.watch = argc == 3 ? nullptr : print_step;
    if (fl_card_open(&options, nullptr) != FL_OK)
        return 2;
    std::vector<Operation> script = read_script(stdin);
    bool is_ready = false;
    try {
        Subject subject;
        is_ready = true;
        if (argc == 3)
            benchmark(script, strtol(argv[2], nullptr, 10));
        else
            for (const Operation &op : script)
                subject.run(op);
    } catch (const std::exception &failure) {
        fprintf(stderr, "%s\n", failure.what());
        return is_ready ? 4 : 3;
    }
    return 0;
}
