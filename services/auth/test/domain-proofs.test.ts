import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DnsAnswer } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DomainProver, startDomainProver } from './support/domain-prover.ts';

const DOMAIN = 'acme.test';
const FOREIGN = 'foreign.test';
const INTERNAL = 'internal.test';
const TXT_NAME = `_svc-verification.${DOMAIN}`;
const TEXT = 'svc-verification=abc';
const PATH = '/.well-known/svc-verification.txt';
const FILE_BYTES_MAX = 4_096;
/** Needs more than the 512 bytes of an answer over UDP. */
const MANY = Array.from({ length: 49 }, (_, each) => [`v=other${each}`, 'x'.repeat(200)]);

let prover: DomainProver;
let site: (req: IncomingMessage, res: ServerResponse) => unknown;
const requests: string[] = [];
const send =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (_req: IncomingMessage, res: ServerResponse) =>
    res.writeHead(status, headers).end(body);

beforeAll(async () => {
  prover = await startDomainProver([DOMAIN, FOREIGN]);
  await prover.serve({ names: [DOMAIN] }, (req, res) => {
    requests.push(`${req.method} https://${req.headers.host}${req.url}`);
    site(req, res);
  });
});
beforeEach(() => {
  prover.dns.forget(TXT_NAME);
  prover.dns.answer(DOMAIN, { addresses: ['127.0.0.1'] });
  prover.beforeConnect = () => undefined;
  prover.connections.length = 0;
  requests.length = 0;
  site = send(404, '');
});
afterAll(() => prover?.stop());

const prove = (domain = DOMAIN) => prover.proveDomain({ domain, token: 'abc' });

describe('the TXT record of a domain', () => {
  test.each<[string, DnsAnswer, string]>([
    ['the text among other records', { txt: [['v=spf1 -all'], [TEXT], ['other']] }, 'proven'],
    ['the text in several strings', { txt: [['svc-verifi', 'cation', '=abc']] }, 'proven'],
    ['the text between blanks', { txt: [[` ${TEXT}\n`]] }, 'proven'],
    ['the text of another account', { txt: [['svc-verification=other']] }, 'different'],
    ['the text with an ending', { txt: [[TEXT, 'd']] }, 'different'],
    ['no TXT record', { addresses: ['127.0.0.1'] }, 'missing'],
    ['SERVFAIL', 'servfail', 'unreachable'],
    ['REFUSED', 'refused', 'unreachable'],
    ['the text after fifty records', { txt: [...MANY, ['last'], [TEXT]] }, 'different'],
  ])('is judged if the answer is %s', async (_answer, answer, outcome) => {
    prover.dns.answer(TXT_NAME, answer);
    expect(await prove()).toEqual({ dns: outcome, file: 'missing' });
  });

  test('is missing if the name does not exist', async () => {
    expect(await prove()).toEqual({ dns: 'missing', file: 'missing' });
  });

  test('is read over TCP if the answer over UDP is truncated (RFC 1035 §4.2.1)', async () => {
    prover.dns.answer(TXT_NAME, { txt: [...MANY, [TEXT]] });
    const before = prover.dns.questions.length;
    expect((await prove()).dns).toBe('proven');
    const asked = prover.dns.questions.slice(before).filter((question) => question.endsWith(` ${TXT_NAME}`));
    expect(asked).toEqual([`udp TXT ${TXT_NAME}`, `tcp TXT ${TXT_NAME}`]);
  });
});

describe('the file of a domain', () => {
  test.each([
    ['the text alone', send(200, TEXT), 'proven'],
    ['the text in one of its lines', send(200, `\ufeff# ours\r\n ${TEXT}\r\nother`), 'proven'],
    ['exactly 4 KiB', send(200, `${TEXT}\n`.padEnd(FILE_BYTES_MAX, 'x')), 'proven'],
    ['more than 4 KiB', send(200, `${TEXT}\n`.padEnd(FILE_BYTES_MAX + 1, 'x')), 'different'],
    ['the text cut off at 4 KiB', send(200, `${'\n'.repeat(FILE_BYTES_MAX - TEXT.length)}${TEXT}d`), 'different'],
    ['a longer text', send(200, `x${TEXT}`), 'different'],
    ['a page', send(200, `<html><body>${TEXT}</body></html>`, { 'content-type': 'text/html' }), 'different'],
    ['empty', send(200, ''), 'different'],
    ['elsewhere', send(302, TEXT, { location: `https://${DOMAIN}/elsewhere` }), 'missing'],
    ['not there', send(404, TEXT), 'missing'],
    ['behind a failing server', send(503, TEXT), 'unreachable'],
    ['behind a closed connection', (req: IncomingMessage) => req.socket.destroy(), 'unreachable'],
  ])('is judged if it is %s', async (_title, answer, outcome) => {
    site = answer;
    expect(await prove()).toEqual({ dns: 'missing', file: outcome });
    expect(requests).toEqual([`GET https://${DOMAIN}${PATH}`]);
  });

  test('is read from the address that was checked, even if the name has another one by then (DNS rebinding)', async () => {
    await prover.serve({ names: [DOMAIN], address: '127.0.0.2' }, send(200, TEXT));
    site = send(200, 'svc-verification=internal');
    prover.dns.answer(DOMAIN, { addresses: ['127.0.0.2'] });
    prover.beforeConnect = () => prover.dns.answer(DOMAIN, { addresses: ['127.0.0.1'] });
    expect((await prove()).file).toBe('proven');
    expect([prover.connections, requests]).toEqual([['127.0.0.2'], []]);
  });

  test.each([[['127.0.0.1']], [['10.0.0.1']], [['169.254.169.254']], [['104.18.32.7', '192.168.0.1']]])(
    'is not requested from %j',
    async (addresses) => {
      prover.dns.answer(INTERNAL, { addresses });
      expect((await prove(INTERNAL)).file).toBe('unreachable');
      expect(prover.connections).toEqual([]);
    },
  );

  test('is not read from a server without a certificate for the domain', async () => {
    site = send(200, TEXT);
    prover.dns.answer(FOREIGN, { addresses: ['127.0.0.1'] });
    expect((await prove(FOREIGN)).file).toBe('unreachable');
    expect([prover.connections, requests]).toEqual([['127.0.0.1'], []]);
  });
});

test('ends with a name server that stays silent, and with a web server that does', async () => {
  const silent = 'silent.test';
  for (const name of [silent, `_svc-verification.${silent}`]) prover.dns.answer(name, 'silent');
  site = () => undefined;
  expect(await Promise.all([prove(silent), prove()])).toEqual([
    { dns: 'unreachable', file: 'unreachable' },
    { dns: 'missing', file: 'unreachable' },
  ]);
});
