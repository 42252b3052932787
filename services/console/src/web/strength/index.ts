export { attachMeter } from './attach-meter.ts';
