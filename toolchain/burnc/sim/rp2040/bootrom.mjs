// What burnc needs of the RP2040's boot ROM, written anew: start from flash through the second stage, the flash
// functions behind the function table, and the loop in which core 1 waits to be launched. The original ROM is not
// needed and is not shipped.
import { Fault, FaultKind } from './faults.mjs';
import { FLASH_BASE, RAM_BASE } from './memory.mjs';

const TABLE_POINTER = 0x14;
const DATA_TABLE_POINTER = 0x16;
const LOOKUP_POINTER = 0x18;
const LOOKUP = 0x60;
const FUNCTIONS = 0x80;
const TABLE = 0x100;
const BX_LR = 0x4770;
const BKPT = 0xbe00;
const LOOKUP_NUMBER = 0x70;
const FIRST_NUMBER = 0x71;

export const BOOT2_BYTES = 256;
export const BOOT2_ADDRESS = 0x20041f00;
const SECTOR_BYTES = 4096;
const PAGE_BYTES = 256;
// Typical times of the Pico's W25Q16JV.
const ERASE_NANOSECONDS = 45e6;
const PROGRAM_NANOSECONDS = 0.4e6;

const routines = {
  IF: (rom) => {
    rom.connected = true;
  },
  EX: (rom) => rom.leaveXip(),
  RE: (rom, [offset, count]) => rom.erase(offset, count),
  RP: (rom, [offset, source, count]) => rom.program(offset, source, count),
  FC: (rom) => rom.board.flashCache?.flush(),
  CX: (rom) => rom.enterXip(),
  UB: (rom) => rom.board.stop('usb-boot', { detail: 'the firmware asked for the USB boot loader' }),
};
const codes = Object.keys(routines);
const codeWord = (code) => code.charCodeAt(0) | (code.charCodeAt(1) << 8);

/** The ROM image: every function is a breakpoint that the board serves, then a return. */
export function romImage() {
  const words = new Uint32Array(4096);
  const half = new Uint16Array(words.buffer);
  const put = (address, value) => {
    half[address >>> 1] = value;
  };
  words[4] = 0x0001754d; // 'M', 'u', version 1
  put(TABLE_POINTER, TABLE);
  put(DATA_TABLE_POINTER, TABLE + 4 * codes.length); // an empty table
  put(LOOKUP_POINTER, LOOKUP | 1);
  put(LOOKUP, BKPT | LOOKUP_NUMBER);
  put(LOOKUP + 2, BX_LR);
  codes.forEach((code, i) => {
    put(FUNCTIONS + 4 * i, BKPT | (FIRST_NUMBER + i));
    put(FUNCTIONS + 4 * i + 2, BX_LR);
    put(TABLE + 4 * i, codeWord(code));
    put(TABLE + 4 * i + 2, (FUNCTIONS + 4 * i) | 1);
  });
  return words;
}

/** CRC-32 as the boot ROM computes it over the second stage: not reflected, no final inversion. */
function boot2Checksum(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}

export class BootRom {
  constructor(board) {
    this.board = board;
    this.connected = false;
    this.xip = true;
  }

  /** Copies the second stage to RAM and starts it on core 0, as the ROM does; stops if its checksum is wrong. */
  start(core) {
    const { flash, ram } = this.board.memory;
    const boot2 = flash.subarray(0, BOOT2_BYTES);
    const stored = new DataView(boot2.buffer, boot2.byteOffset).getUint32(BOOT2_BYTES - 4, true);
    const computed = boot2Checksum(boot2.subarray(0, BOOT2_BYTES - 4));
    if (stored !== computed) {
      const hex = (value) => `0x${value.toString(16).padStart(8, '0')}`;
      const detail = `the second-stage boot has checksum ${hex(stored)}, it should be ${hex(computed)}`;
      this.board.stop('no-boot', { detail });
      return;
    }
    this.board.flashChip.continuous = false; // the ROM leaves whatever mode a program was in
    ram.set(boot2, BOOT2_ADDRESS - RAM_BASE);
    core.registers[13] = BOOT2_ADDRESS;
    core.registers[14] = 0; // tells the second stage to go on to the vector table behind it
    core.registers[15] = BOOT2_ADDRESS;
  }

