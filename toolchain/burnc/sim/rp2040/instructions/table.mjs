// The 16-bit instructions of ARMv6-M, a table by the upper ten bits of the opcode. It stands in for the package's own
// chain of comparisons, which takes three times as long and is wrong about some flags and cycles; the 32-bit
// instructions other than BL, and the exceptions, are the package's.
//
// Cycles are those of the Cortex-M0+ Technical Reference Manual, table 3-1, with no wait states and the single-cycle
// multiplier of the RP2040; loads and stores outside memory are corrected by the core.
import { Fault, FaultKind } from '../faults.mjs';

/** Entry `opcode >>> 6` executes the instruction at `core.registers[15]`, moves the program counter and adds cycles. */
export const INSTRUCTIONS = new Array(1024).fill(undefinedInstruction);

/** Assigns `execute(core, opcode)` to all opcodes from the first to the last. */
export function define(firstOpcode, lastOpcode, execute) {
  for (let i = firstOpcode >>> 6; i <= lastOpcode >>> 6; i++) INSTRUCTIONS[i] = execute;
}

/** Goes on to the next instruction. */
export function next(core, cycles) {
  core.registers[15] += 2;
  core.cycles += cycles;
}

export function setNZ(core, result) {
  core.N = (result & 0x80000000) !== 0;
  core.Z = (result | 0) === 0;
}

export function undefinedInstruction(core, opcode) {
  throw new Fault(FaultKind.undefinedInstruction, core.instructionAddress, `opcode 0x${opcode.toString(16)}`);
}

// The fields of an opcode: low registers by their place, immediates by their width.
export const low = (opcode) => opcode & 7;
export const middle = (opcode) => (opcode >> 3) & 7;
export const high = (opcode) => (opcode >> 6) & 7;
export const upper = (opcode) => (opcode >> 8) & 7;
export const byte = (opcode) => opcode & 0xff;
export const five = (opcode) => (opcode >> 6) & 31;
export const any = (opcode) => (opcode >> 3) & 15; // one of all sixteen registers
export const anyLow = (opcode) => ((opcode >> 4) & 8) | (opcode & 7);

/** Register values as operands: the program counter reads as the instruction's address + 4. */
export const operand = (core, register) => (register === 15 ? core.registers[15] + 4 : core.registers[register]);
