import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService, startReplica } from './support/auth-service.ts';
import { type Answer, textAt } from './support/http.ts';
import { connect, newApp, newPerson, type Person, type RegisteredApp, refresh } from './support/partner.ts';

let service: AuthService;
let graceful: RegisteredApp;
let person: Person;

beforeAll(async () => {
  service = await startAuthService();
  graceful = await newApp(service, await newPerson(service, 'business'));
  person = await newPerson(service);
});
afterAll(() => service.stop());

const expectInvalidGrant = (answer: Answer): void =>
  expect([answer.status, answer.body]).toEqual([
    400,
    { error: 'invalid_grant', error_description: expect.any(String) },
  ]);
const revocationsOf = (grantId: string) => service.outbox(`revocation:grant.${grantId}`);
const use = (token: string) => refresh(service, { app: graceful, token });
/** Moves the first uses of a grant's tokens into the past; their time is the database's. */
const ageUses = (grantId: string, seconds: number) =>
  service.database.raw(
    "UPDATE refresh_tokens SET predecessor_used_at = predecessor_used_at - ? * interval '1 second' WHERE grant_id = ?",
    [seconds, grantId],
  );

describe('the refresh tokens of a grant', () => {
  const rowsOf = (grantId: string) => service.database('refresh_tokens').where({ grant_id: grantId });

  test('take one row, however often they are rotated, and the oldest still ends the grant', async () => {
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    let token = refreshToken;
    for (let rotation = 0; rotation < 5; rotation += 1) token = textAt(await use(token), 'refresh_token');
    expect(await rowsOf(grantId)).toHaveLength(1);
    expectInvalidGrant(await use(refreshToken));
    expect(await revocationsOf(grantId)).toHaveLength(1);
    expectInvalidGrant(await use(token));
  });

  test('do not end with a token that only names the grant, whose id access tokens reveal', async () => {
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    expectInvalidGrant(await use(`svc_rt_${grantId.slice('grt_'.length)}${'A'.repeat(22 + 43)}`));
    expect(await revocationsOf(grantId)).toEqual([]);
    expect((await use(refreshToken)).status).toBe(200);
  });
});

describe('a refresh token with 30 seconds of grace', () => {
  const siblingsOf = async (token: string, count: number): Promise<string[]> => {
    const pairs: string[] = [];
    for (let sibling = 0; sibling < count; sibling += 1) pairs.push(textAt(await use(token), 'refresh_token'));
    return pairs;
  };

  test('issues five different pairs for one token: one at its first use, four at repetitions', async () => {
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    const pairs = await siblingsOf(refreshToken, 5);
    expect(new Set(pairs).size).toBe(5);
    expect(await revocationsOf(grantId)).toEqual([]);
    expect((await use(pairs[3] ?? '')).status).toBe(200);
  });

  test('revokes the grant with every issued pair at the fifth repetition', async () => {
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    const pairs = await siblingsOf(refreshToken, 5);
    expectInvalidGrant(await use(refreshToken));
    expect(await revocationsOf(grantId)).toHaveLength(1);
    for (const pair of pairs) expectInvalidGrant(await use(pair));
  });

  test('accepts the first sibling that is presented, whichever it is', async () => {
    const { refreshToken } = await connect(service, { app: graceful, person });
    const [, second = ''] = await siblingsOf(refreshToken, 3);
    const next = await use(second);
    expect(next.status).toBe(200);
    expect((await use(textAt(next, 'refresh_token'))).status).toBe(200);
  });

  test.each([
    ['another sibling', (_predecessor: string, sibling: string) => sibling],
    ['the predecessor', (predecessor: string) => predecessor],
  ])('revokes the grant when %s is presented after a sibling was used', async (_what, pick) => {
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    const [first = '', second = ''] = await siblingsOf(refreshToken, 2);
    const next = await use(first);
    expect(next.status).toBe(200);
    expectInvalidGrant(await use(pick(refreshToken, second)));
    expect(await revocationsOf(grantId)).toHaveLength(1);
    expectInvalidGrant(await use(textAt(next, 'refresh_token')));
  });

  test('revokes the grant when the token is presented after the grace', async () => {
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    const next = await use(refreshToken);
    await ageUses(grantId, 31);
    expectInvalidGrant(await use(refreshToken));
    expectInvalidGrant(await use(textAt(next, 'refresh_token')));
  });

  test('revokes the grant when a token before the predecessor is presented within the grace', async () => {
    const { refreshToken } = await connect(service, { app: graceful, person });
    const second = await use(refreshToken);
    const third = await use(textAt(second, 'refresh_token'));
    expectInvalidGrant(await use(refreshToken));
    expectInvalidGrant(await use(textAt(third, 'refresh_token')));
  });

  test('counts the grace from the first use, not from the last', async () => {
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    await use(refreshToken);
    await ageUses(grantId, 20);
    expect((await use(refreshToken)).status).toBe(200);
    await ageUses(grantId, 11);
    expectInvalidGrant(await use(refreshToken));
  });

  test('accepts a repetition within the grace although the clock of a replica is a minute slow', async () => {
    const slow = await startReplica(service, { clock: () => new Date(Date.now() - 60_000) });
    const { refreshToken } = await connect(service, { app: graceful, person });
    const first = await refresh(slow, { app: graceful, token: refreshToken });
    const again = await use(refreshToken);
    expect([first.status, again.status]).toEqual([200, 200]);
    await slow.stop();
  });

  test('refuses a repetition after the grace although the clock of a replica is a minute slow', async () => {
    const slow = await startReplica(service, { clock: () => new Date(Date.now() - 60_000) });
    const { refreshToken, grantId } = await connect(service, { app: graceful, person });
    await use(refreshToken);
    await ageUses(grantId, 31);
    expectInvalidGrant(await refresh(slow, { app: graceful, token: refreshToken }));
    await slow.stop();
  });
});
