import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Admission, type AdmissionRequest, newId } from '@svc/contracts';
import { AppError, createLogger } from '@svc/service-kit';
import { afterEach, expect, it } from 'vitest';
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

let server: Server;
let thrown: unknown;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** Asks over a socket; `admit` decides by the place of the question. */
const ask = async (
  questions: readonly (AdmissionRequest | null)[],
  admit: (place: number) => Promise<Admission>,
): Promise<Response> => {
  thrown = undefined;
  server = createServer((_req, res) => {
    const places = new Map(questions.map((one, place) => [one, place]));
    const admitOne = (request: AdmissionRequest) => admit(places.get(request) ?? -1);
    answerAdmissions({ res, log, admit: admitOne }, questions).catch((error: unknown) => {
      thrown = error;
      res.writeHead(503).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
};
const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

it('answers whoever is decided while others still wait', async () => {
  let decideSlow = (_admission: Admission): void => {};
  const slow = new Promise<Admission>((resolve) => {
    decideSlow = resolve;
  });
  const answer = await ask([question(), question()], (place) =>
    place === 0 ? slow : Promise.resolve({ verdict: 'insufficient_balance' }),
  );
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader?.read();
  expect(linesOf(first?.value ?? '')).toEqual([{ place: 1, admission: { verdict: 'insufficient_balance' } }]);
  decideSlow({ verdict: 'admitted' });
  const second = await reader?.read();
  expect(linesOf(second?.value ?? '')).toEqual([{ place: 0, admission: { verdict: 'admitted' } }]);
  expect((await reader?.read())?.done).toBe(true);
});

it('lets a request fail alone, and one that is no request too', async () => {
  const answer = await ask([question(), question(), null], (place) =>
    place === 0 ? Promise.reject(new AppError('service_unavailable')) : Promise.resolve({ verdict: 'admitted' }),
  );
  const lines = linesOf(await answer.text()).sort((one, other) => one.place - other.place);
  expect(lines).toEqual([
    { place: 0, error: 'service_unavailable' },
    { place: 1, admission: { verdict: 'admitted' } },
    { place: 2, error: 'invalid_request_error' },
  ]);
});

it('fails as one where nothing is decided', async () => {
  const answer = await ask([question(), question()], () => Promise.reject(new AppError('service_unavailable')));
  expect(answer.status).toBe(503);
  expect(thrown).toMatchObject({ code: 'service_unavailable' });
});
