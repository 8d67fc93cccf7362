// A Raspberry Pi Pico: the package's RP2040 with two strict cores, the boot ROM's services and resets. Both cores run
// in lockstep by their cycle counts.
import { RP2040 } from './package.mjs';
import { BootRom, Core1Launcher, romImage } from './bootrom.mjs';
import { Core } from './core.mjs';
import { Fault, FaultKind, faultReport } from './faults.mjs';
import { FlashCache } from './flash_cache.mjs';
import { GuardedCore } from './guarded_core.mjs';
import { Memory } from './memory.mjs';
import { Ports } from './ports.mjs';
import { FlashChip, SerialFlash } from './serial_flash.mjs';
import { Mailboxes, Sio } from './sio.mjs';
import { PrivatePeripherals } from './systick.mjs';
import { UartLink } from './uart_link.mjs';

const ROM_BYTES = 16 * 1024;
const WATCHDOG = 0x40058;
const POWER_STATES = 0x40010;
const SSI = 0x18000;
const FORCE_OFF = 0x04;
const CORE1_POWER = 1 << 16;
const XIP_FLUSH = 0x04;
const XIP_STATUS = 0x08;
const XIP_FIFO_EMPTY = 2;
const SEMIHOSTING = 0xab;
const SYS_EXIT = 0x18;
const APPLICATION_EXIT = 0x20026;
const EMPTY_POLLS_PER_SLICE = 64;
const IDLE_NANOSECONDS = 1000;
const WARNINGS_KEPT = 20;

export class Board {
  /**
   * @param {{image: string, flashBytes: number, flashFile: string?, flashCache: object?, powerFailsAt: number?,
   *   guards: number[][]?, onEvent: (event: object) => void}} options power fails at 3.25, say, when a quarter of the third flash operation is done
   */
  constructor({ image, flashBytes, flashFile = null, flashCache = null, powerFailsAt = null, guards = [], onEvent }) {
    this.memory = new Memory(flashBytes);
    if (flashFile === null) this.memory.loadImage(image);
    else this.memory.keepFlashIn(flashFile, image);
    this.powerFailsAt = powerFailsAt;
    this.guards = guards; // [first, end) addresses in RAM that no core may touch
    this.flashCache = flashCache === null ? null : new FlashCache(flashCache);
    this.flashChip = new FlashChip();
    this.uart = new UartLink();
    this.onEvent = onEvent;
    this.stopped = null;
    this.resets = 0;
    this.flashOperations = 0;
    this.retired = { instructions: [0, 0], cycles: [0, 0], nanoseconds: 0 }; // of earlier lives, before resets
    this.warnings = new Set();
    this.#powerUp();
    this.rom.start(this.cores[0]);
  }

