import { expect, test } from 'vitest';
import { type FailureReason, UpstreamFailure } from '../upstream-failure.ts';
import { toCallerError } from './failure-response.ts';

const RETRY = { 'retry-after': '7' };
const NO_RETRY = { 'x-should-retry': 'false' };

/** For each reason: what an app gets, what an API key gets, and the headers of both. */
const TABLE: Readonly<Record<FailureReason, readonly [app: string, key: string, headers: object]>> = {
  held_back: ['503 upstream_unavailable', '503 upstream_unavailable', RETRY],
  unreachable: ['503 upstream_unavailable', '503 upstream_unavailable', RETRY],
  busy: ['503 upstream_unavailable', '503 upstream_unavailable', RETRY],
  failed: ['502 upstream_error', '503 upstream_unavailable', RETRY],
  unauthorized: ['502 upstream_error', '502 upstream_error', RETRY],
  rejected: ['400 upstream_rejected', '502 upstream_error', {}],
  unusable: ['502 upstream_error', '502 upstream_error', NO_RETRY],
  timeout: ['504 upstream_timeout_uncertain', '504 upstream_timeout_uncertain', NO_RETRY],
  lost: ['504 upstream_timeout_uncertain', '504 upstream_timeout_uncertain', NO_RETRY],
  garbled: ['504 upstream_timeout_uncertain', '504 upstream_timeout_uncertain', NO_RETRY],
  not_relayed: ['504 upstream_timeout_uncertain', '504 upstream_timeout_uncertain', NO_RETRY],
  too_complex: ['502 upstream_error', '502 upstream_error', NO_RETRY],
};

// The keys are those of the table, whose type lists every reason.
test.each(Object.keys(TABLE) as FailureReason[])(
  'maps %s for apps and API keys, and allows a retry only if it is free',
  (reason) => {
    const wireError = { message: 'canary', type: 'canary', param: null, code: 'canary' };
    const failure = new UpstreamFailure(reason, { status: 418, retryAfter: '7', wireError });
    const errors = [toCallerError('delegated', failure), toCallerError('api_key', failure)] as const;
    const shown = errors.map(({ status, code }) => `${status} ${code}`);
    expect([...shown, errors[0].headers]).toEqual(TABLE[reason]);
    expect(errors[1].headers).toEqual(errors[0].headers);
    for (const { publicMessage, details } of errors)
      expect(JSON.stringify([publicMessage, details])).not.toContain('canary');
  },
);
