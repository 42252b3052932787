import { newId } from '@svc/contracts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BillingUnderTest, overHttp, startBilling, throughPg } from './billing-under-test.ts';
import { type Stack, startStack } from './harness/stack.ts';

let stack: Stack;
let bench: BillingUnderTest;
let pool: pg.Pool;

beforeAll(async () => {
  stack = await startStack();
  bench = await startBilling(stack, { accounts: 10, history: 10 });
  pool = new pg.Pool({ connectionString: bench.databaseUrl, max: 1 });
});
afterAll(async () => {
  bench?.client.close();
  await pool?.end();
  await stack?.stop();
});

test('the database alone decides and settles as the service does', async () => {
  const [userId = ''] = bench.accounts;
  for (const side of [overHttp(bench), throughPg(pool)]) {
    const requestId = newId('req');
    expect(await side.admit(userId, requestId)).toBe('admitted');
    expect(await side.settle(requestId)).toBe('settled');
    expect(await side.admit(bench.full, newId('req'))).toBe('subscription_requests_pending');
  }
});

test('auth starts with the settings of the harness', async () => {
  const auth = await stack.start('auth');
  expect((await fetch(`${auth.internalUrl}/readyz`)).status).toBe(200);
});
