// The npm package rp2040js, from the folder that the parent process names in BURNC_RP2040JS. It is not resolved by
// name, because burnc keeps it in the user's cache and not in a node_modules folder above this file.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env.BURNC_RP2040JS;
if (!folder) throw new Error('BURNC_RP2040JS must name the unpacked rp2040js package');
const load = (file) => import(pathToFileURL(join(folder, 'dist', 'esm', file)).href);

// index.js first: the modules of the package import each other in a circle that only resolves from there.
export const { RP2040 } = await load('index.js');
export const { CortexM0Core } = await load('cortex-m0-core.js');
export const { RPPPB } = await load('peripherals/ppb.js');
export const { RPSIO } = await load('sio.js');
export const { BasePeripheral } = await load('peripherals/peripheral.js');
