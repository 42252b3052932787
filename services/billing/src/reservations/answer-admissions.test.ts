import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Admission, type AdmissionRequest, newId } from '@svc/contracts';
import { AppError, createLogger } from '@svc/service-kit';
import { expect, test } from 'vitest';
import { answerAdmissions } from './answer-admissions.ts';

const log = createLogger({ service: 'billing', level: 'silent' });
const question = (): AdmissionRequest => ({
  kind: 'api_key',
  request_id: newId('req'),
  svc_user_id: newId('usr'),
  key_id: newId('key'),
  hold_micros: 1,
  requests_per_minute: null,
  monthly_limit_micros: null,
});

/** Asks; `admit` decides by the place of the question. Answers what was written, piece by piece, and how it ended. */
const ask = (
  admissions: readonly (AdmissionRequest | null)[],
  admit: (place: number) => Promise<Admission>,
  isOpen = () => true,
) => {
  const pieces: string[] = [];
  const call = { question: { admissions }, log, isOpen, write: (lines: string) => void pieces.push(lines) };
  return { pieces, ended: answerAdmissions(call, (request) => admit(admissions.indexOf(request))) };
};
const linesOf = (text: string | undefined) =>
  (text ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('answers whoever is decided while others still wait', async () => {
  const slow = Promise.withResolvers<Admission>();
  const { pieces, ended } = ask([question(), question()], (place) =>
    place === 0 ? slow.promise : Promise.resolve({ verdict: 'insufficient_balance' }),
  );
  await nextTurn();
  await nextTurn();
  expect(linesOf(pieces[0])).toEqual([{ place: 1, admission: { verdict: 'insufficient_balance' } }]);
  slow.resolve({ verdict: 'admitted' });
  await ended;
  expect(pieces).toHaveLength(2);
  expect(linesOf(pieces[1])).toEqual([{ place: 0, admission: { verdict: 'admitted' } }]);
});

test('lets a request fail alone, and one that is no request too', async () => {
  const { pieces, ended } = ask([question(), question(), null], (place) =>
    place === 0 ? Promise.reject(new AppError('service_unavailable')) : Promise.resolve({ verdict: 'admitted' }),
  );
  await ended;
  const lines = linesOf(pieces.join('')).sort((one, other) => one.place - other.place);
  expect(lines).toEqual([
    { place: 0, error: 'service_unavailable' },
    { place: 1, admission: { verdict: 'admitted' } },
    { place: 2, error: 'invalid_request_error' },
  ]);
});

test('fails as one where nothing is decided', async () => {
  const { pieces, ended } = ask([question(), question()], () => Promise.reject(new AppError('service_unavailable')));
  await expect(ended).rejects.toMatchObject({ code: 'service_unavailable' });
  await nextTurn();
  expect(pieces).toEqual([]);
});

test('writes nothing to a caller that has left', async () => {
  const { pieces, ended } = ask(
    [question()],
    () => Promise.resolve({ verdict: 'admitted' }),
    () => false,
  );
  await ended;
  await nextTurn();
  expect(pieces).toEqual([]);
});
