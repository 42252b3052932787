import { expect, test } from 'vitest';
import { createProveDomain, type ProveDomainDeps, withSandboxDomains } from './prove-domain.ts';

const claim = { domain: 'acme.test', token: 'abc' };
const TEXT = 'svc-verification=abc';
const dnsError = (code: string) => async () => {
  throw Object.assign(new Error(code), { code });
};

const prove = (over: Partial<ProveDomainDeps> = {}) => {
  const requests: string[] = [];
  const proveDomain = createProveDomain({
    resolveTxt: dnsError('ENOTFOUND'),
    lookup: async () => ['104.18.32.7'],
    agent: {
      get: async ({ destination }) => {
        requests.push(`${destination.host}:${destination.port}${destination.path}`);
        return { statusCode: 404, body: Buffer.alloc(0) };
      },
    },
    ...over,
  });
  return { requests, proof: proveDomain(claim) };
};
const answering = (statusCode: number, body: string): ProveDomainDeps['agent'] => ({
  get: async () => ({ statusCode, body: Buffer.from(body) }),
});

test.each([
  [async () => [['v=spf1'], ['svc-verifi', 'cation=abc']], 'proven'],
  [async () => [['svc-verification=other']], 'different'],
  [async () => [...Array.from({ length: 50 }, () => ['x']), [TEXT]], 'different'],
  [dnsError('ENODATA'), 'missing'],
  [dnsError('ESERVFAIL'), 'unreachable'],
])('judges the TXT records: case %#', async (resolveTxt, dns) => {
  expect(await prove({ resolveTxt }).proof).toEqual({ dns, file: 'missing' });
});

test('asks for the record below the name, and for the file at the well-known path', async () => {
  const names: string[] = [];
  const { proof, requests } = prove({
    resolveTxt: async (name) => {
      names.push(name);
      return [[TEXT]];
    },
  });
  await proof;
  expect([names, requests]).toEqual([
    ['_svc-verification.acme.test'],
    ['acme.test:443/.well-known/svc-verification.txt'],
  ]);
});

test.each([
  [200, `# ours\r\n${TEXT}\r\n`, 'proven'],
  [200, `x${TEXT}`, 'different'],
  [302, TEXT, 'missing'],
  [404, TEXT, 'missing'],
  [503, TEXT, 'unreachable'],
])('judges the file: %i %j is %s', async (status, body, file) => {
  expect(await prove({ agent: answering(status, body) }).proof).toEqual({ dns: 'missing', file });
});

test('sends no request to a host with an address that is not public', async () => {
  const { proof, requests } = prove({ lookup: async () => ['104.18.32.7', '10.0.0.1'] });
  expect([await proof, requests]).toEqual([{ dns: 'missing', file: 'unreachable' }, []]);
});

test('in the sandbox proves domains below .example without a look-up, and looks others up', async () => {
  const sandbox = withSandboxDomains(async () => ({ dns: 'different', file: 'different' }));
  const outcomeOf = async (domain: string) => (await sandbox({ domain, token: 'abc' })).dns;
  expect(await Promise.all(['acme.example', 'unproven.example', 'acme.test'].map(outcomeOf))).toEqual([
    'proven',
    'missing',
    'different',
  ]);
});
