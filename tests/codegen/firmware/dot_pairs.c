/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_pairs_s8_m0 in assembly (prefix plain) against its C twin (prefix twin). Does one thing for each letter that
   arrives and answers with one word. */
#include <stdint.h>

#include "burnc_port.h"
#include "plain_dot_pairs_s8_m0.h"
#include "plain_pack_pairs_s8_m0.h"
#include "twin_dot_pairs_s8_m0.h"
#include "twin_pack_pairs_s8_m0.h"

#define MOST_BLOCKS 16u
#define MOST_PAIRS 3u
#define MOST_TRIPLES 2u
#define MOST_DOUBLES 2u
#define MOST_CHANNELS (3u * MOST_TRIPLES + 2u * MOST_DOUBLES)
#define MOST_HEADS (MOST_TRIPLES + MOST_DOUBLES)
#define LONGEST_CONSTANTS 8u
#define MOST_DISTANCE 4u
#define ROUNDS 150u
#define CANARY 0x5a
#define ROW (MOST_CHANNELS * MOST_DISTANCE)

typedef struct {
    uint32_t packed[3u * MOST_BLOCKS * MOST_PAIRS];
    uint8_t weights[2u * MOST_BLOCKS * MOST_CHANNELS];
    uint32_t constants[LONGEST_CONSTANTS * MOST_CHANNELS + MOST_HEADS];
    uint32_t blocks, pairs, triples, doubles, words_of_constants, channel_words, row;
} operands;

typedef struct {
    int8_t y[2u * MOST_PAIRS * ROW + 2u];
} results;

static operands given;
static uint32_t seed;

static uint32_t random_word(void) {
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8 ^ seed << 16;
}

/* Values in the middle and at both ends; kind chooses which. */
static uint32_t activation(uint32_t kind) {
    return kind == 0u   ? random_word() & 0xffu
           : kind == 1u ? 0x80u
           : kind == 2u ? 0x7fu
                        : (random_word() & 1u) + 0x7fu;
}

static uint32_t distance(void) {
    return 1u + random_word() % MOST_DISTANCE;
}

static uint32_t *make_channel(uint32_t *c, uint32_t is_signed) {
    uint32_t *const scale = c + 2u + 2u * is_signed;
    c[0] = random_word();
    c[1] = random_word() % 100000u;
    if (is_signed != 0u) {
        c[2] = random_word() % 100000u;
        c[3] = 0u - (random_word() & 0xffffu);
    }
    scale[0] = 1u + random_word() % 200000u;
    scale[1] = random_word() % 20000u;
    scale[2] = (random_word() & 0x3fffu) << 8 | 14u;
    scale[3] = random_word();
    return c + given.channel_words;
}

static void make_operands(uint32_t round) {
    const uint32_t is_signed = round / 2u % 2u;
    uint32_t *c = given.constants;
    uint32_t last = 0u;
    given.blocks = 4u + (round % 4u) * 4u;
    given.pairs = 1u + round % MOST_PAIRS;
    given.triples = round / 3u % (MOST_TRIPLES + 1u);
    given.doubles = round / 5u % (MOST_DOUBLES + 1u);
    given.channel_words = 6u + 2u * is_signed;
    given.row = given.pairs > 1u || round % 7u != 0u ? ROW : 0u;
    for (uint32_t block = 0; block < given.blocks * given.pairs; block++) {
        uint32_t *const packed = given.packed + 3u * block;
        for (uint32_t tap = 1; tap <= 2u; tap++) {
            const int8_t low = (int8_t)activation(round % 4u);
            const int8_t high = (int8_t)activation(round % 4u);
            packed[tap] = (uint32_t)low + ((uint32_t)high << 16);
        }
        packed[0] = 32768u - ((packed[1] + packed[2]) << 7);
    }
    for (uint32_t i = 0; i < sizeof given.weights; i++) {
        const uint32_t kind = round / 4u % 3u;
        given.weights[i] = (uint8_t)(kind == 0u ? 1u + random_word() % 255u : kind == 1u ? 1u : 255u);
    }
    for (uint32_t group = 0; group < given.triples + given.doubles; group++) {
        const uint32_t second = distance();
        const uint32_t third = group < given.triples ? second + distance() : second;
        *c++ = last << 16 | third << 8 | second;
        last = third + 1u;
        c = make_channel(c, is_signed);
        c = make_channel(c, is_signed);
        c = group < given.triples ? make_channel(c, is_signed) : c;
    }
    given.words_of_constants = (uint32_t)(c - given.constants);
}

static void clear(results *to) {
    for (uint32_t i = 0; i < sizeof to->y; i++) {
        ((int8_t *)to)[i] = CANARY;
    }
}

static plain_dot_pairs_s8_m0_job plain_job(results *to) {
    const plain_dot_pairs_s8_m0_job job = {
        given.packed,
        given.packed + 3u * given.blocks * given.pairs,
        12u * given.blocks,
        given.weights,
        given.constants,
        0u,
        4u * given.channel_words,
        given.triples,
        given.doubles,
        4u * given.blocks,
        to->y + 1,
        given.row,
        ROW,
    };
    return job;
}

