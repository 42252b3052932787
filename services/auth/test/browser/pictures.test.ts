import { join } from 'node:path';
import type { Locale } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import { usePictureBook } from '@svc/testing/pictures';
import { describe, test } from 'vitest';
import type { AccountRecord } from '../../src/accounts/index.ts';
import { drawMonogram } from '../../src/apps/icons.ts';
import type { AppRecord } from '../../src/apps/index.ts';
import { authorizeConsentFrame, consentPage } from '../../src/consent/consent-page.ts';
import { faultPage } from '../../src/consent/fault-pages.ts';
import { authorizeFrame, type PageContext } from '../../src/consent/page-context.ts';
import { pageText } from '../../src/pages/page-text.ts';
import { signInPage, signUpPage } from '../../src/pages/sign-in-pages.ts';
import { chromiumPath } from '../support/chromium.ts';

const LONG_AGO = new Date('2026-10-01T08:00:00Z');

const APP: AppRecord = {
  clientId: 'app_pictures',
  ownerUserId: 'usr_publisher',
  clientType: 'confidential',
  name: 'Quaderno',
  redirectUris: ['https://quaderno.example/callback'],
  description: 'Notes',
  refreshGraceSeconds: 30,
  homepageUrl: 'https://quaderno.example/',
  privacyPolicyUrl: 'https://quaderno.example/privacy',
  requirePushedAuthorizationRequests: false,
  deviceFlow: false,
  dpopBoundAccessTokens: false,
  active: true,
  suspendedAt: null,
  version: 1,
  createdAt: LONG_AGO,
  updatedAt: LONG_AGO,
  secretRotatedAt: LONG_AGO,
};

const ACCOUNT: AccountRecord = {
  id: 'usr_person',
  email: 'ada@example.com',
  accountType: 'personal',
  businessName: null,
  requiresSecondFactor: false,
  displayName: 'Ada Rossi',
  locale: 'it',
  hasSecondFactor: false,
  deletionVersion: 0,
  createdAt: LONG_AGO,
  emailVerifiedAt: LONG_AGO,
  firstSignedInAt: LONG_AGO,
  eraseAt: null,
  sessionsRevokedThrough: null,
  distrustedSince: null,
};

const contextIn = (locale: Locale): PageContext => ({
  app: APP,
  appName: APP.name,
  text: pageText(locale),
  formTarget: 'https://quaderno.example',
  query: {
    client_id: APP.clientId,
    redirect_uri: 'https://quaderno.example/callback',
    response_type: 'code',
    scope: 'inference usage:read',
    state: 'state-of-a-picture',
    locale,
    code_challenge: 'challenge',
    code_challenge_method: 'S256',
  },
  formToken: 'token',
  returnPath: '/v1/integrations/oauth/authorize',
  ssoPath: undefined,
  ssoName: undefined,
  passkeyOptions: {
    rpId: 'svc.example',
    challenge: 'challenge',
    allowCredentials: [],
    userVerification: 'required',
    timeout: 60_000,
  },
  authorizePath: () => '/v1/integrations/oauth/authorize',
});

const consentIn = (locale: Locale): ReplyContent =>
  consentPage(authorizeConsentFrame(contextIn(locale)), {
    session: {
      account: ACCOUNT,
      session: {
        id: 'ses_pictures',
        userId: ACCOUNT.id,
        userAgent: null,
        network: null,
        organizationId: null,
        signInId: null,
        lastUsedAt: LONG_AGO,
        createdAt: LONG_AGO,
        expiresAt: LONG_AGO,
        authenticatedAt: LONG_AGO,
      },
    },
    scopes: ['inference', 'usage:read'],
    publisher: { name: 'Quaderno S.r.l.', verifiedDomain: 'quaderno.example', isRegistered: true },
    icon: drawMonogram(APP.clientId, APP.name),
    isConnected: false,
    budget: {
      limit: { limit_micros: 2_000_000, period: 'week' },
      isPresent: false,
      currency: 'EUR',
      typicalPercent: 12,
    },
    plan: {
      name: 'Standard',
      status: 'active',
      services: { chat: true, audio_transcription: true },
      weekly: { used_percent: 50, used_micros: 620_000, limit_micros: 1_240_000, resets_at: '2026-11-30T00:00:00Z' },
      monthly: { used_percent: 9, used_micros: 900_000, limit_micros: 10_000_000, resets_at: '2026-12-01T00:00:00Z' },
      extra: { enabled: false, used_micros: 0, limit_micros: 0 },
    },
    notice: undefined,
  });

describe.skipIf(chromiumPath === undefined)('pictures of the authorize pages', { timeout: 120_000 }, () => {
  const book = usePictureBook(join(import.meta.dirname, 'pictures'), chromiumPath);

  test.each([
    ['sign-in', (locale: Locale) => signInPage(authorizeFrame(contextIn(locale)))],
    ['sign-up', (locale: Locale) => signUpPage(authorizeFrame(contextIn(locale)))],
    ['consent', consentIn],
    ['fault', (locale: Locale) => faultPage(locale, 'unknown_app')],
  ])('%s', async (name, pageIn) => {
    await book.compare(name, (locale) => String(pageIn(locale).body));
  });
});
