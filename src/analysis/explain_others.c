/* Messages that are not the caching allocator's: what usually makes a program print them, and where
 * numbers are given, what those say.
 *
 * Most have no number that proves anything, so most classes are guesses, each with its reason. */
#include "analysis/explain.h"

#include <string.h>

typedef struct prior {
    const char *layout;
    fl_trouble trouble;
    const char *sentence, *advice;
} prior;

#define NOT_THE_ALLOCATOR                                                                          \
    "The CUDA runtime itself was refused memory, outside of the caching allocator: a context, a "  \
    "library's workspace, pinned memory or a launch."
#define LOOK_AT_CARD                                                                               \
    "Look with nvidia-smi at who holds the card before this program starts, and at what it holds " \
    "just before the failure."

static const prior priors[] = {
    {"pt-cut", FL_TROUBLE_UNKNOWN, "The message is cut off before its numbers.",
     "Paste the message whole, up to its last sentence."},
    {"pt-bare", FL_TROUBLE_UNKNOWN, "Only the fact is here, without the numbers.",
     "Paste the message whole, up to its last sentence."},
    {"pt-1EB", FL_TROUBLE_INCONSISTENT,
     "More than 2^60 bytes were asked for: the size itself is wrong, computed from a bad shape, "
     "index or length.",
     "Print the shapes and indices in front of the line that failed."},
    {"pt-rejected", FL_TROUBLE_LIMIT,
     "The request was rejected before the driver was asked: it would exceed "
     "per_process_memory_fraction.",
     "Raise or remove the fraction, or have less live at the same time."},
    {"pt-cuda-error", FL_TROUBLE_UNKNOWN, NOT_THE_ALLOCATOR, LOOK_AT_CARD},
    {"pt-pre-1.0", FL_TROUBLE_UNKNOWN,
     "PyTorch and Torch before 1.0 print no numbers: whether the card was full or somebody else's "
     "is not to be told.",
     LOOK_AT_CARD},
    {"pt-cpu", FL_TROUBLE_FULL,
     "The memory of the host ran out, not the card's: the operating system refused.",
     "Look at the host's memory and at limits of the container; fewer workers of the data loader, "
     "or smaller pieces on the CPU."},
    {"tensorflow", FL_TROUBLE_FULL,
     "TensorFlow's pool (BFC) had no block for this; its dump of chunks in the log tells whether "
     "memory was there in pieces.",
     "Look in the dump for \"Sum Total of in-use chunks\" against \"Limit\"; smaller batches, or "
     "TF_GPU_ALLOCATOR=cuda_malloc_async if much is free in pieces."},
    {"tensorflow-driver", FL_TROUBLE_UNKNOWN,
     "TensorFlow asked the driver to enlarge its pool and was refused; it goes on with smaller "
     "sizes, so this line alone is no failure.",
     "If the card should have been empty, look with nvidia-smi at who holds it; "
     "TF_FORCE_GPU_ALLOW_GROWTH=true asks for less at the start."},
    {"tensorflow-host", FL_TROUBLE_UNKNOWN,
     "Pinned memory of the host was refused, not memory of the card.",
     "Look at the host's memory and its limits for locked memory."},
    {"jax", FL_TROUBLE_UNKNOWN,
     "XLA had no room for this buffer; the line does not tell what is held, by whom, and in which "
     "pieces.",
     "Is another process on the card?  JAX takes 75 % of it at the start "
     "(XLA_PYTHON_CLIENT_PREALLOCATE, XLA_PYTHON_CLIENT_MEM_FRACTION); "
     "jax.profiler.save_device_memory_profile shows who is live."},
    {"llama.cpp", FL_TROUBLE_FULL,
     "llama.cpp reserves weights, cache and work buffers as one piece each, straight from the "
     "driver: this piece does not fit beside what is there.",
     "Offload fewer layers (-ngl), a shorter context (-c), a smaller batch (-ub), or quantise the "
     "cache; look with nvidia-smi at who else is on the card."},
    {"llama.cpp-pinned", FL_TROUBLE_UNKNOWN,
     "Pinned memory of the host was refused, not memory of the card.",
     "Look at the host's memory (WSL allows little pinned memory); GGML_CUDA_NO_PINNED=1 does "
     "without."},
    {"rmm", FL_TROUBLE_OUTSIDE,
     "RMM passed the request to the driver, which refused; RMM itself holds nothing back here, so "
     "what lacks is in use by this program's data or by others on the card.",
     LOOK_AT_CARD},
    {"rmm-pool", FL_TROUBLE_FULL, "RMM's pool has reached its size and has no block for this.",
     "Enlarge the pool, spill (dask-cudf, Spark), or work on smaller partitions; if much of the "
     "pool is free in pieces, use the asynchronous resource (cudaMallocAsync)."},
    {"rmm-spark", FL_TROUBLE_FRAGMENTATION,
     "Nothing is left to spill and still the pool has no block: it takes its memory once, so what "
     "lacks is one free piece, not memory.",
     "spark.rapids.memory.gpu.pool=ASYNC avoids pieces; fewer concurrent tasks "
     "(spark.rapids.sql.concurrentGpuTasks) need less."},
    {"paddlepaddle", FL_TROUBLE_UNKNOWN,
     "Paddle could not enlarge its pool; the line does not tell how much was free.", LOOK_AT_CARD},
    {"onnx", FL_TROUBLE_UNKNOWN,
     "ONNX Runtime's arena had no room; the line does not even tell whether of the card or of the "
     "host.",
     "Look which execution provider ran the node; gpu_mem_limit and arena_extend_strategy "
     "(kSameAsRequested) bound the arena."},
    {"cupy", FL_TROUBLE_FULL,
     "CuPy's pool has given back its unused blocks and was still refused: what is allocated is "
     "live.",
     "Free arrays earlier (del, and smaller chunks); \"total\" here is what the pool took, not the "
     "size of the card.  Look with nvidia-smi at who else is on it."},
    {"torch-directml", FL_TROUBLE_UNKNOWN,
     "DirectML was refused a buffer; what the card has and who holds it is not printed.",
     "Look in the Task Manager at dedicated GPU memory: an integrated one has little."},
    {"mxnet-bind", FL_TROUBLE_OUTSIDE,
     "MXNet had emptied its pool and was refused while binding a model, before any work: somebody "
     "else holds the card, or the model alone exceeds it.",
     LOOK_AT_CARD},
    {"vllm", FL_TROUBLE_FULL, "After the weights nothing is left of vLLM's share for its cache.",
     "Raise gpu_memory_utilization, shorten max_model_len, quantise, or spread over more cards."},
    {"vllm-startup", FL_TROUBLE_OUTSIDE,
     "vLLM had taken nothing yet and less was free than the share it was told to use: others hold "
     "it.",
     "End what else is on the card, or lower gpu_memory_utilization."},
    {"julia", FL_TROUBLE_FULL, "CUDA.jl had freed what it could and was still refused.",
     "Free arrays earlier (CUDA.unsafe_free!), or run smaller pieces; CUDA.memory_status() shows "
     "who holds what."},
};

