/* SPDX-License-Identifier: 0BSD */
/* Whether the assembly for cores with the DSP extension (Cortex-M4, M7, M33) takes the place of its C twins. Define
   BURNC_NO_ASSEMBLY to have the C everywhere. The assembly's files repeat the condition: they include nothing. */
#ifndef BURNC_DSP_H
#define BURNC_DSP_H

#if defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_DSP_ASSEMBLY 1
#else
#define BURNC_DSP_ASSEMBLY 0
#endif

#endif