/* How many bytes differ, those before and behind the results included, over many operands. */
static uint32_t compare(void) {
    uint32_t wrong = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        results plain;
        results twin;
        make_operands(round);
        clear(&plain);
        clear(&twin);
        const plain_dot_pairs_s8_m0_job job = plain_job(&plain);
        const twin_dot_pairs_s8_m0_job same = {
            job.packed,  job.packed_end,    job.pair_bytes, job.weights, job.constants,
            job.is_code, job.channel_bytes, job.triples,    job.doubles, job.double_bytes,
            twin.y + 1,  job.row,           job.step,
        };
        plain_dot_pairs_s8_m0(&job);
        twin_dot_pairs_s8_m0(&same);
        for (uint32_t i = 0; i < sizeof plain.y; i++) {
            wrong += plain.y[i] != twin.y[i] ? 1u : 0u;
        }
    }
    return wrong;
}

/* How many words of packed rows differ, and those behind them, for all short lengths. */
static uint32_t compare_packing(void) {
    static int8_t rows[2][40];
    uint32_t wrong = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t packed[2][64] = {{0u}, {0u}};
        const uint32_t count = round % 33u;
        for (uint32_t i = 0; i < count; i++) {
            rows[0][i] = (int8_t)activation(round % 4u);
            rows[1][i] = (int8_t)activation((round + 1u) % 4u);
        }
        const uint32_t *const end = plain_pack_pairs_s8_m0(packed[0], rows[0], rows[1], count, 1u, 0u);
        const uint32_t *const same = twin_pack_pairs_s8_m0(packed[1], rows[0], rows[1], count, 1u, 0u);
        wrong += end - packed[0] == same - packed[1] ? 0u : 1u;
        for (uint32_t i = 0; i < 64u; i++) {
            wrong += packed[0][i] != packed[1][i] ? 1u : 0u;
        }
    }
    return wrong;
}

/* Calls function(job) with known values in r4-r11; returns how many of them it has not kept. */
uint32_t registers_lost(const plain_dot_pairs_s8_m0_job *job,
                        void (*function)(const plain_dot_pairs_s8_m0_job *));
__asm__(".syntax unified\n"
        ".section .text.registers_lost, \"ax\", %progbits\n"
        ".thumb_func\n"
        ".globl registers_lost\n"
        "registers_lost:\n"
        "push {r4-r7, lr}\n"
        "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
        "push {r4-r7}\n"
        "movs r4, #248\n mov r8, r4\n movs r4, #249\n mov r9, r4\n"
        "movs r4, #250\n mov r10, r4\n movs r4, #251\n mov r11, r4\n"
        "movs r4, #244\n movs r5, #245\n movs r6, #246\n movs r7, #247\n"
        "blx r1\n"
        "movs r0, #0\n"
        "cmp r4, #244\n beq 1f\n adds r0, #1\n 1:\n"
        "cmp r5, #245\n beq 1f\n adds r0, #1\n 1:\n"
        "cmp r6, #246\n beq 1f\n adds r0, #1\n 1:\n"
        "cmp r7, #247\n beq 1f\n adds r0, #1\n 1:\n"
        "mov r1, r8\n cmp r1, #248\n beq 1f\n adds r0, #1\n 1:\n"
        "mov r1, r9\n cmp r1, #249\n beq 1f\n adds r0, #1\n 1:\n"
        "mov r1, r10\n cmp r1, #250\n beq 1f\n adds r0, #1\n 1:\n"
        "mov r1, r11\n cmp r1, #251\n beq 1f\n adds r0, #1\n 1:\n"
        "pop {r4-r7}\n"
        "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
        "pop {r4-r7, pc}\n"
        ".text\n");

static uint32_t lost_registers(uint32_t round) {
    results to;
    make_operands(round);
    const plain_dot_pairs_s8_m0_job job = plain_job(&to);
    return registers_lost(&job, plain_dot_pairs_s8_m0);
}

/* Copies bytes so that they end where RAM ends. */
static const void *at_the_end_of_ram(const void *from, uint32_t bytes) {
    uint8_t *const to = (uint8_t *)(uintptr_t)(RAM_END - bytes);
    for (uint32_t i = 0; i < bytes; i++) {
        to[i] = ((const uint8_t *)from)[i];
    }
    return to;
}

/* Each operand in turn lies at the end of RAM, behind which a read faults. */
static uint32_t at_the_edge(void) {
    for (uint32_t round = 0; round < 20u; round++) {
        results to;
        make_operands(round);
        const uint32_t bytes = 12u * given.blocks * given.pairs;
        const uint32_t channels = 3u * given.triples + 2u * given.doubles;
        plain_dot_pairs_s8_m0_job job = plain_job(&to);
        job.packed = at_the_end_of_ram(given.packed, bytes);
        job.packed_end = job.packed + bytes / 4u;
        plain_dot_pairs_s8_m0(&job);
        job = plain_job(&to);
        job.weights = at_the_end_of_ram(given.weights, 2u * given.blocks * channels);
        plain_dot_pairs_s8_m0(&job);
        job = plain_job(&to);
        job.constants = at_the_end_of_ram(given.constants, 4u * given.words_of_constants);
        plain_dot_pairs_s8_m0(&job);
    }
    return 1u;
}

static uint32_t answer(int letter) {
    switch (letter) {
    case 'c':
        return compare();
    case 'p':
        return compare_packing();
    case 'r':
        return lost_registers(8u) + lost_registers(10u);
    case 'e':
        return at_the_edge();
    default: /* shows that the edge is one */
        return *(volatile uint8_t *)(uintptr_t)RAM_END;
    }
}

int main(void) {
    burnc_port_init();
    for (;;) {
        const int letter = burnc_port_getc();
        if (letter >= 0) {
            const uint32_t word = answer(letter);
            for (uint32_t shift = 0; shift < 32u; shift += 8u) {
                burnc_port_putc((uint8_t)(word >> shift));
            }
        }
    }
}
