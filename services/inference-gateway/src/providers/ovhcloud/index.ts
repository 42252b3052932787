export { ovhcloud } from './ovhcloud.ts';
