import { defineConfig, type ViteUserConfig } from 'vitest/config';

type TestOptions = NonNullable<ViteUserConfig['test']>;

/**
 * A stalled machine, which says nothing about the product: whole messages of deadlines of tests, of waits in them and of
 * requests to NATS. The message of an assertion may quote any text, but begins otherwise.
 */
const STALLED = /^(Test|Hook) timed out in \d+ms|^Timed out after \d+ ms waiting for|^Timed out in wait|^TIMEOUT$/;

/**
 * Options that all test suites share. In CI a test that ran into a deadline gets a second try, which the report shows as
 * `(retry x1)`; one that saw a wrong value never does.
 */
const baseTestOptions = {
  isolate: false,
  // Vitest's default of one second is too short on a busy machine.
  expect: { poll: { timeout: 30_000 } },
  testTimeout: 90_000,
  hookTimeout: 120_000,
  retry: { count: process.env.CI === undefined ? 0 : 1, condition: STALLED },
} as const satisfies TestOptions;

/** The configuration of a test suite: the shared options, and its own. */
export const defineTests = (test: TestOptions = {}) => defineConfig({ test: { ...baseTestOptions, ...test } });
