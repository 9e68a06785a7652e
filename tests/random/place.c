/* Shares of a launch: whatever the numbers of CTAs, GPUs and SMs, every CTA is one GPU's, and blocks are consecutive,
 * of as many CTAs for each SM, and go to the first GPUs first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/random.h"
#include "system/place.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20000, MOST_CTAS = 5000, MOST_GPUS = 64, MOST_SMS = 200 };

static uint8_t owners[MOST_CTAS];

/* Marks the CTAs of all shares; each was nobody's. Returns how many there are. */
static uint32_t deal(enum pw_place_ctas how, uint32_t ctas, unsigned gpus, uint32_t sms)
{
    uint32_t dealt = 0;
    memset(owners, MOST_GPUS, sizeof owners);
    for (unsigned gpu = 0; gpu < gpus; gpu++) {
        struct pw_cta_share s = pw_place_ctas(how, ctas, gpus, sms, gpu);
        for (uint32_t i = 0; i < s.count; i++) {
            uint32_t cta = s.first + i * s.step;
            assert_true(cta < ctas);
            assert_int_equal(owners[cta], MOST_GPUS);
            owners[cta] = (uint8_t)gpu;
            dealt++;
        }
    }
    return dealt;
}

static void check_blocks(uint32_t ctas, unsigned gpus, uint32_t sms)
{
    uint32_t all = sms * gpus, each = all ? (ctas + all - 1) / all * sms : 0;
    for (uint32_t cta = 0; cta < ctas; cta++)
        assert_int_equal(owners[cta], each ? cta / each : (uint32_t)MOST_GPUS);
}

static void check_interleaved(uint32_t ctas, unsigned gpus)
{
    for (uint32_t cta = 0; cta < ctas; cta++)
        assert_int_equal(owners[cta], gpus ? cta % gpus : (uint32_t)MOST_GPUS);
}

static void every_cta_is_one_gpus(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 1, "place");
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned gpus = 1 + (unsigned)pw_random_below(&random, MOST_GPUS);
        uint32_t sms = 1 + (uint32_t)pw_random_below(&random, round % 2 ? MOST_SMS : 4);
        uint32_t ctas = 1 + (uint32_t)pw_random_below(&random, round % 3 ? MOST_CTAS : 100);
        assert_int_equal(deal(PW_CTAS_BLOCKS, ctas, gpus, sms), ctas);
        check_blocks(ctas, gpus, sms);
        assert_int_equal(deal(PW_CTAS_INTERLEAVED, ctas, gpus, sms), ctas);
        check_interleaved(ctas, gpus);
    }
}

/* The largest launch there can be does not overflow: the shares of all GPUs add up. */
static void the_largest_launch_is_divided(void **state)
{
    (void)state;
    for (unsigned gpus = 1; gpus <= MOST_GPUS; gpus++)
        for (unsigned how = PW_CTAS_BLOCKS; how <= PW_CTAS_INTERLEAVED; how++) {
            uint64_t sum = 0;
            for (unsigned gpu = 0; gpu < gpus; gpu++) {
                struct pw_cta_share s = pw_place_ctas((enum pw_place_ctas)how, UINT32_MAX, gpus, 1024, gpu);
                assert_true(!s.count || s.first + (uint64_t)(s.count - 1) * s.step < UINT32_MAX);
                sum += s.count;
            }
            assert_int_equal(sum, UINT32_MAX);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cta_is_one_gpus),
        cmocka_unit_test(the_largest_launch_is_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