static const prior general = {NULL, FL_TROUBLE_UNKNOWN,
                              "The driver had no memory left; the line gives no number that tells "
                              "why.",
                              LOOK_AT_CARD};

static const prior *find_prior(const char *layout)
{
    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++)
        if (strcmp(priors[i].layout, layout) == 0)
            return &priors[i];
    return &general;
}

static void settle(fl_judge *judge, fl_trouble trouble, fl_certainty certainty)
{
    judge->out->trouble = trouble;
    judge->out->certainty = trouble == FL_TROUBLE_UNKNOWN ? FL_CERTAINTY_NONE : certainty;
}

static bool is_layout(const fl_judge *judge, const char *name)
{
    return strcmp(judge->message->layout, name) == 0;
}

/* ---- messages with numbers ------------------------------------------------------------------- */

/* MPS: what it counts itself, what others of the system take of the same memory, and a watermark.
 */
static void explain_mps(fl_judge *judge)
{
    const fl_number *own = fl_get(judge, FL_FIGURE_ALLOCATED);
    const fl_number *other = fl_get(judge, FL_FIGURE_OTHER);
    const fl_number *limit = fl_get(judge, FL_FIGURE_ALLOWED);
    bool is_others = other->bytes > own->bytes;
    fl_say_sentence(judge->out,
                    "%s of tensors and %s of other allocations reach the watermark of %s: %s.",
                    fl_say_size(own->bytes).text, fl_say_size(other->bytes).text,
                    fl_say_size(limit->bytes).text,
                    is_others ? "most of it is not PyTorch's" : "most of it is PyTorch's own");
    fl_say(&judge->out->evidence,
           "GB here means GiB; the watermark is a share of what the system recommends, not the "
           "memory itself.");
    fl_say(&judge->out->advice,
           is_others ? "Close other programs and other models of this process: what is not in MPS "
                       "tensors counts against the same watermark."
                     : "Make less live at the same time: smaller batches or half precision; "
                       "torch.mps.empty_cache() between phases.");
    settle(judge, is_others ? FL_TROUBLE_OUTSIDE : FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY);
}

