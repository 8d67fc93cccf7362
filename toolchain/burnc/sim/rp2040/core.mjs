// One Cortex-M0+ core: strict memory accesses and exact cycles around the package's registers and exceptions.
import { CortexM0Core } from './package.mjs';
import { Fault, FaultKind } from './faults.mjs';
import { INSTRUCTIONS } from './instructions/table.mjs';
import './instructions/arithmetic.mjs';
import './instructions/control.mjs';
import './instructions/memory_access.mjs';
import { RAM_BASE, RAM_BYTES } from './memory.mjs';

const ROM_BYTES = 16 * 1024;
const NULL_PAGE_BYTES = 16; // ROM words that only a null pointer would read
const XIP_CONTROL = 0x14000000;
const DPRAM = 0x50100000;
const DPRAM_BYTES = 4096;
const EXCEPTION_ENTRY_CYCLES = 15;

// Cycles beyond two, by the upper four bits of the address: the APB bridge is slow (the package's figures), the
// single-cycle I/O port is not.
const EXTRA_LOAD_CYCLES = new Int8Array(16);
const EXTRA_STORE_CYCLES = new Int8Array(16);
EXTRA_LOAD_CYCLES[0x4] = 2;
EXTRA_STORE_CYCLES[0x4] = 3;
EXTRA_LOAD_CYCLES[0xd] = EXTRA_STORE_CYCLES[0xd] = -1;

export class Core extends CortexM0Core {
  constructor(bus, id, board) {
    super(bus);
    const { flash, ram, flashBytes } = board.memory;
    this.id = id;
    this.board = board;
    this.instructions = 0;
    this.instructionAddress = 0;
    this.waitingForEvent = false;
    this.systickDue = Infinity; // value of `cycles` at which the SysTick exception becomes pending
    this.readableFlash = flashBytes; // 0 while execute-in-place is off
    this.flashCache = board.flashCache; // null where flash takes no extra time
    this.ports = null; // while there is another core to contend with
    this.ram8 = ram;
    this.ram16 = new Uint16Array(ram.buffer);
    this.ram32 = new Uint32Array(ram.buffer);
    this.flash8 = flash;
    this.flash16 = new Uint16Array(flash.buffer);
    this.flash32 = new Uint32Array(flash.buffer);
  }

  /** Runs one instruction and returns the cycles it took. */
  step() {
    const before = this.cycles;
    if (before >= this.systickDue) this.rp2040.ppb.systickElapsed();
    if (this.interruptsUpdated && this.checkForInterrupts()) this.waiting = false;
    const pc = this.registers[15];
    this.instructionAddress = pc;
    const opcode = this.fetch(pc);
    INSTRUCTIONS[opcode >>> 6](this, opcode);
    this.instructions++;
    return this.cycles - before;
  }

  /** Stops until an interrupt, or until SEV when `forEvent`. */
  sleep(forEvent) {
    this.waiting = true;
    this.waitingForEvent = forEvent;
    this.board.attention = true;
  }

  /** The instruction at `pc`; every second one came along with the word that was read before. */
  fetch(pc) {
    const ramOffset = (pc - RAM_BASE) >>> 0;
    if (ramOffset < RAM_BYTES) {
      if (this.ports !== null && (pc & 2) === 0) this.cycles += this.ports.ram(ramOffset, this.cycles, this.id);
      return this.ram16[ramOffset >>> 1];
    }
    if (pc >>> 26 === 4) {
      const offset = pc & 0xffffff;
      if (offset < this.readableFlash) {
        if (this.flashCache !== null) this.waitForFlash(offset, this.cycles, (pc & 2) === 0);
        return this.flash16[offset >>> 1];
      }
      if (offset < this.board.memory.flashBytes) throw new Fault(FaultKind.flashBusy, pc, 'execution from flash');
    }
    if (pc >= NULL_PAGE_BYTES && pc < ROM_BYTES) return this.rp2040.readUint16(pc);
    throw new Fault(FaultKind.badExecution, pc);
  }

  /** A load or store, which comes one cycle after the fetch of its instruction. */
  contend(ramOffset) {
    this.cycles += this.ports.ram(ramOffset, this.cycles + 1, this.id);
  }

  waitForFlash(offset, cycle, isRead) {
    const wait = this.flashCache.access(offset, cycle);
    this.cycles += wait;
    if (this.ports !== null && isRead) this.cycles += this.ports.flash(cycle + wait, this.id);
  }

  readUint32(address) {
    address >>>= 0;
    if (address & 3) throw new Fault(FaultKind.unalignedLoad, address, 'word');
    const ramOffset = (address - RAM_BASE) >>> 0;
    if (ramOffset < RAM_BYTES) {
      if (this.ports !== null) this.contend(ramOffset);
      return this.ram32[ramOffset >>> 2];
    }
    if (address >>> 26 === 4 && (address & 0xffffff) < this.readableFlash) {
      const offset = address & 0xffffff;
      if (this.flashCache !== null) this.waitForFlash(offset, this.cycles + 1, true);
      return this.flash32[offset >>> 2];
    }
    if (address >>> 8 === XIP_CONTROL >>> 8) return this.board.readXipControl(address & 0xff);
    this.checkLoad(address);
    const value = this.rp2040.readUint32(address);
    this.cycles += EXTRA_LOAD_CYCLES[address >>> 28];
    return value;
  }

