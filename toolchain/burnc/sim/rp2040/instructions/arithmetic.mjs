// Shifts, arithmetic and logic, moves and extensions.
import { any, anyLow, byte, define, five, high, low, middle, next, operand, setNZ, upper } from './table.mjs';

/** Writes a result that sets N and Z, and goes on. */
function put(core, destination, result) {
  core.registers[destination] = result;
  setNZ(core, result);
  next(core, 1);
}

/** AddWithCarry() of the manual; subtraction adds the complement. `a` and `b` are unsigned. */
function addWithCarry(core, a, b, carry) {
  const sum = a + b + carry;
  const result = sum >>> 0;
  core.C = sum > 0xffffffff;
  core.V = ((a ^ result) & (b ^ result) & 0x80000000) !== 0;
  setNZ(core, result);
  return result;
}

function putSum(core, destination, a, b, carry) {
  core.registers[destination] = addWithCarry(core, a, b, carry);
  next(core, 1);
}

function compare(core, a, b, carry) {
  addWithCarry(core, a, b, carry);
  next(core, 1);
}

// Carry and result of a shift by n >= 1.
const leftCarry = (v, n) => (n <= 32 ? (v >>> (32 - n)) & 1 : 0) !== 0;
const left = (v, n) => (n < 32 ? v << n : 0);
const rightCarry = (v, n) => (n <= 32 ? (v >>> (n - 1)) & 1 : 0) !== 0;
const right = (v, n) => (n < 32 ? v >>> n : 0);
const signedCarry = (v, n) => (n < 32 ? (v >>> (n - 1)) & 1 : v >>> 31) !== 0;
const signed = (v, n) => (v | 0) >> (n < 32 ? n : 31);
const turnCarry = (v, n) => ((v >>> ((n - 1) & 31)) & 1) !== 0;
const turn = (v, n) => (v >>> (n & 31)) | (v << (32 - (n & 31)));

function shiftByRegister(carry, result) {
  return (core, opcode) => {
    const value = core.registers[low(opcode)];
    const amount = core.registers[middle(opcode)] & 0xff;
    if (amount !== 0) core.C = carry(value, amount);
    put(core, low(opcode), amount === 0 ? value : result(value, amount));
  };
}

define(0x0000, 0x07ff, (core, op) => {
  const value = core.registers[middle(op)];
  const amount = five(op);
  if (amount !== 0) core.C = leftCarry(value, amount);
  put(core, low(op), value << amount);
});
define(0x0800, 0x0fff, (core, op) => {
  const value = core.registers[middle(op)];
  const amount = five(op) || 32;
  core.C = rightCarry(value, amount);
  put(core, low(op), right(value, amount));
});
define(0x1000, 0x17ff, (core, op) => {
  const value = core.registers[middle(op)];
  const amount = five(op) || 32;
  core.C = signedCarry(value, amount);
  put(core, low(op), signed(value, amount));
});
define(0x1800, 0x19ff, (core, op) => putSum(core, low(op), core.registers[middle(op)], core.registers[high(op)], 0));
define(0x1a00, 0x1bff, (core, op) => {
  putSum(core, low(op), core.registers[middle(op)], ~core.registers[high(op)] >>> 0, 1);
});
define(0x1c00, 0x1dff, (core, op) => putSum(core, low(op), core.registers[middle(op)], high(op), 0));
define(0x1e00, 0x1fff, (core, op) => putSum(core, low(op), core.registers[middle(op)], ~high(op) >>> 0, 1));
define(0x2000, 0x27ff, (core, op) => put(core, upper(op), byte(op)));
define(0x2800, 0x2fff, (core, op) => compare(core, core.registers[upper(op)], ~byte(op) >>> 0, 1));
define(0x3000, 0x37ff, (core, op) => putSum(core, upper(op), core.registers[upper(op)], byte(op), 0));
define(0x3800, 0x3fff, (core, op) => putSum(core, upper(op), core.registers[upper(op)], ~byte(op) >>> 0, 1));

