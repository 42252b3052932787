import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { brokerSettings, commonSettings, databaseSettings } from './common-settings.ts';
import {
  ConfigError,
  describeSettings,
  loadConfig,
  renderEnvExample,
  renderSettingsTable,
  summarizeConfig,
} from './load-config.ts';
import { setting, whenValid } from './setting.ts';

const schema = z.object({
  API_URL: setting.url({ description: 'Where the other side is.' }),
  API_KEY: setting.string({ description: 'Credential.', secret: true, lengthMin: 8 }),
  RETRIES_MAX: setting.integer({ description: 'Attempts.', min: 1, max: 9, default: 3 }),
  LISTEN_PORT: setting.port({ description: 'Port.', default: 8080 }),
  IS_FAST: setting.boolean({ description: 'Fast | slow.', default: false }),
  HOSTS: setting.list({ description: 'Hosts.', default: [] }),
  MODE: setting.choice({ description: 'Mode.', values: ['sandbox', 'stripe'], default: 'sandbox' }),
  EXTRA_FILE: setting.string({ description: 'A file.', optional: true }),
});

const faultsOf = (environment: NodeJS.ProcessEnv): ConfigError => {
  try {
    loadConfig(schema, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error('no ConfigError was thrown');
};

describe('loadConfig', () => {
  test('reads each kind of setting and applies defaults to unset or empty variables', () => {
    const config = loadConfig(schema, {
      API_URL: 'https://api.example.test/base/',
      API_KEY: 'k'.repeat(8),
      RETRIES_MAX: '',
      LISTEN_PORT: ' 9000 ',
      IS_FAST: 'TRUE',
      HOSTS: 'a.test, b.test,,',
      MODE: '  ',
      UNRELATED: 'ignored',
    });
    expect(config).toEqual({
      API_URL: 'https://api.example.test/base',
      API_KEY: 'kkkkkkkk',
      RETRIES_MAX: 3,
      LISTEN_PORT: 9000,
      IS_FAST: true,
      HOSTS: ['a.test', 'b.test'],
      MODE: 'sandbox',
      EXTRA_FILE: undefined,
    });
    const typed: { RETRIES_MAX: number; EXTRA_FILE: string | undefined; MODE: 'sandbox' | 'stripe' } = config;
    expect(typed.MODE).toBe('sandbox');
  });

  test('lists every fault with its name and expected value, never the given value', () => {
    const error = faultsOf({
      API_URL: 'ftp://user:hunter2@files.test',
      API_KEY: 'hunter2',
      RETRIES_MAX: '10',
      LISTEN_PORT: '70000',
      IS_FAST: 'maybe',
      MODE: 'paypal',
    });
    expect(error.faults).toEqual([
      { name: 'API_URL', expected: 'expected a URL with the scheme http or https' },
      { name: 'API_KEY', expected: 'expected a text of at least 8 characters' },
      { name: 'RETRIES_MAX', expected: 'expected an integer from 1 to 9' },
      { name: 'LISTEN_PORT', expected: 'expected a port (0 to 65535)' },
      { name: 'IS_FAST', expected: 'expected true or false' },
      { name: 'MODE', expected: 'expected one of sandbox, stripe' },
    ]);
    expect(error.message).not.toMatch(/hunter2|70000|maybe|paypal/);
  });

  test('names the variables that are not set', () => {
    expect(faultsOf({ API_KEY: '' }).message).toBe(
      [
        'The configuration is invalid:',
        '  API_URL: is not set; expected a URL with the scheme http or https',
        '  API_KEY: is not set; expected a text of at least 8 characters',
      ].join('\n'),
    );
  });

  test.each(['1.5', '1e3', '0x10', '--1', '12345678901234567890', 'NaN'])('rejects %s as an integer', (text) => {
    const one = z.object({ COUNT: setting.integer({ description: 'Count.' }) });
    expect(() => loadConfig(one, { COUNT: text })).toThrow(ConfigError);
  });

  test('names the variable of a file of certificates that is missing or holds none', () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-config-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const good = join(directory, 'good.pem');
    const empty = join(directory, 'empty.pem');
    writeFileSync(good, rootCertificates[0] ?? '');
    writeFileSync(empty, 'no certificate');
    const database = z.object({ DATABASE_CA_FILE: databaseSettings.DATABASE_CA_FILE });
    expect(loadConfig(database, { DATABASE_CA_FILE: good }).DATABASE_CA_FILE).toBe(good);
    for (const file of [empty, join(directory, 'missing.pem')]) {
      expect(() => loadConfig(database, { DATABASE_CA_FILE: file })).toThrow(
        /DATABASE_CA_FILE: expected the path of a readable PEM file with certificates/,
      );
    }
  });

  test('accepts a list of URLs if the setting allows it, and rejects a list with an invalid item', () => {
    const broker = z.object(brokerSettings);
    const { NATS_URL } = loadConfig(broker, { NATS_URL: 'nats://auth:pw@a.test:4222, nats://auth:pw@b.test:4222/' });
    expect(NATS_URL).toBe('nats://auth:pw@a.test:4222,nats://auth:pw@b.test:4222');
    for (const url of ['nats://a.test,', 'nats://a.test,hunter2', 'nats://a.test,http://b.test', 'ws://a.test']) {
      expect(() => loadConfig(broker, { NATS_URL: url }), url).toThrow(/NATS_URL: .*comma-separated list/);
    }
  });

  test('accepts several hosts of a database, and refuses a server without writes', () => {
    const database = z.object({ DATABASE_URL: databaseSettings.DATABASE_URL });
    for (const url of [
      'postgres://svc:p%40w@a.test/svc',
      'postgres://svc:pw@a.test:5432,[::1]:5433/svc?target_session_attrs=read-write',
      'postgresql://a.test,b.test/svc?target_session_attrs=primary',
    ]) {
      expect(loadConfig(database, { DATABASE_URL: url }).DATABASE_URL).toBe(url);
    }
    for (const url of [
      'mysql://a.test/svc',
      'postgres://a.test:5432,/svc',
      'postgres://a.test:5432,b.test:port/svc',
      'postgres://a.test,b.test/svc?target_session_attrs=standby',
    ]) {
      expect(() => loadConfig(database, { DATABASE_URL: url }), url).toThrow(/DATABASE_URL: .*several, separated/);
    }
  });

  test('applies cross-field rules of the schema', () => {
    const crossed = schema.refine((config) => config.MODE === 'sandbox' || config.EXTRA_FILE !== undefined, {
      path: ['EXTRA_FILE'],
      message: 'must be set when MODE is stripe',
    });
    const environment = { API_URL: 'http://a.test', API_KEY: 'kkkkkkkk', MODE: 'stripe' };
    expect(() => loadConfig(crossed, environment)).toThrow('EXTRA_FILE: must be set when MODE is stripe');
  });

  describe('a cross-field rule of valid variables', () => {
    const crossed = schema.superRefine(
      (config, context) => {
        if (config.MODE !== 'stripe' || config.EXTRA_FILE !== undefined) return;
        context.addIssue({ code: 'custom', path: ['EXTRA_FILE'], message: 'must be set when MODE is stripe' });
      },
      whenValid('MODE', 'EXTRA_FILE'),
    );

    test('is listed beside the faults of other variables', () => {
      const load = () => loadConfig(crossed, { API_URL: 'nonsense', LISTEN_PORT: '70000', MODE: 'stripe' });
      expect(load).toThrow(/API_URL: .*API_KEY: is not set.*LISTEN_PORT: .*EXTRA_FILE: must be set when MODE/s);
    });

    test('does not run for a variable that is itself a fault', () => {
      const load = () => loadConfig(crossed, { API_URL: 'http://a.test', API_KEY: 'kkkkkkkk', MODE: 'paypal' });
      expect(load).toThrow(/^The configuration is invalid:\n {2}MODE: expected one of sandbox, stripe$/);
    });
  });

  test('accepts a local environment for the common settings', () => {
    const config = loadConfig(z.object(commonSettings), {
      DATABASE_URL: 'postgres://svc:pw@127.0.0.1:5432/svc_auth',
      NATS_URL: 'nats://127.0.0.1:4222',
      PUBLIC_BASE_URL: 'http://127.0.0.1:8080/',
      INTERNAL_API_TOKENS: `operator:${'a'.repeat(16)}, operator:sha256:${'b'.repeat(64)}`,
      INTERNAL_API_TOKEN: `auth:${'a'.repeat(16)}`,
    });
    expect(config.PUBLIC_BASE_URL).toBe('http://127.0.0.1:8080');
    expect(config.INTERNAL_API_TOKENS).toHaveLength(2);
    expect(config.TRUST_PROXY_HOPS).toBe(1);
    expect(config.LOG_LEVEL).toBe('info');
  });
});

describe('documents made from a schema', () => {
  test('renders .env.example with required variables empty and the others commented out', () => {
    const text = renderEnvExample(schema);
    expect(text).toContain('# Credential.\n# (a text of at least 8 characters; required; secret)\nAPI_KEY=\n');
    expect(text).toContain('# Attempts.\n# (an integer from 1 to 9; optional)\n# RETRIES_MAX=3\n');
  });

  test('escapes the column separator in the README table', () => {
    const lines = renderSettingsTable(schema).split('\n');
    expect(lines[0]).toBe('| variable | meaning | value | default | secret |');
    expect(lines).toContain('| `IS_FAST` | Fast \\| slow. | true or false | `false` |  |');
    expect(lines).toContain('| `API_KEY` | Credential. | a text of at least 8 characters | required | yes |');
  });

  test('omits secrets and URL credentials from the start-up summary', () => {
    const config = loadConfig(schema, { API_URL: 'https://user:hunter2@api.test/x', API_KEY: 'hunter2hunter2' });
    const summary = summarizeConfig(schema, config);
    expect(summary).toMatchObject({
      API_URL: 'https://api.test/x',
      API_KEY: '(set)',
      EXTRA_FILE: '(unset)',
      HOSTS: '',
    });
    expect(JSON.stringify(summary)).not.toContain('hunter2');
  });

  test('throws for a variable without metadata', () => {
    expect(() => describeSettings(z.object({ BARE: z.string() }))).toThrow('BARE has no metadata');
  });
});
