import { newId, type Role } from '@svc/contracts';
import { beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../src/web/api/api-error.ts';
import type { Transport } from '../src/web/api/send-request.ts';
import { createClient } from '../src/web/api/use-api.ts';
import { createSession, tokensFor } from '../src/web/session/session.ts';

const PERSON = newId('usr');
const FIRST = newId('usr');
const SECOND = newId('usr');

/** Roles by organization of which the person is a member. */
let memberships: Map<string, Role>;
/** Tokens that the service accepts; they name the account that they act for. */
let accepted: Set<string>;
/** Tokens of calls that took effect. */
let effects: string[];
let issued: number;
/** Held back answers of a switch, by organization. */
let held: Map<string, Promise<void>>;

beforeEach(() => {
  memberships = new Map([
    [FIRST, 'developer'],
    [SECOND, 'viewer'],
  ]);
  accepted = new Set();
  effects = [];
  issued = 0;
  held = new Map();
});

const refused = (status: number, code: string): ApiError => new ApiError({ status, code, message: '' });

const sessionOf = (organizationId: string | null) => {
  const token = `${organizationId ?? PERSON}-${++issued}`;
  accepted.add(token);
  const role = memberships.get(organizationId ?? '');
  return {
    session_token: token,
    token_type: 'Bearer' as const,
    expires_in: 1,
    account: {
      svc_user_id: PERSON,
      email: 'ada@example.com',
      account_type: 'personal' as const,
      business_name: null,
      display_name: null,
      locale: 'en' as const,
      has_second_factor: false,
      created_at: '2026-01-01T00:00:00Z',
      email_verified: true,
      organization: role === undefined || organizationId === null ? null : { id: organizationId, name: '', role },
    },
  };
};

const answer = async (operation: string, input: unknown, token: string | undefined): Promise<unknown> => {
  if (operation === 'resumeSession') return sessionOf(null);
  if (token === undefined || !accepted.has(token)) throw refused(401, 'invalid_token');
  if (operation !== 'switchOrganization') {
    effects.push(token);
    return { data: [] };
  }
  // The contract's body of a switch.
  const { organization_id: id } = (input as { body: { organization_id: string | null } }).body;
  await held.get(id ?? '');
  if (id !== null && !memberships.has(id)) throw refused(404, 'not_found');
  return sessionOf(id);
};

const transport: Transport = {
  // Each operation is answered in its own shape.
  send: (async (operation, input, { token } = {}) => answer(operation, input, token)) as Transport['send'],
  download: async () => new Blob(),
};

const begin = async () => {
  const session = createSession(transport);
  await session.resume();
  return session;
};

describe('a session that acts for an organization', () => {
  test('acts for it again when its token is refused', async () => {
    const session = await begin();
    await session.actFor(FIRST);
    accepted.clear();
    await createClient(transport, tokensFor(session, FIRST)).call('listKeys', {});
    expect(effects).toHaveLength(1);
    expect(effects[0]).toMatch(new RegExp(`^${FIRST}`));
  });

  test('repeats no call for the person’s own account once the person is no member any more', async () => {
    const session = await begin();
    await session.actFor(FIRST);
    accepted.clear();
    memberships.delete(FIRST);
    const call = createClient(transport, tokensFor(session, FIRST)).call('listKeys', {});
    await expect(call).rejects.toMatchObject({ code: 'invalid_token' });
    expect(effects).toEqual([]);
    expect(session.state()).toMatchObject({ status: 'signed_in', account: { organization: null } });
  });

  test('repeats no call that was begun for another organization', async () => {
    const session = await begin();
    await session.actFor(FIRST);
    const client = createClient(transport, tokensFor(session, FIRST));
    await session.actFor(SECOND);
    await expect(client.call('listKeys', {})).rejects.toMatchObject({ status: 401 });
    expect(effects).toEqual([]);
  });

  test('goes back to the person, also with a token that has ended', async () => {
    const session = await begin();
    await session.actFor(FIRST);
    accepted.clear();
    await session.actFor(null);
    expect(session.state()).toMatchObject({ account: { organization: null } });
    expect(session.current()).toMatch(new RegExp(`^${PERSON}`));
  });

  test('acts for the organization that was chosen last, whichever answer comes first', async () => {
    const session = await begin();
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set(FIRST, promise);
    const slow = session.actFor(FIRST);
    await session.actFor(SECOND);
    resolve();
    await slow;
    expect(session.state()).toMatchObject({ account: { organization: { id: SECOND } } });
  });

  test('stays as it was if the person may not act for the other', async () => {
    const session = await begin();
    await session.actFor(FIRST);
    memberships.delete(SECOND);
    await expect(session.actFor(SECOND)).rejects.toMatchObject({ status: 404 });
    expect(session.state()).toMatchObject({ account: { organization: { id: FIRST } } });
  });
});