const logic = (compute) => (core, op) => {
  put(core, low(op), compute(core.registers[low(op)], core.registers[middle(op)]));
};
define(0x4000, 0x403f, logic((a, b) => a & b));
define(0x4040, 0x407f, logic((a, b) => a ^ b));
define(0x4080, 0x40bf, shiftByRegister(leftCarry, left));
define(0x40c0, 0x40ff, shiftByRegister(rightCarry, right));
define(0x4100, 0x413f, shiftByRegister(signedCarry, signed));
define(0x4140, 0x417f, (core, op) => {
  putSum(core, low(op), core.registers[low(op)], core.registers[middle(op)], core.C ? 1 : 0);
});
define(0x4180, 0x41bf, (core, op) => {
  putSum(core, low(op), core.registers[low(op)], ~core.registers[middle(op)] >>> 0, core.C ? 1 : 0);
});
define(0x41c0, 0x41ff, shiftByRegister(turnCarry, turn));
define(0x4200, 0x423f, (core, op) => {
  setNZ(core, core.registers[low(op)] & core.registers[middle(op)]);
  next(core, 1);
});
define(0x4240, 0x427f, (core, op) => putSum(core, low(op), ~core.registers[middle(op)] >>> 0, 0, 1));
define(0x4280, 0x42bf, (core, op) => compare(core, core.registers[low(op)], ~core.registers[middle(op)] >>> 0, 1));
define(0x42c0, 0x42ff, (core, op) => compare(core, core.registers[low(op)], core.registers[middle(op)], 0));
define(0x4300, 0x433f, logic((a, b) => a | b));
define(0x4340, 0x437f, logic((a, b) => Math.imul(a, b)));
define(0x4380, 0x43bf, logic((a, b) => a & ~b));
define(0x43c0, 0x43ff, logic((a, b) => ~b));

define(0xb200, 0xb23f, (core, op) => extend(core, op, (core.registers[middle(op)] << 16) >> 16));
define(0xb240, 0xb27f, (core, op) => extend(core, op, (core.registers[middle(op)] << 24) >> 24));
define(0xb280, 0xb2bf, (core, op) => extend(core, op, core.registers[middle(op)] & 0xffff));
define(0xb2c0, 0xb2ff, (core, op) => extend(core, op, core.registers[middle(op)] & 0xff));
define(0xba00, 0xba3f, (core, op) => {
  const v = core.registers[middle(op)];
  extend(core, op, (v << 24) | ((v & 0xff00) << 8) | ((v >>> 8) & 0xff00) | (v >>> 24));
});
define(0xba40, 0xba7f, (core, op) => {
  const v = core.registers[middle(op)];
  extend(core, op, ((v & 0x00ff00ff) << 8) | ((v >>> 8) & 0x00ff00ff));
});
define(0xbac0, 0xbaff, (core, op) => {
  const v = core.registers[middle(op)];
  extend(core, op, ((v << 24) >> 16) | ((v >>> 8) & 0xff));
});

function extend(core, opcode, result) {
  core.registers[low(opcode)] = result;
  next(core, 1);
}

// Any of the sixteen registers, the stack pointer, the program counter.

function putAny(core, register, value) {
  if (register === 15) {
    core.registers[15] = value & ~1;
    core.cycles += 2;
    return;
  }
  core.registers[register] = register === 13 ? value & ~3 : value;
  next(core, 1);
}

define(0x4400, 0x44ff, (core, op) => putAny(core, anyLow(op), operand(core, anyLow(op)) + operand(core, any(op))));
define(0x4500, 0x45ff, (core, op) => {
  compare(core, core.registers[anyLow(op)], ~operand(core, any(op)) >>> 0, 1);
});
define(0x4600, 0x46ff, (core, op) => putAny(core, anyLow(op), operand(core, any(op))));
define(0xa000, 0xa7ff, (core, op) => {
  core.registers[upper(op)] = ((core.registers[15] + 4) & ~3) + 4 * byte(op);
  next(core, 1);
});
define(0xa800, 0xafff, (core, op) => {
  core.registers[upper(op)] = core.registers[13] + 4 * byte(op);
  next(core, 1);
});
define(0xb000, 0xb07f, (core, op) => {
  core.registers[13] += 4 * (op & 0x7f);
  next(core, 1);
});
define(0xb080, 0xb0ff, (core, op) => {
  core.registers[13] -= 4 * (op & 0x7f);
  next(core, 1);
});
