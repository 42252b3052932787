import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import {
  approve,
  newApp,
  newPerson,
  newVerifier,
  type Person,
  type RegisteredApp,
  redeem,
  refresh,
} from './support/partner.ts';

/**
 * Random sequences of what users and apps do, against a small model: a grant is alive until it ends; a code is good once;
 * a refresh token is good until a sibling or a later token has been used, and within the app's grace four times more;
 * any other use ends the grant.
 */

const APPS = 2;
const USERS = 2;
/** The first app allows no second use of a refresh token, the other one half a minute. */
const GRACE_SECONDS = [0, 30];

interface ModelGrant {
  readonly app: number;
  readonly user: number;
  isAlive: boolean;
  readonly code: { value: string; verifier: string; isUsed: boolean };
  /** Refresh tokens, oldest first; siblings are of one generation. */
  readonly tokens: { value: string; generation: number; usedAtMs: number | undefined; replays: number }[];
}

interface World {
  readonly service: AuthService;
  readonly users: Person[];
  readonly owner: Person;
  readonly apps: RegisteredApp[];
  readonly isActive: boolean[];
  readonly grants: ModelGrant[];
}

type Step =
  | { readonly kind: 'consent'; readonly app: number; readonly user: number }
  | { readonly kind: 'exchange'; readonly grant: number; readonly isVerifierWrong: boolean }
  | { readonly kind: 'refresh'; readonly grant: number; readonly token: number }
  | { readonly kind: 'disconnect'; readonly app: number; readonly user: number }
  | { readonly kind: 'suspend'; readonly app: number }
  | { readonly kind: 'activate'; readonly app: number }
  | { readonly kind: 'rotate'; readonly app: number }
  | { readonly kind: 'wait'; readonly seconds: number };

const index = fc.nat({ max: 7 });
const app = fc.nat({ max: APPS - 1 });
const user = fc.nat({ max: USERS - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('consent' as const), app, user }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('exchange' as const),
      grant: index,
      isVerifierWrong: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('refresh' as const), grant: index, token: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('disconnect' as const), app, user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('suspend' as const), app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('activate' as const), app }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate' as const), app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 15, 31) }) },
);

let service: AuthService;
beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

const at = <T>(list: readonly T[], position: number): T => {
  const item = list[position % Math.max(1, list.length)];
  if (item === undefined) throw new Error('an empty list has no item');
  return item;
};

const newWorld = async (): Promise<World> => {
  const owner = await newPerson(service, 'business');
  const users = await Promise.all(Array.from({ length: USERS }, () => newPerson(service)));
  const apps = await Promise.all(
    GRACE_SECONDS.map((seconds) =>
      newApp(service, owner, { client_type: 'confidential', refresh_grace_seconds: seconds }),
    ),
  );
  return { service, users, owner, apps, isActive: [true, true], grants: [] };
};

const endGrants = (world: World, which: (grant: ModelGrant) => boolean): void => {
  for (const grant of world.grants) if (which(grant)) grant.isAlive = false;
};

const play = async (world: World, action: Step): Promise<void> => {
  switch (action.kind) {
    case 'consent':
      return await playConsent(world, action.app, action.user);
    case 'exchange':
      return world.grants.length === 0 ? undefined : await playExchange(world, at(world.grants, action.grant), action);
    case 'refresh':
      return world.grants.length === 0 ? undefined : await playRefresh(world, at(world.grants, action.grant), action);
    case 'disconnect':
      return await playDisconnect(world, action.app, action.user);
    case 'suspend':
    case 'activate':
      return await playState(world, action.app, action.kind === 'activate');
    case 'rotate':
      return await playRotate(world, action.app);
    case 'wait':
      return await playWait(world, action.seconds);
  }
};

const playConsent = async (world: World, appIndex: number, userIndex: number): Promise<void> => {
  const verifier = newVerifier();
  const asked = approve(service, { app: at(world.apps, appIndex), person: at(world.users, userIndex), verifier });
  if (world.isActive[appIndex] !== true) {
    await expect(asked).rejects.toThrow(/app_inactive/);
    return;
  }
  world.grants.push({
    app: appIndex,
    user: userIndex,
    isAlive: true,
    tokens: [],
    code: { value: await asked, verifier, isUsed: false },
  });
};

const playExchange = async (
  world: World,
  grant: ModelGrant,
  { isVerifierWrong }: { isVerifierWrong: boolean },
): Promise<void> => {
  const verifier = isVerifierWrong ? newVerifier() : grant.code.verifier;
  const answer = await redeem(service, { app: at(world.apps, grant.app), code: grant.code.value, verifier });
  if (world.isActive[grant.app] !== true) {
    expect(answer.status).toBe(401);
    return;
  }
  const isGood = grant.isAlive && !grant.code.isUsed && !isVerifierWrong;
  // A code that is presented again was stolen, no matter who presents it.
  if (grant.code.isUsed) grant.isAlive = false;
  expect(answer.status, answer.text).toBe(isGood ? 200 : 400);
  if (!isGood) return;
  grant.code.isUsed = true;
  grant.tokens.push({ value: textAt(answer, 'refresh_token'), generation: 0, usedAtMs: undefined, replays: 0 });
};

