import { setUpStack } from '../support/global-setup.ts';

/** Stack for the alert tests: short retries and polls, otherwise defaults. */
export const setup = setUpStack({
  SAMPLE_PARTNER: 'off',
  WEBHOOK_BACKOFF_BASE_MS: '1',
  SWEEP_INTERVAL_MS: '250',
  ROUTE_FAILURES_MAX: '5',
  ROUTE_PAUSE_MS: '100',
});