/* The driver's stream-ordered pool: neither what it caches nor what others hold is printed. */
static void explain_async(fl_judge *judge)
{
    fl_number total = *fl_get(judge, FL_FIGURE_TOTAL), free = *fl_get(judge, FL_FIGURE_FREE);
    fl_number used = *fl_get(judge, FL_FIGURE_ALLOCATED);
    fl_number asked = *fl_get(judge, FL_FIGURE_REQUESTED);
    fl_number unknown = fl_number_subtract(fl_number_subtract(total, free), used);
    if (!unknown.is_given || !asked.is_given) {
        fl_say_sentence(judge->out, "The message is cut short before the numbers that would tell.");
        settle(judge, FL_TROUBLE_UNKNOWN, FL_CERTAINTY_NONE);
        return;
    }
    fl_say(&judge->out->evidence,
           "card %s - free %s - allocated %s = %s that tensors do not hold: cached by the driver's "
           "pool, in pieces, or others'.",
           fl_say_size(total.bytes).text, fl_say_size(free.bytes).text,
           fl_say_size(used.bytes).text, fl_say_size(unknown.bytes).text);
    if (unknown.bytes <= FL_USUAL_CONTEXT) {
        fl_say_sentence(judge->out, "The card is full: tensors hold %s of its %s.",
                        fl_say_size(used.bytes).text, fl_say_size(total.bytes).text);
        settle(judge, FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY);
        fl_say(&judge->out->advice, "Make less live at the same time.");
        return;
    }
    fl_say_sentence(judge->out,
                    "%s are neither free nor of tensors; cached, in pieces or others', the message "
                    "does not tell.",
                    fl_say_size(unknown.bytes).text);
    fl_say(&judge->out->advice, "Look with nvidia-smi at who else is on the card; without others, "
                                "compare with the native allocator (backend:native).");
    settle(judge, FL_TROUBLE_UNKNOWN, FL_CERTAINTY_NONE);
}

/* TensorFlow's statistics of a pool: how much of it is in use. */
static void explain_stats(fl_judge *judge)
{
    const fl_number *limit = fl_get(judge, FL_FIGURE_TOTAL);
    const fl_number *used = fl_get(judge, FL_FIGURE_ALLOCATED);
    uint64_t left = limit->bytes > used->bytes ? limit->bytes - used->bytes : 0;
    bool has_pieces = left > limit->bytes / 10;
    fl_say_sentence(judge->out,
                    has_pieces ? "%s of TensorFlow's pool of %s were not in use: free, but in "
                                 "pieces, or never granted to it."
                               : "TensorFlow's pool is in use but for %s of %s.",
                    fl_say_size(left).text, fl_say_size(limit->bytes).text);
    fl_say(&judge->out->advice,
           has_pieces ? "TF_GPU_ALLOCATOR=cuda_malloc_async avoids pieces; with allow_growth, look "
                        "with nvidia-smi whether others hold the rest."
                      : "Smaller batches, or less live at the same time.");
    settle(judge, has_pieces ? FL_TROUBLE_FRAGMENTATION : FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY);
}

static void explain_summary(fl_judge *judge)
{
    const fl_message *message = judge->message;
    const fl_number *reserved = fl_get(judge, FL_FIGURE_RESERVED);
    const fl_number *stuck = fl_get(judge, FL_FIGURE_STUCK);
    bool has_pieces = stuck->is_given && reserved->is_given && stuck->bytes > reserved->bytes / 10;
    if (message->has_counts && message->ooms == 0) {
        fl_say_sentence(judge->out,
                        "No request has failed so far; %llu times the cache had to be "
                        "given back first.",
                        (unsigned long long)message->retries);
        settle(judge, FL_TROUBLE_FITS, FL_CERTAINTY_PROVED);
    } else if (has_pieces) {
        fl_say_sentence(judge->out,
                        "%s of the %s reserved are free beside live blocks and cannot be given "
                        "back: fragmentation, if the failed request was smaller.",
                        fl_say_size(stuck->bytes).text, fl_say_size(reserved->bytes).text);
        settle(judge, FL_TROUBLE_FRAGMENTATION, FL_CERTAINTY_LIKELY);
    } else {
        fl_say_sentence(judge->out, "The table does not tell what was asked for, nor the size of "
                                    "the card.");
        settle(judge, FL_TROUBLE_UNKNOWN, FL_CERTAINTY_NONE);
    }
    fl_say(&judge->out->advice, "Take the out-of-memory message itself, too: it has the request, "
                                "the card and what is free.");
}

