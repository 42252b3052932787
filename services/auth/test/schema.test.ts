import { fileURLToPath } from 'node:url';
import { dumpSchema } from '@svc/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

test('schema.sql is what the migrations make', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(service.databaseUrl)).toMatchFileSnapshot(file);
});
