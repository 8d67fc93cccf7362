// What ends a run. On the chip each of these is a HardFault, or worse, a silently wrong result; here the run stops
// and says where.

export const FaultKind = Object.freeze({
  unalignedLoad: 'unaligned-load',
  unalignedStore: 'unaligned-store',
  unmappedLoad: 'unmapped-load',
  unmappedStore: 'unmapped-store',
  nullPointer: 'null-pointer',
  storeToFlash: 'store-to-flash',
  storeToRom: 'store-to-rom',
  flashBusy: 'flash-busy', // flash read or executed while execute-in-place is switched off for erase or program
  flashArguments: 'flash-arguments', // a boot ROM flash function called out of order or with bad arguments
  badExecution: 'execution-outside-memory',
  notThumb: 'branch-to-arm-state',
  undefinedInstruction: 'undefined-instruction',
  breakpoint: 'breakpoint',
  guarded: 'guarded-memory', // bytes that a test has forbidden
  unsupported: 'not-emulated', // correct code perhaps, but this emulator cannot carry it faithfully
});

export class Fault extends Error {
  /** @param {string} kind one of FaultKind  @param {number} address the address concerned  @param {string} detail */
  constructor(kind, address, detail = '') {
    super(detail || kind);
    this.kind = kind;
    this.address = address >>> 0;
    this.detail = detail;
  }
}

/** The state of `core` at `fault`, as the JSON object that is reported. */
export function faultReport(fault, core) {
  return {
    kind: fault.kind,
    detail: fault.detail,
    address: fault.address,
    core: core.id,
    pc: core.instructionAddress,
    lr: core.registers[14],
    sp: core.registers[13],
    registers: Array.from(core.registers.subarray(0, 13)),
    cycles: core.cycles,
  };
}