  readUint16(address) {
    address >>>= 0;
    if (address & 1) throw new Fault(FaultKind.unalignedLoad, address, 'halfword');
    const ramOffset = (address - RAM_BASE) >>> 0;
    if (ramOffset < RAM_BYTES) {
      if (this.ports !== null) this.contend(ramOffset);
      return this.ram16[ramOffset >>> 1];
    }
    if (address >>> 26 === 4 && (address & 0xffffff) < this.readableFlash) {
      const offset = address & 0xffffff;
      if (this.flashCache !== null) this.waitForFlash(offset, this.cycles + 1, true);
      return this.flash16[offset >>> 1];
    }
    this.checkLoad(address);
    const value = this.rp2040.readUint16(address);
    this.cycles += EXTRA_LOAD_CYCLES[address >>> 28];
    return value;
  }

  readUint8(address) {
    address >>>= 0;
    const ramOffset = (address - RAM_BASE) >>> 0;
    if (ramOffset < RAM_BYTES) {
      if (this.ports !== null) this.contend(ramOffset);
      return this.ram8[ramOffset];
    }
    if (address >>> 26 === 4 && (address & 0xffffff) < this.readableFlash) {
      const offset = address & 0xffffff;
      if (this.flashCache !== null) this.waitForFlash(offset, this.cycles + 1, true);
      return this.flash8[offset];
    }
    this.checkLoad(address);
    const value = this.rp2040.readUint8(address);
    this.cycles += EXTRA_LOAD_CYCLES[address >>> 28];
    return value;
  }

  writeUint32(address, value) {
    address >>>= 0;
    if (address & 3) throw new Fault(FaultKind.unalignedStore, address, 'word');
    const ramOffset = (address - RAM_BASE) >>> 0;
    if (ramOffset < RAM_BYTES) {
      if (this.ports !== null) this.contend(ramOffset);
      this.ram32[ramOffset >>> 2] = value;
    } else if (address >>> 8 === XIP_CONTROL >>> 8) {
      this.board.writeXipControl(address & 0xff, value);
    } else {
      this.checkStore(address);
      this.rp2040.writeUint32(address, value);
      this.cycles += EXTRA_STORE_CYCLES[address >>> 28];
    }
  }

  writeUint16(address, value) {
    address >>>= 0;
    if (address & 1) throw new Fault(FaultKind.unalignedStore, address, 'halfword');
    const ramOffset = (address - RAM_BASE) >>> 0;
    if (ramOffset < RAM_BYTES) {
      if (this.ports !== null) this.contend(ramOffset);
      this.ram16[ramOffset >>> 1] = value;
    } else {
      this.checkStore(address);
      this.rp2040.writeUint16(address, value);
      this.cycles += EXTRA_STORE_CYCLES[address >>> 28];
    }
  }

  writeUint8(address, value) {
    address >>>= 0;
    const ramOffset = (address - RAM_BASE) >>> 0;
    if (ramOffset < RAM_BYTES) {
      if (this.ports !== null) this.contend(ramOffset);
      this.ram8[ramOffset] = value;
    } else {
      this.checkStore(address);
      this.rp2040.writeUint8(address, value);
      this.cycles += EXTRA_STORE_CYCLES[address >>> 28];
    }
  }

  /** Raises the fault that the load at `address`, which is neither RAM nor readable flash, deserves. */
  checkLoad(address) {
    if (address < NULL_PAGE_BYTES) throw new Fault(FaultKind.nullPointer, address, 'load');
    if (address < ROM_BYTES) return;
    if (this.isPeripheral(address)) {
      this.board.syncClock();
      return;
    }
    if (address >>> 26 === 4 && (address & 0xffffff) < this.board.memory.flashBytes) {
      throw new Fault(FaultKind.flashBusy, address, 'load from flash');
    }
    throw new Fault(FaultKind.unmappedLoad, address);
  }

  checkStore(address) {
    if (this.isPeripheral(address)) {
      this.board.syncClock();
      return;
    }
    if (address < NULL_PAGE_BYTES) throw new Fault(FaultKind.nullPointer, address, 'store');
    if (address < ROM_BYTES) throw new Fault(FaultKind.storeToRom, address);
    if (address >>> 26 === 4) throw new Fault(FaultKind.storeToFlash, address);
    throw new Fault(FaultKind.unmappedStore, address);
  }

  isPeripheral(address) {
    if (address >>> 28 === 0xd) return address >>> 12 === 0xd0000; // SIO
    if (address >>> 12 === 0xe000e) return true; // private peripherals of the core
    if ((address - DPRAM) >>> 0 < DPRAM_BYTES) return true;
    return this.rp2040.findPeripheral(address) !== undefined;
  }

  BXWritePC(address) {
    const isReturn = this.IPSR !== 0 && address >>> 28 === 0xf;
    if (!isReturn && (address & 1) === 0) throw new Fault(FaultKind.notThumb, address);
    super.BXWritePC(address);
  }

  exceptionEntry(number) {
    super.exceptionEntry(number);
    if ((this.registers[15] & 1) === 0) throw new Fault(FaultKind.notThumb, this.registers[15], `vector ${number}`);
    this.registers[15] &= ~1;
    this.cycles += EXCEPTION_ENTRY_CYCLES;
  }

  setInterrupt(irq, value) {
    if (value && this.waiting && this.PM) {
      // With PRIMASK set a pending interrupt ends WFI but is not taken; the package would take it.
      this.pendingInterrupts |= 1 << irq;
      this.interruptsUpdated = true;
      if (this.enabledInterrupts & (1 << irq)) this.waiting = false;
      return;
    }
    super.setInterrupt(irq, value);
  }
}
