// Flash and RAM, which outlive a reset of the chip, and the image that is loaded into them.
import { existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';

export const FLASH_BASE = 0x10000000;
export const RAM_BASE = 0x20000000;
export const RAM_BYTES = 264 * 1024;
const WINDOW_BYTES = 16 * 1024 * 1024; // the package's flash window; what lies above `flashBytes` is not there

export class Memory {
  constructor(flashBytes) {
    this.flashBytes = flashBytes;
    this.flash = new Uint8Array(WINDOW_BYTES).fill(0xff);
    this.ram = new Uint8Array(RAM_BYTES);
    this.file = null; // descriptor of the file that flash is kept in
  }

  /** Keeps flash in a file that outlives this process: takes up what it holds, or begins it with the image. */
  keepFlashIn(path, image) {
    if (existsSync(path)) {
      const kept = readFileSync(path);
      if (kept.length !== this.flashBytes) throw new Error(`${path} has ${kept.length} bytes, not ${this.flashBytes}`);
      this.flash.set(kept);
    } else {
      this.loadImage(image);
      writeFileSync(path, this.flash.subarray(0, this.flashBytes));
    }
    this.file = openSync(path, 'r+');
  }

  /** Writes through what has changed in flash, at once: the process may be killed at any time. */
  flashChanged(offset, count) {
    if (this.file !== null) writeSync(this.file, this.flash, offset, count, offset);
  }

  /** Copies one loadable piece to where it lives before the start: flash, or RAM for images linked there. */
  place(address, bytes) {
    if (address >= FLASH_BASE && address + bytes.length <= FLASH_BASE + this.flashBytes) {
      this.flash.set(bytes, address - FLASH_BASE);
    } else if (address >= RAM_BASE && address + bytes.length <= RAM_BASE + RAM_BYTES) {
      this.ram.set(bytes, address - RAM_BASE);
    } else {
      throw new Error(`the image loads ${bytes.length} bytes at 0x${address.toString(16)}, outside flash and RAM`);
    }
  }

  /** Loads an ELF or UF2 file, or a plain binary of the flash from its first byte. */
  loadImage(path) {
    const file = readFileSync(path);
    if (file.length >= 52 && file.readUInt32BE(0) === 0x7f454c46) this.#loadElf(file);
    else if (file.length >= 512 && file.readUInt32LE(0) === 0x0a324655) this.#loadUf2(file);
    else this.place(FLASH_BASE, file);
  }

  #loadElf(file) {
    const headers = file.readUInt32LE(28);
    const size = file.readUInt16LE(42);
    const count = file.readUInt16LE(44);
    for (let i = 0; i < count; i++) {
      const at = headers + i * size;
      const bytes = file.readUInt32LE(at + 16);
      if (file.readUInt32LE(at) !== 1 || bytes === 0) continue; // PT_LOAD with contents
      const offset = file.readUInt32LE(at + 4);
      this.place(file.readUInt32LE(at + 12), file.subarray(offset, offset + bytes)); // p_paddr
    }
  }

  #loadUf2(file) {
    for (let at = 0; at + 512 <= file.length; at += 512) {
      const flags = file.readUInt32LE(at + 8);
      if (flags & 1) continue; // "not for main flash"
      this.place(file.readUInt32LE(at + 12), file.subarray(at + 32, at + 32 + file.readUInt32LE(at + 16)));
    }
  }
}
