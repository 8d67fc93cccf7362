// node server.mjs SETTINGS: runs a firmware image and bridges its UART0 to stdin and stdout (channel.mjs). SETTINGS is
// the JSON object {image, flashBytes, flashFile, flashCache, powerFailsAt, guards}, see Board. Ends when stdin closes.
import { Board } from './board.mjs';
import { CONTROL, UART, listen, send, sendEvent } from './channel.mjs';

const SLICE_INSTRUCTIONS = 20_000;
const PATIENCE_MS = 200; // how long a firmware that waits for the host still runs briskly
const SHORT_NAP_MS = 1;
const LONG_NAP_MS = 20;

const settings = JSON.parse(process.argv[2]);
let board = null;
let timer = null;
let starvedSince = null;

function sendOutput() {
  const bytes = board?.uart.takeOutgoing() ?? [];
  if (bytes.length > 0) send(UART, bytes);
  return bytes.length > 0;
}

/** Sends an event after the bytes that came before it. */
function tell(event) {
  sendOutput();
  sendEvent(event);
}

function slice() {
  timer = null;
  board.run(SLICE_INSTRUCTIONS);
  const spoke = sendOutput();
  if (board.stopped !== null) {
    tell(board.stopped);
    return; // statistics are still answered
  }
  if (!board.starved || spoke) {
    starvedSince = null;
    timer = setImmediate(slice);
    return;
  }
  // Only the host can bring news, so do not burn a processor while it is silent.
  starvedSince ??= performance.now();
  const patient = performance.now() - starvedSince < PATIENCE_MS;
  timer = setTimeout(slice, patient ? SHORT_NAP_MS : LONG_NAP_MS);
}

function wake() {
  if (board.stopped !== null) return;
  starvedSince = null;
  clearTimeout(timer);
  clearImmediate(timer);
  timer = setImmediate(slice);
}

function obey(command) {
  if (command.command === 'statistics') tell({ event: 'statistics', id: command.id, ...board.statistics() });
}

listen(
  (channel, payload) => {
    if (channel === UART) {
      board.uart.receive(payload);
      wake();
    } else if (channel === CONTROL) {
      obey(JSON.parse(payload.toString()));
    }
  },
  () => process.exit(0),
);
board = new Board({ ...settings, onEvent: tell });
sendEvent({ event: 'ready' });
timer = setImmediate(slice);
