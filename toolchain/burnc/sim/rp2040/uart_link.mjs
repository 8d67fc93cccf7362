// Bytes between the host and UART0. The wire has no baud rate here: whatever the host has sent is offered as soon as
// the receive FIFO has room, so that tests do not wait for it.

const DATA = 0x00;
const FLAGS = 0x18;
const RECEIVE_EMPTY = 1 << 4;

export class UartLink {
  constructor() {
    this.incoming = [];
    this.next = 0; // index of the first byte in `incoming` that the UART has not taken
    this.outgoing = [];
    this.heard = false; // whether the UART has taken a byte from the host
    this.emptyPolls = 0; // how often the firmware has looked for a byte and found none
  }

  attach(uart) {
    this.uart = uart;
    const read = uart.readUint32.bind(uart);
    uart.onByte = (byte) => this.outgoing.push(byte);
    uart.readUint32 = (offset) => {
      if (offset !== FLAGS && offset !== DATA) return read(offset);
      const value = offset === DATA ? read(offset) : 0;
      this.refill();
      if (offset === DATA) return value;
      const flags = read(FLAGS);
      if (flags & RECEIVE_EMPTY) this.emptyPolls++;
      return flags;
    };
  }

  /** Queues bytes from the host. */
  receive(bytes) {
    if (this.next === this.incoming.length) this.incoming.length = this.next = 0;
    for (const byte of bytes) this.incoming.push(byte);
    this.refill();
  }

  refill() {
    const { uart } = this;
    while (this.next < this.incoming.length && uart.enabled && uart.rxEnabled && !uart.rxFIFO.full) {
      this.heard = true;
      uart.feedByte(this.incoming[this.next++]);
    }
  }

  /** Everything the firmware has sent since the last call. */
  takeOutgoing() {
    const bytes = Buffer.from(this.outgoing);
    this.outgoing.length = 0;
    return bytes;
  }
}
