import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from '@svc/testing';
import { usePictureBook } from '@svc/testing/pictures';
import { describe, test } from 'vitest';
import { renderInboxPage } from '../../src/partner/inbox/inbox-routes.ts';
import { renderHomePage, renderWelcomePage, usageView } from '../../src/partner/inference/home.ts';
import { en, type Texts } from '../../src/partner/texts/en.ts';
import { it } from '../../src/partner/texts/it.ts';

const RESETS_AT = '2026-11-29T08:00:00.000Z';
const SERVICE_URL = 'https://svc.example/';
const USER = 'usr_pictures';

/** Styles of the pages, by path. Their scripts stay away: pictures show what the server has rendered. */
const FILES = new Map(
  [
    ['/assets/tokens.css', fileURLToPath(import.meta.resolve('@svc/pages/tokens.css'))] as const,
    ['/assets/sample-partner.css', fileURLToPath(new URL('../../public/sample-partner.css', import.meta.url))] as const,
  ].map(([path, file]) => [path, readFileSync(file, 'utf8')] as const),
);

const homePage = (texts: Texts): string =>
  renderHomePage({
    texts,
    svcUserId: USER,
    messages: [
      { role: 'user', content: 'Where does the sun rise?' },
      { role: 'assistant', content: 'zephyr cedar lantern' },
    ],
    usage: usageView(
      {
        status: 'active',
        plan: { id: 'standard', name: 'Standard' },
        period: null,
        services: { chat: true, audio_transcription: true },
        weekly: { limit_micros: 5_000_000, used_micros: 1_850_000, used_percent: 37, resets_at: RESETS_AT },
        monthly: { limit_micros: 15_000_000, used_micros: 12_600_000, used_percent: 84, resets_at: RESETS_AT },
        pending_requests: 1,
        max_pending_requests: 2,
        extra: { enabled: false, used_micros: 0, limit_micros: 0 },
        app: {
          limit_micros: 2_000_000,
          used_micros: 412_000,
          held_micros: 0,
          period: 'week',
          paused: false,
          resets_at: RESETS_AT,
          expires_at: null,
        },
      },
      { texts, serviceUrl: SERVICE_URL },
      'EUR',
    ),
    transcribes: true,
  });

const inboxPage = (texts: Texts): string =>
  renderInboxPage({
    texts,
    svcUserId: USER,
    webhookUrl: 'https://partner.example/webhooks',
    entries: [
      {
        id: 1,
        receivedAt: new Date(RESETS_AT),
        isVerified: true,
        raw: undefined,
        envelope: { event: 'integration.connected', sequence: 1, user: { svc_user_id: USER } },
      },
    ],
  });

const chromiumPath = await findChromium();

describe.skipIf(chromiumPath === undefined)('pictures of the sample partner', { timeout: 120_000 }, () => {
  const book = usePictureBook(join(import.meta.dirname, 'pictures'), chromiumPath);

  test.each([
    ['welcome', (texts: Texts) => renderWelcomePage({ texts, serviceUrl: SERVICE_URL })],
    ['home', homePage],
    ['inbox', inboxPage],
  ])('%s', async (name, pageIn) => {
    await book.compare(name, (locale) => pageIn(locale === 'it' ? it : en), FILES);
  });
});
