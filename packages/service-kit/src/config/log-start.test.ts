import { expect, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../logging/create-logger.ts';
import { loadConfig, logStart } from './load-config.ts';
import { setting } from './setting.ts';

const schema = z.object({
  STRIPE_WEBHOOK_SECRET: setting.string({ description: 'Secret.', optional: true, secret: true }),
  SHUTDOWN_GRACE_MS: setting.integer({ description: 'Grace.', default: 25_000 }),
  PORT: setting.port({ description: 'Port.', default: 8080 }),
});

test('warns of variables that resemble a setting which is not set, by name only', () => {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'auth',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  });
  const environment = {
    STRIPE_WEBHOK_SECRET: 'canary',
    SHUTDOWN_GRACE: '1',
    SHUTDOWN_GRACE_MSS: '2',
    PATH: '/bin',
    POST: '1',
    HOME: '/root',
  };
  logStart(logger, { schema, config: loadConfig(schema, environment), environment });
  const written = lines.map((line) => JSON.parse(line));
  expect(written[0]).toMatchObject({ message: 'starting', settings: { SHUTDOWN_GRACE_MS: expect.anything() } });
  expect(written.slice(1).map(({ level, name, target }) => [level, name, target])).toEqual([
    ['warn', 'STRIPE_WEBHOK_SECRET', 'STRIPE_WEBHOOK_SECRET'],
    ['warn', 'SHUTDOWN_GRACE_MSS', 'SHUTDOWN_GRACE_MS'],
  ]);
  expect(lines.join('')).not.toContain('canary');
});

test('does not warn if the setting itself is set', () => {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'auth',
    level: 'warn',
    destination: { write: (line) => void lines.push(line) },
  });
  const environment = { SHUTDOWN_GRACE_MS: '1000', SHUTDOWN_GRACE_M: '1000' };
  logStart(logger, { schema, config: loadConfig(schema, environment), environment });
  expect(lines).toEqual([]);
});
