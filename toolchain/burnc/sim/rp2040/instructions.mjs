// The instructions that the package computes or counts wrongly, and those that concern the whole board. A table by
// the upper ten bits of the opcode; null means that the package's own interpreter is right.
//
// Cycles are those of the Cortex-M0+ Technical Reference Manual, table 3-1, with no wait states and the single-cycle
// multiplier of the RP2040.
import { Fault, FaultKind } from './faults.mjs';

export const MENDED = new Array(1024).fill(null);

function mend(firstOpcode, lastOpcode, execute) {
  for (let i = firstOpcode >>> 6; i <= lastOpcode >>> 6; i++) MENDED[i] = execute;
}

function finish(core, cycles) {
  core.registers[15] += 2;
  core.cycles += cycles;
}

function setResult(core, destination, result) {
  core.registers[destination] = result;
  core.N = (result & 0x80000000) !== 0;
  core.Z = (result | 0) === 0;
  finish(core, 1);
}

/** a + b + carry with all flags; the package forgets the carry when it computes V. */
function addWithCarry(core, destination, a, b) {
  const sum = a + b + (core.C ? 1 : 0);
  const result = sum >>> 0;
  core.C = sum > 0xffffffff;
  core.V = ((a ^ result) & (b ^ result) & 0x80000000) !== 0;
  setResult(core, destination, result);
}

function adcs(core, opcode) {
  const r = core.registers;
  addWithCarry(core, opcode & 7, r[opcode & 7], r[(opcode >> 3) & 7]);
}

function sbcs(core, opcode) {
  const r = core.registers;
  addWithCarry(core, opcode & 7, r[opcode & 7], ~r[(opcode >> 3) & 7] >>> 0);
}

// Shifts by a register: the carry of amounts 0 and above 31 differs in the package.
function shiftByRegister(carryOf, resultOf) {
  return (core, opcode) => {
    const value = core.registers[opcode & 7];
    const amount = core.registers[(opcode >> 3) & 7] & 0xff;
    if (amount !== 0) core.C = carryOf(value, amount) !== 0;
    setResult(core, opcode & 7, amount === 0 ? value : resultOf(value, amount));
  };
}

const lsls = shiftByRegister(
  (v, n) => (n <= 32 ? (v >>> (32 - n)) & 1 : 0),
  (v, n) => (n < 32 ? v << n : 0),
);
const lsrs = shiftByRegister(
  (v, n) => (n <= 32 ? (v >>> (n - 1)) & 1 : 0),
  (v, n) => (n < 32 ? v >>> n : 0),
);
const asrs = shiftByRegister(
  (v, n) => (n < 32 ? (v >>> (n - 1)) & 1 : v >>> 31),
  (v, n) => (v | 0) >> Math.min(n, 31),
);
const rors = shiftByRegister(
  (v, n) => (v >>> ((n - 1) & 31)) & 1,
  (v, n) => (v >>> (n & 31)) | (v << (32 - (n & 31))),
);

/** The package reads the target after it has written LR, so that BLX LR would branch to itself. */
function blx(core, opcode) {
  const target = core.registers[(opcode >> 3) & 15];
  if ((target & 1) === 0) throw new Fault(FaultKind.notThumb, target);
  core.registers[14] = core.registers[15] + 3; // the next instruction, Thumb bit set
  core.registers[15] = target & ~1;
  core.cycles += 2;
}

/** PUSH with LR is 1+N and POP with PC 3+N, where N counts LR or PC too: one more than the package says. */
function oneMoreCycle(core) {
  core.executeInstruction();
  core.cycles += 1;
}

/** STM always writes the base back; the package omits it when the base is in the list. */
function stm(core, opcode) {
  const base = (opcode >> 8) & 7;
  if ((opcode & (1 << base)) === 0) {
    core.executeInstruction();
    return;
  }
  let count = 0;
  for (let bits = opcode & 0xff; bits !== 0; bits &= bits - 1) count++;
  const end = core.registers[base] + 4 * count;
  core.executeInstruction();
  core.registers[base] = end;
}

function breakpoint(core, opcode) {
  core.registers[15] += 2; // the package's own order: PC is past the instruction when the board sees it
  core.cycles += 1;
  core.board.breakpoint(core, opcode & 0xff);
}

function undefinedInstruction(core, opcode) {
  throw new Fault(FaultKind.undefinedInstruction, core.instructionAddress, `opcode 0x${opcode.toString(16)}`);
}

function hint(core, opcode) {
  switch ((opcode >> 4) & 15) {
    case 2: // WFE
      if (core.eventRegistered) core.eventRegistered = false;
      else core.waiting = core.waitingForEvent = true;
      finish(core, 2);
      break;
    case 3: // WFI
      core.waiting = true;
      core.waitingForEvent = false;
      finish(core, 2);
      break;
    case 4: // SEV
      core.board.sendEvent();
      finish(core, 1);
      break;
    default: // NOP, YIELD
      finish(core, 1);
  }
}

mend(0x4080, 0x40bf, lsls);
mend(0x40c0, 0x40ff, lsrs);
mend(0x4100, 0x413f, asrs);
mend(0x4140, 0x417f, adcs);
mend(0x4180, 0x41bf, sbcs);
mend(0x41c0, 0x41ff, rors);
mend(0x4780, 0x47ff, blx);
mend(0xb500, 0xb5ff, oneMoreCycle);
mend(0xbd00, 0xbdff, oneMoreCycle);
mend(0xbe00, 0xbeff, breakpoint);
mend(0xbf00, 0xbfff, hint);
mend(0xc000, 0xc7ff, stm);
mend(0xde00, 0xdeff, undefinedInstruction);
