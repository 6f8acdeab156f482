/* The clock; see clock.h. An actor's `bound` says before which cycle it will do nothing; it only rises through its
 * owner and never past a wake in its inbox, so that the smaller of both is a safe promise to others at any moment.
 *
 * A lost wake is ruled out by order: the sleeper publishes its bound, then looks at its inbox; the waker writes the
 * inbox, then looks at the bound. One of them sees the other. Idle actors are counted: the last to go idle ends the
 * run, so SimGrid never sees a deadlock.
 *
 * SimGrid is loaded when the first clock needs it: Debian's library brings ns-3 and its relocations along, ten times
 * the start-up of everything else, which commands that run nothing need not wait for. */
#include "noc/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>
#include <gmodule.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <xbt/config.h>

enum {
    FEW_ACTORS = 64,
    STACK_FEW = 1 << 20, /* bytes of stack; pages are only used when touched */
    STACK_MANY = 1 << 17,
    CACHE_LINE = 64,
    EXIT_UNUSABLE = 2, /* the installation is at fault */
};

/* SimGrid's functions, under their own names. */
#define SIMGRID_FUNCTIONS(USE)                                                                                         \
    USE(sg_actor_init)                                                                                                 \
    USE(sg_actor_self_get_data)                                                                                        \
    USE(sg_actor_set_data)                                                                                             \
    USE(sg_actor_set_stacksize)                                                                                        \
    USE(sg_actor_sleep_for)                                                                                            \
    USE(sg_actor_start_)                                                                                               \
    USE(sg_cfg_set_int)                                                                                                \
    USE(sg_host_by_name)                                                                                               \
    USE(sg_sem_acquire)                                                                                                \
    USE(sg_sem_acquire_timeout)                                                                                        \
    USE(sg_sem_destroy)                                                                                                \
    USE(sg_sem_init)                                                                                                   \
    USE(sg_sem_release)                                                                                                \
    USE(simgrid_get_clock)                                                                                             \
    USE(simgrid_init)                                                                                                  \
    USE(simgrid_load_platform)                                                                                         \
    USE(simgrid_run)

#define DECLARE(name) __typeof__(&(name)) name;
#define RESOLVE(name) resolve(module, #name, &sim.name);

static struct { SIMGRID_FUNCTIONS(DECLARE) } sim;

static G_NORETURN void give_up(const char *why) {
    fprintf(stderr, "flitsim: SimGrid can't be loaded: %s\n", why);
    exit(EXIT_UNUSABLE);
}

static void resolve(GModule *module, const char *name, void *function) {
    gpointer found;
    if (!g_module_symbol(module, name, &found) || !found)
        give_up(g_module_error());
    memcpy(function, &found, sizeof found);
}

