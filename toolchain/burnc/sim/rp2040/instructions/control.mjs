// Branches, hints, breakpoints, and what is left to the package.
import { any, byte, define, next, operand, undefinedInstruction } from './table.mjs';

define(0x4700, 0x477f, (core, op) => {
  core.cycles += 2;
  core.BXWritePC(operand(core, any(op)));
});
define(0x4780, 0x47ff, (core, op) => {
  const target = operand(core, any(op));
  core.registers[14] = core.registers[15] + 3; // the next instruction, Thumb bit set
  core.cycles += 2;
  core.BXWritePC(target);
});
const conditions = [
  (core) => core.Z,
  (core) => !core.Z,
  (core) => core.C,
  (core) => !core.C,
  (core) => core.N,
  (core) => !core.N,
  (core) => core.V,
  (core) => !core.V,
  (core) => core.C && !core.Z,
  (core) => !core.C || core.Z,
  (core) => core.N === core.V,
  (core) => core.N !== core.V,
  (core) => core.N === core.V && !core.Z,
  (core) => core.N !== core.V || core.Z,
];
conditions.forEach((holds, i) => {
  define(0xd000 + 0x100 * i, 0xd0ff + 0x100 * i, (core, op) => {
    if (holds(core)) {
      core.registers[15] += 4 + ((op << 24) >> 23);
      core.cycles += 2;
    } else {
      next(core, 1);
    }
  });
});
define(0xe000, 0xe7ff, (core, op) => {
  core.registers[15] += 4 + ((op << 21) >> 20);
  core.cycles += 2;
});
define(0xf000, 0xf7ff, (core, op) => {
  const pc = core.registers[15];
  const second = core.fetch(pc + 2);
  if ((second & 0xd000) !== 0xd000) {
    byPackage(core);
    return;
  }
  const sign = (op >> 10) & 1;
  const i1 = 1 ^ sign ^ ((second >> 13) & 1);
  const i2 = 1 ^ sign ^ ((second >> 11) & 1);
  const offset = (sign << 24) | (i1 << 23) | (i2 << 22) | ((op & 0x3ff) << 12) | ((second & 0x7ff) << 1);
  core.registers[14] = pc + 5; // the next instruction, Thumb bit set
  core.registers[15] = pc + 4 + ((offset << 7) >> 7);
  core.cycles += 3;
});

/** Special registers, barriers, SVC and CPS; what the package does not know it reports as undefined. */
function byPackage(core) {
  core.executeInstruction();
}

define(0xb640, 0xb67f, byPackage);
define(0xdf00, 0xdfff, byPackage);
define(0xbe00, 0xbeff, (core, op) => {
  next(core, 1);
  core.board.breakpoint(core, byte(op));
});
define(0xbf00, 0xbfff, (core, op) => {
  switch (byte(op)) {
    case 0x20: // WFE
      if (core.eventRegistered) core.eventRegistered = false;
      else core.sleep(true);
      next(core, 2);
      break;
    case 0x30: // WFI
      core.sleep(false);
      next(core, 2);
      break;
    case 0x40: // SEV
      core.board.sendEvent();
      next(core, 1);
      break;
    default: // NOP, YIELD and hints yet to be defined; others are the IT of larger cores
      if (op & 15) undefinedInstruction(core, op);
      next(core, 1);
  }
});
