// Contention of the two cores: a memory's port serves one access in a cycle, and the core that comes second waits.
// RAM has six ports: four banks that hold every fourth word, and two small ones behind them. Flash has one.
import { RAM_BYTES } from './memory.mjs';

const STRIPED_BYTES = 256 * 1024;
const STRIPES = 4;
const SMALL_BANK_BYTES = 4096;
const FLASH = STRIPES + (RAM_BYTES - STRIPED_BYTES) / SMALL_BANK_BYTES;

export class Ports {
  constructor() {
    this.cycles = new Float64Array(FLASH + 1).fill(-1); // of the last access
    this.cores = new Int8Array(FLASH + 1);
  }

  /** Core `id` accesses RAM at `offset` in that cycle; returns the cycles that it has to wait. */
  ram(offset, cycle, id) {
    const isStriped = offset < STRIPED_BYTES;
    const bank = isStriped ? (offset >>> 2) % STRIPES : STRIPES + ((offset - STRIPED_BYTES) >>> 12);
    return this.#access(bank, cycle, id);
  }

  flash(cycle, id) {
    return this.#access(FLASH, cycle, id);
  }

  #access(port, cycle, id) {
    const isTaken = this.cycles[port] === cycle && this.cores[port] !== id;
    const wait = isTaken ? 1 : 0;
    this.cycles[port] = cycle + wait;
    this.cores[port] = id;
    return wait;
  }
}
