// Loads and stores, of one register or several.
import { byte, define, five, high, low, middle, next, upper } from './table.mjs';

const byRegister = (core, op) => core.registers[middle(op)] + core.registers[high(op)];

function load(core, register, value) {
  core.registers[register] = value;
  next(core, 2);
}

define(0x4800, 0x4fff, (core, op) => {
  load(core, upper(op), core.readUint32(((core.registers[15] + 4) & ~3) + 4 * byte(op)));
});
define(0x5000, 0x51ff, (core, op) => {
  core.writeUint32(byRegister(core, op), core.registers[low(op)]);
  next(core, 2);
});
define(0x5200, 0x53ff, (core, op) => {
  core.writeUint16(byRegister(core, op), core.registers[low(op)]);
  next(core, 2);
});
define(0x5400, 0x55ff, (core, op) => {
  core.writeUint8(byRegister(core, op), core.registers[low(op)]);
  next(core, 2);
});
define(0x5600, 0x57ff, (core, op) => load(core, low(op), (core.readUint8(byRegister(core, op)) << 24) >> 24));
define(0x5800, 0x59ff, (core, op) => load(core, low(op), core.readUint32(byRegister(core, op))));
define(0x5a00, 0x5bff, (core, op) => load(core, low(op), core.readUint16(byRegister(core, op))));
define(0x5c00, 0x5dff, (core, op) => load(core, low(op), core.readUint8(byRegister(core, op))));
define(0x5e00, 0x5fff, (core, op) => load(core, low(op), (core.readUint16(byRegister(core, op)) << 16) >> 16));
define(0x6000, 0x67ff, (core, op) => {
  core.writeUint32(core.registers[middle(op)] + 4 * five(op), core.registers[low(op)]);
  next(core, 2);
});
define(0x6800, 0x6fff, (core, op) => load(core, low(op), core.readUint32(core.registers[middle(op)] + 4 * five(op))));
define(0x7000, 0x77ff, (core, op) => {
  core.writeUint8(core.registers[middle(op)] + five(op), core.registers[low(op)]);
  next(core, 2);
});
define(0x7800, 0x7fff, (core, op) => load(core, low(op), core.readUint8(core.registers[middle(op)] + five(op))));
define(0x8000, 0x87ff, (core, op) => {
  core.writeUint16(core.registers[middle(op)] + 2 * five(op), core.registers[low(op)]);
  next(core, 2);
});
define(0x8800, 0x8fff, (core, op) => load(core, low(op), core.readUint16(core.registers[middle(op)] + 2 * five(op))));
define(0x9000, 0x97ff, (core, op) => {
  core.writeUint32(core.registers[13] + 4 * byte(op), core.registers[upper(op)]);
  next(core, 2);
});
define(0x9800, 0x9fff, (core, op) => load(core, upper(op), core.readUint32(core.registers[13] + 4 * byte(op))));

/** Stores the listed low registers upwards from `address`; returns the address behind them. */
function storeMany(core, list, address) {
  for (let i = 0; i < 8; i++) {
    if ((list >> i) & 1) {
      core.writeUint32(address, core.registers[i]);
      address += 4;
    }
  }
  return address;
}

function loadMany(core, list, address) {
  for (let i = 0; i < 8; i++) {
    if ((list >> i) & 1) {
      core.registers[i] = core.readUint32(address);
      address += 4;
    }
  }
  return address;
}

function count(bits) {
  let ones = 0;
  for (; bits !== 0; bits &= bits - 1) ones++;
  return ones;
}

define(0xb400, 0xb5ff, (core, op) => {
  const bytes = 4 * count(op & 0x1ff);
  const bottom = core.registers[13] - bytes;
  const end = storeMany(core, byte(op), bottom);
  if (op & 0x100) core.writeUint32(end, core.registers[14]);
  core.registers[13] = bottom;
  next(core, 1 + bytes / 4);
});
define(0xbc00, 0xbcff, (core, op) => {
  core.registers[13] = loadMany(core, byte(op), core.registers[13]);
  next(core, 1 + count(byte(op)));
});
define(0xbd00, 0xbdff, (core, op) => {
  const end = loadMany(core, byte(op), core.registers[13]);
  const target = core.readUint32(end);
  core.registers[13] = end + 4;
  core.cycles += 4 + count(byte(op));
  core.BXWritePC(target);
});
define(0xc000, 0xc7ff, (core, op) => {
  core.registers[upper(op)] = storeMany(core, byte(op), core.registers[upper(op)]);
  next(core, 1 + count(byte(op)));
});
define(0xc800, 0xcfff, (core, op) => {
  const base = upper(op);
  const end = loadMany(core, byte(op), core.registers[base]);
  if (((op >> base) & 1) === 0) core.registers[base] = end;
  next(core, 1 + count(byte(op)));
});