  /** Builds a fresh chip around the memory that survives. */
  #powerUp() {
    const chip = new RP2040();
    const { flash, ram } = this.memory;
    chip.flash = flash;
    chip.flash16 = new Uint16Array(flash.buffer);
    chip.flashView = new DataView(flash.buffer);
    chip.sram = ram;
    chip.sramView = new DataView(ram.buffer);
    chip.bootrom.set(romImage());
    chip.logger = {
      debug() {},
      info() {},
      warn: (name, message) => this.#packageWarning(name, message),
      error: (name, message) => this.#packageWarning(name, message),
    };
    chip.onBreak = (code) => {
      throw new Fault(FaultKind.undefinedInstruction, 0, `udf.w #${code}`); // udf and bkpt never reach the package
    };
    this.serialFlash = new SerialFlash(chip, this.flashChip, {
      lineBytes: this.flashCache?.lineBytes ?? 8,
      onMode: (cycles) => {
        if (this.flashCache !== null) this.flashCache.missCycles = cycles;
      },
    });
    chip.peripherals[SSI] = this.serialFlash;
    this.chip = chip;
    this.resetRequest = null;
    this.attention = false; // something outside the running core may have changed
    this.syncedCycles = 0; // of core 0, up to which the chip's clock has been advanced
    this.flashCache?.restart();
    // Core 1 sees the same chip except for what each core has of its own.
    const bus1 = Object.create(chip);
    this.cores = [chip, bus1].map((bus, id) => {
      const core = this.guards.length > 0 ? new GuardedCore(bus, id, this) : new Core(bus, id, this);
      bus.core = core;
      bus.ppb = new PrivatePeripherals(bus, `PPB${id}`, core);
      return core;
    });
    this.mailboxes = new Mailboxes(this);
    const shared = chip.sio;
    [chip, bus1].forEach((bus, id) => {
      bus.sio = new Sio(bus, this.cores[id], this.mailboxes, shared);
    });
    chip.setInterrupt = (irq, value) => {
      for (const core of this.cores) core.setInterrupt(irq, value);
    };
    this.rom = new BootRom(this);
    this.#holdCore1();
    chip.peripherals[WATCHDOG].onWatchdogTrigger = () => this.requestReset('watchdog');
    this.#watchPowerStates(chip.peripherals[POWER_STATES]);
    this.uart.attach(chip.uart[0]);
    this.nanosecondsPerCycle = 1e9 / chip.clkSys;
    chip.addClockListener((hertz) => {
      this.nanosecondsPerCycle = 1e9 / hertz;
    });
  }

  #holdCore1() {
    this.core1Running = false;
    for (const core of this.cores) core.ports = null;
    this.cores[1].waiting = true;
    this.launcher = new Core1Launcher(this);
  }

  #watchPowerStates(peripheral) {
    const write = peripheral.writeUint32.bind(peripheral);
    peripheral.writeUint32 = (offset, value) => {
      write(offset, value);
      if (offset === FORCE_OFF && value & CORE1_POWER) this.#holdCore1();
    };
  }

  #packageWarning(name, message) {
    if (name === 'CortexM0Core') throw new Fault(FaultKind.undefinedInstruction, 0, message);
    const text = `${name}: ${message}`;
    if (this.warnings.has(text) || this.warnings.size >= WARNINGS_KEPT) return;
    this.warnings.add(text);
    this.onEvent({ event: 'warning', text });
  }

  stop(reason, details = {}) {
    this.attention = true;
    this.stopped ??= { event: 'stopped', reason, ...details };
  }

  requestReset(cause) {
    this.resetRequest = cause;
    this.attention = true;
  }

  /** A new chip with the old memory; the watchdog's scratch registers and its reason survive as on silicon. */
  #reset() {
    const cause = this.resetRequest;
    const { scratchData, reason } = this.chip.peripherals[WATCHDOG];
    this.cores.forEach((core, id) => {
      this.retired.instructions[id] += core.instructions;
      this.retired.cycles[id] += core.cycles;
    });
    this.retired.nanoseconds += this.chip.clock.nanos;
    this.#powerUp();
    const watchdog = this.chip.peripherals[WATCHDOG];
    watchdog.scratchData.set(scratchData);
    watchdog.reason = cause === 'watchdog' ? reason : 0;
    this.resets++;
    this.onEvent({ event: 'reset', cause });
    this.rom.start(this.cores[0]);
  }

  startCore1(vectors, stack, entry) {
    const core = this.cores[1];
    core.VTOR = vectors;
    core.registers[13] = stack & ~3;
    core.registers[15] = entry & ~1;
    core.cycles = this.cores[0].cycles;
    core.waiting = false;
    this.core1Running = true;
    const ports = this.flashCache === null ? null : new Ports();
    for (const each of this.cores) each.ports = ports;
  }

  /** Whether a word that core `id` sends goes to the boot ROM of a core 1 that has not been launched. */
  takesLaunchWord(id) {
    return id === 0 && !this.core1Running;
  }

  sendEvent() {
    this.attention = true;
    for (const core of this.cores) {
      if (core.waiting && core.waitingForEvent) core.waiting = core.waitingForEvent = false;
      else core.eventRegistered = true;
    }
  }

  breakpoint(core, number) {
    const inRom = core.instructionAddress < ROM_BYTES;
    if (inRom && this.rom.serve(core, number)) return;
    if (number === SEMIHOSTING && core.registers[0] === SYS_EXIT) {
      this.stop('exit', { status: core.registers[1] === APPLICATION_EXIT ? 0 : 1 });
      return;
    }
    throw new Fault(FaultKind.breakpoint, core.instructionAddress, `bkpt #${number}`);
  }

  readXipControl(offset) {
    return offset === XIP_STATUS ? XIP_FIFO_EMPTY : 0;
  }

  writeXipControl(offset) {
    if (offset === XIP_FLUSH) this.flashCache?.flush();
  }

  /** Lets time pass for core 0 without instructions. */
  pass(nanoseconds) {
    this.cores[0].cycles += Math.max(1, Math.round(nanoseconds / this.nanosecondsPerCycle));
    this.syncClock();
  }

  /** Advances the chip's clock, and so its timers, to where core 0 is; every access to a peripheral starts with it. */
  syncClock() {
    const { cycles } = this.cores[0];
    if (cycles > this.syncedCycles) {
      this.chip.clock.tick((cycles - this.syncedCycles) * this.nanosecondsPerCycle);
      this.syncedCycles = cycles;
    }
    this.attention = true;
  }

  /** The cycle of core 0 at which a timer of the chip goes off. */
  #nextAlarm() {
    const { nextAlarm, nanosCounter } = this.chip.clock;
    if (nextAlarm === null) return Infinity;
    return this.syncedCycles + Math.ceil((nextAlarm.nanos - nanosCounter) / this.nanosecondsPerCycle);
  }

  /** Runs up to `budget` instructions; returns early when stopped, asleep, or polling for host bytes that are not there. */
  run(budget) {
    this.uart.emptyPolls = 0;
    [this.running] = this.cores;
    try {
      for (let left = budget; left > 0 && this.stopped === null; ) {
        if (this.resetRequest !== null) this.#reset();
        if (this.cores.every((core) => core.waiting)) {
          if (!this.#sleep()) return;
          left--;
        } else {
          left -= this.#burst(left);
        }
        if (this.uart.emptyPolls >= EMPTY_POLLS_PER_SLICE) return;
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.stop('fault', { fault: faultReport(error, this.running) });
    }
  }

  /** Runs whichever cores are awake until something else has to be looked at; returns the number of instructions. */
  #burst(budget) {
    const pios = this.chip.pio.filter((pio) => !pio.stopped);
    const limit = pios.length > 0 ? 1 : budget;
    const alarm = this.#nextAlarm();
    const [core0, core1] = this.cores;
    const before = core0.cycles;
    let count = 0;
    this.attention = false;
    if (core0.waiting || core1.waiting) {
      const [core, sleeper] = core1.waiting ? [core0, core1] : [core1, core0];
      this.running = core;
      do {
        core.step();
        count++;
      } while (count < limit && !this.attention && core.cycles < alarm);
      sleeper.cycles = core.cycles;
    } else {
      do {
        this.running = core0.cycles <= core1.cycles ? core0 : core1;
        this.running.step();
        count++;
      } while (count < limit && !this.attention && core0.cycles < alarm);
    }
    this.syncClock();
    for (const pio of pios) {
      for (let i = before; i < core0.cycles; i++) pio.step();
    }
    return count;
  }

  /** Both cores sleep: skips to the next alarm. Returns false when only the host can wake them. */
  #sleep() {
    const [core0] = this.cores;
    const due = Math.min(this.#nextAlarm(), ...this.cores.map((core) => core.systickDue));
    const wait = due === Infinity ? IDLE_NANOSECONDS : (due - core0.cycles) * this.nanosecondsPerCycle;
    this.pass(wait);
    for (const core of this.cores) {
      core.cycles = core0.cycles;
      if (core.cycles >= core.systickDue) core.rp2040.ppb.systickElapsed();
    }
    return due !== Infinity;
  }

  /** Whether the firmware can only wait for the host now. */
  get starved() {
    return this.uart.emptyPolls >= EMPTY_POLLS_PER_SLICE || this.cores.every((core) => core.waiting);
  }

  statistics() {
    const { retired, cores } = this;
    return {
      instructions: cores.map((core, id) => retired.instructions[id] + core.instructions),
      cycles: cores.map((core, id) => retired.cycles[id] + core.cycles),
      nanoseconds: retired.nanoseconds + this.chip.clock.nanos,
      clock_hz: this.chip.clkSys,
      resets: this.resets,
      flash_operations: this.flashOperations,
      flash_misses: this.flashCache?.misses ?? 0,
      pc: cores.map((core) => core.registers[15]),
      lr: cores.map((core) => core.registers[14]),
      waiting: cores.map((core) => core.waiting),
    };
  }
}