static void load_simgrid(void) {
    GModule *module = g_module_open(FLITSIM_SIMGRID, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
    if (!module)
        give_up(g_module_error());
    g_module_make_resident(module);
    SIMGRID_FUNCTIONS(RESOLVE)
}

struct clock_actor {
    struct clock *clock;
    clock_step step;
    void *self;
    char *name;
    sg_sem_t sleep;
    cycle_t instant; /* SimGrid's clock when it last gave control */
    cycle_t last;    /* last cycle stepped, CYCLE_NEVER before the first */
    unsigned other;  /* who kept it from running ahead last */
    _Alignas(CACHE_LINE) _Atomic cycle_t bound;
    _Atomic cycle_t inbox;
    _Atomic bool idle;
};

struct clock {
    GPtrArray *actors;
    bool run_ahead;
    unsigned threads;
    cycle_t base; /* SimGrid's clock in cycle 0 */
    cycle_t end;
    _Atomic cycle_t limit;
    _Atomic bool stopped;
    _Atomic bool stop_news; /* sleepers have not been told of the new limit yet */
    _Atomic bool over;
    _Atomic unsigned active;
};

static const char platform[] = "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
                               "<platform version=\"4.1\"><zone id=\"chip\" routing=\"None\">"
                               "<host id=\"chip\" speed=\"1Gf\"/></zone></platform>";

/* SimGrid takes a platform only as a file. */
static void load_platform(void) {
    int file = memfd_create("platform", MFD_CLOEXEC);
    if (file < 0 || write(file, platform, sizeof platform - 1) != (ssize_t)(sizeof platform - 1))
        g_error("cannot hand SimGrid its platform: no memory file");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    sim.simgrid_load_platform(path);
    close(file);
}

/* SimGrid has one engine a process; later clocks of the process share it and go on from its time. */
void clock_start_engine(void) {
    static bool started;
    if (!started) {
        load_simgrid();
        char name[] = "flitsim", quiet[] = "--log=root.thresh:critical", wait[] = "--cfg=contexts/synchro:busy_wait";
#ifdef FLITSIM_SANITIZED /* contexts are threads, and can't be made parallel later */
        char factory[] = "--cfg=contexts/factory:thread";
        char *arguments[] = {name, quiet, wait, factory, NULL};
        int count = 4;
#else
        char *arguments[] = {name, quiet, wait, NULL};
        int count = 3;
#endif
        sim.simgrid_init(&count, arguments);
        load_platform();
        started = true;
    }
}

struct clock *clock_new(const struct engine_params *engine) {
    struct clock *clock = g_new0(struct clock, 1);
    clock_start_engine();
    clock->actors = g_ptr_array_new();
    clock->run_ahead = engine->run_ahead;
    clock->threads = MAX(engine->threads, 1);
    return clock;
}

void clock_free(struct clock *clock) {
    if (!clock)
        return;
    for (guint i = 0; i < clock->actors->len; i++) {
        struct clock_actor *actor = clock->actors->pdata[i];
        g_free(actor->name);
        g_aligned_free(actor);
    }
    g_ptr_array_unref(clock->actors);
    g_free(clock);
}

struct clock_actor *clock_add(struct clock *clock, const char *name, clock_step step, void *self) {
    struct clock_actor *actor = g_aligned_alloc0(1, sizeof *actor, CACHE_LINE);
    actor->clock = clock;
    actor->step = step;
    actor->self = self;
    actor->name = g_strdup(name);
    actor->last = CYCLE_NEVER;
    atomic_init(&actor->bound, 0);
    atomic_init(&actor->inbox, CYCLE_NEVER);
    atomic_init(&actor->idle, false);
    g_ptr_array_add(clock->actors, actor);
    return actor;
}

/* Lowers an atomic cycle; returns what it was. */
static cycle_t fetch_min(_Atomic cycle_t *cycle, cycle_t to) {
    cycle_t was = atomic_load(cycle);
    while (to < was && !atomic_compare_exchange_weak(cycle, &was, to))
        ;
    return was;
}

void clock_wake(struct clock_actor *actor, cycle_t at) {
    if (fetch_min(&actor->inbox, at) <= at || atomic_load(&actor->bound) <= at)
        return;
    if (atomic_exchange(&actor->idle, false))
        atomic_fetch_add(&actor->clock->active, 1);
    if (actor->sleep)
        sim.sg_sem_release(actor->sleep);
}

/* Publishes the actor's next due cycle, which a wake in the inbox may have brought forward. A later wake stays where it
 * is: what it announces may come only after the next step. */
static cycle_t collect(struct clock_actor *actor, cycle_t next) {
    cycle_t waiting = atomic_load(&actor->inbox);
    while (waiting <= next && waiting != CYCLE_NEVER) {
        atomic_store(&actor->bound, waiting);
        if (atomic_compare_exchange_weak(&actor->inbox, &waiting, CYCLE_NEVER))
            return waiting;
    }
    atomic_store(&actor->bound, next);
    return next;
}

/* May the actor be stepped in cycle next before SimGrid's clock gets there? */
static bool may_run_ahead(struct clock_actor *actor, cycle_t next) {
    const GPtrArray *actors = actor->clock->actors;
    if (!actor->clock->run_ahead)
        return false;
    for (guint i = 0, k = actor->other; i < actors->len; i++, k = k + 1 < actors->len ? k + 1 : 0) {
        struct clock_actor *other = actors->pdata[k];
        if (other != actor && (atomic_load(&other->bound) <= next || atomic_load(&other->inbox) <= next)) {
            actor->other = k;
            return false;
        }
    }
    return true;
}

static cycle_t simgrid_cycle(const struct clock *clock) {
    return (cycle_t)sim.simgrid_get_clock() - clock->base;
}

static void sleep_until(struct clock_actor *actor, cycle_t next) {
    if (atomic_load(&actor->inbox) >= next)
        sim.sg_sem_acquire_timeout(actor->sleep, (double)(next - actor->instant));
    actor->instant = simgrid_cycle(actor->clock);
}

static void tell_all(struct clock *clock, const struct clock_actor *but) {
    for (guint i = 0; i < clock->actors->len; i++)
        if (clock->actors->pdata[i] != but)
            sim.sg_sem_release(((struct clock_actor *)clock->actors->pdata[i])->sleep);
}

static void end_run(struct clock *clock, const struct clock_actor *last) {
    cycle_t end = 0, limit = atomic_load(&clock->limit);
    bool work_left = atomic_load(&clock->stopped);
    for (guint i = 0; i < clock->actors->len; i++) {
        struct clock_actor *actor = clock->actors->pdata[i];
        work_left |= atomic_load(&actor->bound) != CYCLE_NEVER;
        if (actor->last != CYCLE_NEVER)
            end = MAX(end, actor->last);
    }
    clock->end = work_left ? limit : end;
    if (simgrid_cycle(clock) < clock->end)
        sim.sg_actor_sleep_for((double)(clock->end - simgrid_cycle(clock)));
    atomic_store(&clock->over, true);
    tell_all(clock, last);
}

/* Nothing is due up to the limit: waits for a wake; false when the run is over. */
static bool stay_idle(struct clock_actor *actor) {
    struct clock *clock = actor->clock;
    atomic_store(&actor->idle, true);
    if (atomic_load(&actor->inbox) < atomic_load(&actor->bound) && atomic_exchange(&actor->idle, false))
        return true;
    if (atomic_fetch_sub(&clock->active, 1) == 1) {
        end_run(clock, actor);
        return false;
    }
    do
        sim.sg_sem_acquire(actor->sleep);
    while (atomic_load(&actor->idle) && !atomic_load(&clock->over));
    actor->instant = simgrid_cycle(clock);
    return !atomic_load(&clock->over);
}

static void actor_main(int argc, char **argv) {
    (void)argc, (void)argv;
    struct clock_actor *actor = sim.sg_actor_self_get_data();
    struct clock *clock = actor->clock;
    bool alone = clock->actors->len == 1 && clock->run_ahead;
    cycle_t next = 0;
    for (;;) {
        if (!alone || atomic_load(&actor->inbox) != CYCLE_NEVER)
            next = collect(actor, next);
        if (next > atomic_load_explicit(&clock->limit, memory_order_relaxed)) {
            atomic_store(&actor->bound, next);
            if (!stay_idle(actor))
                return;
        } else if (next > actor->instant && !alone && !may_run_ahead(actor, next)) {
            sleep_until(actor, next);
        } else {
            actor->last = next;
            next = actor->step(actor->self, next);
            if (next <= actor->last)
                g_error("internal error: actor %s was stepped in cycle %" G_GUINT64_FORMAT
                        " and is due again in %" G_GUINT64_FORMAT,
                        actor->name, actor->last, next);
            if (atomic_load_explicit(&clock->stop_news, memory_order_relaxed) &&
                atomic_exchange(&clock->stop_news, false))
                tell_all(clock, actor);
        }
    }
}

static void launch(struct clock_actor *actor, unsigned stack) {
    char name[] = "actor", *arguments[] = {name, NULL};
    sg_actor_t handle = sim.sg_actor_init(actor->name, sim.sg_host_by_name("chip"));
    actor->sleep = sim.sg_sem_init(0);
    sim.sg_actor_set_data(handle, actor);
    sim.sg_actor_set_stacksize(handle, stack);
    sim.sg_actor_start_(handle, actor_main, 1, (const char *const *)arguments);
}

enum clock_end clock_run(struct clock *clock, cycle_t limit) {
    guint count = clock->actors->len;
    if (!count)
        return CLOCK_IDLE;
#ifndef FLITSIM_SANITIZED
    sim.sg_cfg_set_int("contexts/nthreads", (int)clock->threads);
#endif
    clock->base = (cycle_t)sim.simgrid_get_clock();
    atomic_store(&clock->limit, MIN(limit, CYCLE_NEVER - 1));
    atomic_store(&clock->active, count);
    for (guint i = 0; i < count; i++)
        launch(clock->actors->pdata[i], count <= FEW_ACTORS ? STACK_FEW : STACK_MANY);
    sim.simgrid_run();
    bool work_left = false;
    for (guint i = 0; i < count; i++) {
        struct clock_actor *actor = clock->actors->pdata[i];
        work_left |= atomic_load(&actor->bound) != CYCLE_NEVER;
        sim.sg_sem_destroy(actor->sleep);
        actor->sleep = NULL;
    }
    if (!atomic_load(&clock->over))
        g_error("internal error: SimGrid ended the run with %u of %u actors at work", atomic_load(&clock->active),
                count);
    return atomic_load(&clock->stopped) ? CLOCK_STOPPED : work_left ? CLOCK_LIMIT : CLOCK_IDLE;
}

void clock_stop(struct clock *clock, cycle_t now) {
    fetch_min(&clock->limit, now);
    atomic_store(&clock->stopped, true);
    atomic_store(&clock->stop_news, true);
}

cycle_t clock_now(const struct clock *clock) {
    return clock->end;
}
