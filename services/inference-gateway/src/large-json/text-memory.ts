import { createMemoryBudget, type MemoryBudget, type MemoryBudgetLimits } from './memory-budget.ts';

/** Memory shared by the texts of all accounts. Small texts have a separate budget, so that large ones do not delay them. */
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
/** Some hundred texts at a time, a quarter of them from one account. */
const SMALL: MemoryBudgetLimits = {
  bytesMax: 64 * MEBIBYTE,
  accountBytesMax: 16 * MEBIBYTE,
  accountWaitingMax: 1_024,
  waitMs: WAIT_MS,
};

export const openTextMemory = (): TextMemory => ({
  small: createMemoryBudget(SMALL),
  large: createMemoryBudget(LARGE),
});