  /** Serves breakpoint `number` at a ROM address; false when it is none of the ROM's. */
  serve(core, number) {
    const r = core.registers;
    if (number === LOOKUP_NUMBER) {
      r[0] = this.#lookup(core, r[0], r[1] & 0xffff);
      return true;
    }
    const code = codes[number - FIRST_NUMBER];
    if (code === undefined) return false;
    this.core = core;
    routines[code](this, r);
    return true;
  }

  #lookup(core, table, wanted) {
    for (let at = table; ; at += 4) {
      const code = core.readUint16(at);
      if (code === wanted) return core.readUint16(at + 2);
      if (code === 0) return 0;
    }
  }

  leaveXip() {
    if (!this.connected) this.#misuse('flash_exit_xip before connect_internal_flash');
    this.board.flashChip.continuous = false;
    this.#setXip(false);
  }

  enterXip() {
    this.connected = false;
    this.board.serialFlash.setPlainRead();
    this.#setXip(true);
  }

  #setXip(on) {
    this.xip = on;
    for (const core of this.board.cores) core.readableFlash = on ? this.board.memory.flashBytes : 0;
  }

  erase(offset, count) {
    this.#checkRange('flash_range_erase', offset, count, SECTOR_BYTES);
    const done = this.#begin(count);
    this.board.memory.flash.fill(0xff, offset, offset + done);
    this.board.memory.flashChanged(offset, done);
    this.#took((ERASE_NANOSECONDS * count) / SECTOR_BYTES);
  }

  program(offset, source, count) {
    this.#checkRange('flash_range_program', offset, count, PAGE_BYTES);
    const { flash } = this.board.memory;
    const done = this.#begin(count);
    for (let i = 0; i < done; i++) flash[offset + i] &= this.core.readUint8(source + i); // bits only go from 1 to 0
    this.board.memory.flashChanged(offset, done);
    this.#took((PROGRAM_NANOSECONDS * count) / PAGE_BYTES);
  }

  #checkRange(name, offset, count, unit) {
    if (this.xip) this.#misuse(`${name} before flash_exit_xip`);
    const { flashBytes } = this.board.memory;
    if (offset % unit || count % unit || offset + count > flashBytes) {
      this.#misuse(`${name}(0x${offset.toString(16)}, ${count}): multiples of ${unit} below ${flashBytes} are needed`, offset);
    }
  }

  #misuse(detail, offset = 0) {
    throw new Fault(FaultKind.flashArguments, FLASH_BASE + offset, detail);
  }

  /** Counts an operation on `count` bytes; returns how many of them it comes to before the power fails, if it does. */
  #begin(count) {
    this.board.flashOperations++;
    const { flashOperations, powerFailsAt } = this.board;
    if (powerFailsAt === null || flashOperations !== Math.floor(powerFailsAt)) return count;
    this.board.stop('power-failure', { detail: `in flash operation ${flashOperations}` });
    return Math.floor(count * (powerFailsAt - flashOperations));
  }

  #took(nanoseconds) {
    this.board.pass(nanoseconds);
  }
}

/** Core 1 in the ROM: it echoes 0, 0, 1, vector table, stack, entry, and then starts there. */
export class Core1Launcher {
  constructor(board) {
    this.board = board;
    this.words = [];
  }

  receive(word) {
    const expected = [0, 0, 1][this.words.length];
    if (expected !== undefined && word !== expected) {
      this.words = [];
      this.board.mailboxes.deliver(0, 0);
      return;
    }
    this.words.push(word);
    this.board.mailboxes.deliver(0, word);
    if (this.words.length === 6) {
      const [, , , vectors, stack, entry] = this.words;
      this.words = [];
      this.board.startCore1(vectors, stack, entry);
    }
  }
}
