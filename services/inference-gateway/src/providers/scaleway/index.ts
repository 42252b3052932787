export { scaleway } from './scaleway.ts';
