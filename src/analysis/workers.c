#include "analysis/workers.h"

#include <pthread.h>

struct worker {
    pthread_t thread;
    void (*work)(void *user, unsigned index);
    void *user;
    unsigned index;
};

unsigned fl_workers_count(unsigned jobs)
{
    if (jobs == 0)
        return 1;
    return jobs < FL_WORKERS_MOST ? jobs : FL_WORKERS_MOST;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    worker->work(worker->user, worker->index);
    return NULL;
}

void fl_workers_run(unsigned count, void (*work)(void *user, unsigned index), void *user)
{
    struct worker workers[FL_WORKERS_MOST];
    unsigned begun = 1;
    while (begun < count) {
        workers[begun] = (struct worker){.work = work, .user = user, .index = begun};
        if (pthread_create(&workers[begun].thread, NULL, worker_main, &workers[begun]) != 0)
            break;
        begun++;
    }
    work(user, 0);
    for (unsigned i = 1; i < begun; i++)
        pthread_join(workers[i].thread, NULL);
}
