// Frames on stdin and stdout: one byte that names the channel, four bytes of length (little-endian), the payload.
// Channel 0 carries UART bytes, channel 1 one JSON object: a command inwards, an event outwards.

export const UART = 0;
export const CONTROL = 1;
const HEADER_BYTES = 5;

export function send(channel, payload) {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(channel, 0);
  header.writeUInt32LE(payload.length, 1);
  process.stdout.write(Buffer.concat([header, payload]));
}

export function sendEvent(event) {
  send(CONTROL, Buffer.from(JSON.stringify(event)));
}

/** Calls `onFrame(channel, payload)` for each frame on stdin and `onEnd()` when the parent has closed it. */
export function listen(onFrame, onEnd) {
  let pending = Buffer.alloc(0);
  process.stdin.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + pending.readUInt32LE(1);
      if (pending.length < end) break;
      onFrame(pending.readUInt8(0), pending.subarray(HEADER_BYTES, end));
      pending = pending.subarray(end);
    }
  });
  process.stdin.on('end', onEnd);
  process.stdin.on('error', onEnd);
  process.stdout.on('error', onEnd); // the parent is gone
}