const playRefresh = async (world: World, grant: ModelGrant, { token }: { token: number }): Promise<void> => {
  if (grant.tokens.length === 0) return;
  // The newest ones are the likely choice; old ones are thieves.
  const presented = at([...grant.tokens].reverse(), token);
  const answer = await refresh(service, { app: at(world.apps, grant.app), token: presented.value });
  if (world.isActive[grant.app] !== true) {
    expect(answer.status).toBe(401);
    return;
  }
  const nowMs = Date.now();
  const isOutdated = grant.tokens.some(
    (other) => other !== presented && other.generation >= presented.generation && other.usedAtMs !== undefined,
  );
  const graceMs = at(GRACE_SECONDS, grant.app) * 1000;
  const isInGrace = presented.usedAtMs !== undefined && nowMs - presented.usedAtMs < graceMs && presented.replays < 4;
  const isGood = grant.isAlive && !isOutdated && (presented.usedAtMs === undefined || isInGrace);
  if (!isGood) grant.isAlive = false;
  expect(answer.status, answer.text).toBe(isGood ? 200 : 400);
  if (!isGood) return;
  if (presented.usedAtMs !== undefined) presented.replays += 1;
  presented.usedAtMs ??= nowMs;
  const generation = presented.generation + 1;
  grant.tokens.push({ value: textAt(answer, 'refresh_token'), generation, usedAtMs: undefined, replays: 0 });
};

const playDisconnect = async (world: World, appIndex: number, userIndex: number): Promise<void> => {
  const isConnected = (await connectedApps(world, userIndex)).includes(at(world.apps, appIndex).clientId);
  const answer = await call(`${service.url}/v1/integrations/connections/${at(world.apps, appIndex).clientId}`, {
    method: 'DELETE',
    token: at(world.users, userIndex).token,
  });
  expect(answer.status).toBe(isConnected ? 204 : 404);
  endGrants(world, (grant) => grant.app === appIndex && grant.user === userIndex);
};

const connectedApps = async (world: World, userIndex: number): Promise<string[]> => {
  const answer = await call(`${service.url}/v1/integrations/connections`, { token: at(world.users, userIndex).token });
  // The service checks its own answers against the contract in tests.
  return (answer.body as { data: { client_id: string }[] }).data.map((connection) => connection.client_id);
};

const playState = async (world: World, appIndex: number, active: boolean): Promise<void> => {
  const answer = await call(`${service.url}/v1/integrations/apps/${at(world.apps, appIndex).clientId}`, {
    method: 'PATCH',
    token: world.owner.token,
    json: { active },
  });
  expect(answer.status).toBe(200);
  world.isActive[appIndex] = active;
  if (!active) endGrants(world, (grant) => grant.app === appIndex);
};

const playRotate = async (world: World, appIndex: number): Promise<void> => {
  const before = at(world.apps, appIndex);
  const answer = await call(`${service.url}/v1/integrations/apps/${before.clientId}/rotate-secret`, {
    method: 'POST',
    token: world.owner.token,
  });
  world.apps[appIndex] = { ...before, secret: textAt(answer, 'client_secret') };
};

/** Moves the uses of this world's tokens into the past; their time is the database's. */
const playWait = async (world: World, seconds: number): Promise<void> => {
  await service.database.raw(
    `UPDATE refresh_tokens SET predecessor_used_at = predecessor_used_at - :seconds * interval '1 second'
     WHERE grant_id IN (SELECT id FROM grants WHERE client_id = ANY(:clientIds))`,
    { seconds, clientIds: world.apps.map(({ clientId }) => clientId) },
  );
  for (const token of world.grants.flatMap(({ tokens }) => tokens)) {
    if (token.usedAtMs !== undefined) token.usedAtMs -= seconds * 1000;
  }
};

/** Checks at the end that every grant alive in the model refreshes, and no other does. */
const settle = async (world: World): Promise<void> => {
  for (const appIndex of world.apps.keys()) await playState(world, appIndex, true);
  for (const grant of world.grants) {
    const newest = grant.tokens.at(-1);
    if (newest?.usedAtMs !== undefined) continue;
    if (newest === undefined) await playExchange(world, grant, { isVerifierWrong: false });
    else await playRefresh(world, grant, { token: 0 });
  }
};

test('random sequences of consent, exchange, refresh, reuse, disconnect, suspend and rotate match the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const world = await newWorld();
      for (const action of steps) await play(world, action);
      await settle(world);
    }),
    { numRuns: 25, endOnFailure: false, interruptAfterTimeLimit: 60_000 },
  );
}, 120_000);

test('matches the model for each of several concurrent clients', async () => {
  const sequence = fc.array(step, { minLength: 5, maxLength: 15 });
  await fc.assert(
    fc.asyncProperty(fc.tuple(sequence, sequence, sequence), async (sequences) => {
      await Promise.all(
        sequences.map(async (steps) => {
          const world = await newWorld();
          for (const action of steps) await play(world, action);
          await settle(world);
        }),
      );
    }),
    { numRuns: 6, interruptAfterTimeLimit: 60_000 },
  );
}, 120_000);
