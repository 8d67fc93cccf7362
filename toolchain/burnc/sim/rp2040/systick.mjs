// The private peripherals of one core, with a SysTick that counts that core's own cycles exactly: period RVR + 1,
// where the package counts RVR nanosecond-rounded ticks of a common clock.
import { RPPPB } from './package.mjs';
import { Fault, FaultKind } from './faults.mjs';

const SYST_CSR = 0x010;
const SYST_RVR = 0x014;
const SYST_CVR = 0x018;
const AIRCR = 0xd0c;
const ENABLE = 1;
const INTERRUPT = 2;
const PROCESSOR_CLOCK = 4;
const COUNTED_TO_ZERO = 1 << 16;
const SYSRESETREQ = 0x05fa0004;

export class PrivatePeripherals extends RPPPB {
  constructor(bus, name, core) {
    super(bus, name);
    this.systickTimer.enable = false; // silences the package's own SysTick
    this.core = core;
    this.control = 0;
    this.reloadValue = 0;
    this.zeroAt = 0; // `core.cycles` at which the counter read 0; later zeros follow every reloadValue + 1 cycles
    this.stoppedValue = 0;
    this.zerosSeen = 0;
  }

  /** The package calls this from its constructor, before the fields above exist; a reset makes a new chip anyway. */
  reset() {}

  get running() {
    return (this.control & ENABLE) !== 0 && this.reloadValue > 0;
  }

  get period() {
    return this.reloadValue + 1;
  }

  currentValue() {
    if (!this.running) return this.stoppedValue;
    const phase = (this.core.cycles - this.zeroAt) % this.period;
    return phase === 0 ? 0 : this.period - phase;
  }

  /** Restarts counting from `value` under the present control and reload registers. */
  continueFrom(value) {
    this.stoppedValue = Math.min(value, this.reloadValue);
    this.zerosSeen = 0;
    const phase = this.stoppedValue === 0 ? 0 : this.period - this.stoppedValue;
    this.zeroAt = this.core.cycles - phase;
    this.#plan();
  }

  #plan() {
    const wanted = this.running && (this.control & INTERRUPT) !== 0;
    const zeros = Math.floor((this.core.cycles - this.zeroAt) / this.period);
    this.core.systickDue = wanted ? this.zeroAt + (zeros + 1) * this.period : Infinity;
  }

  /** Called by the core when `systickDue` has passed. */
  systickElapsed() {
    this.core.pendingSystick = true;
    this.core.interruptsUpdated = true;
    this.core.waiting = false;
    this.#plan();
  }

  readUint32(offset) {
    switch (offset) {
      case SYST_CSR: {
        const zeros = this.running ? Math.floor((this.core.cycles - this.zeroAt) / this.period) : this.zerosSeen;
        const counted = zeros > this.zerosSeen ? COUNTED_TO_ZERO : 0;
        this.zerosSeen = zeros;
        return this.control | counted;
      }
      case SYST_RVR:
        return this.reloadValue;
      case SYST_CVR:
        return this.currentValue();
      default:
        return super.readUint32(offset);
    }
  }

  writeUint32(offset, value) {
    switch (offset) {
      case SYST_CSR: {
        if ((value & (ENABLE | PROCESSOR_CLOCK)) === ENABLE) {
          throw new Fault(FaultKind.unsupported, 0xe000e010, 'SysTick on the external reference clock');
        }
        const now = this.currentValue();
        this.control = value & 7;
        this.continueFrom(now);
        return;
      }
      case SYST_RVR: {
        const now = this.currentValue();
        this.reloadValue = value & 0xffffff;
        this.continueFrom(now);
        return;
      }
      case SYST_CVR:
        this.continueFrom(0);
        return;
      case AIRCR:
        if (value >>> 0 === SYSRESETREQ) this.core.board.requestReset('system');
        return;
      default:
        super.writeUint32(offset, value);
    }
  }
}
