// The execute-in-place cache: what a read of flash costs beyond the cycles of its instruction. Both cores share it.
// A line is fetched whole and nothing is prefetched; the least recently used way is replaced.

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
  }

  /** Notes a read at `offset` in flash; returns the cycles that the core has to wait. */
  access(offset) {
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

  flush() {
    this.lines.fill(-1);
  }
}