/* ---- anything else --------------------------------------------------------------------------- */

static bool explain_by_numbers(fl_judge *judge)
{
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    const fl_number *free = fl_get(judge, FL_FIGURE_FREE);
    const fl_number *limit = fl_get(judge, FL_FIGURE_ALLOWED);
    const char *advice = find_prior(judge->message->layout)->advice;
    if (!asked->is_given)
        return false;
    if (limit->is_given) {
        fl_say_sentence(judge->out, "A limit of %s that the program set stopped it.",
                        fl_say_size(limit->bytes).text);
        settle(judge, FL_TROUBLE_LIMIT, FL_CERTAINTY_LIKELY);
    } else if (is_layout(judge, "onnx-limit")) {
        fl_say_sentence(judge->out, "The arena's limit leaves %s, less than the %s asked for.",
                        fl_say_size(free->bytes).text, fl_say_size(asked->bytes).text);
        settle(judge, FL_TROUBLE_LIMIT, FL_CERTAINTY_LIKELY);
    } else if (free->is_given && asked->bytes > free->bytes) {
        fl_say_sentence(judge->out,
                        "%s were free, less than the %s asked for; who holds the rest "
                        "is not printed.",
                        fl_say_size(free->bytes).text, fl_say_size(asked->bytes).text);
        settle(judge, FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY);
    } else if (asked->bytes >= 96 * FL_GIB) {
        fl_say_sentence(judge->out,
                        "The %s asked for in one piece are more than almost any card "
                        "has.",
                        fl_say_size(asked->bytes).text);
        settle(judge, FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY);
    } else if (is_layout(judge, "onnx") && asked->bytes < FL_MIB) {
        fl_say_sentence(judge->out, "Not even %s were to be had: the memory is taken to its end.",
                        fl_say_size(asked->bytes).text);
        settle(judge, FL_TROUBLE_FULL, FL_CERTAINTY_GUESSED);
    } else {
        return false;
    }
    fl_say(&judge->out->advice, "%s", advice);
    return true;
}

static void explain_by_prior(fl_judge *judge)
{
    const fl_message *message = judge->message;
    const prior *found = find_prior(message->layout);
    fl_trouble trouble = found->trouble;
    if (message->is_no_failure) {
        fl_say_sentence(judge->out, "The program says itself that this is no failure: it tried to "
                                    "get memory that it can do without.");
        settle(judge, FL_TROUBLE_UNKNOWN, FL_CERTAINTY_NONE);
        return;
    }
    bool has_proof = is_layout(judge, "pt-1EB") || is_layout(judge, "pt-rejected");
    bool lacks_size = is_layout(judge, "tensorflow") && message->is_size_assumed;
    fl_say_sentence(judge->out, "%s", found->sentence);
    if (lacks_size ||
        (is_layout(judge, "llama.cpp") && !fl_get(judge, FL_FIGURE_REQUESTED)->is_given))
        trouble = FL_TROUBLE_UNKNOWN;
    if (lacks_size)
        fl_say(&judge->out->evidence, "The type is not printed; the size takes four bytes for each "
                                      "element.");
    settle(judge, trouble, has_proof ? FL_CERTAINTY_PROVED : FL_CERTAINTY_GUESSED);
    fl_say(&judge->out->advice, "%s", found->advice);
}

static bool is_allocator(const fl_message *message)
{
    return message->first != 0 || strcmp(message->layout, "xpu") == 0 ||
           strcmp(message->layout, "npu") == 0;
}

bool fl_explain_others(fl_judge *judge)
{
    const fl_message *message = judge->message;
    if (is_allocator(message) && message->figures[FL_FIGURE_TOTAL].is_given)
        return false;
    if (is_layout(judge, "mps"))
        explain_mps(judge);
    else if (is_layout(judge, "tensorflow-stats"))
        explain_stats(judge);
    else if (is_layout(judge, "pt-memory-summary"))
        explain_summary(judge);
    else if (is_layout(judge, "cudaMallocAsync") && judge->out->contradiction_count == 0)
        explain_async(judge);
    else if (is_layout(judge, "cudaMallocAsync"))
        return false;
    else if (message->is_no_failure || !explain_by_numbers(judge))
        explain_by_prior(judge);
    return true;
}
