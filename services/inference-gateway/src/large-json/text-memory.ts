import { createMemoryBudget, type MemoryBudget, type MemoryBudgetLimits } from './memory-budget.ts';

/** Memory that texts of all accounts share. Small texts have memory of their own, so that large ones do not hold them up. */
export interface TextMemory {
  readonly small: MemoryBudget;
  readonly large: MemoryBudget;
}

const MEBIBYTE = 1024 * 1024;
const WAIT_MS = 20_000;
/** Three of the largest texts, two of one account. */
const LARGE: MemoryBudgetLimits = {
  bytesMax: 96 * MEBIBYTE,
  accountBytesMax: 64 * MEBIBYTE,
  accountWaitingMax: 64,
  waitMs: WAIT_MS,
};
/** Some hundred texts that arrive at one time, a quarter of them of one account. */
const SMALL: MemoryBudgetLimits = {
  bytesMax: 64 * MEBIBYTE,
  accountBytesMax: 16 * MEBIBYTE,
  accountWaitingMax: 1_024,
  waitMs: WAIT_MS,
};

/** Opens the memory of requests, or of answers. */
export const openTextMemory = (): TextMemory => ({
  small: createMemoryBudget(SMALL),
  large: createMemoryBudget(LARGE),
});
