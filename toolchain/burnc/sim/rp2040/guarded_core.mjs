// A core that may not touch certain bytes of RAM: what lies between the buffers of a program under test. The start,
// which clears all of it, is over when the host speaks.
import { Core } from './core.mjs';
import { Fault, FaultKind } from './faults.mjs';
import { RAM_BASE, RAM_BYTES } from './memory.mjs';

export class GuardedCore extends Core {
  constructor(bus, id, board) {
    super(bus, id, board);
    this.guarded = new Uint8Array(RAM_BYTES);
    for (const [first, end] of board.guards) this.guarded.fill(1, first - RAM_BASE, end - RAM_BASE);
  }

  #watch(address, bytes, access) {
    if (!this.board.uart.heard) return;
    const offset = (address - RAM_BASE) >>> 0;
    for (let i = offset; i < offset + bytes; i++) {
      if (this.guarded[i] === 1) throw new Fault(FaultKind.guarded, address, access);
    }
  }

  readUint32(address) {
    this.#watch(address, 4, 'load');
    return super.readUint32(address);
  }

  readUint16(address) {
    this.#watch(address, 2, 'load');
    return super.readUint16(address);
  }

  readUint8(address) {
    this.#watch(address, 1, 'load');
    return super.readUint8(address);
  }

  writeUint32(address, value) {
    this.#watch(address, 4, 'store');
    super.writeUint32(address, value);
  }

  writeUint16(address, value) {
    this.#watch(address, 2, 'store');
    super.writeUint16(address, value);
  }

  writeUint8(address, value) {
    this.#watch(address, 1, 'store');
    super.writeUint8(address, value);
  }
}
