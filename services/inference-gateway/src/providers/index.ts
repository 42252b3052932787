export * from './common-wire/index.ts';
export { tryInOrder } from './try-in-order.ts';
