import { setUpStack } from '../support/global-setup.ts';

/** The stack that all alerts are fired on: it gives up and looks again soon, and is otherwise as it comes. */
export const setup = setUpStack({
  SAMPLE_PARTNER: 'off',
  WEBHOOK_BACKOFF_BASE_MS: '1',
  SWEEP_INTERVAL_MS: '250',
  ROUTE_FAILURES_MAX: '5',
  ROUTE_PAUSE_MS: '100',
});
