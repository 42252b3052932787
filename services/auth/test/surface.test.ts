import { fileURLToPath } from 'node:url';
import { routesOf } from '@svc/contracts';
import { dumpSchema } from '@svc/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

test('schema.sql matches the migrated database', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(service.databaseUrl)).toMatchFileSnapshot(file);
});

test('binds every route of the service', async () => {
  const isUnanswered = async (method: string, path: string): Promise<boolean> => {
    const response = await fetch(`${service.url}${path.replaceAll(/\{\w+\}/g, 'app_x')}`, {
      method,
      redirect: 'manual',
    });
    await response.arrayBuffer();
    return response.status === 501;
  };
  const unanswered: string[] = [];
  for (const { operationId, method, path } of routesOf('auth')) {
    if (await isUnanswered(method, path)) unanswered.push(operationId);
  }
  expect(unanswered).toEqual([]);
});
