import { loadConfig } from '@svc/service-kit';
import { expect, test } from 'vitest';
import { configSchema } from './config.ts';

test.each(['WEBHOOK_ENCRYPTION_KEY', 'WEBHOOK_ALLOW_TARGETS'])(
  'lists a value of %s that its parser refuses beside missing variables',
  (name) => {
    const load = () => loadConfig(configSchema, { [name]: 'nonsense' });
    expect(load).toThrow(/DATABASE_URL: is not set/);
    expect(load).toThrow(new RegExp(`${name}: (?!is not set)`));
  },
);
