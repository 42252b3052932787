import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectionOptions } from './connect-to-broker.ts';
import { jetStreamOptions } from './render-accounts.ts';

let directory: string;
let caFile: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-broker-'));
  caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, 'a certificate');
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('the address of the broker', () => {
  test('accepts one server without credentials', () => {
    expect(connectionOptions({ url: 'nats://nats:4222' })).toEqual({ servers: ['nats:4222'] });
  });

  test('splits a cluster list and removes the credentials from the URLs', () => {
    const url = 'nats://auth:p%40ss@a.test:4222, nats://auth:p%40ss@b.test:4223,nats://c.test:4224';
    expect(connectionOptions({ url })).toEqual({
      servers: ['a.test:4222', 'b.test:4223', 'c.test:4224'],
      user: 'auth',
      pass: 'p@ss',
    });
  });

  test('is refused if its servers take different credentials', () => {
    expect(() => connectionOptions({ url: 'nats://auth:one@a.test,nats://auth:two@b.test' })).toThrow(RangeError);
    expect(() => connectionOptions({ url: 'nats://a.test,none' })).toThrow();
  });

  test('demands certificates with a CA file, and with the scheme tls', () => {
    expect(connectionOptions({ url: 'nats://a.test:4222', caFile })).toMatchObject({ tls: { ca: 'a certificate' } });
    expect(connectionOptions({ url: 'tls://a.test:4222' })).toMatchObject({ servers: ['a.test:4222'], tls: {} });
    expect(() => connectionOptions({ url: 'nats://a.test:4222', caFile: `${caFile}.none` })).toThrow(/ENOENT.*none/);
  });

  test.each(['nats://127.0.0.1:4222', 'nats://[::1]:4222', 'nats://a.test:4222,nats://10.0.0.7:4222'])(
    'refuses %s with a CA file: the client would not compare an IP address with the certificate',
    (url) => {
      expect(connectionOptions({ url })).not.toHaveProperty('tls');
      expect(() => connectionOptions({ url, caFile })).toThrow(/not by IP addresses/);
    },
  );

  test('determines the JetStream prefix from its user', () => {
    expect(jetStreamOptions({ url: 'nats://auth:secret@nats:4222' })).toEqual({ apiPrefix: 'facts.API' });
    for (const url of ['nats://operator:secret@nats:4222', 'nats://nats:4222'])
      expect(jetStreamOptions({ url })).toEqual({});
  });
});
