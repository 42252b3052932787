import { AppLimitError, ConnectError, ConnectionEndedError, OutcomeUnknownError, SvcError } from '@svc/partner-sdk';
import { describe, expect, test } from 'vitest';
import { describeProblem } from './pages.ts';
import { en } from './texts/en.ts';
import { it as italian } from './texts/it.ts';

const VIEW = { texts: en, serviceUrl: 'https://svc.example/' };
const problemOf = (code: string, status: number, more: object = {}) =>
  describeProblem(new SvcError({ code, status, message: `It was ${code}.`, ...more }), VIEW);

describe('describing a problem', () => {
  test('offers to connect if the user is not connected', () => {
    expect(describeProblem(new ConnectionEndedError('usr_1'), VIEW)).toMatchObject({
      status: 401,
      action: { href: '/connect' },
    });
    expect(describeProblem(new ConnectError('wrong_state'), VIEW)).toMatchObject({ status: 400 });
    expect(describeProblem(new ConnectError('unavailable'), VIEW)).toMatchObject({ status: 503 });
  });

  test.each([
    ['subscription_inactive', 402, /no active plan/],
    ['subscription_requests_pending', 429, /already running/],
    ['not_implemented', 501, /does not offer transcription right now/],
    ['subscription_transcription_not_configured', 503, /does not offer transcription right now/],
    ['subscription_service_not_included', 403, /plan does not include/],
    ['upstream_rejected', 400, /It was upstream_rejected/],
  ])('names the next step for %s', (code, status, words) => {
    expect(problemOf(code, status)).toMatchObject({ status, message: expect.stringMatching(words) });
  });

  test.each(['subscription_inactive', 'weekly_limit_exceeded', 'subscription_service_not_included'])(
    'links to the plans for %s, with or without a page to manage',
    (code) => {
      const action = { href: 'https://svc.example/plans' };
      expect(problemOf(code, 402)).toMatchObject({ action });
      const error = new SvcError({ code, status: 402, message: '', manageUrl: 'https://svc.example/plans' });
      expect(describeProblem(error, VIEW)).toMatchObject({ message: problemOf(code, 402).message, action });
    },
  );

  test('names the end of a limit', () => {
    const resetsAt = new Date('2026-11-27T12:00:00Z');
    expect(problemOf('weekly_limit_exceeded', 402, { resetsAt }).message).toContain('27 Nov 2026, 12:00 UTC');
  });

  test('takes a refusal to connect as a choice, not as an error', () => {
    const { status, isChoice } = describeProblem(new ConnectError('denied'), VIEW);
    expect([status, isChoice]).toEqual([200, true]);
  });

  test.each([
    ['app_limit_exceeded', /does not cover.*resets on 27 Nov 2026, 12:00 UTC/],
    ['app_budget_expired', /has expired/],
    ['connection_paused', /have paused/],
  ])('links to the page that lifts %s', (code, words) => {
    const resetsAt = code === 'app_limit_exceeded' ? new Date('2026-11-27T12:00:00Z') : undefined;
    const error = new AppLimitError('https://svc.example/connections', { code, status: 402, message: '', resetsAt });
    expect(describeProblem(error, VIEW)).toMatchObject({
      message: expect.stringMatching(words),
      action: { href: 'https://svc.example/connections' },
    });
  });

  test('suggests a retry only if nothing was billed', () => {
    expect(problemOf('upstream_unavailable', 503, { isRetryable: true }).message).toContain('Try again');
    const unknown = new OutcomeUnknownError({ code: 'outcome_unknown', message: '', requestId: 'req_1' });
    const { message, status } = describeProblem(unknown, VIEW);
    expect(status).toBe(502);
    expect(message).toMatch(/before you try again \(request req_1\)/);
  });

  test('speaks Italian too', () => {
    const { message, action } = describeProblem(new ConnectError('denied'), { ...VIEW, texts: italian });
    expect(message).toContain('Hai scelto di non collegarti');
    expect(action?.label).toBe('Collegati di nuovo');
  });

  test('rethrows programming errors', () => {
    expect(() => describeProblem(new TypeError('ours'), VIEW)).toThrow('ours');
  });
});
