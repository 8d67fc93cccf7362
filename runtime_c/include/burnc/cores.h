/* SPDX-License-Identifier: 0BSD */
/* How two cores share one inference after the other. One core runs it; the other joins when it likes, is given parts of
   the layers as long as it is there, and stays to the end. Each word has one writer, because a Cortex-M0+ has no atomic
   exchange. All words are zero at first; no inference changes that the two cores agree between layers. */
#ifndef BURNC_CORES_H
#define BURNC_CORES_H

#include <stdint.h>

typedef struct {
    uint32_t phase;  /* of who runs: odd during an inference */
    uint32_t layer;  /* of who runs: whose second part is given away */
    uint32_t given;  /* of who runs: counts the parts given away */
    uint32_t joined; /* of the helper: the inference (its phase) that it takes part in or last took part in */
    uint32_t done;   /* of the helper: counts the parts done */
} burnc_cores;

/* What a core does while it waits, and after it has written a word that the other may wait for: nothing, unless you
   define them (WFE and SEV, a yield, …). A wait may end for no reason, but not outlast the next wake. */
#ifndef BURNC_CORES_WAIT
#define BURNC_CORES_WAIT() ((void)0)
#endif
#ifndef BURNC_CORES_WAKE
#define BURNC_CORES_WAKE() ((void)0)
#endif

/* What was written before a store is seen by whoever reads what it stored. Where the compiler has no atomic load for
   the core, a volatile access and a barrier (DMB, FENCE) do; define BURNC_CORES_BARRIER for another compiler. */
#if !defined(BURNC_CORES_BARRIER) && defined(__GCC_ATOMIC_INT_LOCK_FREE)
#if __GCC_ATOMIC_INT_LOCK_FREE == 2
#define BURNC_CORES_ATOMIC 1
#endif
#endif

#if defined(BURNC_CORES_ATOMIC)
#define BURNC_CORES_BARRIER() ((void)0)
#elif !defined(BURNC_CORES_BARRIER) && defined(__GNUC__)
#define BURNC_CORES_BARRIER() __sync_synchronize()
#elif !defined(BURNC_CORES_BARRIER)
#error "define BURNC_CORES_BARRIER(): what orders memory accesses of two cores"
#endif

static inline uint32_t burnc_cores_load(const uint32_t *word) {
#if defined(BURNC_CORES_ATOMIC)
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#else
    const uint32_t value = *(const volatile uint32_t *)word;
    BURNC_CORES_BARRIER();
    return value;
#endif
}

static inline void burnc_cores_store(uint32_t *word, uint32_t value) {
#if defined(BURNC_CORES_ATOMIC)
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
#else
    BURNC_CORES_BARRIER();
    *(volatile uint32_t *)word = value;
    BURNC_CORES_BARRIER();
#endif
    BURNC_CORES_WAKE();
}

/* For who runs: an inference begins or ends. */
static inline void burnc_cores_turn(burnc_cores *cores) {
    burnc_cores_store(&cores->phase, cores->phase + 1u);
}

/* For who runs: gives the layer's second part away, if there is a helper; says whether. */
static inline int burnc_cores_give(burnc_cores *cores, uint32_t layer) {
    if (burnc_cores_load(&cores->joined) != cores->phase) {
        return 0;
    }
    cores->layer = layer;
    burnc_cores_store(&cores->given, cores->given + 1u);
    return 1;
}

/* For who runs: until what was given away is done. */
static inline void burnc_cores_await(const burnc_cores *cores) {
    while (burnc_cores_load(&cores->done) != cores->given) {
        BURNC_CORES_WAIT();
    }
}

/* For the helper: joins the inference that is under way, or the next one. Returns its phase, or 0 where one began and
   ended since the helper was last here: it is told of each once, so that it never waits for one that is over. */
static inline uint32_t burnc_cores_join(burnc_cores *cores) {
    const uint32_t phase = burnc_cores_load(&cores->phase);
    if (phase % 2u == 0u && phase != 0u && phase != cores->joined + 1u) {
        burnc_cores_store(&cores->joined, phase - 1u);
        return 0u;
    }
    /* Said beforehand, so that the first layer can be given away, too. */
    burnc_cores_store(&cores->joined, phase | 1u);
    while (phase % 2u == 0u && burnc_cores_load(&cores->phase) == phase) {
        BURNC_CORES_WAIT();
    }
    return phase | 1u;
}

/* For the helper: waits for a part and says of which layer; 0 where the inference is over. */
static inline int burnc_cores_take(const burnc_cores *cores, uint32_t phase, uint32_t *layer) {
    while (burnc_cores_load(&cores->given) == cores->done) {
        if (burnc_cores_load(&cores->phase) != phase) {
            return 0; /* nothing is given away without a helper, and nobody ends before all is done */
        }
        BURNC_CORES_WAIT();
    }
    *layer = cores->layer;
    return 1;
}

/* For the helper: the part that was taken is done. */
static inline void burnc_cores_finish(burnc_cores *cores) {
    burnc_cores_store(&cores->done, cores->done + 1u);
}

#endif
