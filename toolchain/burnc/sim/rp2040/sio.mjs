// Single-cycle I/O as one core sees it: core number, mailbox FIFO and divider are its own; GPIO and spinlocks are
// shared; interpolators come from the package.
import { RPSIO } from './package.mjs';
import { Fault, FaultKind } from './faults.mjs';

const CPUID = 0x00;
const FIFO_STATUS = 0x50;
const FIFO_WRITE = 0x54;
const FIFO_READ = 0x58;
const SPINLOCK_STATUS = 0x5c;
const UNSIGNED_DIVIDEND = 0x60;
const UNSIGNED_DIVISOR = 0x64;
const SIGNED_DIVIDEND = 0x68;
const SIGNED_DIVISOR = 0x6c;
const QUOTIENT = 0x70;
const REMAINDER = 0x74;
const DIVIDER_STATUS = 0x78;
const INTERPOLATORS = 0x80;
const SPINLOCKS = 0x100;
const SIO_BYTES = 0x180;

const FIFO_WORDS = 8;
const FIFO_IRQ = 15; // + core number
const READY = 1;
const DIRTY = 2;
const DIVIDER_CYCLES = 8;

/** The two mailbox FIFOs; `words[i]` are on their way to core i. */
export class Mailboxes {
  constructor(board) {
    this.board = board;
    this.words = [[], []];
    this.overflow = [false, false]; // core i wrote to a full FIFO
    this.underflow = [false, false]; // core i read an empty FIFO
  }

  status(id) {
    const readable = this.words[id].length > 0 ? 1 : 0;
    const writable = this.words[1 - id].length < FIFO_WORDS ? 2 : 0;
    return readable | writable | (this.overflow[id] ? 4 : 0) | (this.underflow[id] ? 8 : 0);
  }

  clearErrors(id) {
    this.overflow[id] = this.underflow[id] = false;
    this.#updateInterrupt(id);
  }

  read(id) {
    const word = this.words[id].shift();
    if (word === undefined) this.underflow[id] = true;
    this.#updateInterrupt(id);
    return word ?? 0;
  }

  write(id, word) {
    if (this.board.takesLaunchWord(id)) this.board.launcher.receive(word);
    else if (this.words[1 - id].length >= FIFO_WORDS) this.overflow[id] = true;
    else this.deliver(1 - id, word);
    this.#updateInterrupt(id);
  }

  deliver(id, word) {
    if (this.words[id].length < FIFO_WORDS) this.words[id].push(word >>> 0);
    this.#updateInterrupt(id);
  }

  #updateInterrupt(id) {
    const wanted = this.words[id].length > 0 || this.overflow[id] || this.underflow[id];
    this.board.cores[id].setInterrupt(FIFO_IRQ + id, wanted);
  }
}

/** The hardware divider of one core. The package's has no signed division by zero and charges cycles for writes. */
class Divider {
  constructor(core) {
    this.core = core;
    this.dividend = 0;
    this.divisor = 0;
    this.quotient = 0;
    this.remainder = 0;
    this.dirty = false;
    this.readyAt = 0;
  }

  start(signed) {
    this.dirty = true;
    this.readyAt = this.core.cycles + DIVIDER_CYCLES;
    const dividend = signed ? this.dividend | 0 : this.dividend;
    const divisor = signed ? this.divisor | 0 : this.divisor;
    if (divisor === 0) {
      this.quotient = signed && dividend < 0 ? 1 : 0xffffffff;
      this.remainder = this.dividend;
    } else {
      this.quotient = Math.trunc(dividend / divisor) >>> 0;
      this.remainder = (dividend % divisor) >>> 0;
    }
  }

  /** A result read too early is garbage on the chip, so it is a fault here. */
  checkReady(offset) {
    if (this.core.cycles < this.readyAt) {
      throw new Fault(FaultKind.unsupported, 0xd0000000 + offset, 'divider result read before its 8 cycles were over');
    }
  }

  read(offset) {
    switch (offset) {
      case UNSIGNED_DIVIDEND:
      case SIGNED_DIVIDEND:
        return this.dividend;
      case UNSIGNED_DIVISOR:
      case SIGNED_DIVISOR:
        return this.divisor;
      case QUOTIENT:
        this.checkReady(offset);
        this.dirty = false;
        return this.quotient;
      case REMAINDER:
        this.checkReady(offset);
        return this.remainder;
      default:
        return (this.core.cycles >= this.readyAt ? READY : 0) | (this.dirty ? DIRTY : 0);
    }
  }

  write(offset, value) {
    switch (offset) {
      case UNSIGNED_DIVIDEND:
      case SIGNED_DIVIDEND:
        this.dividend = value;
        this.start(offset === SIGNED_DIVIDEND);
        break;
      case UNSIGNED_DIVISOR:
      case SIGNED_DIVISOR:
        this.divisor = value;
        this.start(offset === SIGNED_DIVISOR);
        break;
      case QUOTIENT:
        this.quotient = value;
        this.dirty = true;
        break;
      case REMAINDER:
        this.remainder = value;
        this.dirty = true;
        break;
      default: // the status register is read-only
    }
  }
}

export class Sio extends RPSIO {
  /** @param shared the package's SIO object that holds GPIO and spinlocks for both cores */
  constructor(bus, core, mailboxes, shared) {
    super(bus);
    this.core = core;
    this.mailboxes = mailboxes;
    this.shared = shared;
    this.divider = new Divider(core);
  }

  readUint32(offset) {
    if (offset === CPUID) return this.core.id;
    if (offset === FIFO_STATUS) return this.mailboxes.status(this.core.id);
    if (offset === FIFO_READ) return this.mailboxes.read(this.core.id);
    if (offset >= UNSIGNED_DIVIDEND && offset <= DIVIDER_STATUS) return this.divider.read(offset);
    if (offset >= INTERPOLATORS && offset < SPINLOCKS) return super.readUint32(offset);
    if (offset <= SPINLOCK_STATUS || offset < SIO_BYTES) return this.shared.readUint32(offset);
    throw new Fault(FaultKind.unmappedLoad, 0xd0000000 + offset, 'no such SIO register');
  }

  writeUint32(offset, value) {
    if (offset === FIFO_STATUS) this.mailboxes.clearErrors(this.core.id);
    else if (offset === FIFO_WRITE) this.mailboxes.write(this.core.id, value >>> 0);
    else if (offset >= UNSIGNED_DIVIDEND && offset <= DIVIDER_STATUS) this.divider.write(offset, value >>> 0);
    else if (offset >= INTERPOLATORS && offset < SPINLOCKS) super.writeUint32(offset, value);
    else if (offset < SIO_BYTES) this.shared.writeUint32(offset, value);
    else throw new Fault(FaultKind.unmappedStore, 0xd0000000 + offset, 'no such SIO register');
  }
}
