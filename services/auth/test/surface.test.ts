import { fileURLToPath } from 'node:url';
import { routesOf } from '@svc/contracts';
import { dumpSchema } from '@svc/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECTIONS } from '../src/personal-data.ts';
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

test.each(SECTIONS)('exports the section $name of a person through an index', async ({ sql }) => {
  const plan = await service.database.transaction(async (trx) => {
    // A sequential scan is then planned only where no index fits.
    await trx.raw('SET LOCAL enable_seqscan = off');
    const { rows } = await trx.raw(`EXPLAIN ${sql.replaceAll('$1', "'usr_1'")}`);
    return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  });
  expect(plan).not.toContain('Seq Scan');
});
