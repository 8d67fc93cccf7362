// The execute-in-place cache: what a read of flash costs beyond the cycles of its instruction. Both cores share it, and
// while a line is fetched for one of them, the other cannot read either. A line is fetched whole and nothing is
// prefetched; the least recently used way is replaced.

export class FlashCache {
  /** @param {{size: number, ways: number, line: number, miss_cycles: number}} geometry as in the board's TOML file */
  constructor({ size, ways, line, miss_cycles }) {
    this.lineBytes = line;
    this.lineShift = Math.log2(line);
    this.sets = size / (line * ways);
    if (!Number.isInteger(this.lineShift) || !Number.isInteger(Math.log2(this.sets))) {
      throw new Error('the sets and the line of the flash cache must be powers of two');
    }
    this.ways = ways;
    this.missCycles = miss_cycles;
    this.lines = new Int32Array(this.sets * ways).fill(-1); // of each set, most recently used first
    this.misses = 0;
    this.busyUntil = 0; // the cycle in which the line that is fetched now will be there
  }

  /** Notes a read at `offset` in flash in cycle `now`; returns the cycles that the core has to wait. */
  access(offset, now) {
    const begin = now > this.busyUntil ? now : this.busyUntil;
    const end = begin + this.#missCycles(offset);
    if (end > begin) this.busyUntil = end;
    return end - now;
  }

  #missCycles(offset) {
    const { lines, ways } = this;
    const line = offset >>> this.lineShift;
    const first = (line & (this.sets - 1)) * ways;
    if (lines[first] === line) return 0;
    let way = 1;
    while (way < ways && lines[first + way] !== line) way++;
    const isHit = way < ways;
    lines.copyWithin(first + 1, first, first + (isHit ? way : ways - 1));
    lines[first] = line;
    if (isHit) return 0;
    this.misses++;
    return this.missCycles;
  }

  /** Cycles count from 0 again. */
  restart() {
    this.busyUntil = 0;
  }

  flush() {
    this.lines.fill(-1);
  }
}
