import { describe, expect, test } from 'vitest';
import { createInbox, type InboxEntry } from './inbox.ts';

const verified = (integrationId: string) => ({
  isVerified: true,
  envelope: { integration_id: integrationId },
  raw: undefined,
});
const unverified = { isVerified: false, envelope: null, raw: { signature: null, headers: {}, body: '' } };
const ids = (entries: readonly InboxEntry[]): number[] => entries.map(({ id }) => id);

describe('the inbox', () => {
  test('lists newest first, by app and after an entry', () => {
    const inbox = createInbox({ clock: () => new Date() });
    for (const app of ['app_a', 'app_b', 'app_a']) inbox.add(verified(app));
    inbox.add(unverified);
    expect(ids(inbox.list())).toEqual([4, 3, 2, 1]);
    expect(ids(inbox.list({ integrationId: 'app_a' }))).toEqual([3, 1]);
    expect(ids(inbox.list({ integrationId: 'app_a', after: 1 }))).toEqual([3]);
  });

  test('keeps a hundred of each kind, so that unverified deliveries evict no verified ones', () => {
    const inbox = createInbox({ clock: () => new Date() });
    inbox.add(verified('app_a'));
    for (let count = 0; count < 150; count += 1) inbox.add(unverified);
    expect(inbox.list()).toHaveLength(101);
    expect(inbox.list({ integrationId: 'app_a' })).toHaveLength(1);
  });

  test('waits for a matching entry until the timeout', async () => {
    const inbox = createInbox({ clock: () => new Date() });
    const signal = AbortSignal.timeout(10_000);
    const waiting = inbox.waitFor({ integrationId: 'app_b' }, signal);
    inbox.add(verified('app_a'));
    inbox.add(verified('app_b'));
    expect(ids(await waiting)).toEqual([2]);
    const gone = new AbortController();
    const inVain = inbox.waitFor({ integrationId: 'app_c' }, gone.signal);
    gone.abort();
    expect(await inVain).toEqual([]);
  });
});
