// The serial flash chip behind the SSI, as far as a second-stage boot deals with it: status registers (Winbond W25Q),
// the mode in which it answers without a command, and what a line of the cache costs in the mode that was set up.
import { BasePeripheral } from './package.mjs';

const CTRLR0 = 0x00;
const SSIENR = 0x08;
const BAUDR = 0x14;
const SR = 0x28;
const DR0 = 0x60;
const SPI_CTRLR0 = 0xf4;
const SR_EMPTY = 0x06; // the transmit FIFO has room and is empty
const SR_RECEIVED = 0x08;
const EEPROM_READ = 3;
const [READ, READ_QUAD, READ_STATUS_1, READ_STATUS_2, WRITE_ENABLE, WRITE_STATUS] = [3, 0xeb, 5, 0x35, 6, 1];
const QUAD_ENABLE = 2;
const CONTINUOUS = 0xa;
const COMMAND_BITS = [0, 4, 8, 16];
const PLAIN = { ctrlr0: (31 << 16) | (EEPROM_READ << 8), spiCtrlr0: (READ << 24) | (2 << 8) | (6 << 2), divider: 4 };

/** What survives a reset: the chip has power. */
export class FlashChip {
  status = [0, 0];
  continuous = false;
}

export class SerialFlash extends BasePeripheral {
  /**
   * @param {object} rp2040 the chip
   * @param {FlashChip} chip
   * @param {{lineBytes: number, onMode: (cycles: number) => void}} options told what fetching a line takes now
   */
  constructor(rp2040, chip, { lineBytes, onMode }) {
    super(rp2040, 'SSI');
    this.chip = chip;
    this.lineBytes = lineBytes;
    this.onMode = onMode;
    this.registers = new Map([[BAUDR, PLAIN.divider]]);
    this.sent = [];
    this.received = [];
    this.writeEnabled = false;
    this.busyReads = 0;
  }

  readUint32(offset) {
    if (offset === SR) {
      this.#endTransaction();
      return SR_EMPTY | (this.received.length > 0 ? SR_RECEIVED : 0);
    }
    if (offset === DR0) return this.received.shift() ?? 0;
    return this.registers.get(offset) ?? 0;
  }

  writeUint32(offset, value) {
    if (offset === DR0) return this.#send(value);
    this.registers.set(offset, value >>> 0);
    if (offset === SSIENR && value & 1) this.#enable();
  }

  /** The boot ROM leaves the chip so after it has programmed it. */
  setPlainRead() {
    this.chip.continuous = false;
    this.registers.set(CTRLR0, PLAIN.ctrlr0).set(SPI_CTRLR0, PLAIN.spiCtrlr0).set(BAUDR, PLAIN.divider);
    this.#enable();
  }

  #send(value) {
    this.sent.push(value);
    if (this.#width() === 1) this.received.push(this.sent.length > 1 ? this.#answer(this.sent[0]) : 0xff);
  }

  #answer(command) {
    if (command === READ_STATUS_2) return this.chip.status[1];
    if (command !== READ_STATUS_1) return 0xff;
    const busy = this.busyReads > 0 ? 1 : 0;
    this.busyReads -= busy;
    return this.chip.status[0] | busy;
  }

  #endTransaction() {
    const [command, ...data] = this.sent;
    if (command === WRITE_STATUS && this.writeEnabled) {
      data.slice(0, 2).forEach((byte, index) => {
        this.chip.status[index] = byte;
      });
      this.writeEnabled = false;
      this.busyReads = 2;
    }
    if (command === WRITE_ENABLE) this.writeEnabled = true;
    if (command === READ_QUAD && this.#width() === 4) {
      this.chip.continuous = (this.chip.status[1] & QUAD_ENABLE) !== 0 && (data[0] >>> 4) % 16 === CONTINUOUS;
    }
    this.sent = [];
  }

  #width() {
    return [1, 2, 4, 1][((this.registers.get(CTRLR0) ?? 0) >>> 21) & 3];
  }

  /** Reads of flash go by the registers once they are enabled for it. */
  #enable() {
    if ((((this.registers.get(CTRLR0) ?? 0) >>> 8) & 3) !== EEPROM_READ) return;
    const control = this.registers.get(SPI_CTRLR0) ?? 0;
    const commandBits = COMMAND_BITS[(control >>> 8) & 3];
    const command = control >>> 24;
    const understood =
      commandBits === 0 ? this.chip.continuous && command >>> 4 === CONTINUOUS : !this.chip.continuous && command === READ;
    if (!understood) return; // the command that begins continuous mode; it reads nothing that anyone looks at
    const width = this.#width();
    const [commandWidth, addressWidth] = [[1, 1], [1, width], [width, width]][control & 3];
    const clocks =
      commandBits / commandWidth +
      (((control >>> 2) & 15) * 4) / addressWidth +
      ((control >>> 11) & 31) +
      (8 * this.lineBytes) / width;
    this.onMode(clocks * (this.registers.get(BAUDR) ?? 0));
  }
}
