/* The synchronous FIFO of noc-and-memory §0.3. */
#include "noc/fifo.h"

enum {
    FALL_THROUGH = 3,
};

static void word_is_readable_after_f_cycles(void) {
    struct fifo fifo;
    fifo_init(&fifo, 4);
    fifo_push(&fifo, 7, 10 + FALL_THROUGH);
    g_assert_false(fifo_readable(&fifo, 12));
    g_assert_true(fifo_readable(&fifo, 13));
    g_assert_cmpuint(fifo_head(&fifo)->flit, ==, 7);
    fifo_clear(&fifo);
}

static void one_word_a_cycle_is_sustained(void) {
    struct fifo fifo;
    fifo_init(&fifo, 4);
    for (cycle_t now = 0; now < 100; now++) {
        g_assert_false(fifo_full(&fifo, now));
        fifo_push(&fifo, (flit_index)now, now + FALL_THROUGH);
        g_assert_true(fifo_readable(&fifo, now) == (now >= FALL_THROUGH));
        if (now < FALL_THROUGH)
            continue;
        g_assert_cmpuint(fifo_head(&fifo)->flit, ==, now - FALL_THROUGH);
        fifo_pop(&fifo, now);
    }
    g_assert_cmpuint(fifo.peak, ==, FALL_THROUGH + 1);
    fifo_clear(&fifo);
}

static void full_is_the_state_at_the_start_of_the_cycle(void) {
    struct fifo fifo;
    fifo_init(&fifo, 2);
    fifo_push(&fifo, 1, 3);
    fifo_push(&fifo, 2, 4);
    g_assert_true(fifo_full(&fifo, 5));
    fifo_pop(&fifo, 5);
    g_assert_true(fifo_full(&fifo, 5)); /* the writer may come after the reader */
    g_assert_false(fifo_full(&fifo, 6));
    fifo_clear(&fifo);
}

static void order_survives_the_end_of_the_ring(void) {
    struct fifo fifo;
    fifo_init(&fifo, 3);
    flit_index in = 0, out = 0;
    for (cycle_t now = 0; now < 50; now++) {
        if (now % 3 && fifo_readable(&fifo, now)) {
            g_assert_cmpuint(fifo_head(&fifo)->flit, ==, out++);
            fifo_pop(&fifo, now);
        }
        if (!fifo_full(&fifo, now))
            fifo_push(&fifo, in++, now + 1);
    }
    g_assert_cmpuint(out, >, 20);
    g_assert_cmpuint(in - out, ==, fifo.count);
    fifo_clear(&fifo);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fifo/word_is_readable_after_f_cycles", word_is_readable_after_f_cycles);
    g_test_add_func("/fifo/one_word_a_cycle_is_sustained", one_word_a_cycle_is_sustained);
    g_test_add_func("/fifo/full_is_the_state_at_the_start_of_the_cycle", full_is_the_state_at_the_start_of_the_cycle);
    g_test_add_func("/fifo/order_survives_the_end_of_the_ring", order_survives_the_end_of_the_ring);
    return g_test_run();
}
